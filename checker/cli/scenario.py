"""``bivalence scenario``: a trace becomes a scenario, a regression from then on."""

from __future__ import annotations

import click

from checker.cli import say


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option(
    "-o", "--output", metavar="FILE", help="Where to, with what `replay` needs; default: stdout."
)
@click.option("--name", metavar="NAME", help="What the scenario is called.")
def scenario(trace: str, output: str | None, name: str | None) -> int:
    """Write the run of TRACE as a scenario: the text of a clause for its check.

    A check runs its scenarios beside its exploration, so that a bug once found stays found.
    """
    from checker import pipeline
    from checker.cli.say import require_writable, write
    from checker.cli.scenarios import named, text_of
    from checker.cli.traces import loaded, replayed
    from checker.stepping.scenario import claims_of, clause, retold
    from checker.witness.replay import path_of

    document = replayed(loaded(trace))
    opened = pipeline.open_again(document)
    path = path_of(opened.system, document)
    taken = retold(opened, path)
    if output is None:
        called = named(name or document.property_name or "run")
        say.put(clause(called, taken, path.loop, claims_of(document)))
        return 0
    require_writable(output)
    write(output, text_of(opened, taken, document, output, name))
    return 0
