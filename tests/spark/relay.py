"""Runs of the shuffle exchange without Spark: its stages one after another in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from checker.engines.spark import driver, shuffle, stages
from checker.engines.spark.cluster import Cluster
from checker.engines.spark.job import Job, Outcome
from checker.engines.spark.session import Session
from checker.engines.spark.stages import Luggage
from checker.exploration.conclude import conclude
from checker.exploration.run_folder import RunFolder
from checker.kernels.image import build
from checker.reductions.plan import NOTHING, Plan
from checker.system.ir import TransitionSystem
from checker.witness.answer import Answer, Limits
from tests.spark.gang import begun, job_of

Between = Callable[[int], None]
"""Something that happens before a stage; given the level that the stage takes in."""


class Relay(shuffle.Run):
    """A run whose stages Spark has nothing to do with."""

    def __init__(self, job: Job, between: Between) -> None:
        super().__init__(cast(Session, None), job)
        self._between = between

    def _made(self, length: int) -> list[Luggage]:
        depth, shards = self.course.found.depth, self.job.shards
        course = pickle.dumps(self.course)
        self._between(depth)
        given = [
            list(stages.first(self.packed, pickle.loads(course), iter([number(shard)])))
            for shard in range(shards)
        ]
        for level in range(depth + 1, depth + length):
            self._between(level)
            mail = [self._mail(given, shard) for shard in range(shards)]
            given = [list(stages.middle(self.packed, level, batches)) for batches in mail]
        self._between(depth + length)
        mail = [self._mail(given, shard) for shard in range(shards)]
        rows = [row for m in mail for row in stages.final(self.packed, depth + length, m)]
        return [pickle.loads(row.column(0)[0].as_py()) for row in rows]

    def _mail(self, given: list[list[Any]], shard: int) -> Iterator[Any]:
        """What has been sent to a shard, that of the last sender first."""
        for batches in reversed(given):
            for batch in batches:
                yield batch.filter(pa.compute.equal(batch.column(0), shard))

    def _clean(self) -> None:
        pass


def number(shard: int) -> Any:
    """What Spark gives to a task of the first stage."""
    return pa.RecordBatch.from_arrays([pa.array([shard], pa.int64())], ["id"])


def outcome(job: Job, between: Between = lambda level: None) -> Outcome:
    """One attempt."""
    return Relay(job, between).outcome()


def answer(
    system: TransitionSystem,
    folder: Path,
    shards: int,
    limits: Limits,
    between: Between = lambda level: None,
    plan: Plan = NOTHING,
) -> Answer:
    """What the engine answers, from the start or from what ``folder`` has."""
    image = build(system, plan)
    kept = RunFolder(str(folder), image.shape.words)
    if kept.latest() is None:
        kept = begun(folder, system, image)
    seen = outcome(job_of(system, image, kept, shards, limits), between)
    cluster = Cluster("local", shards=shards)
    run = driver.Run(system, image, limits, cluster, kept, cast(Session, None), None)
    return conclude("spark", run.explored(seen))
