"""``bivalence diagnostic``: explains a code, with a wrong spec and its correction."""

from __future__ import annotations

import click

from checker.cli import console


@click.command()
@click.argument("code", required=False, metavar="[CODE]")
def diagnostic(code: str | None) -> int:
    """Explain the diagnostic CODE, such as N003; without one, list all codes."""
    from checker.diagnostics.codes import codes, page

    if code is None:
        for known in codes():
            console.print_line(page(known).partition("\n")[0].lstrip("# "))
        return 0
    try:
        console.print_line(page(code).rstrip("\n"))
    except KeyError:
        wanted = code.strip().upper()
        near = [known for known in codes() if known[:1] == wanted[:1]] or codes()
        known = f"; there are {', '.join(near)}" if near else ""
        raise click.UsageError(f"there is no diagnostic {wanted}{known}") from None
    return 0
