"""``bivalence judge``: whether recorded histories are those of an object."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.document_options import JSON_OUT, unusable_document, write_json, writing_errors
from checker.cli.errors import UNKNOWN
from checker.cli.mapping_option import MAPPING
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.parallel import JOBS
from checker.cli.settings import MEMORY, TIMEOUT
from checker.formats.kinds import JUDGEMENTS_KIND

if TYPE_CHECKING:
    from checker.cli.errors import Failure
    from checker.cli.judge_tasks import Processes
    from checker.diagnostics import Diagnostic
    from checker.histories.judging import Judge, Request
    from checker.results.judgement import Judgement
    from checker.results.problems import Problem

MOST_SHOWN = 10
"""Of several histories, the largest number that is shown in full."""


_MODELS = ("read-committed", "snapshot-isolation", "serializable", "strict-serializable")


@click.command(cls=Grouped)
@click.argument("names", metavar="HISTORY...", nargs=-1, required=True)
@click.option(
    "--as",
    "object_name",
    required=True,
    metavar="OBJECT",
    help="Object of the library, such as CompareAndSwap, or FILE::OBJECT; ListAppend or"
    " RwRegister for transactions.",
)
@click.option(
    "--by",
    type=click.Choice(["key"]),
    help="Judge the operations on each key separately.",
)
@click.option(
    "--model",
    type=click.Choice([*_MODELS]),
    help="Consistency model of the transactions (default: serializable).",
)
@click.option(
    "--assume",
    "assumed",
    multiple=True,
    type=click.Choice(["linearizable-keys"]),
    help="Order the values of each key of RwRegister by real time, too.",
)
@click.option(
    "--initial",
    multiple=True,
    metavar="OPERATION",
    help="Operation that took effect before the history, such as 'write(0)' (repeatable).",
)
@click.option(
    "--clock-error",
    callback=lambda context, option, given: _nanoseconds(given),
    metavar="DURATION",
    help="Largest error of the clocks of several hosts, such as 5ms; orders their operations.",
)
@MAPPING
@JOBS
@TIMEOUT
@MEMORY
@JSON_OUT
@quiet_option("Omit progress and the operations that show a violation.")
@writing_errors(unusable_document(JUDGEMENTS_KIND))
def judge(names: tuple[str, ...], quiet: bool, **given: Any) -> int:
    """Check whether recorded histories are those of an object.

    HISTORY is a file with the calls and returns of all clients, in one total order or with the
    times of clocks: Jepsen's EDN or printed log, JSON, OTLP, or text (docs/judge.md). Each file is
    a separate history, and the limits apply to each. Exit codes: 0 holds, 1 violated, 3 unknown (a
    limit was reached), 4 vacuous (no operation has returned).
    """
    from checker.cli.reporting import require_outputs
    from checker.histories.judging import judge_of
    from checker.results.verdict import worst

    json_out = given["json_out"]
    require_outputs([json_out] if json_out else [])
    asked = judge_of(_request(given), _elsewhere(given, quiet or json_out == "-"))
    judging = _Judging(asked, quiet, silent=json_out == "-")
    judging.judge(names, given["timeout"], given["memory"])
    if json_out is not None:
        judging.write_json(json_out)
    return worst(judging.codes)


def _request(given: dict[str, Any]) -> Request:
    from checker.histories.initial import read_initial
    from checker.histories.judging import LINEARIZABLE, Request
    from checker.histories.judging_transactions import RW_REGISTER, SERIALIZABLE, TRANSACTIONS
    from checker.histories.pairing import shape_of
    from checker.logs.read_mapping import read_mapping

    name, model = given["object_name"], given["model"]
    mapping = read_mapping(given["mapping"])
    initial = tuple(map(read_initial, given["initial"]))
    assumed = tuple(dict.fromkeys(given["assumed"]))
    if assumed and name != RW_REGISTER:
        raise click.UsageError(f"--assume is for registers (--as {RW_REGISTER})")
    if name in TRANSACTIONS:
        if given["by"] is not None:
            raise click.UsageError("--by is for objects: a transaction may use several keys")
        if initial:
            raise click.UsageError("--initial is for objects: keys have no value at first")
        return Request(
            name,
            model or SERIALIZABLE,
            mapping=mapping,
            clock_error=given["clock_error"],
            assumed=assumed,
        )
    if model is not None:
        raise click.UsageError(f"--model is for transactions (--as {' or '.join(TRANSACTIONS)})")
    shape = shape_of(mapping, given["by"] is not None)
    return Request(name, LINEARIZABLE, shape, mapping, given["clock_error"], initial)


def _elsewhere(given: dict[str, Any], quiet: bool) -> Processes | None:
    """Returns the processes that decide the keys of a history; ``None``: this one does."""
    from checker.cli.judge_tasks import Processes

    jobs = given["jobs"] or os.cpu_count() or 1
    if given["by"] is None or jobs == 1:
        return None
    return Processes(given["object_name"], jobs, given["memory"], quiet)


def _nanoseconds(given: str | None) -> int | None:
    """Returns a duration such as ``5ms`` in nanoseconds."""
    import re
    from decimal import Decimal

    from checker.logs.mapping import UNITS

    if given is None:
        return None
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|ms|us|ns)", given.strip(), re.ASCII)
    if found is None:
        raise click.UsageError(f"--clock-error takes a duration such as 5ms, not {given!r}")
    return int(Decimal(found[1]) * UNITS[found[2]])


def _diagnostic(warning: Problem) -> Diagnostic:
    from checker.diagnostics import Diagnostic, Span

    place = warning.line, warning.column, warning.end_line, warning.end_column
    return Diagnostic(
        warning.code,
        warning.message,
        Span(warning.file, *place),
        hint=warning.hint,
        severity=warning.severity,
    )


class _Judging:
    """Judges histories, and shows the reports."""

    def __init__(self, judge: Judge, quiet: bool, *, silent: bool) -> None:
        self._judge, self._quiet, self._silent = judge, quiet, silent
        self.reports: list[Judgement] = []
        self.failures: list[tuple[str, Failure]] = []
        self.codes: list[int] = []

    def judge(self, names: tuple[str, ...], timeout: float | None, memory: int | None) -> None:
        """Judges each history; an interrupt ends that, and the reports so far are kept."""
        from checker.render.terminal.judgement import judgements_summary

        try:
            for name in names:
                self._one(name, timeout, memory, several=len(names) > 1)
                if self.reports and self.reports[-1].was_interrupted:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            self.codes.append(UNKNOWN)
            if len(self.reports) + len(self.failures) < len(names):
                console.print_note("interrupted: not all histories were judged")
        if len(names) > 1 and not self._silent:
            summary = judgements_summary(self.reports, len(self.failures), len(names))
            console.print_view(summary)

    def _one(self, name: str, timeout: float | None, memory: int | None, *, several: bool) -> None:
        from checker.cli.errors import failure_of
        from checker.engines import budgets

        try:
            with budgets.within(timeout, memory):
                report = self._judge.judge(name)
        except Exception as problem:
            failed = failure_of(problem)
            self.codes.append(failed.code)
            self.failures.append((name, failed))
            console.print_error_text(failed.said)
            return
        self.reports.append(report)
        self.codes.append(report.exit_code)
        if not self._silent:
            self._show(report, several)

    def _show(self, report: Judgement, several: bool) -> None:
        from checker.render.terminal.judgement import judgement_line, judgement_view
        from checker.results.verdict import Word

        for warning in report.warnings:
            console.print_note(console.render_with_source(_diagnostic(warning)).rstrip("\n"))
        wrong = sum(each.word is Word.VIOLATED for each in self.reports)
        whole = not several or (report.word is Word.VIOLATED and wrong <= MOST_SHOWN)
        view = judgement_view(report, pictures=not self._quiet) if whole else judgement_line(report)
        console.print_view(view)

    def write_json(self, file: str) -> None:
        """Writes all reports."""
        from checker.formats import json_format
        from checker.results.verdict import worst

        reports = [json_format.report_to_json(each) for each in self.reports]
        reports += [
            json_format.unusable_log_to_json(name, failed.said, failed.code)
            for name, failed in self.failures
        ]
        problems = [problem for _, failed in self.failures for problem in failed.errors]
        code = worst(self.codes)
        write_json(file, json_format.document(JUDGEMENTS_KIND, reports, problems, code))
