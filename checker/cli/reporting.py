"""Runs checks one after the other, writes their reports to files, and shows them: each with a line
where there are several, and the whole report of what is not as expected."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from checker.cli import console
from checker.diagnostics.visible import json_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from checker.cli.progress import Meter
    from checker.cli.settings import Target
    from checker.language.load import Spec
    from checker.render.ci.outcomes import NotRun, Places
    from checker.render.diagram.rows import Layout
    from checker.results.events import At
    from checker.results.trace import Trace
    from checker.results.verdict import Report
    from checker.session.pipeline import Options

VERBOSE = click.option(
    "--verbose", "-v", is_flag=True, help="Also print assumptions, reductions and statistics."
)
SHOW = click.option(
    "--show",
    "shown",
    multiple=True,
    metavar="CHECK",
    help="Show the full report of CHECK, with its counterexamples, even if they were expected"
    " (repeatable).",
)


class Display(Struct, frozen=True):
    """How reports are shown.

    ``quiet``: without progress and without executions; ``verbose``: with assumptions, reductions
    and statistics; ``shown``: names of checks whose whole report is shown in any case; ``whole``:
    that of all checks is; ``steps``, ``layout``, ``lanes``, ``folded``: of executions.
    """

    quiet: bool = False
    verbose: bool = False
    shown: tuple[str, ...] = ()
    whole: bool = False
    steps: bool = False
    layout: Layout = "steps"
    lanes: tuple[str, ...] = ()
    folded: bool = False

    def require(self, asked: list[Target]) -> None:
        """Raises ``UsageError`` where ``shown`` names a check that is not among ``asked``."""
        known = list(dict.fromkeys(name for _, name in asked))
        for name in self.shown:
            if name not in known:
                raise click.UsageError(f"--show {name}: unknown check; known: {', '.join(known)}")


def run_and_report(
    asked: list[Target],
    ask: Callable[[Spec, str, Meter], Report],
    options: Options,
    files: Files,
    display: Display,
) -> int:
    """Writes what ``ask`` reports of each check, until an interrupt, to ``files``, shows it, and
    returns the worst exit code.

    An error in one check, or in showing it, is reported, and does not end the others.  If this
    process is killed, :func:`_conclude` does the rest.
    """
    from checker.cli import last_words
    from checker.cli.errors import UNKNOWN, attempt
    from checker.cli.progress import Meter
    from checker.engines import budgets
    from checker.results.answer import INTERRUPTED
    from checker.results.so_far import receiving
    from checker.results.verdict import worst

    found: list[Report | NotRun] = []
    codes: list[int] = []
    screen = Screen([(str(spec), name) for spec, name in asked], display)
    for spec in dict.fromkeys(spec for spec, _ in asked):
        files.locate(spec)
    last_words.leave(_conclude, screen, files, options)

    def receive(report: Report) -> None:
        last_words.replace((report, codes))

    for spec, name in asked:
        if budgets.is_interrupted():
            console.print_note(INTERRUPTED)
            codes.append(UNKNOWN)
            break
        started = time.monotonic()

        def answer(spec: Spec = spec, name: str = name) -> None:
            with (
                files.recording_errors(found, str(spec), name),
                Meter(f"{spec}::{name}", silent=display.quiet) as meter,
                receiving(receive),
            ):
                found.append(ask(spec, name, meter))

        failed = attempt(answer)
        codes += [failed, attempt(lambda: files.write(found))]
        if failed:
            if files.leave_stdout:
                screen.say_unusable(str(spec), name)
        else:
            report = only_reports(found)[-1]
            codes += _show(report, str(spec), time.monotonic() - started, screen, files, options)
            if report.was_interrupted:
                break
        last_words.add((found[-1], codes))
    return worst([*codes, *_close(found, screen, files)])


def _show(
    report: Report, file: str, seconds: float, screen: Screen, files: Files, options: Options
) -> list[int]:
    """Shows a report, and returns its exit code and that of showing it."""
    from checker.cli.checkpoint_options import say_kept
    from checker.cli.errors import attempt

    codes = [report.exit_code]
    if files.leave_stdout:
        codes.append(attempt(partial(screen.show, file, report, seconds)))
    for what in report.failed:
        console.print_note(f"error: {what}")
    say_kept(report, options)
    return codes


def _close(found: list[Report | NotRun], screen: Screen, files: Files) -> list[int]:
    """Shows the total, and closes the outputs."""
    from checker.cli.errors import attempt

    if files.leave_stdout:
        screen.say_total(only_reports(found))
    return [attempt(lambda: files.close(found))]


def _conclude(
    screen: Screen,
    files: Files,
    options: Options,
    known: list[tuple[Report | NotRun, list[int]]],
    now: tuple[Report, list[int]] | None,
    why: str,
) -> int:
    """Does the rest of :func:`run_and_report` where its process was killed, for the reason ``why``.

    ``known``: the reports that were shown, each with the exit codes so far; ``now``: what is known
    of the check that was under way.
    """
    from checker.cli.errors import UNKNOWN, attempt
    from checker.results.verdict import worst
    from checker.session.if_killed import because

    found, codes = [report for report, _ in known], list(known[-1][1]) if known else []
    for report in found:
        screen.skip(report)
    console.print_note(why)
    if now is not None:
        report = because(now[0], why)
        found.append(report)
        codes += [*now[1], attempt(lambda: files.write(found))]
        codes += _show(report, report.file, report.seconds, screen, files, options)
    return worst([*codes, UNKNOWN, *_close(found, screen, files)])


def require_outputs(outputs: list[str]) -> None:
    """Raises ``UsageError`` where two of the files are the same, or a file can't be written."""
    from checker.cli.console import require_writable

    if len(set(outputs)) < len(outputs):
        raise click.UsageError("two outputs name the same file")
    for output in outputs:
        if output != "-":
            require_writable(output)


