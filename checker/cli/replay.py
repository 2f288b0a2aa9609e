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
    from checker.cli.say import page
    from checker.cli.traces import loaded, replayed
    from checker.views.text import trace_view

    page(trace_view(replayed(loaded(trace)), steps))
    return 1
