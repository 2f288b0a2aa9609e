"""Rows of a report on a log: what was read, of whom, and how fast."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics.english import count, listing
from checker.results.logs import LoggedProcess, LogSummary
from checker.results.verdict import Report

SHOWN = 12
"""The largest number of processes that are listed."""


def log_rows(report: Report, log: LogSummary) -> Iterator[tuple[str, str]]:
    """Yields rows on what was read for ``report``, and what limits its verdicts."""
    rate = f" ({log.rows / report.seconds:,.0f} rows/s)" if report.seconds > 0.5 else ""
    read = f"{count(log.rows, 'row')} of {count(log.files, 'file')}"
    yield "read", f"{read}, {report.seconds:.2f} s{rate}; {report.engine} engine"
    if log.kinds:
        yield "kinds", listing(f"{rows:,} {kind}" for kind, rows in log.kinds)
    yield "by", _processes(log)
    for process in log.processes:
        yield from (("gap", said) for said in process.gaps)
    if log.scope:
        yield "scope", log.scope
    yield from (("not asked", said) for said in log.not_asked)
    if log.violations:
        yield "all", f"{log.violations} has every violation, with files and rows"


def _processes(log: LogSummary) -> str:
    """Returns how many rows each process has, if there are few."""
    if log.runs > 1:
        return f"{count(len(log.processes), 'process')} in {count(log.runs, 'run')}"
    said = [_process(process) for process in log.processes[:SHOWN]]
    more = len(log.processes) - SHOWN
    return ", ".join(said) + (f", and {more:,} more" if more > 0 else "")


def _process(process: LoggedProcess) -> str:
    faulty = "" if process.correct else ", faulty"
    return f"{process.process} ({count(process.rows, 'row')}{faulty})"
