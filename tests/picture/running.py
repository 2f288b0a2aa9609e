"""Freezes each subject in a process of its own, which may end at a limit."""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.picture.subjects import Subject, freeze

LONGEST = 60
"""Seconds of processor time for all views of one subject; it may take ten times as long by the
clock."""
ENDED = (-signal.SIGXCPU, -signal.SIGKILL)
"""The exit codes of processes that have reached a limit."""


@dataclass(frozen=True)
class Frozen:
    """A subject as it was shown, how many files it has (none where it took too long), and the
    seconds."""

    subject: Subject
    files: int
    seconds: float
    ended: bool


def _limited(subject: Subject, out: Path) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST + 5))
    freeze(subject, out)


def frozen(subjects: list[Subject], out: Path, jobs: int) -> Iterator[Frozen]:
    """Yields what becomes of each subject, of which ``jobs`` are frozen at a time.

    A check of the library that takes too long to explain is shown without explanations.  Raises
    ``RuntimeError`` where a process fails.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.picture.preloaded"])
    waiting, running = subjects[::-1], dict[BaseProcess, tuple[Subject, float]]()
    while waiting or running:
        while waiting and len(running) < jobs:
            subject = waiting.pop()
            process = context.Process(target=_limited, args=(subject, out))
            process.start()
            running[process] = subject, time.monotonic()
        wait([process.sentinel for process in running], timeout=LONGEST)
        for process, (subject, began) in list(running.items()):
            if time.monotonic() - began > 10 * LONGEST:
                process.kill()
                process.join()
            if process.is_alive():
                continue
            del running[process]
            ended = process.exitcode in ENDED
            if process.exitcode and not ended:
                raise RuntimeError(f"{subject.path}: exit code {process.exitcode}")
            if ended:
                shutil.rmtree(out / subject.path, ignore_errors=True)
            if ended and subject.kind == "library" and subject.explained:
                waiting.append(replace(subject, explained=False))
                continue
            files = sum(path.is_file() for path in (out / subject.path).rglob("*"))
            yield Frozen(subject, files, time.monotonic() - began, ended)
