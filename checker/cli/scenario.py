"""``bivalence scenario``: converts a trace into a scenario, which serves as a regression test."""

from __future__ import annotations

import click

from checker.cli import console


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option(
    "-o", "--output", metavar="FILE", help="Output file, which `replay` can run (default: stdout)."
)
@click.option("--name", metavar="NAME", help="Name of the scenario.")
def scenario(trace: str, output: str | None, name: str | None) -> int:
    """Write the run of TRACE as a scenario clause for its check.

    A check also runs its scenarios, so a scenario serves as a regression test.
    """
    from checker.cli.console import require_writable, write_file
    from checker.cli.named_scenarios import scenario_name, text_of
    from checker.cli.trace_documents import load_document, replay_document
    from checker.results.replay import path_of
    from checker.session import pipeline
    from checker.simulate.scenario import as_choices, claims_of, clause

    document = replay_document(load_document(trace))
    opened = pipeline.open_again(document)
    path = path_of(opened.system, document)
    taken = as_choices(opened, path)
    if output is None:
        called = scenario_name(name or document.property_name or "run")
        console.write_stdout(clause(called, taken, path.loop, claims_of(document)))
        return 0
    require_writable(output)
    write_file(output, text_of(opened, taken, document, output, name))
    return 0
