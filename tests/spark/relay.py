"""Runs of the shuffle exchange without Spark: its stages one after another in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from checker.engines.cluster import Cluster
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.codegen.image import build
from checker.engines.native.search.finalize import finalize
from checker.engines.spark import driver, shuffle, stages
from checker.engines.spark.job import Job, RunOutcome
from checker.engines.spark.session import Session
from checker.engines.spark.stage_chain import in_batches, rows_in
from checker.engines.spark.stages import Row, ShardState
from checker.model.ir import TransitionSystem
from checker.reductions.reduction_plan import NOTHING, ReductionPlan
from checker.results.answer import Answer, Limits
from tests.spark.gang import begun, job_of

Between = Callable[[int], None]
"""Something that happens before a stage; given the level that the stage takes in."""


class Relay(shuffle.ShuffleRun):
    """A run whose stages Spark has nothing to do with."""

    def __init__(self, job: Job, between: Between) -> None:
        super().__init__(cast(Session, None), job)
        self._between = between

    def _run_levels(self, length: int) -> list[ShardState]:
        depth, shards = self.course.found.depth, self.job.shards
        course = pickle.dumps(self.course)
        self._between(depth)
        given = [
            list(in_batches(stages.first_stage(self.packed, pickle.loads(course), shard)))
            for shard in range(shards)
        ]
        for level in range(depth + 1, depth + length):
            self._between(level)
            mail = [self._mail(given, shard) for shard in range(shards)]
            given = [
                list(in_batches(stages.middle_stage(self.packed, level, rows))) for rows in mail
            ]
        self._between(depth + length)
        mail = [self._mail(given, shard) for shard in range(shards)]
        return [stages.final_stage(self.packed, depth + length, rows) for rows in mail]

    def _mail(self, given: list[list[Any]], shard: int) -> Iterator[Row]:
        """What has been sent to a shard, that of the last sender first."""
        for batches in reversed(given):
            there = (batch.filter(pa.compute.equal(batch.column(0), shard)) for batch in batches)
            yield from rows_in(there)

    def _clean(self) -> None:
        pass


def outcome(job: Job, between: Between = lambda level: None) -> RunOutcome:
    """One attempt."""
    return Relay(job, between).outcome()


def answer(
    system: TransitionSystem,
    folder: Path,
    shards: int,
    limits: Limits,
    between: Between = lambda level: None,
    plan: ReductionPlan = NOTHING,
) -> Answer:
    """What the engine answers, from the start or from what ``folder`` has."""
    image = build(system, plan)
    kept = RunFolder(str(folder), image.shape.words)
    if kept.latest() is None:
        kept = begun(folder, system, image)
    seen = outcome(job_of(system, image, kept, shards, limits), between)
    cluster = Cluster("local", shards=shards)
    run = driver.SparkRun(system, image, limits, cluster, kept, cast(Session, None), None)
    return finalize("spark", run.as_explored(seen))
