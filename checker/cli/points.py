"""Runs a check at many points and reports on them: for ``assumptions`` and ``frontier``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from checker.cli import console
from checker.cli.document_options import JSON_OUT, write_json
from checker.cli.errors import UNKNOWN
from checker.cli.parallel import JOBS
from checker.cli.settings import MAX_STATES, MEMORY, SET, TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from checker.engines.options import Options
    from checker.results.frontier import Frontier
    from checker.results.weakest_worlds import WeakestWorlds
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
        """Returns the report on what is known so far."""


HTML = click.option("--html", "html_out", metavar="FILE", help="Write the report as a page.")
FRESH = click.option("--fresh", is_flag=True, help="Run again what earlier commands have run.")
OPTIONS = (SET, TIMEOUT, MAX_STATES, MEMORY, JOBS, FRESH, HTML, JSON_OUT)


def point_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that both commands have."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def require_writable(given: dict[str, Any]) -> None:
    """Requires that the outputs of the command can be written, and forgets decided points where the
    user asks for that."""
    from checker import kept
    from checker.cli.reporting import require_outputs

    outputs = ("json_out", "html_out", "svg_out")
    require_outputs([given[out] for out in outputs if given.get(out)])
    if given["fresh"]:
        kept.use(False)


def options_for(given: dict[str, Any]) -> Options:
    """Returns the options of a command that runs a check at many points, from its arguments."""
    from checker.cli.settings import settings_of
    from checker.engines.options import Options
    from checker.results.answer import Limits

    limits = Limits(
        timeout=given["timeout"], memory=given["memory"], max_states=given["max_states"]
    )
    return Options(settings=settings_of(given.get("settings", ())), threads=1, limits=limits)


def asked(name: str, options: Options, *, quiet: bool) -> Question:
    """Runs the check ``name`` as it is; raises :class:`SpecError` (E149) where it is not as
    expected."""
    from checker.cli.progress import Meter
    from checker.cli.settings import one_target
    from checker.session.load import is_parametric, load_check
    from checker.worlds.assumptions import Question, require_green
    from checker.worlds.points import stored_report

    spec, check = one_target(name)
    if is_parametric(spec, check, options.settings):
        raise click.UsageError(f"{check} is for all sizes: give it sizes with --set")
    with Meter(f"{spec}::{check}", silent=quiet) as meter:
        report = stored_report(spec, check, options, meter)
    if report.was_interrupted:
        raise KeyboardInterrupt
    if report.exit_code != 0:
        from checker.cli.reporting import Display, print_report

        print_report(report, Display(quiet=quiet))
    require_green(report, "E149")
    loaded = load_check(spec, check, options.settings)
    return Question(spec, check, loaded, options, report)


def run_points(
    search: Search[R], question: Question, jobs: int | None, what: str, *, quiet: bool
) -> R:
    """Runs a search, ``jobs`` points at a time, and returns its report.  An interrupt ends the
    search: the report then covers the points decided so far."""
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


def finish(
    report: WeakestWorlds | Frontier,
    given: dict[str, Any],
    kind: str,
    view: Callable[[], RenderableType],
    page: Callable[[], str],
) -> int:
    """Shows and writes a report as the options ask; returns the exit code.

    ``kind``: of the JSON document; ``view`` and ``page``: make what the terminal and a page show.
    """
    if given["json_out"] != "-":
        console.print_view(view())
    if given["html_out"]:
        console.write_file(given["html_out"], page())
    code = 0 if report.is_decided else UNKNOWN
    if given["json_out"] is not None:
        from checker.formats import json_format

        found = json_format.report_to_json(report)
        write_json(given["json_out"], json_format.document(kind, [found], [], code))
    return code
