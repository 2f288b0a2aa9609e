"""Options of ``bivalence view`` that write a page of HTML, and open it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from checker.witness.trace import Trace


def page_options(command: Callable[..., int]) -> Callable[..., int]:
    """``--html``, ``--open`` and ``--compare``."""
    options = (
        click.option(
            "--html",
            "html",
            metavar="FILE",
            help="Write one page of HTML that needs no other file.",
        ),
        click.option("--open", "opened", is_flag=True, help="Open the page in a browser."),
        click.option(
            "--compare",
            metavar="TRACE",
            help="Put this trace beside the other one on the page, aligned as far as both are the"
            " same. Any two traces will do; `check` writes them of violations only.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def require_page(html: str | None, opened: bool, compare: str | None) -> bool:
    """Whether a page is asked for at all; refuses options that don't go together."""
    if compare is not None and html is None and not opened:
        raise click.UsageError("--compare is about a page: say --html FILE, or --open")
    if opened and html == "-":
        raise click.UsageError("what goes to stdout can't be opened: name a file with --html")
    return html is not None or opened


def write_page(document: Trace, html: str | None, opened: bool, compare: str | None) -> None:
    """Writes the page of ``document`` to the file ``html`` (``-`` is stdout), or, where it is only
    to be opened, to a temporary one."""
    from checker.cli.say import note, write
    from checker.cli.traces import load
    from checker.views.page import page_of

    text = page_of(document, None if compare is None else load(compare))
    if html == "-":
        click.echo(text, nl=False)
        return
    file = _temporary() if html is None else html
    write(file, text)
    if opened:
        note(f"opening {file}")
        open_in_browser(file)


def open_in_browser(file: str) -> None:
    """Shows ``file`` in the user's browser; says so where there is none."""
    import webbrowser

    from checker.cli.say import note

    if not webbrowser.open(Path(file).resolve().as_uri()):
        note(f"no browser was found: open {file} in one")


def _temporary() -> str:
    import os
    import tempfile

    handle, name = tempfile.mkstemp(prefix="bivalence-", suffix=".html")
    os.close(handle)
    return name
