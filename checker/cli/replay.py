"""``bivalence replay``: a run that was written down is made again."""

from __future__ import annotations

from dataclasses import replace

import click


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--steps", is_flag=True, help="Step by step as well, with all that changes.")
def replay(trace: str, steps: bool) -> int:
    """Make a trace's run again, and show it.

    The spec, check and parameters are those that TRACE names. Exits 1 where the run does what the
    trace says: it is a violation, after all.
    """
    from checker.cli.say import page
    from checker.cli.traces import changed, loaded, replayed
    from checker.views.text import trace_view

    document = loaded(trace)
    again = replayed(document)
    if not document.edited and not changed(document.trace):
        again = replace(again, explanation=document.trace.explanation)
    page(trace_view(again, steps))
    return 1
