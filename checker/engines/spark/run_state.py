"""The coordination state of a distributed run: what is known at the end of each level, and what
follows from it.

All of them learn the same, so that each decides alone what all of them do next.  A level ends in
two steps: it is *expanded* (all that leads on from it has been found, and is on its way to those
who own it), and the next one is *counted* (its owners have taken it in).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checker.engines.spark.job import Job, RunOutcome, TaskCost
from checker.exploration.findings import Best, Findings, LevelReport
from checker.exploration.run_folder import Part
from checker.system.ir import PropertyKind
from checker.witness.answer import DECIDED

Levels = Mapping[int, Sequence[Part]]
"""States by level."""


class Missing(Exception):
    """The shards do not hold all the states that the run has found; the message says how many."""


@dataclass(frozen=True)
class Counted:
    """What one shard holds, or ``+`` many, when the states of a level are taken in.

    ``fresh``: states of that level; ``states``: all; ``deepest``: the last level with some;
    ``late``: what was noted while states were taken in; ``stop``, ``broken``: why not to go on;
    ``parts``: what was written.
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


@dataclass
class RunState:
    """``found``: what is known; ``complete``: what goes with the states of the complete levels;
    ``total``: of all shards, when they counted last; ``ahead``: states of the level after
    ``found.depth`` are on their way; ``looking``: they are, and only looked up; ``lost``: a state
    in which a property can't be evaluated; ``stopped``: why the run is not exhaustive.
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
        """That of a run which goes on from a commit; ``levels``: all states that go with it."""
        image, found = job.image, copy.deepcopy(found)
        untold = _is_live(job) and image.shape.words == 1 and not image.level_limit
        beyond = 0 < image.level_limit <= found.depth
        found.maybe_cyclic = found.maybe_cyclic or untold or beyond
        course = cls(found, copy.deepcopy(found), _committed_counts(job, found.depth, levels))
        course._look_enough(job)
        return course

    @property
    def going(self) -> bool:
        """Whether there is a level to be expanded."""
        over = self.stopped is not None or self.total.broken is not None or not self.total.fresh
        return not over and self.found.faulty is None and self.lost is None

    def is_last(self, job: Job) -> bool:
        """Whether of the successors of this level is only asked whether they have been seen."""
        limit = job.limits.max_depth
        return limit is not None and self.found.depth >= limit

    def record_expansion(self, job: Job, report: LevelReport, stop: str | None) -> None:
        """All have expanded level ``found.depth``; ``stop``: why not all of it."""
        counted = report if stop is None else report.without_counts()
        self.found.add(job.system, counted, self.found.depth)
        self.lost, self.stopped = report.lost, stop
        self.looking = self.is_last(job)
        self.ahead = not self.looking and stop is None
        if self.looking and report.newcomer:
            self.stopped = stop or job.limits.no_deeper

    def record_counts(self, job: Job, total: Counted) -> None:
        """All have taken in what was sent to them, and know how much they hold together.

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
        if self.lost is not None:  # no commit says so: whoever goes on has to meet it again
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
        """The run is over where nobody wants to know what is left."""
        if self.found.enough(job.system, job.limits) and self.total.fresh:
            self.stopped = DECIDED

    def _require_all(self, total: Counted) -> None:
        """Nobody has lost a state, or has not seen some of the run's folder."""
        wanted = self.total.states + (total.fresh if self.ahead else 0)
        if total.states != wanted:
            raise Missing(f"the shards hold {total.states:,} states instead of {wanted:,}")

    def progress(self) -> dict[str, int]:
        """How far the run is, for whoever watches."""
        total, depth = self.total, self.found.depth
        said = {"states": total.states, "frontier": total.fresh, "depth": depth}
        return {**said, "used": total.used}

    def outcome(
        self, seconds: float, broken: str | None = None, efforts: tuple[TaskCost, ...] = ()
    ) -> RunOutcome:
        """What comes of it; ``broken``: what else is wrong with the folder."""
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
    """What shards hold together when they have the states of the levels up to ``depth``."""
    rows = {d: sum(p.rows for p in parts) for d, parts in levels.items() if d <= depth}
    deepest = max((level for level, count in rows.items() if count), default=0)
    states = sum(rows.values())
    used = 8 * job.image.shape.words * states
    return Counted(rows.get(depth, 0), states, deepest, used, empty_report(job))


def empty_report(job: Job) -> LevelReport:
    """A report of somebody who has not noted anything."""
    count = len(job.names)
    return LevelReport((False,) * count, (None,) * count)


def _is_live(job: Job) -> bool:
    return any(p.kind is PropertyKind.LIVENESS for p in job.system.properties)
