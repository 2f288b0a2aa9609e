"""``bivalence explain``: explains why an execution violates its property."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.settings import LAYOUT
from checker.diagnostics.visible import json_text
from checker.records import replace

if TYPE_CHECKING:
    from checker.render.diagram.rows import Layout
    from checker.results.trace import Trace

BUDGET = 60.0
"""Seconds."""


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option(
    "--budget",
    type=click.FloatRange(min=0.0),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for minimising the run and for counterfactuals (without each fault).",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="K",
    help="Number of threads (default: all cores).",
)
@click.option("--trace-out", metavar="FILE", help="Write the explained trace as JSON.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write the explained trace as JSON to stdout, and nothing else.",
)
@click.option("--steps", is_flag=True, help="Also list every step and its state changes.")
@LAYOUT
def explain(
    trace: str,
    budget: float,
    threads: int | None,
    trace_out: str | None,
    as_json: bool,
    steps: bool,
    layout: Layout,
) -> int:
    """Explain why the run of TRACE violates its property.

    The run is replayed from its spec, then minimised: fewest faults, then fewest messages, then
    fewest steps. For each remaining fault and message, the property is checked without it. Exits
    with 1, like `replay`, since the run is a violation.
    """
    from checker.cli.console import print_view, require_writable, write_file
    from checker.cli.progress import Meter
    from checker.cli.trace_documents import load_document, replay_document
    from checker.formats.json_format import trace_to_json
    from checker.render.terminal.text import explain_view
    from checker.session import pipeline

    if trace_out is not None:
        require_writable(trace_out)
    document = load_document(trace)
    run = replay_document(document)
    with Meter(f"explaining {trace}", silent=as_json) as meter:
        found = pipeline.explain_trace(run, budget, threads=threads, listener=meter)
    again = _since(document.trace, found)
    text = json_text(trace_to_json(again))
    if trace_out is not None:
        write_file(trace_out, text + "\n")
    if as_json:
        console.print_line(text)
    else:
        print_view(explain_view(again, steps, layout))
    return 1


def _since(document: Trace, found: Trace) -> Trace:
    """Returns ``found`` with the sizes of the execution that was found first, where ``document``
    was explained before.
    """
    first, now = document.explanation, found.explanation
    if first is None or first.before is None or now is None:
        return found
    return replace(found, explanation=replace(now, before=first.before))
