"""``bivalence replay``: replays a recorded execution, a trace or a scenario."""

from __future__ import annotations

from pathlib import Path

import click

from checker.records import replace


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--steps", is_flag=True, help="Also list every step and its state changes.")
def replay(trace: str, steps: bool) -> int:
    """Replay a trace or scenario, and list its steps.

    TRACE names the spec, check and parameters. Exits with 1 if the trace is a violation and its
    run is reproduced, with 0 if it has no property (such as a run that explains a log). A scenario
    (FILE.scenario, or FILE::CHECK::SCENARIO) is a regression test: exits with 0 if the run is
    possible and its claims are true.
    """
    from checker.cli.console import print_view
    from checker.cli.named_scenarios import is_scenario, replay_scenario
    from checker.cli.trace_documents import changed_sources, load_document, replay_document
    from checker.render.terminal.text import replay_view

    if is_scenario(trace):
        return replay_scenario(trace, steps)
    if "::" in trace and not Path(trace).exists():
        raise click.UsageError(f"{trace}: name a scenario of a check as FILE::CHECK::SCENARIO")
    document = load_document(trace)
    again = replay_document(document)
    if not document.edited and not changed_sources(document.trace):
        again = replace(again, explanation=document.trace.explanation)
    print_view(replay_view(again, steps))
    return 1 if again.property_name or again.failure is not None else 0
