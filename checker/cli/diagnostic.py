"""``bivalence diagnostic``: explains a code, with a wrong spec and its correction."""

from __future__ import annotations

import click

from checker.cli import console


@click.command()
@click.argument("code", metavar="CODE")
def diagnostic(code: str) -> int:
    """Explain the diagnostic CODE, such as T101."""
    from checker import resources

    wanted = code.strip().upper()
    pages = {page.stem: page for page in sorted(resources.pages().glob("*.md"))}
    if wanted not in pages:
        near = [known for known in pages if known[:1] == wanted[:1]] or list(pages)
        known = f"; there are {', '.join(near)}" if near else ""
        raise click.UsageError(f"there is no diagnostic {wanted}{known}")
    console.print_line(pages[wanted].read_text(encoding="utf-8").rstrip("\n"))
    return 0
