"""Runs one check as a task, here or in another process; its errors are part of the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checker.records import replace

if TYPE_CHECKING:
    from checker.diagnostics import Diagnostic
    from checker.engines.options import Options
    from checker.language.load import Spec
    from checker.results.answer import Listener
    from checker.results.verdict import Report
    from checker.sweep.cells import Status


class CheckTask(Struct, frozen=True):
    """The check ``name`` of ``spec``, to be run with ``options``."""

    number: int
    spec: Spec
    name: str
    options: Options

    def __str__(self) -> str:
        return f"{self.spec}::{self.name}"

    @property
    def seconds(self) -> float | None:
        """The time limit, if there is one."""
        return self.options.limits.timeout

    def ready(self, threads: int | None, jobs: int) -> CheckTask:
        """Returns the task as one of ``jobs`` at a time, with ``threads`` and its share of the
        memory."""
        options = replace(self.options, threads=threads)
        if jobs == 1:
            return replace(self, options=options)
        from checker.sweep.run import share_of_memory

        limits = replace(options.limits, memory=share_of_memory(options, jobs))
        return replace(self, options=replace(options, limits=limits))


class CheckOutcome(Struct, frozen=True):
    """The report on ``what``, or that there is none; ``code``: the exit code, ``said``: what is to
    be said of an error, ``errors``: its diagnostics."""

    number: int
    what: str
    report: Report | None
    code: int
    said: str = ""
    errors: tuple[Diagnostic, ...] = ()


def run_task(task: CheckTask, listener: Listener) -> CheckOutcome:
    """Returns the outcome of a check; an error is one, too."""
    from checker.cli.errors import attempt_quietly
    from checker.proving.dispatch_check import answer_check

    found: list[Report] = []
    failed = attempt_quietly(
        lambda: found.append(answer_check(task.spec, task.name, task.options, listener))
    )
    if not found:
        return CheckOutcome(task.number, str(task), None, failed.code, failed.said, failed.errors)
    return CheckOutcome(task.number, str(task), found[0], found[0].exit_code, failed.said)


def lost_task(task: CheckTask, status: Status, reason: str, seconds: float) -> CheckOutcome:
    """Returns the outcome of a check whose process ended."""
    from checker.cli.errors import UNKNOWN

    return CheckOutcome(task.number, str(task), None, UNKNOWN, f"{task}: {status.value}: {reason}")
