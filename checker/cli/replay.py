"""``bivalence replay``: a run that was written down is made again."""

from __future__ import annotations

import click


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--steps", is_flag=True, help="Step by step as well, with all that changes.")
def replay(trace: str, steps: bool) -> int:
    """Make a trace's run again, and show it.

    The spec, check and parameters are those that TRACE names. Exits 1 where the run does what the
    trace says: it is a violation, after all.
    """
    from checker import pipeline
    from checker.cli.say import page
    from checker.cli.traces import load
    from checker.diagnostics import Diagnostic, SpecError
    from checker.views.text import trace_view
    from checker.witness.replay import ReplayMismatch

    document = load(trace)
    try:
        again = pipeline.replay_trace(document)
    except (ReplayMismatch, ValueError) as problem:
        spec = document.header.file
        message = f"{trace} is no run of {spec} any more: {problem}"
        hint = "the spec or its parameters changed since; check it again, or `bivalence view` it"
        raise SpecError((Diagnostic("E009", message, None, "", hint),)) from problem
    page(trace_view(again, steps))
    return 1
