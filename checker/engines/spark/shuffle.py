"""Exchange by shuffle: Spark carries the states from level to level, as it does on any cluster.

A few levels at a time are one job of Spark: a chain of stages (:mod:`checker.engines.spark.stages`)
with a shuffle between them.  After each job its levels are committed.  The first levels, as long as
they take less time than a stage does, are explored in the driver.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from operator import add
from typing import Any

from checker.engines.native.checkpoint.run_folder import Part
from checker.engines.spark import shard_handle, stages
from checker.engines.spark.heartbeat import Heartbeat
from checker.engines.spark.job import PROGRESS, STOP, Job, RunOutcome, TaskCost
from checker.engines.spark.local_prefix import LocalPrefix
from checker.engines.spark.run_state import RunState
from checker.engines.spark.session import Session
from checker.engines.spark.stage_chain import StageChain
from checker.engines.spark.stages import InconsistentTasks, Row, ShardState
from checker.results.answer import INTERRUPTED

CHAIN = 8
"""The largest number of levels in one job."""
JOB_SECONDS = 6.0
"""The approximate duration of a job: its levels are not committed before it ends."""
CLEANING = 15.0
"""Seconds in which executors have to delete obsolete files; Spark does it, too."""


def run(session: Session, job: Job, watch: Callable[[], object]) -> RunOutcome:
    """Executes the whole run, from the last commit; raises what Spark and ``watch`` raise."""
    return ShuffleRun(session, job, watch).outcome()


class ShuffleRun:
    """One attempt at a run."""

    def __init__(
        self, session: Session, job: Job, watch: Callable[[], object] = lambda: None
    ) -> None:
        self.session, self.job, self.packed = session, job, stages.pack_job(job)
        self.watch = watch
        self.started = time.monotonic()
        found, self.parts = job.folder.latest(), job.folder.parts()
        assert found is not None, "the initial states are committed"
        self.course = RunState.after(job, found, self.parts)
        self.efforts: dict[int, TaskCost] = {}
        self.broken: str | None = None

    def outcome(self) -> RunOutcome:
        """Executes the attempt."""
        self._levels()
        if self.efforts:
            with contextlib.suppress(Exception):  # Spark deletes it, too, later
                self._clean()
        efforts = tuple(self.efforts[shard] for shard in sorted(self.efforts))
        return self.course.outcome(time.monotonic() - self.started, self.broken, efforts)

    def _levels(self) -> None:
        with self._writing():
            self._commit(LocalPrefix(self.job, self.course, self._why_stop).run(self.parts))
        length = max(1, CHAIN // 2)
        while self.course.going and self.broken is None:
            self._say()
            self.course.stopped = self._why_stop()
            if self.course.going:
                length = self._chain(length)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Within the block, an error of the disk ends the run without a failure."""
        try:
            yield
        except OSError as error:
            where = error.filename or self.job.folder.location
            self.broken = f"{where}: {error.strerror or error}"

    def _chain(self, length: int) -> int:
        """Explores ``length`` levels; returns how many the next job should have."""
        before, depth = time.monotonic(), self.course.found.depth
        luggage = self._run_levels(length)
        course = luggage[0].course
        if any(other.course != course for other in luggage):
            raise InconsistentTasks("the shards do not agree on how far the run is")
        course.record_counts(self.job, reduce(add, (each.counted for each in luggage)))
        self.course = course
        for each in luggage:
            shard, effort = each.effort.shard, each.effort
            self.efforts[shard] = self.efforts[shard] + effort if shard in self.efforts else effort
        with self._writing():
            self._commit(part for each in luggage for part in each.parts)
        seconds = (time.monotonic() - before) / max(1, course.found.depth - depth)
        return max(1, min(CHAIN, int(JOB_SECONDS / seconds)))

    def _commit(self, parts: Iterable[Part]) -> None:
        complete, folder = self.course.complete, self.job.folder
        if complete.depth > folder.committed_depth:
            folder.commit(complete, [part for part in parts if part.level <= complete.depth])

    def _why_stop(self) -> str | None:
        if (self.job.folder.read_message(STOP) or {}).get(STOP):
            return INTERRUPTED
        return self.job.limits.no_more_time if self.job.is_late() else None

    def _say(self) -> None:
        """Reports the progress."""
        self.job.folder.say(PROGRESS, self.course.progress())

    # -- jobs on Spark --------------------------------------------------------------------------

    def _run_levels(self, length: int) -> list[ShardState]:
        """Returns the state of all shards after ``length`` more levels."""
        packed, course, beat = self.packed, self.course, self.job.beat
        depth = course.found.depth
        first = _with_beat(
            lambda index: stages.first_stage(packed, course, index), beat, 2 * depth + 1
        )
        middle = [
            _stage(stages.middle_stage, packed, level, beat)
            for level in range(depth + 1, depth + length)
        ]
        last = _stage(_final_stage, packed, depth + length, beat)
        chain = StageChain(self.job.shards, first, middle, last)
        rows = self.session.run(chain.job(self.session), watch=self.watch)
        return [pickle.loads(row) for row in rows]

    def _clean(self) -> None:
        """Deletes the files that the executors hold of the run."""
        name, shards = shard_handle.run_name(self.job), self.job.shards
        work = partial(shard_handle.removal_task, name)
        self.session.run(lambda: self.session.in_tasks(work, shards), CLEANING)


def _final_stage(packed: bytes, level: int, rows: Iterator[Row]) -> Iterator[bytes]:
    yield pickle.dumps(stages.final_stage(packed, level, rows))


def _stage(
    what: Callable[[bytes, int, Iterator[Row]], Iterator[Any]],
    packed: bytes,
    level: int,
    beat: Heartbeat,
) -> Callable[[Any], Any]:
    return _with_beat(lambda rows: what(packed, level, rows), beat, 2 * level)


def _with_beat(
    stage: Callable[[Any], Iterator[Any]], beat: Heartbeat, turn: int
) -> Callable[[Any], Iterator[Any]]:
    """Returns ``stage``, whose tasks send heartbeats while they run."""

    def run_with_beat(given: Any) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None, "this is a task"
        with beat.of(context.partitionId(), turn):
            yield from stage(given)

    return run_with_beat
