"""A chain of stages with a shuffle between them, as one job of Spark.

In a driver of our own it is made of RDDs: Spark passes pickled rows on as they are, and neither its
SQL nor Arrow and pandas have to be started, here and in each Python worker.  Under Connect it is
made of DataFrames, since there is nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from checker.engines.spark.cancellation import context_of
from checker.engines.spark.job import ANSWER
from checker.engines.spark.session import Session
from checker.engines.spark.stages import SCHEMA, Batches, Row, in_batches, rows_in

Rows = Iterator[Row]


class StageChain(Struct, frozen=True):
    """The stages of a job.  ``first`` takes the number of a shard, ``middle`` and ``last`` what is
    for the same shard; ``last`` yields pickled objects.
    """

    shards: int
    first: Callable[[int], Rows]
    middle: Sequence[Callable[[Rows], Rows]]
    last: Callable[[Rows], Iterator[bytes]]

    def job(self, session: Session) -> Callable[[], list[bytes]]:
        """Returns what runs the job and returns what the last stage yields; it waits for Spark."""
        context = context_of(session.driver)
        if context is None:
            return lambda: self._with_frames(session.driver)
        return lambda: self._with_rdds(context)

    def _with_rdds(self, context: Any) -> list[bytes]:
        shards = self.shards
        sent = context.parallelize(range(shards), shards).mapPartitions(_keyed_first(self.first))
        for stage in self.middle:
            sent = sent.partitionBy(shards, int).mapPartitions(_keyed(stage))
        found = sent.partitionBy(shards, int).mapPartitions(_unkeyed(self.last)).collect()
        return list(found)

    def _with_frames(self, spark: Any) -> list[bytes]:
        from pyspark.sql.functions import col

        frame = spark.range(0, self.shards, 1, self.shards)
        frame = frame.mapInArrow(_from_number(self.first), SCHEMA)
        for stage in self.middle:
            frame = frame.repartitionById(self.shards, col("dst"))
            frame = frame.mapInArrow(_on_batches(stage), SCHEMA)
        frame = frame.repartitionById(self.shards, col("dst"))
        frame = frame.mapInArrow(_to_answer(self.last), f"{ANSWER} binary")
        return [row[0] for row in frame.collect()]


# -- by RDDs: (shard, (note, block)) ---------------------------------------------------------------


def _keyed_first(stage: Callable[[int], Rows]) -> Callable[[Iterable[int]], Iterator[Any]]:
    def run(numbers: Iterable[int]) -> Iterator[Any]:
        (index,) = numbers
        return ((owner, (note, block)) for owner, note, block in stage(index))

    return run


def _unkeyed(stage: Callable[[Rows], Iterator[Any]]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def run(pairs: Iterable[Any]) -> Iterator[Any]:
        return stage((owner, note, block) for owner, (note, block) in pairs)

    return run


def _keyed(stage: Callable[[Rows], Rows]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    inner = _unkeyed(stage)
    return lambda pairs: ((owner, (note, block)) for owner, note, block in inner(pairs))


# -- by DataFrames: batches of Arrow ---------------------------------------------------------------


def _from_number(stage: Callable[[int], Rows]) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        (index,) = (number.as_py() for batch in batches for number in batch.column(0))
        return in_batches(stage(index))

    return run


def _on_batches(stage: Callable[[Rows], Rows]) -> Callable[[Batches], Batches]:
    return lambda batches: in_batches(stage(rows_in(batches)))


def _to_answer(stage: Callable[[Rows], Iterator[bytes]]) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        import pyarrow as pa

        for answer in stage(rows_in(batches)):
            yield pa.record_batch([pa.array([answer], pa.binary())], names=[ANSWER])

    return run
