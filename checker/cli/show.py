"""``bivalence show``: what a check asks, or the transition system that it becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from checker.cli.settings import SET

if TYPE_CHECKING:
    from checker.witness.verdict import Report


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="FILE[::CHECK]...")
@SET
@click.option("--system", is_flag=True, help="The finite transition system, readable.")
@click.option("--fine-steps", is_flag=True, help="Each copy of a multicast leaves in its own step.")
def show(names: tuple[str, ...], settings: tuple[str, ...], system: bool, fine_steps: bool) -> int:
    """Show what checks ask.

    Parameters, properties with their definitions, and what is assumed; or, with --system, the
    finite transition system that is searched.
    """
    from checker import pipeline
    from checker.cli.settings import settings_of, targets
    from checker.witness.answer import Limits

    options = pipeline.Options(
        settings=settings_of(settings),
        engine="reference",
        threads=1,
        fine_steps=fine_steps,
        limits=Limits(max_states=1, max_depth=0),
    )
    for number, (path, name) in enumerate(targets(names)):
        if number:
            click.echo()
        if system:
            click.echo(pipeline.dump(path, name, options).rstrip("\n"))
        else:
            click.echo(_described(pipeline.run_check(path, name, options)))
    return 0


def _described(report: Report) -> str:
    """A check in words; the report is of a search that only looked at the start."""
    sizes = ", ".join(f"{name} = {value}" for name, value in report.parameters.items())
    lines = [f"{report.file}::{report.check}", f"  with {sizes}" if sizes else "  no parameters"]
    expected = {e.what: e.expected for e in report.expectations}
    for verdict in report.verdicts:
        wanted = report.wanted(verdict)
        expected.pop(verdict.property, None)
        lines.append(f"  {verdict.property} (expected: {wanted})")
        lines.append(f"    {' '.join(verdict.definition.split())}")
        lines += [f"    assumed: {assumption}" for assumption in verdict.assumptions]
    lines += [f"  expected: {what} {value}" for what, value in expected.items()]
    return "\n".join(lines)
