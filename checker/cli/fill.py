"""``bivalence fill``: what can stand in the holes of a spec."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.cluster_options import CONF, MASTER, simple_cluster
from checker.cli.document_options import JSON_OUT, unusable_document, write_json, writing_errors
from checker.cli.errors import UNKNOWN
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.parallel import JOBS
from checker.cli.points import BUDGET, FRESH, Clock, Keeper, options_for, require_writable
from checker.cli.settings import MAX_STATES, MEMORY, SET, TIMEOUT
from checker.formats.kinds import FILLINGS_KIND

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from checker.engines.cluster import Cluster
    from checker.mutate.fill import FillSearch
    from checker.mutate.fill_tasks import FillOutcome, FillTask
    from checker.results.fillings import Fillings

POINTS = 400
NONE = 1
"""The exit code where no filling holds."""


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE[::CHECK]")
@click.option(
    "--points",
    type=click.IntRange(min=1),
    default=POINTS,
    show_default=True,
    metavar="K",
    help="Refuse more fillings.",
)
@click.option("--verbose", "-v", is_flag=True, help="List also what is no valid spec.")
@SET
@TIMEOUT
@MAX_STATES
@MEMORY
@BUDGET
@JOBS
@MASTER
@CONF
@FRESH
@JSON_OUT
@quiet_option("Omit progress.")
@writing_errors(unusable_document(FILLINGS_KIND))
def fill(name: str, points: int, verbose: bool, quiet: bool, **given: Any) -> int:
    """Find what can stand in the holes (??) of a spec.

    A filling is an expression for each hole. It holds if every check decides as it expects, and
    nothing is vacuous. --timeout (60 s by default) and --max-states limit each check. Exit codes:
    0, 1 if no filling holds, 3 if some filling is not decided.
    """
    from checker.language.mutation.holes import HoledSpec
    from checker.mutate.fill import FillSearch
    from checker.resources import spec_path

    require_writable({**given, "html_out": None})
    options, clock = options_for(given), Clock(given["budget"])
    path, separator, wanted = name.partition("::")
    holed = HoledSpec(Path(spec_path(path)))
    search = FillSearch(holed, path, wanted if separator else None, options, points)
    cluster = simple_cluster(given["master"], given["conf"])
    keeper = Keeper(_finish, verbose, given["json_out"])
    report = _found(search, clock, keeper, given["jobs"], cluster, quiet=quiet)
    return _finish(report, verbose, given["json_out"])


def _finish(report: Fillings, verbose: bool, json_out: str | None) -> int:
    """Shows and writes a report; returns the exit code."""
    if json_out != "-":
        from checker.render.terminal.fillings import fillings_view

        console.print_view(fillings_view(report, verbose=verbose))
    code = _code(report)
    if json_out is not None:
        from checker.formats import json_format

        found = json_format.report_to_json(report)
        write_json(json_out, json_format.document(FILLINGS_KIND, [found], [], code))
    return code


def _code(report: Fillings) -> int:
    from checker.results.fillings import FillingFate

    if not report.is_decided:
        return UNKNOWN
    return 0 if report.with_fate(FillingFate.HOLDS) else NONE


def _found(
    search: FillSearch,
    clock: Clock,
    keeper: Keeper,
    jobs: int | None,
    cluster: Cluster | None,
    *,
    quiet: bool,
) -> Fillings:
    from checker.cli.parallel import jobs_and_threads, run_in_order
    from checker.cli.progress import Count
    from checker.mutate.fill_tasks import lost_filling, run_filling
    from checker.records import replace
    from checker.sweep.local import Work

    def run(tasks: Sequence[FillTask]) -> Iterator[FillOutcome]:
        at_once, threads = jobs_and_threads(jobs, len(tasks), None)
        ready = [replace(t, options=replace(t.options, threads=threads)) for t in tasks]
        work = Work(run_filling, lost_filling)
        with (
            Count("fill", len(tasks), "run", silent=quiet) as meter,
            closing(run_in_order(ready, at_once, work, meter, str, cluster)) as outcomes,
        ):
            for outcome in outcomes:
                yield outcome
                keeper.keep(search.report, search.reached())

    return search.report(clock.run(lambda: search.run(run), search.reached))
