"""``bivalence frontier``: how far a check holds over sizes, faults and worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from checker.cli.console import write_file
from checker.cli.document_options import unusable_document, writing_errors
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.points import (
    Clock,
    Keeper,
    asked,
    finish,
    options_for,
    point_options,
    require_writable,
    run_points,
)
from checker.formats.kinds import FRONTIERS_KIND

if TYPE_CHECKING:
    from checker.results.frontier import Frontier
    from checker.sweep.grid import Grid
    from checker.worlds.assumptions import Question
    from checker.worlds.frontier import FrontierSearch

POINTS = 400


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE[::CHECK]")
@click.option(
    "--over",
    multiple=True,
    required=True,
    metavar="AXES",
    help="Axes of the grid, such as n=2..6,f=0..3 (repeatable).",
)
@click.option(
    "--points",
    type=click.IntRange(min=1),
    default=POINTS,
    show_default=True,
    metavar="K",
    help="Refuse a grid with more points.",
)
@click.option("--svg", "svg_out", metavar="FILE", help="Draw the points as plots.")
@point_options
@quiet_option("Omit progress.")
@writing_errors(unusable_document(FRONTIERS_KIND))
def frontier(name: str, over: tuple[str, ...], points: int, quiet: bool, **given: Any) -> int:
    """Find the sizes, faults and worlds up to which a check holds.

    The boundary is searched along the axes that bound faults, for each combination of the others.
    Each failing point at the boundary has its run. --timeout (60 s by default) and --max-states
    limit each point. Exit codes: 0, 2 if the unchanged check is not as expected, 3 if some point at
    the boundary is undecided.
    """
    from checker.sweep.grid import grid_of

    require_writable(given)
    clock = Clock(given["budget"])
    grid = grid_of(over)
    question = asked(name, options_for(given), clock, quiet=quiet)
    search, keeper = _planned(question, grid, points), Keeper(_finish, given)
    report = run_points(search, question, clock, keeper, given["jobs"], "frontier", quiet=quiet)
    return _finish(report, given)


def _finish(report: Frontier, given: dict[str, Any]) -> int:
    """Shows and writes a report as the options ask; returns the exit code."""
    from checker.render.diagram.plots import frontier_svg
    from checker.render.html.frontier import frontier_page
    from checker.render.terminal.frontier import frontier_view

    if given["svg_out"]:
        write_file(given["svg_out"], frontier_svg(report))
    return finish(report, given, FRONTIERS_KIND, frontier_view, frontier_page)


def _planned(question: Question, grid: Grid, points: int) -> FrontierSearch:
    from checker.cli.console import print_note
    from checker.worlds.frontier import FrontierSearch, plan_frontier

    planned = plan_frontier(question, grid, points)
    for note in planned.sweep.notes:
        print_note(note)
    return FrontierSearch(question, planned)
