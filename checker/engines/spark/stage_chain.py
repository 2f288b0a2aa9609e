"""A chain of stages with a shuffle between them, as one job of Spark.

In a driver of our own it is made of RDDs: Spark passes pickled rows on as they are, and neither its
SQL nor Arrow and pandas have to be started, here or in any Python worker.  Connect has DataFrames
only, so there it is made of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from checker.engines.spark.cancellation import context_of
from checker.engines.spark.session import ANSWER, Session, in_arrow
from checker.engines.spark.stages import Row

SCHEMA = "dst int, note binary, rows binary"
"""The columns of a :data:`Row`, in DataFrames."""
BATCH_BYTES = 1 << 22
"""The approximate number of bytes of blocks in a batch."""
Rows = Iterator[Row]
Batches = Iterator[Any]
"""Record batches of Arrow."""
Bytes = bytes | memoryview | None
Pair = tuple[int, tuple[Bytes, Bytes]]
"""A :data:`Row` in an RDD: the shard, by which Spark divides rows, and the rest."""


class StageChain(Struct, frozen=True):
    """The stages of a job.  ``first`` takes the number of a shard, ``middle`` and ``last`` what is
    for the same shard; ``last`` yields pickled objects.
    """

    shards: int
    first: Callable[[int], Rows]
    middle: Sequence[Callable[[Rows], Rows]]
    last: Callable[[Rows], Iterator[bytes]]

    def job(self, session: Session) -> Callable[[], list[bytes]]:
        """Returns a function that runs the job, waits, and returns what the last stage yields."""
        context = context_of(session.driver)
        if context is None:
            return lambda: self._with_frames(session.driver)
        return lambda: self._with_rdds(context)

    def _with_rdds(self, context: Any) -> list[bytes]:
        shards, first, last = self.shards, self.first, self.last
        numbers = context.parallelize(range(shards), shards)
        sent = numbers.mapPartitions(lambda found: _pairs(first(*found)))
        for stage in self.middle:
            sent = sent.partitionBy(shards, int).mapPartitions(_on_pairs(stage))
        sent = sent.partitionBy(shards, int)  # a shard's number is its partition
        return list(sent.mapPartitions(lambda pairs: last(_rows(pairs))).collect())

    def _with_frames(self, spark: Any) -> list[bytes]:
        from pyspark.sql.functions import col

        shards, owner, last = self.shards, col("dst"), self.last
        sent = spark.range(0, shards, 1, shards).mapInArrow(_from_number(self.first), SCHEMA)
        for stage in self.middle:
            sent = sent.repartitionById(shards, owner).mapInArrow(_on_batches(stage), SCHEMA)
        found = in_arrow(lambda batches: last(rows_in(batches)))
        sent = sent.repartitionById(shards, owner).mapInArrow(found, ANSWER)
        return [row[0] for row in sent.collect()]


# -- by RDDs ---------------------------------------------------------------------------------------


def _pairs(rows: Rows) -> Iterator[Pair]:
    return ((owner, (note, block)) for owner, note, block in rows)


def _rows(pairs: Iterable[Pair]) -> Rows:
    return ((owner, note, block) for owner, (note, block) in pairs)


def _on_pairs(stage: Callable[[Rows], Rows]) -> Callable[[Iterable[Pair]], Iterator[Pair]]:
    return lambda pairs: _pairs(stage(_rows(pairs)))


# -- by DataFrames: batches of Arrow ---------------------------------------------------------------


def _from_number(stage: Callable[[int], Rows]) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        (index,) = (number.as_py() for batch in batches for number in batch.column(0))
        return in_batches(stage(index))

    return run


def _on_batches(stage: Callable[[Rows], Rows]) -> Callable[[Batches], Batches]:
    return lambda batches: in_batches(stage(rows_in(batches)))


def rows_in(batches: Iterable[Any]) -> Rows:
    """Yields the rows of batches."""
    for batch in batches:
        owners, notes, blocks = batch.columns
        for i, owner in enumerate(owners):
            if blocks[i].is_valid:
                yield owner.as_py(), None, memoryview(blocks[i].as_buffer())
            else:
                yield owner.as_py(), memoryview(notes[i].as_buffer()), None


def in_batches(rows: Rows) -> Batches:
    """Groups rows into batches."""
    import pyarrow as pa

    types, names = (pa.int32(), pa.binary(), pa.binary()), ["dst", "note", "rows"]
    waiting: list[Row] = []
    size = 0

    def batch() -> Any:
        columns = zip(*waiting, strict=True)
        arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names)

    for row in rows:
        waiting.append(row)
        size += len(row[2] or b"")
        if size >= BATCH_BYTES:
            yield batch()
            waiting, size = [], 0
    if waiting:
        yield batch()
