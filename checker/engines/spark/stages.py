"""The stages of a run by shuffle, as the tasks on the executors execute them.

Spark runs a chain of stages, one for each level.  A task *receives* the states of a level that its
shard owns, writes those that are new, and *expands* them; their successors are sent in blocks of
many states, which Spark carries to the tasks of the next stage.  Beside states there are level
summaries, which a task sends to all tasks of the next stage, and the shard state, which goes to its
own shard.

A task that Spark repeats gives the same states: those of a level are a set.  Where tasks come to
differ all the same (one was stopped, say, and was not when it was repeated), that is detected, and
the run resumes from the last commit.
"""

from __future__ import annotations

import gc
import pickle
import resource
import socket
import time
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from itertools import chain
from operator import add

from msgspec import Struct, field

from checker.engines.native.checkpoint.run_folder import Part
from checker.engines.native.search.findings import LevelReport
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.native.sharding.shard import Block
from checker.engines.spark.heartbeat import told_to_end
from checker.engines.spark.job import PROGRESS, STOP, Job, TaskCost
from checker.engines.spark.run_state import Counted, RunState
from checker.engines.spark.shard_handle import ShardHandle
from checker.records import replace
from checker.results.answer import INTERRUPTED

SLICE = 0.2
"""Seconds of expansion between two checks of the clock and of the folder's messages."""
BLOCK_BYTES, LEAST_BYTES = 1 << 21, 1 << 16
"""The largest number of bytes of states in a block: for few shards, and for very many."""
HELD, BLOCKS = 1 << 26, 10
"""How many bytes PySpark should hold at most before it passes them on, and how many blocks it holds
for each shard at first.
"""
REMEMBERED, LEAST, MOST = 4, 1 << 10, 1 << 22
"""The number of sent states that are remembered for each expanded state, and its lower and upper
bound in total.
"""

Row = tuple[int, bytes | memoryview | None, bytes | memoryview | None]
"""The shard that a row is for, and either a summary or states."""


class InconsistentTasks(Exception):
    """The tasks of a stage have inconsistent information."""


class LevelSummary(Struct, frozen=True):
    """``shard`` has expanded level ``depth``: its findings, why not all of it (``stop``), what it
    held when it began, and its costs.
    """

    shard: int
    depth: int
    counted: Counted
    report: LevelReport
    stop: str | None
    effort: TaskCost


class ShardState(Struct, frozen=True):
    """The state of a shard between stages: the course, its counts since, the parts written since
    the last commit, and the costs.
    """

    course: RunState
    counted: Counted
    parts: tuple[Part, ...]
    effort: TaskCost


def pack_job(job: Job) -> bytes:
    """Returns a job as it is sent with each stage."""
    return zlib.compress(pickle.dumps(job), 1)


@lru_cache(maxsize=2)
def _unpack_job(job: bytes) -> Job:
    found: Job = pickle.loads(zlib.decompress(job))
    kernel_of(found.image)
    gc.collect()
    gc.freeze()  # PySpark collects garbage after each task: long-lived objects need not be scanned
    return found


# -- input --------------------------------------------------------------------------------------


class InputBuffer(Struct):
    """The input of one shard; summaries and shard state are there once they have been read past."""

    rows: Iterator[Row]
    shard: int = -1
    notes: list[LevelSummary] = field(default_factory=list)
    luggage: ShardState | None = None

    def blocks(self) -> Iterator[Block]:
        """Yields the states, as they come.  Raises :class:`InconsistentTasks`."""
        for owner, note, block in self.rows:
            self._is_for(owner)
            if block is not None:
                yield block
                continue
            assert note is not None, "a row has either"
            said = pickle.loads(note)
            if isinstance(said, LevelSummary):
                self.notes.append(said)
            else:
                self.luggage = said

    def _is_for(self, shard: int) -> None:
        if self.shard not in (-1, shard):
            raise InconsistentTasks(
                f"what is for shards {self.shard} and {shard} has come to one task"
            )
        self.shard = shard


# -- stages -------------------------------------------------------------------------------------


def first_stage(job: bytes, course: RunState, index: int) -> Iterator[Row]:
    """Expands level ``course.found.depth``, which is committed, in shard ``index``."""
    with ShardHandle(_unpack_job(job), index, course.found.depth) as keeper:
        keeper.is_open(())
        luggage = ShardState(course, keeper.counts(), (), TaskCost(index, 0, 0, 0, 0.0, ""))
        yield from expand(keeper, luggage)


def middle_stage(job: bytes, depth: int, rows: Iterator[Row]) -> Iterator[Row]:
    """Receives level ``depth``, and expands it."""
    inbox = InputBuffer(rows)
    blocks = _state_blocks(inbox)
    with ShardHandle(_unpack_job(job), inbox.shard, depth - 1) as keeper:
        luggage = take_in(keeper, inbox, blocks)
        if luggage.course.ahead:
            yield from expand(keeper, luggage)
        else:
            yield inbox.shard, pickle.dumps(luggage), None


def final_stage(job: bytes, depth: int, rows: Iterator[Row]) -> ShardState:
    """Receives level ``depth``; returns the shard's state."""
    inbox = InputBuffer(rows)
    blocks = _state_blocks(inbox)
    with ShardHandle(_unpack_job(job), inbox.shard, depth - 1) as keeper:
        return take_in(keeper, inbox, blocks)