class Screen:
    """What is shown on stdout: a check that is asked alone with its whole report, and of several
    checks a line for each, with the whole report of those that are not as expected."""

    def __init__(self, asked: list[tuple[str, str]], display: Display) -> None:
        self._names: dict[str, list[str]] = {}
        for file, name in asked:
            self._names.setdefault(file, []).append(name)
        self._checks = len(asked)
        self._display = display
        self._began = time.monotonic()
        self._file = ""
        self._apart = False
        self._notes: dict[str, list[str]] = {}

    def skip(self, report: Report | NotRun) -> None:
        """Takes ``report`` as shown."""
        self._file = report.file

    @property
    def _alone(self) -> bool:
        return self._checks == 1

    def show(self, file: str, report: Report, seconds: float) -> None:
        """Shows the report on a check of ``file``, which took ``seconds``."""
        display = self._display
        if self._alone:
            print_report(report, display)
            return
        from checker.render.terminal.check_line import check_line
        from checker.render.terminal.report import report_view

        self._name_file(file)
        console.print_view(check_line(report, seconds, self._names[file]))
        whole = display.whole or report.exit_code != 0 or report.check in display.shown
        self._apart = whole or display.verbose or report.coverage is not None
        if not self._apart:
            self._show_caveats(report)
            return
        console.print_line()
        if whole:
            print_report(report, display)
        else:
            console.print_view(report_view(report, verbose=display.verbose))

    def _show_caveats(self, report: Report) -> None:
        """Shows what limits the verdicts, except for notes, which stand below all checks."""
        from checker.render.terminal.check_line import caveats, caveats_view
        from checker.render.terminal.report import not_asked_text

        if rows := list(caveats(report)):
            console.print_view(caveats_view(rows))
        said = not_asked_text(report)
        unasked = (f"not covered: {said}",) if said else ()
        for note in (*unasked, *report.notes):
            self._notes.setdefault(note, []).append(report.check)

    def _show_notes(self) -> None:
        """Shows the notes on the checks of a file, each once, with the checks that it is about."""
        from checker.render.terminal.check_line import notes_view

        if self._notes:
            console.print_line()
            console.print_view(notes_view(self._notes))
        self._notes.clear()

    def say_unusable(self, file: str, name: str) -> None:
        """Shows that a check could not be run."""
        if not self._alone:
            from checker.render.terminal.check_line import unusable_line

            self._name_file(file)
            console.print_view(unusable_line(name, self._names[file]))

    def say_total(self, reports: list[Report]) -> None:
        """Shows the total of several checks, of which ``reports`` could be run."""
        if self._alone:
            return
        from checker.render.terminal.check_line import total_text

        seconds = time.monotonic() - self._began
        self._show_notes()
        console.print_line()
        console.print_view(total_text(reports, self._checks, seconds))
        expected = self._expected_counterexample(reports)
        if expected and not self._display.quiet:
            console.print_line(f"--show {expected} shows the expected counterexample")

    def _expected_counterexample(self, reports: list[Report]) -> str:
        """Returns the first check with a counterexample that was not shown; else ''."""
        if self._display.whole or self._display.shown:
            return ""
        hidden = [r for r in reports if r.exit_code == 0 and any(v.trace for v in r.verdicts)]
        return hidden[0].check if hidden else ""

    def _name_file(self, file: str) -> None:
        """Shows the file of the lines that follow, where it is another one."""
        from rich.text import Text

        if file != self._file:
            self._show_notes()
        if self._apart or (self._file and file != self._file):
            console.print_line()
        if file != self._file:
            console.print_view(Text(file, style="bold"))
        self._file, self._apart = file, False


