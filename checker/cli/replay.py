"""``bivalence replay``: replays a recorded execution, a trace or a scenario."""

from __future__ import annotations

from pathlib import Path

import click

from checker.records import replace


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--steps", is_flag=True, help="Step by step as well, with all that changes.")
def replay(trace: str, steps: bool) -> int:
    """Make the run of a trace or a scenario again, and list its steps.

    The spec, check and parameters are those that TRACE names. Exits 1 where the run does what the
    trace says: it is a violation, after all; 0 where it is of no property, as the run that explains
    a log. A scenario (FILE.scenario, or FILE::CHECK::SCENARIO)
    is run as a regression: exits 0 where the run is possible and its claims are true.
    """
    from checker.cli.console import print_view
    from checker.cli.named_scenarios import is_scenario, replay_scenario
    from checker.cli.trace_documents import changed_sources, load_document, replay_document
    from checker.render.terminal.text import replay_view

    if is_scenario(trace):
        return replay_scenario(trace, steps)
    if "::" in trace and not Path(trace).exists():
        raise click.UsageError(f"{trace}: a scenario of a check is called FILE::CHECK::SCENARIO")
    document = load_document(trace)
    again = replay_document(document)
    if not document.edited and not changed_sources(document.trace):
        again = replace(again, explanation=document.trace.explanation)
    print_view(replay_view(again, steps))
    return 1 if again.property_name or again.failure is not None else 0
