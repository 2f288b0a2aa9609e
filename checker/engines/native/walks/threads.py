"""Random walks on the threads of this machine."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as StillRunning

from checker.engines import budgets
from checker.engines.native.codegen.fields import MAX_WORKERS
from checker.engines.native.codegen.image import KernelImage, build
from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.search.memory import available_memory
from checker.engines.native.search.tiered_jit import PendingOptimisation, first_kernel
from checker.engines.native.walks.walker import NativeWalker
from checker.engines.walks import Inspection, WalkBlock, WalkTask
from checker.model.ir import TransitionSystem
from checker.results.answer import Unsupported

AHEAD = 3
"""So many ranges of each thread are under way or waiting."""
PATIENCE = 1.0
"""Seconds after which a thread that does not stop is interrupted."""
TICK = 0.1
"""Seconds between two reports of progress."""


class ThreadedWalks:
    """Makes ranges of walks on ``threads``, in machine code; ``memory``: bytes at most for the
    states of walks of so many ``steps``.

    Raises :class:`Unsupported` where native code can't take the system, or there is no room for a
    walk.
    """

    def __init__(
        self,
        system: TransitionSystem,
        steps: int,
        inspection: Inspection,
        threads: int | None = None,
        memory: int | None = None,
    ) -> None:
        image = build(system, walks=True)
        self._threads = max(1, min(threads or os.cpu_count() or 1, MAX_WORKERS))
        self._threads = min(self._threads, _fitting(image, steps, memory))
        self._inspection, self._steps, self._system = inspection, steps, system
        kernel, improvable = first_kernel(image)
        self._upgrade = PendingOptimisation(image) if improvable else None
        self._began, self._halt = time.monotonic(), False
        self._idle: queue.SimpleQueue[NativeWalker] = queue.SimpleQueue()
        self._walkers: list[NativeWalker] = []
        self._at_work: set[int] = set()
        self._kernels: list[Kernel] = []
        self._use(kernel)
        self._pool = ThreadPoolExecutor(self._threads)
        self._waiting: deque[Future[WalkBlock]] = deque()

    def _use(self, kernel: Kernel) -> None:
        self._kernels.append(kernel)
        new = [NativeWalker(kernel, self._system, self._steps) for _ in range(self._threads)]
        self._walkers = new
        for walker in new:
            self._idle.put(walker)

    @property
    def under_way(self) -> int:
        """Steps of ranges that are not given back yet."""
        return sum(walker.walked for walker in self._walkers)

    def blocks(self, tasks: Iterator[WalkTask], tell: Callable[[], None]) -> Iterator[WalkBlock]:
        """Yields what was seen in each of ``tasks``, in order; calls ``tell`` from time to time."""
        while True:
            while len(self._waiting) < AHEAD * self._threads:
                task = next(tasks, None)
                if task is None:
                    break
                self._waiting.append(self._pool.submit(self._run, task))
            if not self._waiting:
                return
            try:
                block = self._waiting[0].result(timeout=TICK)
            except StillRunning:
                tell()
                continue
            finally:
                self._improve()
            self._waiting.popleft()
            yield block
            tell()

    def finish(self) -> list[WalkBlock]:
        """Stops the work; returns what was seen in the ranges that were begun, in order."""
        self._halt = True
        for future in self._waiting:
            future.cancel()
        begun = [future for future in self._waiting if not future.cancelled()]
        until = time.monotonic() + PATIENCE
        while wait(begun, timeout=TICK).not_done:
            for kernel in self._kernels:
                kernel.stop.tell()
            if time.monotonic() > until:  # some walk is judged by the interpreter
                for thread in tuple(self._at_work):
                    budgets.end_thread(thread)
        self._pool.shutdown()
        if self._upgrade is not None:
            self._upgrade.close()
            self._upgrade = None
        for kernel in self._kernels:
            kernel.stop.clear()
        self._waiting.clear()
        return [future.result() for future in begun if future.exception() is None]

    def _run(self, task: WalkTask) -> WalkBlock:
        walker, thread = self._idle.get(), threading.get_ident()
        self._at_work.add(thread)
        try:
            return walker.run(task, self._inspection, lambda: self._goes_on(walker))
        finally:
            self._at_work.discard(thread)
            budgets.release_thread()
            if walker.kernel is self._kernels[-1]:
                self._idle.put(walker)

    def _goes_on(self, walker: NativeWalker) -> bool:
        if not self._halt:
            walker.kernel.stop.clear()  # a budget that is used up ends the main thread, which halts
        return not self._halt

    def _improve(self) -> None:
        """Switches to optimised code where it has become available."""
        if self._upgrade is not None:
            better = self._upgrade.poll(time.monotonic() - self._began)
            if better is not None:
                self._use(better)


def _fitting(image: KernelImage, steps: int, memory: int | None) -> int:
    """Returns for how many threads there is memory."""
    each = NativeWalker.bytes_for(image.layout.words, steps)
    most = available_memory() // 2 if memory is None else memory
    if each > most:
        raise Unsupported(f"a walk of {steps:,} steps takes {each:,} bytes, and there are {most:,}")
    return int(most // each)
