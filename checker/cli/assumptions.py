"""``bivalence assumptions``: the weakest worlds in which the properties of a check hold."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

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
from checker.formats.kinds import ASSUMPTIONS_KIND


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE[::CHECK]")
@point_options
@click.option("--verbose", "-v", is_flag=True, help="List the weakest worlds.")
@quiet_option("Omit progress.")
@writing_errors(unusable_document(ASSUMPTIONS_KIND))
def assumptions(name: str, quiet: bool, verbose: bool, **given: Any) -> int:
    """Find what a check assumes and its properties need.

    Assumptions of the check's world (faults, links, timing, detectors, fairness) are given up, one
    or more at a time, as far as each property still holds. What is needed is shown by a run.
    --timeout and --max-states limit each world. Exit codes: 0, 2 if the unchanged check is
    not as expected, 3 if some world is undecided.
    """
    from checker.render.html.weakest_worlds import weakest_worlds_page
    from checker.render.terminal.weakest_worlds import weakest_worlds_view
    from checker.worlds.assumptions import Assumptions

    require_writable(given)
    clock = Clock(given["budget"])
    question = asked(name, options_for(given), clock, quiet=quiet)
    search = Assumptions(question)
    view = partial(weakest_worlds_view, verbose=verbose)
    written = given, ASSUMPTIONS_KIND, view, weakest_worlds_page
    keeper, jobs = Keeper(finish, *written), given["jobs"]
    report = run_points(search, question, clock, keeper, jobs, "assumptions", quiet=quiet)
    return finish(report, *written)
