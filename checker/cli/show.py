"""``bivalence show``: shows a check's properties, transition system, or threshold automaton."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.check import only_asked
from checker.cli.settings import FINE_STEPS, SET, TIMEOUT

if TYPE_CHECKING:
    from checker.engines.options import Options
    from checker.language.load import Spec
    from checker.language.syntax.typed import Check
    from checker.results.verdict import Report


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="FILE[::CHECK]...")
@SET
@click.option("--system", is_flag=True, help="Print the finite transition system.")
@click.option("--automaton", is_flag=True, help="Print the threshold automaton for all sizes.")
@click.option(
    "--graph", is_flag=True, help="Print the state graph of a small check, in DOT for Graphviz."
)
@click.option("--svg", metavar="FILE", help="Draw the state graph or the threshold automaton.")
@click.option("--only", multiple=True, metavar="PROPERTY", help="Show only PROPERTY (repeatable).")
@FINE_STEPS
@TIMEOUT
def show(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    system: bool,
    automaton: bool,
    graph: bool,
    svg: str | None,
    only: tuple[str, ...],
    fine_steps: bool,
    timeout: float | None,
) -> int:
    """Show the properties and assumptions of checks.

    With --system, shows the finite transition system that `check` explores; with --automaton, the
    threshold automaton that `prove --all-n` analyses; with --graph, the states and steps of a small
    check.
    """
    from checker.engines import budgets

    with budgets.within(timeout), budgets.raising_when_exhausted():
        _show(names, settings, system, automaton, graph, svg, only, fine_steps, timeout)
    return 0


def _show(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    system: bool,
    automaton: bool,
    graph: bool,
    svg: str | None,
    only: tuple[str, ...],
    fine_steps: bool,
    timeout: float | None,
) -> None:
    from checker.cli.console import require_writable
    from checker.cli.settings import settings_of, targets
    from checker.extensions.tables import DEFINITION
    from checker.results.answer import Limits
    from checker.session import pipeline

    options = pipeline.Options(
        settings=settings_of(settings),
        engine=DEFINITION,
        threads=1,
        fine_steps=fine_steps,
        limits=Limits(max_states=1, max_depth=0, timeout=timeout),
    )
    asked = only_asked(targets(names), only)
    if system + (automaton or (svg is not None and not graph)) + graph > 1:
        raise click.UsageError("--system, --automaton and --graph exclude each other")
    if svg is not None:
        require_writable(svg)
    if len(asked) > 1 and (svg is not None or graph):
        drawn = "--graph" if graph else "--svg"
        raise click.UsageError(f"{drawn} applies to one check: name it, as FILE::CHECK")
    for number, (spec, name) in enumerate(asked):
        if number:
            console.print_line()
        for line in () if graph else spec.difference(name):
            console.print_line(line)
        if graph:
            _draw_graph(spec, name, options, svg)
        elif automaton or svg is not None:
            _draw(spec, name, options, svg)
        elif system:
            console.print_line(pipeline.dump(spec, name, options).rstrip("\n"))
        elif pipeline.is_parametric(spec, name, options.settings):
            check = pipeline.load_check(spec, name, options.settings)
            console.print_line(_describe_parametric(str(spec), check))
        else:
            report = pipeline.run_check(spec, name, options)
            ended = timeout is not None and report.stopped == options.limits.no_more_time
            if ended or report.was_interrupted:
                raise KeyboardInterrupt(report.stopped)
            console.print_line(_describe(report))


def _draw(spec: Spec, name: str, options: Options, svg: str | None) -> None:
    """Prints the threshold automaton of a check, or draws it as a picture in the file ``svg``."""
    from checker.cli.console import print_note, write_file
    from checker.proving.parametric import automaton_of

    automaton, questions = automaton_of(spec, name, options)
    if svg is None:
        from checker.parametric.drawing.text_drawing import draw_text

        console.write_stdout(draw_text(automaton, questions))
        return
    from checker.parametric.drawing.svg_drawing import svg_of

    write_file(svg, svg_of(automaton, questions))
    print_note(f"{svg} shows {spec}::{name}")


def _draw_graph(spec: Spec, name: str, options: Options, svg: str | None) -> None:
    """Prints the state graph of a check in DOT, or draws it as a picture in the file ``svg``."""
    from checker.cli.console import print_note, write_file, write_stdout
    from checker.formats.dot import dot_of
    from checker.render.diagram.state_graph import said_of, state_graph_svg
    from checker.session.observed_graph import observed_graph

    found = observed_graph(spec, name, options)
    if svg is None:
        write_stdout(dot_of(found))
    else:
        write_file(svg, state_graph_svg(found))
        print_note(f"{svg} shows {spec}::{name}: {said_of(found)[0]}")


def _describe_parametric(path: str, check: Check) -> str:
    """Describes a check for all sizes in words."""
    from checker.language.syntax.constant_text import sizes_of

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