def _state_blocks(inbox: InputBuffer) -> Iterator[Block]:
    """Yields the states in the inbox, which knows the shard then."""
    blocks = inbox.blocks()
    return chain([block for block in [next(blocks, None)] if block is not None], blocks)


def take_in(keeper: ShardHandle, inbox: InputBuffer, blocks: Iterator[Block]) -> ShardState:
    """Adds the received states of the next level to the shard, if the run has continued so far.

    Raises :class:`InconsistentTasks`.
    """
    limit = keeper.job.limits.max_depth
    last = limit is not None and keeper.depth >= limit
    waiting: list[Block] = []
    begun = False

    def take(more: Sequence[Part] | None) -> None:
        nonlocal begun
        if keeper.is_open(more):
            if not begun:
                keeper.begin(last=last)
                begun = True
            for block in waiting:
                keeper.take(block)
            waiting.clear()

    for block in blocks:
        waiting.append(block)
        take(None if inbox.luggage is None else inbox.luggage.parts)
    luggage = _update_course(keeper.job, keeper.depth, inbox)
    if not inbox.notes or not (luggage.course.ahead or luggage.course.looking):
        return luggage  # the run was over before, or it is now
    take(luggage.parts)
    if last:
        return replace(luggage, counted=keeper.counts())
    keeper.complete()
    return _write_level(keeper, luggage)


def _update_course(job: Job, depth: int, inbox: InputBuffer) -> ShardState:
    """Returns the shard state, with the course updated by all summaries of level ``depth``."""
    luggage, notes = inbox.luggage, inbox.notes
    if luggage is None or (notes and sorted(n.shard for n in notes) != [*range(job.shards)]):
        raise InconsistentTasks(f"shard {inbox.shard}: what others have to say is missing")
    if not notes:
        return luggage
    if any(note.depth != depth for note in notes):
        raise InconsistentTasks(f"shard {inbox.shard}: others are at another level than {depth}")
    course = luggage.course
    course.record_counts(job, reduce(add, (note.counted for note in notes)))
    if course.going:
        report = LevelReport.together(note.report for note in notes)
        course.record_expansion(job, report, next((n.stop for n in notes if n.stop), None))
    effort = next(note.effort for note in notes if note.shard == inbox.shard)
    return replace(luggage, effort=luggage.effort + effort)


def _write_level(keeper: ShardHandle, luggage: ShardState) -> ShardState:
    """Writes the shard's last level to the run's folder, or records why it can't."""
    counted, folder, parts = keeper.counts(), keeper.job.folder, luggage.parts
    if counted.fresh and counted.stop is None:
        rows = keeper.shard.level(keeper.depth)
        try:
            part = folder.write(keeper.depth, keeper.index, keeper.job.shards, [rows])
            parts = (*parts, part)
        except OSError as error:
            broken = f"{error.filename or folder.location}: {error.strerror or error}"
            counted = replace(counted, broken=broken)
    return replace(luggage, counted=counted, parts=parts)


# -- expanding ----------------------------------------------------------------------------------


def expand(keeper: ShardHandle, luggage: ShardState) -> Iterator[Row]:
    """Expands the shard's last level, as if no other shard had trouble with its own."""
    started, job, depth = time.monotonic(), keeper.job, keeper.depth
    yield keeper.index, pickle.dumps(luggage), None
    limit = job.limits.max_depth
    last = limit is not None and depth >= limit
    size = luggage.counted.fresh
    sent = min(max(LEAST, 1 << (REMEMBERED * size).bit_length()), MOST)
    shard = keeper.as_shard(sent, block_bytes(job.shards) // (8 * job.folder.words))
    if not last:
        shard.begin_level(depth + 1)
    shard.begin_sweep(luggage.course.found, job.names, last=last)
    stop, bytes_out = keeper.trouble, 0
    begin, end = (0, 0) if stop else shard.store.range_of(shard.crew, depth)
    looked = started
    while begin < end and stop is None:
        with job.bound():
            begin = shard.expand(begin, end, SLICE)
        for owner, rows in shard.outgoing(shard.cap):
            bytes_out += len(rows)
            yield owner, None, rows
        if time.monotonic() - looked > SLICE:
            stop, looked = _look(keeper, luggage), time.monotonic()
    for owner, rows in shard.outgoing():
        bytes_out += len(rows)
        yield owner, None, rows
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, host = time.monotonic() - started, socket.gethostname()
    effort = TaskCost(keeper.index, shard.states, bytes_out, peak, seconds, host)
    note = LevelSummary(keeper.index, depth, luggage.counted, shard.report(), stop, effort)
    said = pickle.dumps(note)
    for owner in range(job.shards):
        yield owner, said, None


def block_bytes(shards: int) -> int:
    """Returns the largest number of bytes of states in a block, by the number of shards."""
    return max(LEAST_BYTES, min(BLOCK_BYTES, HELD // (BLOCKS * shards)))


def _look(keeper: ShardHandle, luggage: ShardState) -> str | None:
    """Reports the progress; returns why the run is to end."""
    job = keeper.job
    if keeper.index == 0:
        job.folder.say(PROGRESS, luggage.course.progress())
        if (job.folder.read_message(STOP) or {}).get(STOP):
            return INTERRUPTED
    if told_to_end():
        return INTERRUPTED
    return job.limits.no_more_time if job.is_late() else None
