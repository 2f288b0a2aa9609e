"""The options of ``bivalence view`` that write a page of HTML, and open it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.diagnostics.english import count

if TYPE_CHECKING:
    from checker.cli.trace_documents import Loaded
    from checker.render.diagram.rows import Layout
    from checker.results.alternatives import Alternatives
    from checker.results.trace import Trace


def page_options(command: Callable[..., int]) -> Callable[..., int]:
    """Adds ``--html``, ``--open``, ``--compare`` and ``--without-faults`` to a command."""
    options = (
        click.option(
            "--html",
            "html",
            metavar="FILE",
            help="Write a self-contained HTML page.",
        ),
        click.option("--open", "opened", is_flag=True, help="Open the page in a browser."),
        click.option(
            "--compare",
            metavar="TRACE|FILE::CHECK",
            help="Show another run next to it, aligned on their common prefix: the run"
            " of another trace, or the same steps in another check, such as of the"
            " correct protocol.",
        ),
        click.option(
            "--without-faults",
            "faultless",
            is_flag=True,
            help="Show the same steps without crashes, losses and forgeries next to it.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def require_page(html: str | None, opened: bool, compare: str | None, faultless: bool) -> bool:
    """Returns whether a page is requested at all; refuses options that contradict one another."""
    if compare is not None and faultless:
        raise click.UsageError("--compare and --without-faults: only one of them is possible")
    if (compare is not None or faultless) and html is None and not opened:
        option = "--without-faults" if faultless else "--compare"
        raise click.UsageError(f"{option} needs a page: add --html FILE or --open")
    if compare is not None and compare.endswith(".bcast"):
        raise click.UsageError(f"--compare {compare}: name a check, as FILE::CHECK")
    if opened and html == "-":
        raise click.UsageError("stdout can't be opened in a browser: name a file with --html")
    return html is not None or opened


def beside(document: Loaded, compare: str | None, faultless: bool) -> Trace | None:
    """Returns the execution to be shown beside that of ``document``, if one is requested.

    Raises :class:`checker.diagnostics.SpecError` where it can't be made.
    """
    from checker.cli.trace_documents import load
    from checker.session import pipeline

    if compare is not None and "::" not in compare:
        return load(compare)
    if compare is None and not faultless:
        return None
    from checker.cli.trace_positions import retrace
    from checker.simulate.run_transfer import phrases_of, transfer_run

    opened, taken = retrace(document)
    phrases = phrases_of(taken, faults=not faultless)
    if compare is not None:
        path, _, check = compare.rpartition("::")
        options = pipeline.Options(fine_steps=opened.fine)
        opened = pipeline.open_check(path, check, options)
    return transfer_run(opened, phrases)


def companion_title(compare: str | None, faultless: bool) -> str:
    """Returns the title on the page of the execution that is shown beside another one."""
    if faultless:
        return "The same without faults"
    if compare is None or "::" not in compare:
        return ""
    file, _, check = compare.rpartition("::")
    return f"The same steps in {check} of {Path(file).name}"


def alternatives_to(document: Loaded) -> tuple[Alternatives, ...]:
    """Returns what else could have happened at each step of the execution of ``document``; nothing
    where its spec has no such execution any more, which is reported on stderr, or where a log has
    it.
    """
    from checker.cli.console import print_hint
    from checker.cli.trace_positions import retrace
    from checker.diagnostics import SpecError
    from checker.simulate.alternatives import all_alternatives

    if document.trace.is_recorded:
        return ()
    try:
        opened, taken = retrace(document)
    except SpecError as problem:
        why = problem.diagnostics[0].message
        print_hint(f"note: the page omits alternatives: {why}")
        return ()
    return all_alternatives(opened.system, taken)


def write_page(
    document: Loaded,
    html: str | None,
    opened: bool,
    other: Trace | None,
    name: str = "",
    layout: Layout = "steps",
) -> None:
    """Writes the page of ``document``, with ``other``, which is called ``name``, beside it, to the
    file ``html`` (``-`` is stdout), or, where it is only to be opened, to a temporary one.
    """
    from checker.cli.console import print_hint, write_file
    from checker.render.html import page_of

    text = page_of(
        document.trace,
        other,
        names=("", name),
        layout=layout,
        alternatives=alternatives_to(document),
        document="" if document.path == "-" else Path(document.path).name,
    )
    if html == "-":
        console.write_stdout(text)
        return
    file = _temporary() if html is None else html
    write_file(file, text)
    print_hint(f"wrote {file}: {describe(document.trace)}")
    if opened:
        print_hint(f"opening {file}")
        open_in_browser(file)


def describe(document: Trace) -> str:
    """Describes what a picture shows: ``agreement violated, in 3 steps``."""
    steps = count(document.length, "step")
    said = f"{document.property_name} {document.word}" if document.property_name else "a run"
    return f"{said}, in {steps}, of {document.header.check or document.header.file}"


def open_in_browser(file: str) -> None:
    """Opens ``file`` in the user's browser; reports it where there is none."""
    import webbrowser

    from checker.cli.console import print_hint

    if not webbrowser.open(Path(file).resolve().as_uri()):
        print_hint(f"no browser found: open {file} in one")


def _temporary() -> str:
    import os
    import tempfile

    handle, name = tempfile.mkstemp(prefix="bivalence-", suffix=".html")
    os.close(handle)
    return name
