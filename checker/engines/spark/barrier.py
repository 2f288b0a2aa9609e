"""Exchange by barrier: one stage for the whole run.  Each task owns a shard in its memory for all
levels, and sends states straight to the tasks that own them (:mod:`checker.engines.spark.mesh`).
Spark places the tasks, starts them together, connects them, and restarts all of them when one is
lost; they resume from the last commit in the run's folder.

At the end of level ``d`` the tasks exchange two rounds of messages.  *Ended*: all states that the
sender found for others have been sent, with its findings.  *Counted*: it has received the states of
others, with the number of new states.  After the first all tasks know the same findings, after the
second the same numbers, so that each decides alone what all of them do next.
"""

from __future__ import annotations

import operator
import pickle
import resource
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import Any

from msgspec import Struct

from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.search.findings import Findings, LevelReport
from checker.engines.native.search.reduction_stats import add_samples, weigh
from checker.engines.native.search.store import OutOfMemory
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.native.sharding.shard import Shard
from checker.engines.spark.heartbeat import told_to_end
from checker.engines.spark.job import PROGRESS, STOP, Job, RunOutcome, TaskCost
from checker.engines.spark.meeting import meet
from checker.engines.spark.mesh import Address, Mesh
from checker.engines.spark.run_state import Counted, RunState
from checker.engines.spark.session import Session, Work
from checker.engines.spark.slots import enough
from checker.records import replace
from checker.results.answer import INTERRUPTED

SLICE = 0.05
"""Seconds of expansion between two polls of the incoming messages."""
BACKLOG = 1 << 26
"""The number of bytes in transit to others from which on a task receives rather than expands."""
EVERY = 0.2
"""Seconds between two polls of the folder's messages, and between two messages of one's own."""
BEGIN, ROWS, ENDED, COUNTED = b"B", b"R", b"E", b"C"

Meet = Callable[[Address], list[Address]]
"""Returns the addresses of all tasks for one's own; all call it at once."""


class LevelEnd(Struct, frozen=True):
    """The end of a level.  ``stop``: why the level is not complete; ``commit``: it is to be
    committed (decided by task 0).
    """

    report: LevelReport
    stop: str | None
    commit: bool


