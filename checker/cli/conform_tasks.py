"""Asks of several logs, each as a task: here, in processes, or on the executors of a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.records import replace

if TYPE_CHECKING:
    from checker.conform.conform_log import Asked
    from checker.conform.read_log import Log
    from checker.diagnostics import Diagnostic
    from checker.logs.mapping import LogMapping
    from checker.results.answer import Listener
    from checker.results.conformance import Conformance
    from checker.sweep.cells import Status


class LogTask(Struct, frozen=True):
    """Whether logs are those of runs of a check.

    ``source``: files, or a folder of them, whose runs are asked of one after the other, or a log
    that was read.
    """

    number: int
    name: str
    asked: Asked
    source: tuple[str, ...] | Log

    def __str__(self) -> str:
        return self.name

    @property
    def seconds(self) -> float | None:
        """The time limit, if there is one, of files with one run; of others nobody knows it."""
        return self.asked.options.limits.timeout if self._is_one else None

    @property
    def size(self) -> int:
        """The number of bytes in its files, as far as they can be found."""
        paths = self.source if isinstance(self.source, tuple) else self.source.files
        found = [path for p in paths for path in ([p] if not os.path.isdir(p) else _paths_in(p))]
        return sum(os.path.getsize(path) for path in found if os.path.isfile(path))

    @property
    def _is_one(self) -> bool:
        return not isinstance(self.source, tuple)


class LogOutcome(Struct, frozen=True):
    """The reports on the runs in a task, by name; ``code``: the exit code of an error that has
    ended it, ``said``: what is to be said of that, ``errors``: its diagnostics."""

    number: int
    name: str
    reports: tuple[tuple[str, Conformance], ...] = ()
    code: int = 0
    said: str = ""
    errors: tuple[Diagnostic, ...] = ()

    @property
    def codes(self) -> list[int]:
        """All exit codes."""
        return [self.code, *(report.exit_code for _, report in self.reports)]


def tasks_of(asked: Asked, logs: Sequence[str]) -> list[LogTask]:
    """Returns a task for each folder among ``logs``, or, where there is only one, or files only,
    which are together, for each run in them.  Standard input and pipes are read here.

    Raises :class:`SpecError` where the only one can't be read.
    """
    from checker.logs.content import is_stream

    apart = _apart(logs)
    if len(apart) > 1:
        sources = [
            (name, source)
            for name, files in apart.items()
            for source in (_read(files, asked.mapping) if any(map(is_stream, files)) else (files,))
        ]
        return [LogTask(n, name, asked, source) for n, (name, source) in enumerate(sources, 1)]
    ((name, files),) = apart.items()
    found = _read(files, asked.mapping)
    return [LogTask(n, log.run or name, asked, log) for n, log in enumerate(found, 1)]


def _apart(logs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Returns the paths of each log by its name: each folder, once, and all files together."""
    folders = {os.path.realpath(path): path for path in reversed(logs) if os.path.isdir(path)}
    files = tuple(path for path in logs if not os.path.isdir(path))
    found = {", ".join(files): files} if files else {}
    return found | {path: (path,) for path in reversed(folders.values())}


def _read(paths: Sequence[str], mapping: LogMapping) -> tuple[Log, ...]:
    """Reads the files ``paths``, or those in folders, as :func:`read_logs` does."""
    from checker.conform.read_log import read_logs

    inside = [_files_in(path) if os.path.isdir(path) else [path] for path in paths]
    return read_logs([path for files in inside for path in files], mapping)


def _paths_in(folder: str) -> list[str]:
    return [entry.path for entry in os.scandir(folder)]


def _files_in(folder: str) -> list[str]:
    """Returns the files in a folder; raises :class:`SpecError` (E075) where something in it is no
    file, where there is none, and where it can't be read."""
    from checker.diagnostics import Diagnostic, SpecError

    def wrong(message: str, hint: str = "") -> SpecError:
        return SpecError((Diagnostic("E075", message, hint=hint),))

    try:
        inside = sorted(Path(folder).iterdir())
        other = next((path for path in inside if not path.is_file()), None)
    except OSError as problem:
        raise wrong(f"{folder} can't be read: {problem.strerror or problem}") from None
    if other is not None and other.is_dir():
        whole = f"`{folder.rstrip('/')}/*`"
        raise wrong(f"{other} is a nested folder", f"pass it itself, for example as {whole}")
    if other is not None:
        raise wrong(f"{other} is not a file")
    if not inside:
        raise wrong(f"{folder} has no files")
    return [str(path) for path in inside]


def for_each_log(asked: Asked, jobs: int) -> Asked:
    """Returns what is asked of each log by one of ``jobs`` processes: with a share of the
    memory."""
    from checker.sweep.run import share_of_memory

    if jobs == 1:
        return asked
    limits = replace(asked.options.limits, memory=share_of_memory(asked.options, jobs))
    return replace(asked, options=replace(asked.options, limits=limits))


def run_task(task: LogTask, listener: Listener) -> LogOutcome:
    """Returns the outcome of a task; an error is one, too.  Runs that conform are not kept."""
    from checker.cli.errors import attempt_quietly
    from checker.conform.conform_log import conform, not_begun
    from checker.conform.read_log import Log
    from checker.engines import budgets
    from checker.results.answer import stop_reason

    found: list[tuple[str, Conformance]] = []

    def answer() -> None:
        limits, started = task.asked.options.limits, time.monotonic()
        source = task.source
        try:
            with budgets.within(limits.timeout, limits.memory), budgets.raising_when_exhausted():
                logs = _read(source, task.asked.mapping) if isinstance(source, tuple) else (source,)
        except KeyboardInterrupt as error:
            files = Log(source if isinstance(source, tuple) else source.files)
            seconds = time.monotonic() - started
            found.append((task.name, not_begun(task.asked, files, stop_reason(error), seconds)))
            return
        for log in logs:
            name = f"{task.name}: {log.run}" if len(logs) > 1 and log.run else task.name
            report = conform(task.asked, log, listener)
            found.append((name, report if report.exit_code else replace(report, trace=None)))
            if report.was_interrupted:
                return

    failed = attempt_quietly(answer)
    return LogOutcome(task.number, task.name, tuple(found), failed.code, failed.said, failed.errors)


def lost_task(task: LogTask, status: Status, reason: str, seconds: float) -> LogOutcome:
    """Returns the outcome of a task whose process ended."""
    from checker.cli.errors import UNKNOWN

    return LogOutcome(task.number, task.name, (), UNKNOWN, f"{task}: {status.value}: {reason}")