def print_report(report: Report, display: Display) -> None:
    """Prints ``report``: its outcome, the executions unless ``quiet``, then the figures."""
    from checker.render.terminal.report import figures_view, headline_view

    console.print_view(headline_view(report))
    if not display.quiet:
        for view in _executions(report, display):
            console.print_line()
            console.print_view(view)
    console.print_line()
    console.print_view(figures_view(report, verbose=display.verbose))


def _executions(report: Report, display: Display) -> list[RenderableType]:
    """Returns the views of the executions of ``report``, then of those of other kinds."""
    if not report.has_counterexample and not traces_of(report):
        return []
    from rich.console import Group
    from rich.text import Text

    from checker.render.terminal.selection import Shown
    from checker.render.terminal.text import trace_view

    shown = Shown(display.lanes, display.folded)

    def drawn(trace: Trace, others: list[Trace]) -> RenderableType:
        return trace_view(
            trace, display.steps, others=tuple(others), layout=display.layout, shown=shown
        )

    views = [drawn(trace, others) for trace, *others in _runs(traces_of(report))]
    further = [trace for verdict in report.verdicts for trace in verdict.others]
    for number, (trace, *others) in enumerate(_runs(further), start=2):
        title = Text(f"Another kind of run ({number})\n")
        views.append(Group(title, drawn(trace, others)))
    return views


def _runs(traces: list[Trace]) -> list[list[Trace]]:
    """Groups ``traces`` by their execution."""
    from checker.render.terminal.text import same_run

    found: list[list[Trace]] = []
    for trace in traces:
        for run in found:
            if same_run(run[0], trace):
                run.append(trace)
                break
        else:
            found.append([trace])
    return found


def traces_of(report: Report) -> list[Trace]:
    """Returns the traces worth showing: the unexpected ones, then the expected ones, each once."""
    from checker.results.verdict import meets

    found: list[Trace] = []
    for surprising in (True, False):
        for verdict in report.verdicts:
            surprise = not meets(verdict.word, report.expected_word(verdict))
            if surprise is surprising and verdict.trace is not None and verdict.trace not in found:
                found.append(verdict.trace)
    return found


