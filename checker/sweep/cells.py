"""Runs one cell, in a process of this machine or on an executor."""

from __future__ import annotations

import time
from enum import StrEnum

from msgspec import Struct

from checker.diagnostics import SpecError
from checker.results.answer import Listener
from checker.results.verdict import Report, Word
from checker.sweep.sweep_plan import CellTask, reason_of


class Status(StrEnum):
    """The status with which a cell ended; violations are results, and so ``done``."""

    DONE = "done"  # everything was explored, or every property is decided
    TIMEOUT = "timeout"
    MEMORY = "memory"
    STOPPED = "stopped"  # by another limit, or by unbounded growth
    IMPOSSIBLE = "impossible"  # there is no such system
    DIED = "died"  # its process did
    FAILED = "failed"  # an internal error
    NOT_RUN = "not run"


class CellOutcome(Struct, frozen=True):
    """The outcome of the cell ``cell``: a report, or only a ``status`` and the reason for it.

    ``seconds``: the whole time of the cell, including instantiation and replay.
    """

    cell: int
    status: Status
    reason: str = ""
    report: Report | None = None
    seconds: float = 0.0


def run_cell(task: CellTask, listener: Listener | None = None) -> CellOutcome:
    """Runs the check of one cell; every failure is an outcome, too."""
    from checker.session import pipeline

    started = time.monotonic()
    report: Report | None = None
    try:
        report = pipeline.run_loaded(task.path, task.check, task.options, listener)
        status, reason = _ending(report)
    except SpecError as problem:
        status, reason = Status.IMPOSSIBLE, reason_of(problem)
    except MemoryError as problem:
        status, reason = Status.MEMORY, str(problem) or "out of memory"
    except Exception as problem:  # an internal error costs this cell only
        status, reason = Status.FAILED, " ".join(f"{type(problem).__name__}: {problem}".split())
    return CellOutcome(task.cell, status, reason, report, time.monotonic() - started)


def lost_cell(task: CellTask, status: Status, reason: str, seconds: float) -> CellOutcome:
    """Returns the outcome of a cell whose process ended."""
    return CellOutcome(task.cell, status, reason, None, seconds)


def _ending(report: Report) -> tuple[Status, str]:
    """Returns the status, and the reason where the result is not complete."""
    unknown = [v.reason for v in report.verdicts if v.word in (Word.UNKNOWN, Word.BOUNDED)]
    if report.exhaustive and not unknown:
        return Status.DONE, ""
    if report.verdicts and not unknown:
        return Status.DONE, report.stopped or ""
    reason = report.stopped or (unknown[0] if unknown else "a run-time error stopped it")
    if "time limit" in reason:
        return Status.TIMEOUT, reason
    return (Status.MEMORY if "memory" in reason else Status.STOPPED), reason
