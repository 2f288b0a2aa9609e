"""The coordination state of a distributed run: what is known at the end of each level, and the
decisions that follow from it.

All tasks have the same information, so that each decides alone what all of them do next.  A level
ends in two steps: it is *expanded* (all its successors have been found, and sent to their owners),
and the next one is *counted* (its owners have received it).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from msgspec import Struct

from checker.engines.native.checkpoint.run_folder import Part
from checker.engines.native.search.findings import Best, Findings, LevelReport
from checker.engines.spark.job import Job, RunOutcome, TaskCost
from checker.model.ir import PropertyKind
from checker.records import replace
from checker.results.answer import DECIDED

Levels = Mapping[int, Sequence[Part]]
"""States by level."""


class Missing(Exception):
    """The shards do not hold all the states that the run has found; the message says how many."""


class Counted(Struct, frozen=True):
    """What one shard holds, or ``+`` many, when the states of a level are received.

    ``fresh``: states of that level; ``states``: all; ``deepest``: the last non-empty level;
    ``late``: findings from receiving states; ``stop``, ``broken``: why not to continue; ``parts``:
    the parts written.
    """

    fresh: int
    states: int
    deepest: int
    used: int
    late: LevelReport
    stop: str | None = None
    broken: str | None = None
    parts: tuple[Part, ...] = ()

    def __add__(self, other: Counted) -> Counted:
        return Counted(
            self.fresh + other.fresh,
            self.states + other.states,
            max(self.deepest, other.deepest),
            self.used + other.used,
            self.late + other.late,
            self.stop or other.stop,
            self.broken or other.broken,
            self.parts + other.parts,
        )


class RunState(Struct):
    """The coordination state.  ``found``: the findings; ``complete``: those that belong to the
    states of the complete levels; ``total``: of all shards, when they were last counted; ``ahead``:
    states of the level after ``found.depth`` are in transit; ``looking``: they are, and only looked
    up; ``lost``: a state in which a property can't be evaluated; ``stopped``: why the run is not
    exhaustive.
    """

    found: Findings
    complete: Findings
    total: Counted
    ahead: bool = False
    looking: bool = False
    lost: Best | None = None
    stopped: str | None = None

    @classmethod
    def after(cls, job: Job, found: Findings, levels: Levels) -> RunState:
        """Returns the state of a run that resumes from a commit; ``levels``: all its states."""
        image, found = job.image, copy.deepcopy(found)
        untold = _is_live(job) and image.shape.words == 1 and not image.level_limit
        beyond = 0 < image.level_limit <= found.depth
        found.maybe_cyclic = found.maybe_cyclic or untold or beyond
        course = cls(found, copy.deepcopy(found), _committed_counts(job, found.depth, levels))
        course._look_enough(job)
        return course

    @property
    def going(self) -> bool:
        """Returns whether there is a level to be expanded."""
        over = self.stopped is not None or self.total.broken is not None or not self.total.fresh
        return not over and self.found.faulty is None and self.lost is None

    def is_last(self, job: Job) -> bool:
        """Returns whether the successors of this level are only looked up in the visited set."""
        limit = job.limits.max_depth
        return limit is not None and self.found.depth >= limit

    def record_expansion(self, job: Job, report: LevelReport, stop: str | None) -> None:
        """Records that all shards have expanded level ``found.depth``; ``stop``: why not all."""
        counted = report if stop is None else report.without_counts()
        self.found.add(job.system, counted, self.found.depth)
        self.lost, self.stopped = report.lost, stop
        self.looking = self.is_last(job)
        self.ahead = not self.looking and stop is None
        if self.looking and report.newcomer:
            self.stopped = stop or job.limits.no_deeper

    def record_counts(self, job: Job, total: Counted) -> None:
        """Records that all shards have received their states, and how many they hold together.

        Raises :class:`Missing`.
        """
        found, image, limits = self.found, job.image, job.limits
        ahead, looked = self.ahead, self.looking
        if self.stopped is None and total.stop is None:
            self._require_all(total)
        self.ahead = self.looking = False
        self.total, self.stopped = total, self.stopped or total.stop
        found.add(job.system, total.late, found.depth)
        if looked:
            if total.late.newcomer:
                self.stopped = self.stopped or limits.no_deeper
            found.maybe_cyclic = _is_live(job)
            self.total = replace(total, fresh=0)
        if not ahead or self.stopped is not None or total.broken is not None:
            return
        if self.lost is not None:  # no commit contains it: a resumed run has to find it again
            return
        found.depth += 1
        if image.level_limit and found.depth >= image.level_limit:
            found.maybe_cyclic = True
        self.complete = copy.deepcopy(found)
        if limits.max_states is not None and total.states >= limits.max_states and total.fresh:
            many = f"{total.states:,} at the end of level {found.depth}"
            self.stopped = f"{limits.no_more_states}: there are {many}"
        else:
            self._look_enough(job)

    def _look_enough(self, job: Job) -> None:
        """Stops the run where all properties are decided, and nothing else is requested."""
        if self.found.enough(job.system, job.limits) and self.total.fresh:
            self.stopped = DECIDED

    def _require_all(self, total: Counted) -> None:
        """Raises where a shard has lost a state, or has not read some of the run's folder."""
        wanted = self.total.states + (total.fresh if self.ahead else 0)
        if total.states != wanted:
            raise Missing(f"the shards hold {total.states:,} states instead of {wanted:,}")

    def progress(self) -> dict[str, int]:
        """Returns the progress of the run."""
        total, depth = self.total, self.found.depth
        said = {"states": total.states, "frontier": total.fresh, "depth": depth}
        return {**said, "used": total.used}

    def outcome(
        self, seconds: float, broken: str | None = None, efforts: tuple[TaskCost, ...] = ()
    ) -> RunOutcome:
        """Returns the outcome of the run; ``broken``: a further error of the folder."""
        return RunOutcome(
            found=self.found,
            complete=self.complete,
            states=self.total.states,
            depth=self.total.deepest,
            used=self.total.used,
            lost=self.lost,
            stopped=self.stopped,
            broken=self.total.broken or broken,
            seconds=seconds,
            efforts=efforts,
        )


def _committed_counts(job: Job, depth: int, levels: Levels) -> Counted:
    """Returns what shards hold together when they have the states of the levels up to ``depth``."""
    rows = {d: sum(p.rows for p in parts) for d, parts in levels.items() if d <= depth}
    deepest = max((level for level, count in rows.items() if count), default=0)
    states = sum(rows.values())
    used = 8 * job.image.shape.words * states
    return Counted(rows.get(depth, 0), states, deepest, used, empty_report(job))


def empty_report(job: Job) -> LevelReport:
    """Returns the report of a shard without any findings."""
    count = len(job.names)
    return LevelReport((False,) * count, (None,) * count)


def _is_live(job: Job) -> bool:
    return any(p.kind is PropertyKind.LIVENESS for p in job.system.properties)
