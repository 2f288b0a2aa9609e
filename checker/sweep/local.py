"""Runs tasks in processes of this machine: one that dies, hangs or grows affects no other."""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from checker import kept
from checker.engines import budgets
from checker.engines.native.sharding.process_pool import starting_processes
from checker.engines.python_children import safe_start
from checker.results.answer import Listener, Progress
from checker.sweep.cells import Status

TELL = 0.5
"""Seconds between two progress messages of a task."""
GRACE = 30.0
"""Seconds that a task has beyond its time limit, for instantiation and for replaying traces."""
TICK = 0.2
FALSE_STARTS = 3
"""No further process is started after this many in a row that ended before they could take a
task: a broken installation, or a program that starts processes when it is imported."""

PoolListener = Callable[[int, Mapping[int, Progress]], None]
"""Receives how many tasks are done, and the progress of those that run, by their numbers."""


class Task(Protocol):
    """What a process does at a time: ``number`` identifies it among the others; ``seconds``: its
    time limit, if it has one."""

    @property
    def number(self) -> int:
        """Its number."""

    @property
    def seconds(self) -> float | None:
        """Its time limit."""


T = TypeVar("T", bound=Task)
R = TypeVar("R")


class Work(Struct, Generic[T, R], frozen=True):
    """How tasks are run: ``run`` gives the outcome of one, in a process that imports it by its
    name; ``lost`` the outcome of one whose process ended, from the reason and the seconds that it
    took."""

    run: Callable[[T, Listener], R]
    lost: Callable[[T, Status, str, float], R]


class Pool(Generic[T, R]):
    """A pool of ``jobs`` processes that run tasks; a context that leaves none of them behind."""

    def __init__(self, jobs: int, work: Work[T, R]) -> None:
        self._context = get_context("spawn")
        self._jobs = jobs
        self._work = work
        self._workers: list[_Worker[T, R]] = []
        self._false_starts = 0

    def __enter__(self) -> Pool[T, R]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def run(self, tasks: Sequence[T], listener: PoolListener | None = None) -> Generator[R]:
        """Yields the outcome of each task, in the order in which they finish; raises
        ``KeyboardInterrupt`` after an interrupt."""
        waiting = deque(tasks)
        done = 0
        while True:
            self._staff(waiting)
            busy = [worker for worker in self._workers if worker.task is not None]
            if not busy:
                return
            for outcome in self._receive_outcomes(busy):
                done += 1
                yield outcome
            if self._false_starts >= FALSE_STARTS:
                reason = f"no process could be started: {self._false_starts} ended while starting"
                while waiting:
                    yield self._work.lost(waiting.popleft(), Status.DIED, reason, 0.0)
            if listener is not None:
                listener(done, {w.task.number: w.progress for w in busy if w.task and w.progress})

    def _staff(self, waiting: deque[T]) -> None:
        """Assigns tasks to idle processes, and to new processes in the place of dead ones."""
        self._workers = [worker for worker in self._workers if worker.alive]
        for worker in self._workers:
            if waiting and worker.task is None:
                worker.begin(waiting.popleft())
        while waiting and len(self._workers) < self._jobs:
            self._workers.append(_Worker(self._context, self._work))
            self._workers[-1].begin(waiting.popleft())

    def _receive_outcomes(self, busy: Sequence[_Worker[T, R]]) -> Iterator[R]:
        connection.wait([end for worker in busy for end in worker.ends], TICK)
        budgets.raise_if_interrupted()
        for worker in busy:
            outcome = worker.poll_outcome()
            if worker.ready:
                self._false_starts = 0
            elif not worker.alive:
                self._false_starts += 1
            if outcome is not None:
                yield outcome


class _Worker(Generic[T, R]):
    """A worker process, and the task that it runs."""

    def __init__(self, context: SpawnContext, work: Work[T, R]) -> None:
        self._work = work
        self._pipe, other = context.Pipe()
        self._process: SpawnProcess = context.Process(
            target=_serve, args=(other, work.run, kept.is_used()), daemon=True
        )
        with safe_start(), starting_processes():
            self._process.start()
        other.close()
        self.alive = True
        self.ready = False
        self.task: T | None = None
        self.progress: Progress | None = None
        self._began = 0.0

    @property
    def ends(self) -> tuple[Connection, int]:
        """Returns what becomes ready when there is a message, or when the process has ended."""
        return self._pipe, self._process.sentinel

    def begin(self, task: T) -> None:
        self.task, self.progress, self._began = task, None, time.monotonic()
        try:
            self._pipe.send(task)
        except OSError:  # it died while it was idle; poll_outcome() reports it
            return

    def poll_outcome(self) -> R | None:
        """Returns the outcome of the task, if there is one yet."""
        try:
            while self._pipe.poll():
                said: Progress | R | None = self._pipe.recv()
                self.ready = True
                if said is None:
                    continue
                if not isinstance(said, Progress):
                    self.task = None
                    return said
                self.progress = said
        except (EOFError, OSError):
            return self._fail(Status.DIED, self._death())
        if not self._process.is_alive() and not self._pipe.poll():
            return self._fail(Status.DIED, self._death())
        assert self.task is not None
        timeout = self.task.seconds
        if timeout is not None and time.monotonic() - self._began > timeout + GRACE:
            why = f"it was killed {GRACE:g} s after its time limit of {timeout:g} s"
            return self._fail(Status.TIMEOUT, why)
        return None

    def _fail(self, status: Status, reason: str) -> R:
        assert self.task is not None
        outcome = self._work.lost(self.task, status, reason, time.monotonic() - self._began)
        self.task = None
        self.end()
        return outcome

    def _death(self) -> str:
        self._process.join(GRACE)
        code = self._process.exitcode
        if code is not None and code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            often = ", as the system does when memory runs out" if name == "SIGKILL" else ""
            return f"its process was killed by {name}{often}"
        return f"its process ended with exit code {code}"

    def end(self) -> None:
        """Ends the process in any state."""
        if not self.alive:
            return
        self.alive = False
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()


# ---- in the process ---------------------------------------------------------------------------


def _serve(pipe: Connection, run: Callable[[Any, Listener], object], keeps: bool) -> None:
    """Runs the tasks that come through ``pipe`` until the parent closes it; sends ``None`` when it
    can take the first.  ``keeps``: it keeps results as its parent does (:mod:`checker.kept`)."""
    kept.use(keeps)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pipe.send(None)
    while True:
        try:
            pipe.send(run(pipe.recv(), _Throttle(pipe)))
        except (EOFError, OSError):
            return


def _end_with_parent() -> None:
    import os

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


class _Throttle:
    """Passes on the progress of a task at a limited rate."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._last = pipe, 0.0

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() - self._last >= TELL:
            self._last = time.monotonic()
            self._pipe.send(progress)
