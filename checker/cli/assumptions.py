"""``bivalence assumptions``: the weakest worlds in which the properties of a check hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from checker.cli import console
from checker.cli.document_options import JSON_OUT, unusable_document, write_json, writing_errors
from checker.cli.errors import UNKNOWN
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.parallel import JOBS
from checker.cli.settings import MAX_STATES, MEMORY, SET, TIMEOUT
from checker.formats.kinds import ASSUMPTIONS_KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.engines.options import Options
    from checker.worlds.asking import Asker
    from checker.worlds.assumptions import Question

R = TypeVar("R", covariant=True)
MANY = 64
"""More points than run at a time."""


class Search(Protocol[R]):
    """A search of many points, and its report at any time."""

    def run(self, asker: Asker) -> None:
        """Asks all that is needed."""

    def report(self, stopped: str | None = None) -> R:
        """Returns what is known."""


HTML = click.option("--html", "html_out", metavar="FILE", help="Write the report as a page.")
FRESH = click.option("--fresh", is_flag=True, help="Run again what earlier commands have run.")


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE[::CHECK]")
@SET
@TIMEOUT
@MAX_STATES
@MEMORY
@JOBS
@FRESH
@HTML
@JSON_OUT
@click.option("--verbose", "-v", is_flag=True, help="List the weakest worlds.")
@quiet_option("Omit progress.")
@writing_errors(unusable_document(ASSUMPTIONS_KIND))
def assumptions(name: str, quiet: bool, verbose: bool, **given: Any) -> int:
    """Find what a check assumes and its properties need.

    Assumptions of the check's world (faults, links, timing, detectors, fairness) are given up, one
    or more at a time, as far as each property still holds. What is needed is shown by a run.
    --timeout and --max-states limit each world. Exit codes: 0, 2 if the check is not as expected
    as it is, 3 if some world is undecided.
    """
    from checker import kept
    from checker.cli.reporting import require_outputs
    from checker.worlds.assumptions import Assumptions

    outputs = [given[out] for out in ("json_out", "html_out") if given[out]]
    require_outputs(outputs)
    if given["fresh"]:
        kept.use(False)
    question = asked(name, options_for(given), quiet=quiet)
    search = Assumptions(question)
    report = run_points(search, question, given["jobs"], "assumptions", quiet=quiet)
    if given["json_out"] != "-":
        from checker.render.terminal.weakest_worlds import weakest_worlds_view

        console.print_view(weakest_worlds_view(report, verbose=verbose))
    if given["html_out"]:
        from checker.render.html.weakest_worlds import weakest_worlds_page

        console.write_file(given["html_out"], weakest_worlds_page(report))
    code = 0 if report.is_decided else UNKNOWN
    if given["json_out"] is not None:
        from checker.formats import json_format

        found = json_format.report_to_json(report)
        write_json(given["json_out"], json_format.document(ASSUMPTIONS_KIND, [found], [], code))
    return code


def options_for(given: dict[str, Any]) -> Options:
    """Returns the options of a command that runs a check at many points, from its arguments."""
    from checker.cli.settings import settings_of
    from checker.engines.options import Options
    from checker.results.answer import Limits

    limits = Limits(
        timeout=given["timeout"], memory=given["memory"], max_states=given["max_states"]
    )
    return Options(settings=settings_of(given["settings"]), threads=1, limits=limits)


def asked(name: str, options: Options, *, quiet: bool) -> Question:
    """Runs the check ``name`` as it is; raises :class:`SpecError` (E149) where it is not as
    expected."""
    from checker.cli.progress import Meter
    from checker.cli.settings import one_target
    from checker.proving.dispatch_check import answer_check
    from checker.session.load import is_parametric, load_check
    from checker.worlds.assumptions import Question, require_green

    spec, check = one_target(name)
    if is_parametric(spec, check, options.settings):
        raise click.UsageError(f"{check} is for all sizes: give it sizes with --set")
    with Meter(f"{spec}::{check}", silent=quiet) as meter:
        report = answer_check(spec, check, options, meter)
    if report.was_interrupted:
        raise KeyboardInterrupt
    if report.exit_code != 0:
        from checker.cli.reporting import Display, print_report

        print_report(report, Display(quiet=quiet))
    require_green(report)
    loaded = load_check(spec, check, options.settings)
    return Question(spec, check, loaded, options, report)


def run_points(
    search: Search[R], question: Question, jobs: int | None, what: str, *, quiet: bool
) -> R:
    """Runs a search of many points, ``jobs`` at a time, and returns its report; where it is
    interrupted, one on what is known by then."""
    from checker.cli.parallel import jobs_and_threads
    from checker.cli.progress import Phases
    from checker.worlds.asking import Asker

    at_once, _ = jobs_and_threads(jobs, MANY, 1)
    with Phases(f"{what} {question.name}", silent=quiet) as line:

        def tell(done: int, running: Sequence[str]) -> None:
            line(", ".join((f"{done} points run", *running)), 0)

        with Asker(question.spec, question.name, at_once, tell) as asker:
            try:
                search.run(asker)
            except KeyboardInterrupt:
                return search.report(f"interrupted after {asker.done} points")
    return search.report()
