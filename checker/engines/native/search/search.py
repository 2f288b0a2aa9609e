"""Breadth-first search, level by level: divides levels among workers, grows tables and stops at
limits.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from checker.engines import budgets
from checker.engines.budgets import WorkerThread
from checker.engines.native.checkpoint.cannot_keep import CannotKeep
from checker.engines.native.codegen.fields import Context, Mode, Worker
from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Kernel, compile_image
from checker.engines.native.liveness.cycle_detection import has_cycle
from checker.engines.native.search.explored import Undecided
from checker.engines.native.search.findings import TOO_NESTED, Best, Findings, Target
from checker.engines.native.search.store import OutOfMemory, Store
from checker.engines.native.search.tiered_jit import PendingOptimisation
from checker.engines.native.search.worker_memory import WorkerMemory
from checker.engines.search_engine import Cyclic, Outgrown
from checker.model import interpreter
from checker.model.ir import PropertyKind, TransitionSystem
from checker.properties.persistence import monitored
from checker.results.answer import (
    DECIDED,
    FOUND,
    INTERRUPTED,
    Answer,
    Limits,
    Listener,
    Path,
    Progress,
    Unsupported,
    stop_reason,
)

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from checker.engines.native.checkpoint.journal import Journal

PARALLEL_FROM = 8192
"""Levels of fewer states are expanded by one thread."""
PIECES, LEAST_PIECE = 32, 256
"""The number of pieces per thread that a level is cut into, and their smallest size, so that all
threads are done at about the same time.
"""
SLICE = 0.1
"""Seconds after which Python checks limits and tables again."""

LOOK_FROM = 4096
"""The number of states from which on cycles are looked for."""
LARGE = 131_072
"""The number of states from which on it pays to begin anew with the plan for large systems."""
LONG = 20_000
"""The number of states from which on violations are reported during a search."""

Segment = tuple[WorkerMemory, int, int]
"""Rows of a worker: from, up to but not including."""


class Search:
    """One exploration.  After :meth:`run` the public fields hold the findings.

    ``found``: what is known once level ``found.depth - 1`` is closed; ``complete``: the last
    findings without a runtime error; ``stopped``: why it is not exhaustive; ``seconds``: its time,
    and ``earlier`` that of the search that it continues; ``begun``: the start of the time limit;
    ``runs``: executions to violations that are reconstructed already; ``on_violation``
    reconstructs them, and reports that they are found.
    """

    def __init__(
        self,
        system: TransitionSystem,
        kernel: Kernel,
        upgrade: PendingOptimisation | None,
        limits: Limits,
        threads: int,
        listener: Listener | None,
        journal: Journal | None = None,
        compact: bool = False,
    ) -> None:
        self.system, self.limits, self.listener = system, limits, listener
        self.upgrade, self.journal = upgrade, journal
        self.started = self.begun = time.monotonic()
        self.seconds = self.earlier = 0.0
        self._threads, self._compact = threads, compact
        self.asks_ends = True
        self._tracked = any(p.kind is PropertyKind.LIVENESS for p in system.properties)
        self.begin(kernel)
        self.lost: Best | None = None
        self.stopped: str | None = None
        self.halt = False
        self._pool: ThreadPoolExecutor | None = None
        self._spare, self._share, self._lock = 0, 0, Lock()
        self._grain = 256
        self._look_at, self._stays = LOOK_FROM, False
        self._monitored = bool(monitored(system))
        self._reported = self.started
        self.runs: dict[Target, Path] = {}
        self.on_violation: Callable[[Search], None] = lambda _: None
        self._told = set[str]()

    @property
    def unfolds(self) -> bool:
        """Whether cycles are unfolded when the search is over."""
        return self.kernel.image.unfolds and self.system.view is None and not self._monitored

    @property
    def kernel(self) -> Kernel:
        """The native code in use."""
        return self.store.kernel

    def begin(self, kernel: Kernel) -> None:
        """Resets the search: nothing is known, and no state is found."""
        self._whole = kernel
        acyclic = kernel.image.reductions.acyclic
        narrows = kernel.image.narrows and not acyclic
        self.store = Store(
            kernel,
            self._threads,
            self.limits.memory,
            folds=True,
            narrowing=self._narrow if narrows else None,
            early=self._compact,
        )
        self.depth = 0
        self.found = Findings()
        untracked = kernel.image.shape.words == 1 and not kernel.image.level_limit
        self.found.maybe_cyclic = self._tracked and untracked
        self.complete = self.found.copy()

    def begin_again(self) -> None:
        """Resets the search, which has nothing in a table of 32-bit slots then."""
        self.begin(self._whole if self.kernel.image.narrow else self.kernel)

    def _narrow(self) -> Kernel | None:
        """Compiles the kernel for a table of 32-bit slots; no other one will take its place.
        ``None`` where the search is to end before it is ready.
        """
        image = build(self.system, self.kernel.image.reductions, narrow=True)
        made = WorkerThread(partial(compile_image, image))
        while not made.is_done:
            time.sleep(SLICE / 4)
            self._check_time()
            if self.stopped is not None:
                return None
        self._whole, upgrade, self.upgrade = self.kernel, self.upgrade, None
        if upgrade is not None:
            upgrade.close()
        return made.result()

    def run(
        self, initial: list[list[int]] | None, before: Callable[[Search], bool] | None = None
    ) -> None:
        """Explores from the packed ``initial`` states (``None``: native code makes them), or from
        what the journal has kept.

        ``before``: gives the search another one's findings, and returns whether it did.  Raises
        :class:`checker.engines.search_engine.HandedOver`.
        """
        try:
            with budgets.stopping_native_code():
                self._start(initial, before)
                self._levels()
        except KeyboardInterrupt as error:
            self.stopped = stop_reason(error)
        except CannotKeep as error:
            self.stopped = str(error)
        except (OutOfMemory, MemoryError) as error:
            self.stopped = str(error) or "out of memory"
            if self.journal is not None:
                self.journal.no_memory(self)
        finally:
            self.seconds = self.earlier + time.monotonic() - self.started
            self.close()
            self.depth = self.store.deepest()

    def go_on(self, found: Findings) -> None:
        """Continues from a store that holds all states of the levels up to ``found.depth``."""
        limit = self.kernel.image.level_limit
        found.maybe_cyclic |= self.found.maybe_cyclic or 0 < limit <= found.depth
        self.found, self.depth = found, found.depth
        self.complete = found.copy()
        self._stays = self.store.states >= LARGE  # it was asked when these states were found
        self._know()

    def close(self) -> None:
        """Waits for all workers, and for no compiler."""
        self.halt = True
        self.store.narrowing = None  # it refers to this search, which need not last longer
        if self.upgrade is not None:
            self.store.kernel = self.upgrade.close() or self.store.kernel
            self.upgrade = None
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        self.halt = False

    def _start(
        self, initial: list[list[int]] | None, before: Callable[[Search], bool] | None
    ) -> None:
        if before is not None and before(self):
            if self.journal is not None:
                self.journal.take_over(self)
        elif self.journal is not None:
            self.journal.restore(self)
        elif initial is None:
            self._begin()
        else:
            for words in initial:
                self.store.add(words)

    def _begin(self) -> None:
        """Makes the initial states; those without room are made again when there is some."""
        kernel, crew = self.kernel, self.store.workers[0]
        layout, base = kernel.image.layout, tuple(v.initial for v in self.system.variables)
        source = (ctypes.c_uint64 * layout.words)(*layout.pack(base))
        assert kernel.begin is not None
        unfinished = True
        while unfinished and self.stopped is None:
            self._admit(1)
            if self.stopped is None:
                kernel.begin(self.store.context_address, crew.address, ctypes.addressof(source))
                kernel.stop.clear()
                if crew.get(Worker.FAULTED):
                    with budgets.raising_when_exhausted():
                        interpreter.initial_states(self.system)  # raises any pending exception
                if crew.get(Worker.TAPE):
                    raise Unsupported(TOO_NESTED)
                unfinished = any(crew.get(w) for w in (Worker.OVERFLOW, Worker.STOPPED))
                self._check_time()
                self._report()

    def _levels(self) -> None:
        self._look_enough()
        while self.stopped is None and self.found.faulty is None and self.lost is None:
            if not self.store.level_size(self.depth):
                return
            limit = self.limits.max_depth
            last = limit is not None and self.depth >= limit
            self._open_next(last)
            swept = False
            try:
                self.sweep(self.depth, Mode.NEWCOMERS if last else Mode.SEARCH)
                swept = self.stopped is None
            finally:
                newcomer = self._close_level(swept)
            if last:
                if newcomer:
                    self.stopped = f"the depth limit of {limit} was reached"
                self.found.maybe_cyclic = self._tracked
                return
            self._report(force=True)
            self.depth += 1
            if self.stopped is None and self.lost is None:
                self.found.depth = self.depth
                if self.found.faulty is None:
                    self.complete = self.found.copy()
                if self.journal is not None:
                    self.journal.close_level(self)
                self._look_enough()
            self._report_violations()

    def _report_violations(self) -> None:
        """Has new violations of a long search reported, with their executions: what is decided
        must not get lost should the search be ended, or killed."""
        found = self.found.violating.keys()
        if found <= self._told or self.stopped or self.lost or self.store.states < LONG:
            return
        self._told |= found
        with contextlib.suppress(KeyboardInterrupt), budgets.raising_when_exhausted():
            self.on_violation(self)
        self.store.report()
        self._know()
        self._check_time()

    def _look_enough(self) -> None:
        """Ends the search where no caller needs the rest."""
        if self.found.enough(self.system, self.limits) and self.store.level_size(self.depth):
            self.stopped = DECIDED

    def _open_next(self, last: bool) -> None:
        if last:
            return
        self.store.open_level(self.depth + 1)
        self.store.context[Context.WHOLE] = self.found.whole
        self.store.context[Context.NO_ENDS] = not self.asks_ends
        limit = self.kernel.image.level_limit
        if limit and self.depth + 1 >= limit:
            self.found.maybe_cyclic = True

    def _close_level(self, swept: bool) -> bool:
        """Takes over what the workers noted; what is known now need not be evaluated again.

        ``swept``: the level was expanded completely; of another one it is chance which of its
        states were, so nothing is counted.  Returns whether a successor was met that had not been
        visited, where that was queried.
        """
        report = self.store.report()
        if not swept:
            report = report.without_counts()
        self.found.add(self.system, report, self.depth)
        self.lost = report.lost
        self._look_round()
        self._know()
        return report.newcomer

    def _look_round(self) -> None:
        """Gives the search up as soon as a cycle is found, if its plan is proven only without
        cycles; and once there are many states and no cycle, if it has a plan for that.

        Cycle detection costs as much as a search of the known states, so it is done when they have
        become four times as many.  Where there is no room for it, cycles are decided at the end.
        """
        plan, looks = self.kernel.image.reductions, self.store.states >= self._look_at
        looks = looks and not self.stopped
        outgrown = plan.larger is not None and self.store.states >= LARGE and not self._stays
        if outgrown and not (self.stopped or self.found.faulty):
            self._stays = True
            if not (self.found.maybe_cyclic and self._has_cycle(unless=True)):
                raise Outgrown(self.store.states)
        if not plan.acyclic or not self.found.maybe_cyclic or self.unfolds:
            return
        if not self.found.cyclic and looks:
            self._look_at = 4 * self.store.states
            self.found.cyclic = self._has_cycle(unless=False)
        if self.found.cyclic:
            raise Cyclic(self.store.states)

    def _has_cycle(self, unless: bool) -> bool:
        """Whether the steps between the known states form a cycle; ``unless`` there is no room or
        no time to find out."""
        found = unless
        with contextlib.suppress(Undecided, MemoryError):
            found = has_cycle(self.kernel, self.store, self.limits, self._require_time)
        self.store.report()
        return found

    def _know(self) -> None:
        props = self.system.properties
        self.store.know(
            [i for i, p in enumerate(props) if p.name in self.found.premises],
            [i for i, p in enumerate(props) if p.name in self.found.violating],
        )

    # -- rounds ---------------------------------------------------------------------------------

    def sweep(self, depth: int, mode: Mode, segments: Iterable[Segment] | None = None) -> None:
        """Expands rows of level ``depth`` in ``mode``: ``segments``, or all of them."""
        crew = self.store.workers
        if segments is None:
            segments = [(one, *self.store.range_of(one, depth)) for one in crew]
        queue = deque(each for each in segments if each[1] < each[2])
        for one in crew:
            one.put(Worker.MODE, mode)
            one.put(Worker.OVERFLOW, 0)
        size = self.store.level_size(depth)
        count = len(crew) if size >= PARALLEL_FROM else 1
        if count > 1:
            piece = max(LEAST_PIECE, size // (count * PIECES) + 1)
            queue = deque(s for segment in queue for s in _split(segment, piece))
        while queue and self.stopped is None:
            if mode is Mode.SEARCH:
                self._admit(count)
                if self.stopped is not None:
                    return
            self._round(queue, count)
            self.kernel.stop.clear()
            self._improve()
            self.store.unload()
            if mode is not Mode.PARENTS:
                self._check_time()
                self._report()

    def expand(self, rows: Iterable[tuple[int, int]]) -> None:
        """Expands these rows of the first worker, which are of the last level; their successors are
        the next level."""
        self._open_next(False)
        crew = self.store.workers[0]
        self.sweep(self.depth, Mode.SEARCH, [(crew, begin, end) for begin, end in rows])
        self.depth += 1

    def _improve(self) -> None:
        """Switches to optimised code where it has become available."""
        if self.upgrade is not None:
            better = self.upgrade.poll(time.monotonic() - self.started)
            self.store.kernel = better or self.store.kernel

    def _admit(self, count: int) -> None:
        """Gives every worker room for new states; sets ``stopped`` where there is none."""
        store, limit = self.store, self.limits.max_states
        if limit is not None and store.states >= limit:
            self.stopped = self.limits.no_more_states
            return
        overflow = store.total(Worker.OVERFLOW) > 0
        if not all(map(store.has_window, store.workers)):
            store.settle()
        if store.scarce or (overflow and store.room < store.slots >> 5):
            store.grow()
        room = store.room
        if limit is not None:
            room = min(room, limit - store.states)
        self._spare, self._share = room, room if count == 1 else max(1, room // (4 * count))
        for i, one in enumerate(store.workers):
            one.put(Worker.OVERFLOW, 0)
            one.put(Worker.CAP, one.count)
            if i < count:
                self._give(one)

    def _give(self, crew: WorkerMemory) -> bool:
        """Gives a worker that has used up its room some of what is free."""
        with self._lock:
            given = min(self._spare, self._share)
            self._spare -= given
        crew.put(Worker.CAP, crew.get(Worker.CAP) + given)
        return given > 0

    def _round(self, queue: deque[Segment], count: int) -> None:
        if count == 1:
            self._work(queue, self.store.workers[0])
            return
        from concurrent.futures import ThreadPoolExecutor, wait

        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(self.store.workers))
        tasks = [self._pool.submit(self._work, queue, c) for c in self.store.workers[:count]]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            self.halt = True
            self.kernel.stop.tell()
            wait(tasks)
            self.kernel.stop.clear()
            raise

    def _work(self, queue: deque[Segment], crew: WorkerMemory) -> None:
        """One worker's part of a round: until its time is over, its room full, or all done."""
        context, store = self.store.context_address, self.store
        now = time.monotonic()
        until = now + SLICE
        while now < until and not self.halt:
            try:
                owner, begin, end = queue.popleft()
            except IndexError:
                return
            stop = min(end, begin + store.together(self._grain))
            first = store.context[Context.PREFIX + store.workers.index(owner)]
            rows = store.expandable(crew, owner, begin, stop)
            reached = self.kernel.run(context, crew.address, rows, begin, stop, first)
            before, now = now, time.monotonic()
            if reached < end:
                queue.appendleft((owner, reached, end))
            if reached < stop:
                crowded = crew.get(Worker.CROWDED)
                full = crowded or not store.has_window(crew)
                if self.kernel.stop.is_set or full or not self._give(crew):
                    return
                crew.put(Worker.OVERFLOW, 0)
            if now - before < SLICE / 8:
                self._grain = min(self._grain * 2, 1 << 18)
            elif now - before > SLICE / 2:
                self._grain = max(self._grain // 4, 16)

    def _check_time(self) -> None:
        timeout = self.limits.timeout
        if budgets.is_interrupted():
            self.stopped = INTERRUPTED
            return
        if timeout is not None and time.monotonic() - self.begun > timeout:
            self.stopped = self.limits.no_more_time

    def _require_time(self) -> None:
        self._check_time()
        if self.stopped is not None:
            raise Undecided(self.stopped)

    def tell(self, phase: str) -> None:
        """Reports that the search is over, and what is done now."""
        self._report(True, phase)

    def report_known(self, answer: Answer) -> None:
        """Reports what is known when the search is over."""
        self._report(True, FOUND, answer)

    def _report(self, force: bool = False, phase: str = "", answer: Answer | None = None) -> None:
        now = time.monotonic()
        if self.listener is None or (not force and now - self._reported < SLICE):
            return
        self._reported = now
        frontier = self.store.level_size(self.depth)
        progress = Progress(
            self.store.states,
            frontier,
            self.depth,
            now - self.started,
            self.store.used_bytes,
            phase,
            answer=answer,
        )
        self.listener(progress)


def _split(segment: Segment, size: int) -> list[Segment]:
    owner, begin, end = segment
    return [(owner, at, min(at + size, end)) for at in range(begin, end, size)]
