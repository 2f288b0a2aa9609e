"""``bivalence conform``: whether the log of an implementation is a run of its spec."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.cluster_options import CONF, MASTER, simple_cluster
from checker.cli.document_options import (
    ITF_OUT,
    JSON_OUT,
    trace_option,
    unusable_document,
    write_json,
    writing_errors,
)
from checker.cli.errors import UNKNOWN
from checker.cli.mapping_option import MAPPING
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.parallel import JOBS
from checker.cli.settings import FINE_STEPS, LOG_ENGINE, MAX_STATES, MEMORY, SET, TIMEOUT
from checker.formats.kinds import CONFORMANCES_KIND
from checker.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.cli.conform_tasks import LogOutcome, LogTask
    from checker.conform.conform_log import Asked
    from checker.engines.cluster import Cluster
    from checker.results.conformance import Conformance

OUTPUTS = ("json_out", "trace_out", "itf_out", "html_out")

MOST_SHOWN = 10
"""Of several logs, so many that do not conform are shown whole; of others there is a line."""
SMALL = 1 << 20
"""So many bytes of logs are checked in this process: others would only start."""
REPLAYED_OF_EACH = 200
"""Of each of several logs, so many steps of its run are replayed."""


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE::CHECK")
@click.argument("logs", metavar="LOG…", nargs=-1, required=True)
@SET
@MAPPING
@FINE_STEPS
@LOG_ENGINE
@click.option(
    "--replay",
    type=click.IntRange(min=0),
    metavar="K",
    help="Replay the last K steps of a run with the interpreter; the trace has these steps"
    " (default: 2000; 200 per log if there are several).",
)
@click.option(
    "--windows",
    is_flag=True,
    help="Score the logs by handler: check each step against its process alone.",
)
@click.option(
    "--coverage",
    is_flag=True,
    help="With the score (--windows): what of the spec no log shows, and runs that would.",
)
@MAX_STATES
@TIMEOUT
@MEMORY
@JOBS
@MASTER
@CONF
@JSON_OUT
@trace_option("the run's")
@ITF_OUT
@click.option(
    "--html",
    "html_out",
    metavar="FILE",
    help="Write the run as a page, with the reason why it ends; with --windows, the score and the"
    " spec with the windows of each line.",
)
@quiet_option("Omit progress and runs.")
@writing_errors(unusable_document(CONFORMANCES_KIND))
def conform(name: str, logs: tuple[str, ...], quiet: bool, **given: Any) -> int:
    """Check whether logs are logs of runs of a check.

    LOG is a file of JSON lines (docs/logs.md). Several files form one log. Each process numbers
    its lines; clocks are not used. Lines with the same `run` form a separate log, and so do the
    files of a folder. Several logs are checked independently, in processes (--jobs) or on Spark
    (--master), with limits per log; conforming logs are counted, the others are reported.
    Kinds of events that are not logged may happen at any time; every line must be explained by a
    step. Exit codes: 0 conforms, 1 does not conform, 3 unknown (a limit was reached), 4 vacuous
    (no event is logged). With --windows also 1 if a window is not explained, 3 if some were not
    checked, 4 if there are none.
    """
    from checker.cli.reporting import require_outputs
    from checker.results.verdict import worst

    outputs = [given[each] for each in OUTPUTS if given[each]]
    require_outputs(outputs)
    cluster = simple_cluster(given["master"], given["conf"])
    asking = _Asking(_asked(name, given), quiet, given["replay"], silent=given["json_out"] == "-")
    asking.ask(logs, given["jobs"], cluster)
    _write(asking, given)
    return worst(asking.codes)


def _asked(name: str, given: dict[str, Any]) -> Asked:
    from checker.cli.settings import one_target, settings_of
    from checker.conform.conform_log import Asked
    from checker.logs.read_mapping import read_mapping
    from checker.record.kinds import KINDS
    from checker.results.answer import Limits
    from checker.session.pipeline import Options

    spec, check = one_target(name)
    mapping = read_mapping(given["mapping"])
    mapping.require_known("kind", (*KINDS, *mapping.ignored), "a kind of line")
    options = Options(
        settings=settings_of(given["settings"]),
        fine_steps=given["fine_steps"],
        engine=given["engine"],
        limits=Limits(given["max_states"], None, given["timeout"], given["memory"]),
    )
    coverage = given["coverage"]
    windows = given["windows"] or coverage
    return Asked(spec, check, options, mapping, windows=windows, coverage=coverage)


class _Asking:
    """Asks of logs, and shows what is found: a report, or an outcome without one, for each
    (``found``), and exit ``codes``; ``several``: of more than one."""

    def __init__(self, asked: Asked, quiet: bool, replay: int | None, *, silent: bool) -> None:
        self.asked, self.quiet, self.silent = asked, quiet, silent
        self._replay = replay
        self.found: list[Conformance | LogOutcome] = []
        self.codes: list[int] = []
        self.several = False
        self._shown = 0
        self._started = time.monotonic()

    @property
    def reports(self) -> list[Conformance]:
        """The reports on logs that can be used."""
        from checker.results.conformance import Conformance

        return [each for each in self.found if isinstance(each, Conformance)]

    def ask(self, logs: tuple[str, ...], jobs: int | None, cluster: Cluster | None) -> None:
        """Asks of each of ``logs``; an interrupt ends it, and what was found so far is kept."""
        from checker.engines import budgets
        from checker.results.answer import stop_reason

        limits = self.asked.options.limits
        tasks: list[LogTask] = []
        try:
            with budgets.within(limits.timeout, limits.memory):
                tasks = self._tasks(logs)
                self.several = len(tasks) > 1
                if len(tasks) == 1:
                    self._one(tasks[0])
            if self.several:
                self._several(tasks, jobs, cluster)
        except KeyboardInterrupt as error:
            self.codes.append(UNKNOWN)
            console.print_note(f"{stop_reason(error)}: not all logs were checked")
        if self.several and not self.silent:
            self._summarise(len(tasks))

    def _tasks(self, logs: tuple[str, ...]) -> list[LogTask]:
        """Returns what is to be asked; none where that is not known, which is shown and kept."""
        from checker.cli.conform_tasks import tasks_of
        from checker.conform.conform_log import not_begun
        from checker.conform.read_log import Log
        from checker.engines import budgets
        from checker.results.answer import stop_reason

        tasks: list[LogTask] = []

        def read() -> None:
            tasks.extend(tasks_of(self.asked, logs))

        error = budgets.ended(lambda: self._attempt(", ".join(logs), read))
        if error is not None:
            seconds = time.monotonic() - self._started
            self._keep(not_begun(self.asked, Log(logs), stop_reason(error), seconds))
            return []
        return tasks

    def _attempt(self, name: str, what: Callable[[], None]) -> None:
        """Does ``what``; an error of it is shown and kept, as what is said of the log ``name``."""
        from checker.cli.conform_tasks import LogOutcome
        from checker.cli.errors import failure_of

        try:
            what()
        except Exception as problem:
            failed = failure_of(problem)
            self.codes.append(failed.code)
            self.found.append(LogOutcome(1, name, (), failed.code, failed.said, failed.errors))
            console.print_error_text(failed.said)

    def _keep(self, report: Conformance) -> None:
        """Keeps the report on the only log, and shows it."""
        from checker.render.terminal.conformance import conformance_view

        self.found.append(report)
        self.codes.append(report.exit_code)
        if not self.silent:
            console.print_view(conformance_view(report, runs=not self.quiet))

    def _of_each(self, replay: int) -> Asked:
        """Returns what is asked of each log, with ``replay`` steps replayed by default."""
        return replace(self.asked, replay=replay if self._replay is None else self._replay)

    def _one(self, task: LogTask) -> None:
        """Asks of a log, shows what is found, and keeps the run."""
        from checker.cli.progress import Meter
        from checker.conform.conform_log import REPLAYED
        from checker.conform.conform_log import conform as ask

        reports: list[Conformance] = []

        def answer() -> None:
            with Meter(str(task.asked), silent=self.quiet) as meter:
                asked = replace(self._of_each(REPLAYED), proposals=True)
                reports.append(ask(asked, task.source, meter))

        self._attempt(task.name, answer)
        for report in reports:
            self._keep(report)

    def _several(self, tasks: list[LogTask], jobs: int | None, cluster: Cluster | None) -> None:
        from checker.cli.conform_tasks import for_each_log, lost_task, run_task
        from checker.cli.parallel import jobs_and_threads, run_in_order
        from checker.cli.progress import Count
        from checker.session.pipeline import read_spec
        from checker.sweep.local import Work

        if jobs is None and cluster is None and sum(task.size for task in tasks) <= SMALL:
            jobs = 1
        at_once, _ = jobs_and_threads(jobs, len(tasks), 1)
        asked = self._of_each(REPLAYED_OF_EACH)
        asked = replace(asked, spec=read_spec(str(asked.spec)))
        if cluster is None:
            asked = for_each_log(asked, at_once)
        tasks = [replace(task, asked=asked) for task in tasks]
        work = Work(run_task, lost_task)
        with (
            Count(str(asked), len(tasks), "log", silent=self.quiet) as meter,
            closing(run_in_order(tasks, at_once, work, meter, str, cluster)) as outcomes,
        ):
            for outcome in outcomes:
                self._take(outcome)

    def _take(self, outcome: LogOutcome) -> None:
        """Keeps an outcome, and shows what of it does not conform."""
        from checker.render.terminal.conformance import conformance_line, conformance_view
        from checker.results.verdict import Word

        self.codes += outcome.codes
        for name, report in outcome.reports:
            self.found.append(report)
            if report.word is Word.HOLDS or self.silent:
                continue
            if report.word is Word.VIOLATED and self._shown < MOST_SHOWN:
                self._shown += 1
                alone = replace(report, windows=None)  # the score of all is shown at the end
                console.print_line(name)
                console.print_view(conformance_view(alone, runs=not self.quiet))
            else:
                console.print_view(conformance_line(report, name))
        if outcome.code:
            self.found.append(outcome)
            console.print_error_text(outcome.said)
        if any(report.was_interrupted for _, report in outcome.reports):
            raise KeyboardInterrupt

    def _summarise(self, wanted: int) -> None:
        from checker.conform.windows import merged
        from checker.render.terminal.conformance import logs_summary
        from checker.render.terminal.windows import windows_view

        scores = [each.windows for each in self.reports if each.windows is not None]
        if scores:
            console.print_view(windows_view(merged(scores)))
        seconds = time.monotonic() - self._started
        failed = len(self.found) - len(self.reports)
        console.print_view(logs_summary(self.reports, wanted, failed, seconds))


def _write(asking: _Asking, given: dict[str, Any]) -> None:
    """Writes the files that were asked for."""
    from checker.cli.console import print_note, write_file
    from checker.formats import itf, json_format
    from checker.results.verdict import Word

    if given["json_out"] is not None:
        _write_json(asking, given["json_out"])
    reports = asking.reports
    found = next((report for report in reports if report.trace is not None), None)
    trace = None if found is None or found.omitted else found.trace
    why = "no run was replayed" + (" from its start" if found else "")
    if asking.several and all(report.word is Word.HOLDS for report in reports):
        why = "all logs conform, and their runs are not stored: pass a single log"
    if given["html_out"] is not None and asking.asked.windows:
        _write_windows(reports, given["html_out"])
    elif given["html_out"] is not None:
        _write_page(found, given["html_out"], why)
    for option, write in (("trace_out", json_format.trace_to_text), ("itf_out", itf.trace_to_text)):
        if given[option] is None:
            continue
        if trace is None:
            print_note(f"{given[option]} was not written: {why}")
        else:
            write_file(given[option], write(trace))


def _write_json(asking: _Asking, file: str) -> None:
    """Writes what was found."""
    from checker.formats import json_format
    from checker.results.conformance import Conformance
    from checker.results.verdict import worst

    reports = [
        json_format.report_to_json(each)
        if isinstance(each, Conformance)
        else json_format.unusable_log_to_json(each.name, each.said, each.code)
        for each in asking.found
    ]
    unusable = (each for each in asking.found if not isinstance(each, Conformance))
    problems = [problem for each in unusable for problem in each.errors]
    code = worst(asking.codes)
    write_json(file, json_format.document(CONFORMANCES_KIND, reports, problems, code))


def _write_windows(reports: list[Conformance], file: str) -> None:
    """Writes the page of the score by windows."""
    from checker.conform.windows import merged
    from checker.render.html.windows import windows_page
    from checker.session.trace_header import sources_named

    scores = [each.windows for each in reports if each.windows is not None]
    if not scores:
        console.print_note(f"{file} was not written: no log was scored")
        return
    score = merged(scores) if len(scores) > 1 else scores[0]
    files = {each.file for each in score.covered} | {each.file for each in score.lines}
    console.write_file(file, windows_page(reports, score, sources_named(reports[0].file, files)))


def _write_page(report: Conformance | None, file: str, why: str) -> None:
    """Writes the page of a run that was replayed, and of why its log goes no further; where there
    is none, says ``why``."""
    from checker.render.html import page_of

    if report is None or report.trace is None:
        console.print_note(f"{file} was not written: {why}")
        return
    blocked = report if report.obstacles else None
    name = f"{report.check} {'does not explain its log' if blocked else 'explains its log'}"
    console.write_file(file, page_of(report.trace, names=(name, ""), conformance=blocked))
