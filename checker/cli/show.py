"""``bivalence show``: shows a check's properties, transition system, or threshold automaton."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.settings import SET

if TYPE_CHECKING:
    from checker.lang.typed import Check
    from checker.options import Options
    from checker.witness.verdict import Report


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="FILE[::CHECK]...")
@SET
@click.option("--system", is_flag=True, help="The finite transition system, readable.")
@click.option(
    "--automaton", is_flag=True, help="The threshold automaton that stands for all sizes."
)
@click.option("--svg", metavar="FILE", help="Draw that automaton.")
@click.option("--fine-steps", is_flag=True, help="Each copy of a multicast leaves in its own step.")
def show(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    system: bool,
    automaton: bool,
    svg: str | None,
    fine_steps: bool,
) -> int:
    """Show what checks ask.

    Parameters, properties with their definitions, and what is assumed; or, with --system, the
    finite transition system that is searched; or, with --automaton, the threshold automaton of
    which `prove --all-n` asks.
    """
    from checker import pipeline
    from checker.cli.console import require_writable
    from checker.cli.settings import settings_of, targets
    from checker.witness.answer import Limits

    options = pipeline.Options(
        settings=settings_of(settings),
        engine="reference",
        threads=1,
        fine_steps=fine_steps,
        limits=Limits(max_states=1, max_depth=0),
    )
    asked = targets(names)
    if system and (automaton or svg is not None):
        raise click.UsageError("--system or --automaton: one of the two")
    if svg is not None:
        require_writable(svg)
        if len(asked) > 1:
            raise click.UsageError("--svg draws one automaton: name the check, as FILE::CHECK")
    for number, (path, name) in enumerate(asked):
        if number:
            console.print_line()
        if automaton or svg is not None:
            _draw(path, name, options, svg)
        elif system:
            console.print_line(pipeline.dump(path, name, options).rstrip("\n"))
        elif pipeline.is_parametric(path, name, options.settings):
            check = pipeline.load_check(path, name, options.settings)
            console.print_line(_describe_parametric(path, check))
        else:
            console.print_line(_describe(pipeline.run_check(path, name, options)))
    return 0


def _draw(path: str, name: str, options: Options, svg: str | None) -> None:
    """Prints the threshold automaton of a check, or draws it as a picture in the file ``svg``."""
    from checker.cli.console import print_note, write_file
    from checker.proving.parametric import automaton_of

    automaton, questions = automaton_of(path, name, options)
    if svg is None:
        from checker.threshold.text_drawing import draw_text

        console.write_stdout(draw_text(automaton, questions))
        return
    from checker.threshold.svg_drawing import svg_of

    write_file(svg, svg_of(automaton, questions))
    print_note(f"{svg} shows {path}::{name}")


def _describe_parametric(path: str, check: Check) -> str:
    """Describes a check for all sizes in words."""
    from checker.lang.constant_text import sizes_of

    lines = [f"{path}::{check.name}", f"  for {sizes_of(check)}"]
    expected = {e.what: str(e.value) for e in check.expect}
    for asked in check.prove:
        lines.append(f"  {asked.name} (expected: {expected.get(asked.name, 'holds')})")
        lines.append(f"    {' '.join((asked.document or asked.text).split())}")
    return "\n".join(lines)


def _describe(report: Report) -> str:
    """Describes a check in words; the report is of a search of the initial states only."""
    sizes = ", ".join(f"{name} = {value}" for name, value in report.parameters.items())
    lines = [f"{report.file}::{report.check}", f"  with {sizes}" if sizes else "  no parameters"]
    expected = {e.what: e.expected for e in report.expectations}
    for verdict in report.verdicts:
        wanted = report.expected_word(verdict)
        expected.pop(verdict.property, None)
        lines.append(f"  {verdict.property} (expected: {wanted})")
        lines.append(f"    {' '.join(verdict.definition.split())}")
        lines += [f"    assumed: {assumption}" for assumption in verdict.assumptions]
    lines += [f"  expected: {what} {value}" for what, value in expected.items()]
    return "\n".join(lines)