class Files:
    """The outputs: reports, and the first trace of a violation, go to files as soon as they are
    there, and to stdout (``-``) when all of them are.

    ``outputs`` are their names; ``has_documents`` says whether executions are in any of them,
    explained in full. Raises ``UsageError`` where two are the same file, one can't be written,
    or stdout is asked for twice.
    """

    def __init__(
        self,
        json_out: str | None = None,
        trace_out: str | None = None,
        itf_out: str | None = None,
        *,
        junit_out: str | None = None,
        sarif_out: str | None = None,
        html_out: str | None = None,
        annotates: bool = False,
    ) -> None:
        documents = (json_out, trace_out, itf_out)
        named = (*documents, junit_out, sarif_out, html_out)
        self.outputs = [output for output in named if output is not None]
        self.has_documents = any(output is not None for output in documents)
        require_outputs(self.outputs)
        outputs = {json_out: _json, junit_out: _junit, sarif_out: _sarif, html_out: _chance_page}
        self._reports = {file: write for file, write in outputs.items() if file is not None}
        self._traces = {trace_out: "json", itf_out: "itf"}
        self._traces.pop(None, None)
        self._places: dict[tuple[str, str], At] = {}
        self._written = self._begun = False
        self._annotates = annotates
        if annotates and not self.leave_stdout:
            raise click.UsageError("--github writes to stdout, which `-` already uses")

    def require_apart(self, output: str | None) -> None:
        """Raises ``UsageError`` where ``output``, which something else writes, is among them, or
        can't be written."""
        if output is not None:
            require_outputs([*self.outputs, output])

    def locate(self, spec: Spec) -> None:
        """Notes where the checks of ``spec`` are written."""
        from checker.results.events import At

        for check in spec.module.checks:
            at = At(check.span.file, check.span.line, check.span.column)
            self._places[str(spec), check.name] = at

    @property
    def leave_stdout(self) -> bool:
        """Returns whether no output goes to stdout, which is free for other text then."""
        return "-" not in (*self._reports, *self._traces)

    @contextmanager
    def recording_errors(
        self, found: list[Report | NotRun], file: str, check: str = ""
    ) -> Iterator[None]:
        """Adds to ``found`` that the check, or the file, could not be run, where an error leaves
        the context."""
        try:
            yield
        except Exception as problem:
            from checker.cli.errors import failure_of
            from checker.render.ci.outcomes import NotRun

            failed = failure_of(problem)
            found.append(NotRun(file, check, failed.errors, failed.said, failed.code))
            raise

    @contextmanager
    def recording_an_end(self, file: str) -> Iterator[None]:
        """Writes the outputs where an error about ``file`` leaves the context before they were
        written."""
        found: list[Report | NotRun] = []
        try:
            with self.recording_errors(found, file):
                yield
        except (console.OutputFailed, console.OutputClosed):
            raise
        except Exception:
            if not self._begun:
                self.write(found)
                self.close(found)
            raise

    def write(self, found: list[Report | NotRun]) -> None:
        """Writes the reports so far to files."""
        from checker.formats.exports import export

        self._begun = True

        for file, write in self._reports.items():
            if file != "-":
                console.write_file(file, write(found, self._places))
        traces = _traces(found)
        if traces and not self._written:
            for path, name in self._traces.items():
                if path not in (None, "-"):
                    console.write_file(path, export(name, traces[0]))
            self._written = True

    def close(self, found: list[Report | NotRun]) -> None:
        """Writes the outputs on stdout, and reports which outputs were not written."""
        if "-" in self._reports:
            console.write_stdout(self._reports["-"](found, self._places))
        if self._annotates:
            from checker.render.ci.github import github_of

            console.write_stdout(github_of(found, self._places))
        if not self._traces:
            return
        traces = _traces(found)
        if not traces:
            console.print_note("there is no violation, so no trace was written")
            return
        if "-" in self._traces:
            from checker.formats.exports import export

            console.write_stdout(export(self._traces["-"], traces[0]))
        if len(traces) > 1:
            console.print_note(
                f"wrote only the first of {len(traces)} traces: {traces[0].property_name}"
            )


def _traces(found: list[Report | NotRun]) -> list[Trace]:
    return [trace for report in only_reports(found) for trace in traces_of(report)]


def only_reports(found: list[Report | NotRun]) -> list[Report]:
    """Returns what could be run of ``found``."""
    from checker.results.verdict import Report

    return [each for each in found if isinstance(each, Report)]


def _json(found: list[Report | NotRun], _: Places) -> str:
    from checker.formats.json_format import document, report_to_json
    from checker.formats.kinds import REPORTS_KIND
    from checker.results.verdict import Report, worst

    reports = [report_to_json(report) for report in only_reports(found)]
    failed = [each for each in found if not isinstance(each, Report)]
    problems = [problem for each in failed for problem in each.problems]
    code = worst(each.exit_code for each in found)
    return json_text(document(REPORTS_KIND, reports, problems, code)) + "\n"


def _chance_page(found: list[Report | NotRun], _: Places) -> str:
    from checker.render.html.chance import chance_page

    return chance_page(only_reports(found))


def _junit(found: list[Report | NotRun], places: Places) -> str:
    from checker.render.ci.junit import junit_of

    return junit_of(found, places)


def _sarif(found: list[Report | NotRun], places: Places) -> str:
    from checker.render.ci.sarif import sarif_of

    return sarif_of(found, places)