class BarrierTask:
    """One task of a run: shard ``index``, connected by ``mesh``; all have the same ``course``."""

    def __init__(self, job: Job, index: int, mesh: Mesh) -> None:
        self.job, self.index, self.mesh = job, index, mesh
        self.shard = Shard(kernel_of(job.image), index, job.shards, keep=True, memory=job.memory)
        self.course: RunState
        self._trouble: str | None = None  # why this task can't continue; the others don't know yet
        self._committed = -1
        self._broken: str | None = None  # why a commit failed; the others don't know yet (task 0)
        self._started = self._committed_at = self._said_at = time.monotonic()
        self._round = 0
        self._early: deque[tuple[int, bytes]] = deque()

    def restore(self) -> None:
        """Resumes from the last commit, as task 0 reads it: a task of an earlier attempt may be
        about to make another.  Raises ``OSError`` where it can't be read.
        """
        found, levels = self._begin()
        self.course, self._committed = RunState.after(self.job, found, levels), found.depth
        folder = self.job.folder
        try:
            for depth in range(found.depth + 1):
                mine = [p for p in levels.get(depth, []) if p.may_have(self.index, self.job.shards)]
                self.shard.restore(depth, (b for part in mine for b in folder.read(part)))
        except OutOfMemory as error:
            self._trouble = self.job.no_room(error)

    def _begin(self) -> tuple[Findings, dict[int, list[Part]]]:
        """Reads the last commit."""
        if self.index == 0:
            found, levels = self.job.folder.latest(), self.job.folder.parts()
            assert found is not None, "the driver commits the initial states"
            self._tell(BEGIN, (found, levels))
            return found, levels
        while (message := self._next((BEGIN,), SLICE)) is None:
            pass
        said: tuple[Findings, dict[int, list[Part]]] = pickle.loads(memoryview(message[1])[1:])
        return said

    def run(self) -> RunOutcome:
        """Explores all levels."""
        self._count(())
        while self.course.going:
            self._level()
        course = self.course
        wanted = course.stopped is not None or self.job.wants_states(course.found)
        if wanted and course.total.broken is None:
            self._count(self._write_parts(course.complete.depth))
            self._commit()
        course.total = replace(course.total, broken=course.total.broken or self._broken)
        outcome = course.outcome(time.monotonic() - self._started)
        rows, states = self.shard.crew.rows.address, course.total.states
        mine = weigh(self.shard.kernel, rows, self.shard.crew.count, states)
        return replace(outcome, orbits=mine)

    # -- a level --------------------------------------------------------------------------------

    def _level(self) -> None:
        shard, course, job = self.shard, self.course, self.job
        depth, last = course.found.depth, course.is_last(job)
        if not last:
            shard.begin_level(depth + 1)
        shard.begin_sweep(course.found, job.names, last=last)
        ended = self._sweep(depth)
        report = LevelReport.together(message.report for message in ended)
        course.record_expansion(job, report, next((e.stop for e in ended if e.stop), None))
        if course.looking:
            self._count(())
        elif course.ahead:
            commit = ended[0].commit and self._trouble is None
            self._count(self._write_parts(depth + 1) if commit else ())
            if course.complete.depth == depth + 1:
                self._commit()

    def _sweep(self, depth: int) -> list[LevelEnd]:
        """Expands own states, sends and receives; returns each task's report, by number."""
        shard = self.shard
        begin, end = shard.store.range_of(shard.crew, depth)
        ended: dict[int, LevelEnd] = {}
        while len(ended) < self.job.shards:
            waits = self.index in ended or self.mesh.backlog > BACKLOG
            self._take_in(ended, SLICE if waits else 0.0)
            if waits:
                continue
            self._look()
            if self._trouble is None:
                try:
                    with self.job.bound():
                        begin = shard.expand(begin, end, SLICE)
                except OutOfMemory as error:
                    self._trouble = self.job.no_room(error)
            over = begin == end or self._trouble is not None
            self._send_out(1 if over else shard.cap // 2)
            if over:
                mine = LevelEnd(shard.report(), self._trouble, self._is_due())
                ended[self.index] = mine
                self._tell(ENDED, mine)
        return [ended[i] for i in range(self.job.shards)]

    def _look(self) -> None:
        """Records why the run is to end, if it is; task 0 reports the progress."""
        now = time.monotonic()
        if now - self._said_at < EVERY:
            return
        if self.job.is_late():
            self._trouble = self._trouble or self.job.limits.no_more_time
        if told_to_end():
            self._trouble = self._trouble or INTERRUPTED
        if self.index == 0:
            self._said_at = now
            if (self.job.folder.read_message(STOP) or {}).get(STOP):
                self._trouble = self._trouble or INTERRUPTED
            self._say()

    def _is_due(self) -> bool:
        return time.monotonic() - self._committed_at > self.job.commit_every

    def _send_out(self, least: int) -> None:
        for owner, rows in self.shard.outgoing(least):
            if owner == self.index:
                self._take(rows)
            else:
                self.mesh.send(owner, ROWS + rows)

    def _take_in(self, ended: dict[int, LevelEnd], seconds: float) -> None:
        """Receives all messages that have arrived, waiting up to ``seconds`` for the first."""
        while (message := self._next((ROWS, ENDED), seconds)) is not None:
            who, body = message
            if body[:1] == ROWS:
                self._take(memoryview(body)[1:])
            else:
                ended[who] = pickle.loads(memoryview(body)[1:])
            seconds = 0.0

    def _take(self, rows: bytes | memoryview) -> None:
        if self._trouble is None:
            try:
                self.shard.take(rows)
            except OutOfMemory as error:
                self._trouble = self.job.no_room(error)

    # -- between levels -------------------------------------------------------------------------

    def _count(self, parts: tuple[Part, ...] | str) -> None:
        """Exchanges the totals with all tasks, and findings from receiving states."""
        store, late = self.shard.store, self.shard.report()
        written, broken = (parts, None) if isinstance(parts, tuple) else ((), parts)
        mine = Counted(
            fresh=self.shard.size(len(self.shard.crew.starts) - 1),
            states=store.states,
            deepest=store.deepest(),
            used=store.used_bytes,
            late=late,
            stop=self._trouble,
            broken=broken or self._broken,
            parts=written,
        )
        self._round += 1  # two such rounds may follow one another, and some tasks be ahead
        kind = COUNTED + self._round.to_bytes(4, "big")
        self._tell(kind, mine)
        counted = {self.index: mine}
        while len(counted) < self.job.shards:
            message = self._next((kind,), SLICE)
            if message is not None:
                counted[message[0]] = pickle.loads(memoryview(message[1])[len(kind) :])
        total = reduce(operator.add, (counted[i] for i in range(self.job.shards)))
        self.course.record_counts(self.job, total)
        if self.index == 0 and time.monotonic() - self._said_at > EVERY:
            self._look()

    def _write_parts(self, depth: int) -> tuple[Part, ...] | str:
        """Writes the states that are new since the last commit, up to level ``depth``; or returns
        why it can't.
        """
        folder, shards, parts = self.job.folder, self.job.shards, []
        try:
            for level in range(self._committed + 1, depth + 1):
                if level < len(self.shard.crew.starts) and self.shard.size(level):
                    rows = self.shard.level(level)
                    parts.append(folder.write(level, self.index, shards, [rows]))
        except OSError as error:
            return _error_text(error, folder)
        return tuple(parts)

    def _commit(self) -> None:
        """Commits what all tasks have written."""
        complete, total = self.course.complete, self.course.total
        if total.broken is not None or not total.parts:
            return
        self._committed, self._committed_at = complete.depth, time.monotonic()
        if self.index == 0:
            folder = self.job.folder
            try:
                folder.commit(complete, total.parts)
            except OSError as error:
                self._broken = _error_text(error, folder)

    # -- messages -------------------------------------------------------------------------------

    def _next(self, kinds: tuple[bytes, ...], seconds: float) -> tuple[int, bytes] | None:
        """Returns the next message of these kinds; others, from tasks that are ahead, wait."""
        for at, (who, body) in enumerate(self._early):
            if body.startswith(kinds):
                del self._early[at]
                return who, body
        arrived = self.mesh.receive(seconds)
        if arrived is not None and not arrived[1].startswith(kinds):
            self._early.append(arrived)
            return None
        return arrived

    def _tell(self, kind: bytes, what: object) -> None:
        message = kind + pickle.dumps(what)
        for other in range(self.job.shards):
            if other != self.index:
                self.mesh.send(other, message)

    def _say(self) -> None:
        """Writes a progress message for the driver."""
        self.job.folder.say(PROGRESS, self.course.progress())


def _error_text(error: OSError, folder: RunFolder) -> str:
    return f"{error.filename or folder.location}: {error.strerror or error}"


def in_task(job: Job, index: int, host: str, meet: Meet) -> tuple[RunOutcome, TaskCost]:
    """Executes the whole run as task ``index``, on ``host``."""
    started = time.monotonic()
    with Mesh(index, job.shards, job.key, host, meet) as mesh:
        task = BarrierTask(job, index, mesh)
        task.restore()
        outcome = task.run()
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = time.monotonic() - started
    return outcome, TaskCost(index, task.shard.states, mesh.sent, peak, seconds, host)


def as_stage(job: Job) -> Work:
    """Returns the function that every task of the barrier stage executes: it yields a pickled
    outcome."""

    def stage(items: Iterable[Any]) -> Iterable[bytes]:
        from pyspark import BarrierTaskContext

        for _ in items:
            pass
        context = BarrierTaskContext.get()
        index = context.partitionId()
        host = context.getTaskInfos()[index].address.rpartition(":")[0]
        with job.beat.of(index):
            done = in_task(job, index, host, partial(meet, job.folder, index, job.shards))
        yield pickle.dumps(done)

    return stage


def run(session: Session, job: Job, watch: Callable[[], object], lack: float) -> RunOutcome:
    """Executes the whole run, from the last commit; raises what Spark and ``watch`` raise, and
    :class:`TooFew` where a lost executor is not replaced within ``lack`` seconds.
    """
    stage, shards = as_stage(job), job.shards
    with enough(session, shards, lack):
        rows = session.run(lambda: session.in_tasks(stage, shards, barrier=True), watch=watch)
    return together([pickle.loads(row) for row in rows])


def together(done: Sequence[tuple[RunOutcome, TaskCost]]) -> RunOutcome:
    """Combines the outcomes of all tasks."""
    orbits = add_samples(outcome.orbits or (0, 0) for outcome, _ in done)
    return replace(done[0][0], efforts=tuple(effort for _, effort in done), orbits=orbits)
