"""Explores the first levels of a run in the driver, where a stage on Spark would take longer."""

from __future__ import annotations

import time
from collections.abc import Callable

from checker.engines.native.checkpoint.run_folder import Part
from checker.engines.native.search.store import OutOfMemory
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.native.sharding.shard import Shard
from checker.engines.spark.job import Job
from checker.engines.spark.run_state import Counted, RunState

QUICK = 0.1
"""Seconds: when a level has taken longer, the next one is explored on Spark."""
ENOUGH = 1.0
"""Seconds after which a level is aborted here, and explored on Spark."""
LIGHT = 1 << 28
"""The largest number of bytes of states that are held here."""
SLICE = 0.05
"""Seconds between two checks of the clock."""


class TooSlow(Exception):
    """A level takes too long here."""


class LocalPrefix:
    """All states so far, in the driver, and the coordination state (``course``, which is updated).

    ``why_stop``: returns why the run is to end, if it is.
    """

    def __init__(self, job: Job, course: RunState, why_stop: Callable[[], str | None]) -> None:
        self.job, self.course, self.why_stop = job, course, why_stop
        self.shard = Shard(kernel_of(job.image), 0, 1, keep=True, memory=job.memory)

    def run(self, parts: dict[int, list[Part]]) -> list[Part]:
        """Resumes from the states in ``parts``; returns the parts that it has written.

        Raises ``OSError`` where the run's folder can't be read or written.
        """
        course, folder = self.course, self.job.folder
        if sum(p.rows for each in parts.values() for p in each) * 8 * folder.words > LIGHT:
            return []
        done = course.found.depth
        try:
            for depth in range(done + 1):
                blocks = (b for part in parts.get(depth, ()) for b in folder.read(part))
                self.shard.restore(depth, blocks)
            seconds = 0.0
            while course.going and seconds < QUICK and self.shard.store.used_bytes < LIGHT:
                before = time.monotonic()
                self._level(before + ENOUGH)
                seconds = time.monotonic() - before
        except (OutOfMemory, TooSlow):
            pass
        levels = range(done + 1, course.complete.depth + 1)
        return [folder.write(d, 0, 1, [self.shard.level(d)]) for d in levels if self.shard.size(d)]

    def _level(self, until: float) -> None:
        """Explores one level, or none where it raises ``OutOfMemory`` or :class:`TooSlow`."""
        shard, course = self.shard, self.course
        depth = course.found.depth
        last = course.is_last(self.job)
        if not last:
            shard.begin_level(depth + 1)
        shard.begin_sweep(course.found, self.job.names, last=last)
        begin, end = shard.store.range_of(shard.crew, depth)
        stop = self.why_stop()
        while begin < end and stop is None:
            with self.job.bound(until - time.monotonic()):
                begin = shard.expand(begin, end, SLICE)
            for _, rows in shard.outgoing(1 if begin == end else shard.cap):
                shard.take(rows)
            if time.monotonic() > until:
                raise TooSlow
            stop = self.why_stop() if begin < end else None
        course.record_expansion(self.job, shard.report(), stop)
        fresh = 0 if last else shard.size(depth + 1)
        store, late = shard.store, shard.report()
        total = Counted(fresh, store.states, store.deepest(), store.used_bytes, late)
        course.record_counts(self.job, total)
