"""Runs a check at many points and reports on them: for ``assumptions`` and ``frontier``."""

from __future__ import annotations

import time
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
    from checker.worlds.asking import Asker
    from checker.worlds.assumptions import Question

R = TypeVar("R", covariant=True)
KEEPING = 1.0
"""Seconds between two reports that are kept."""
MANY = 64
"""More points than run at a time."""


class Keeper:
    """Keeps the latest report.  If this process is killed, its supervisor calls
    ``finish(report, *given)``."""

    def __init__(self, finish: Callable[..., int], *given: Any) -> None:
        from checker.cli import last_words

        self._at = 0.0
        last_words.leave(_finished, finish, given)

    def keep(self, report: Callable[[str], Any], reached: str) -> None:
        """Keeps ``report(reached)``, at most once in :data:`KEEPING` seconds; ``reached``: how far
        the work has come, in words."""
        from checker.cli import last_words

        if time.monotonic() - self._at > KEEPING:
            last_words.replace(report(reached))
            self._at = time.monotonic()


def _finished(
    finish: Callable[..., int], given: tuple[Any, ...], known: object, now: Any, why: str
) -> int:
    from checker.records import replace

    if now is None:
        console.print_note(why)
        return UNKNOWN
    return finish(replace(now, stopped=f"{why}: {now.stopped}"), *given)


class Search(Protocol[R]):
    """A search of many points, and its report at any time."""

    def run(self, asker: Asker) -> None:
        """Asks all that is needed."""

    def report(self, stopped: str | None = None) -> R:
        """Returns the report on what is known so far."""


HTML = click.option("--html", "html_out", metavar="FILE", help="Write the report as a page.")
FRESH = click.option("--fresh", is_flag=True, help="Run again what earlier commands have run.")
BUDGET = click.option(
    "--budget",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="End after SECONDS, with a report on what is known then.",
)
OPTIONS = (SET, TIMEOUT, MAX_STATES, MEMORY, JOBS, BUDGET, FRESH, HTML, JSON_OUT)


class Clock:
    """The time of a command, which begins now: ``budget`` seconds; ``None``: it has no end."""

    def __init__(self, budget: float | None) -> None:
        self._budget, self._started = budget, time.monotonic()

    @property
    def seconds(self) -> float:
        """The seconds since it began."""
        return time.monotonic() - self._started

    @property
    def left(self) -> float | None:
        """The seconds until it ends."""
        return None if self._budget is None else max(0.0, self._budget - self.seconds)

    def run(self, work: Callable[[], object], reached: Callable[[], str]) -> str | None:
        """Does ``work``.  If the budget or an interrupt ends it, returns the reason, with what it
        has ``reached``; otherwise ``None``."""
        from checker.engines import budgets

        over = f"the budget of {self._budget or 0.0:g} s is over"
        with budgets.within(self.left, said=over):
            stopped = budgets.ended(work)
        if stopped is None:
            return None
        if isinstance(stopped, budgets.BudgetExhausted):
            return f"{over}: {reached()}"
        return f"interrupted: {reached()}"


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


def asked(name: str, options: Options, clock: Clock, *, quiet: bool) -> Question:
    """Runs the check ``name`` as it is, in the time that is left; raises :class:`SpecError` (E149)
    where it is not as expected, or not decided."""
    from checker.cli.progress import Meter
    from checker.cli.settings import one_target
    from checker.session.load import is_parametric, load_check
    from checker.worlds.assumptions import Question, require_green
    from checker.worlds.points import stored_report, with_less_time

    spec, check = one_target(name)
    if is_parametric(spec, check, options.settings):
        raise click.UsageError(f"{check} is for all sizes: give it sizes with --set")
    with Meter(f"{spec}::{check}", silent=quiet) as meter:
        report = stored_report(spec, check, with_less_time(options, clock.left), meter)
    if report.was_interrupted:
        raise KeyboardInterrupt
    if report.exit_code != 0:
        from checker.cli.reporting import Display, print_report

        print_report(report, Display(quiet=quiet))
    shared = clock.left is not None and options.limits.timeout is None
    require_green(report, "E149", shared=shared)
    loaded = load_check(spec, check, options.settings)
    return Question(spec, check, loaded, options, report)


def run_points(
    search: Search[R],
    question: Question,
    clock: Clock,
    keeper: Keeper,
    jobs: int | None,
    what: str,
    *,
    quiet: bool,
) -> R:
    """Runs a search, ``jobs`` points at a time, and returns its report.  An interrupt, or the end
    of the time, ends the search: the report then covers the points decided so far."""
    from checker.cli.parallel import jobs_and_threads
    from checker.cli.progress import Phases
    from checker.diagnostics.english import count
    from checker.engines import budgets
    from checker.worlds.asking import Asker

    at_once, _ = jobs_and_threads(jobs, MANY, 1)
    with Phases(f"{what} {question.name}", silent=quiet) as line:

        def tell(done: int, running: Sequence[str]) -> None:
            budgets.raise_if_exhausted()
            keeper.keep(search.report, f"{count(done, 'point')} reached")
            line(", ".join((f"{done} points run", *running)), 0)

        with Asker(question.spec, question.name, at_once, tell) as asker:
            stopped = clock.run(
                lambda: search.run(asker), lambda: f"{count(asker.done, 'point')} reached"
            )
    return search.report(stopped)


def finish(
    report: Any,
    given: dict[str, Any],
    kind: str,
    view: Callable[[Any], RenderableType],
    page: Callable[[Any], str],
) -> int:
    """Shows and writes a report as the options ask; returns the exit code.

    ``kind``: of the JSON document; ``view`` and ``page``: make of the report what the terminal and
    a page show.
    """
    if given["json_out"] != "-":
        console.print_view(view(report))
    if given["html_out"]:
        console.write_file(given["html_out"], page(report))
    code = 0 if report.is_decided else UNKNOWN
    if given["json_out"] is not None:
        from checker.formats import json_format

        found = json_format.report_to_json(report)
        write_json(given["json_out"], json_format.document(kind, [found], [], code))
    return code
