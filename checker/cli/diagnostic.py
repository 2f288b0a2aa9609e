"""``bivalence diagnostic``: explains a code, with a wrong spec and its correction."""

from __future__ import annotations

import click

from checker.cli import console


@click.command()
@click.argument("code", metavar="CODE")
def diagnostic(code: str) -> int:
    """Explain the diagnostic CODE, such as N003."""
    from checker.diagnostics.codes import codes, page

    try:
        console.print_line(page(code).rstrip("\n"))
    except KeyError:
        wanted = code.strip().upper()
        near = [known for known in codes() if known[:1] == wanted[:1]] or codes()
        known = f"; there are {', '.join(near)}" if near else ""
        raise click.UsageError(f"there is no diagnostic {wanted}{known}") from None
    return 0
