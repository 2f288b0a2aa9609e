"""``bivalence diagnostic``: explains a code, with a wrong spec and its correction."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from checker.cli import console
from checker.diagnostics.english import listing

NEAR = 3
"""So many codes are named in place of one that there is not."""


@click.command()
@click.argument("code", required=False, metavar="[CODE]")
def diagnostic(code: str | None) -> int:
    """Explain the diagnostic CODE (such as N003), or list all."""
    from checker.diagnostics.codes import codes, page

    if code is None:
        for known in codes():
            console.print_line(page(known).partition("\n")[0].lstrip("# "))
        return 0
    try:
        console.print_line(page(code).rstrip("\n"))
    except KeyError:
        message = f"unknown diagnostic {code.strip().upper()}; {_near(code, codes())}"
        raise click.UsageError(message) from None
    return 0


def _near(code: str, known: Sequence[str]) -> str:
    """Returns which of the ``known`` codes may be meant by ``code``, and where all are listed."""
    found = re.fullmatch(r"([A-Z])(\d+)", code.strip().upper(), re.ASCII)
    alike = [each for each in known if found is not None and each[0] == found[1]]
    if found is not None:
        alike.sort(key=lambda each: abs(int(each[1:]) - int(found[2])))
    near = [each for each in alike if found and int(each[1:]) == int(found[2])] or alike[:NEAR]
    meant = f"did you mean {listing(sorted(near), 'or')}? " if near else ""
    return f"{meant}`bivalence diagnostic` lists all"
