"""``bivalence view``: shows a recorded trace, as text or as a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.page_options import (
    beside,
    companion_title,
    describe,
    page_options,
    require_page,
    write_page,
)
from checker.cli.settings import LAYOUT, selection

if TYPE_CHECKING:
    from checker.render.diagram.rows import Layout
    from checker.results.trace import Trace


def svg(trace: Trace, layout: Layout) -> str:
    """Draws the space-time diagram as a self-contained SVG picture."""
    from checker.render.diagram.svg import svg_of_trace

    return svg_of_trace(trace, layout)


def mermaid(trace: Trace, layout: Layout) -> str:
    """Converts into a Mermaid sequence diagram; they are in the order of steps."""
    from checker.formats.exports import export

    return export("mermaid", trace)


OUTPUTS: dict[str, tuple[Callable[[Trace, Layout], str], str]] = {
    "svg": (svg, "Write the diagram as SVG to FILE; - is stdout."),
    "mermaid": (mermaid, "Write a Mermaid sequence diagram to FILE; - is stdout."),
}
"""The options that write a file in place of the text: its function, and their help."""


def _outputs(command: Callable[..., int]) -> Callable[..., int]:
    for name, (_, said) in reversed(OUTPUTS.items()):
        command = click.option(f"--{name}", name, metavar="FILE", help=said)(command)
    return command


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--steps", is_flag=True, help="Also list every step and its state changes.")
@click.option("--source", is_flag=True, help="Show the spec as it was when the trace was written.")
@LAYOUT
@selection
@_outputs
@page_options
def view(
    trace: str,
    steps: bool,
    source: bool,
    layout: Layout,
    lanes: tuple[str, ...],
    folded: bool,
    html: str | None,
    opened: bool,
    compare: str | None,
    faultless: bool,
    **asked: Any,
) -> int:
    """Show TRACE as text or as a diagram, without its spec.

    The document is not verified; `replay` verifies it.
    """
    from rich.text import Text

    from checker.cli.console import print_hint, print_view
    from checker.cli.reporting import require_outputs
    from checker.cli.trace_documents import load_document, say_changes
    from checker.render.terminal.selection import Shown
    from checker.render.terminal.text import source_view, trace_view

    wanted = {name: asked[name] for name in OUTPUTS if asked[name] is not None}
    paged = require_page(html, opened, compare, faultless)
    require_outputs([*wanted.values(), *([] if html is None else [html])])
    found = load_document(trace)
    document = found.trace
    _require_processes(lanes, document)
    say_changes(document)
    for name, file in wanted.items():
        made, _ = OUTPUTS[name]
        put(file, made(document, layout))
        if file != "-":
            print_hint(f"wrote {file}: {describe(document)}")
    if paged:
        other = beside(found, compare, faultless)
        name = companion_title(compare, faultless)
        write_page(found, html, opened, other, name, layout)
    elif source:
        print_view(source_view(document))
    elif not wanted:
        print_view(Text(f"Recorded, not replayed: {trace}", style="dim"))
        shown = Shown(lanes, folded)
        print_view(trace_view(document, steps, replayed=False, layout=layout, shown=shown))
    return 0


def _require_processes(lanes: tuple[str, ...], trace: Trace) -> None:
    for name in lanes:
        if name not in trace.processes:
            known = ", ".join(trace.processes)
            raise click.UsageError(f"--processes: there is no {name} in this run: {known}")


def put(file: str, text: str) -> None:
    """Writes ``text`` to ``file``; ``-`` is stdout."""
    from checker.cli.console import write_file

    if file == "-":
        console.write_stdout(text)
    else:
        write_file(file, text)
