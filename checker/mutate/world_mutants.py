"""Worlds in which more can go wrong than in that of a check, and what becomes of the check there.

A world under which every verdict stays as expected shows an assumption that the check does not
need.  Checks that expect nothing to hold have no such worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.engines.options import Options
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.language.typecheck.world_axes import world_of
from checker.mutate.mutant_tasks import Asked, Judged, kills_of, least, undecided
from checker.records import replace
from checker.results.mutation import Fate, MutantResult
from checker.results.verdict import Word
from checker.worlds.points import PointTask, of_budget, run_point, settings_text

if TYPE_CHECKING:
    from checker.results.answer import Listener
    from checker.sweep.cells import Status

KIND = "world"
"""The kind of these mutants."""


class WorldMutant(Struct, frozen=True):
    """``check`` with the clauses of its environment replaced that ``settings`` name, as ``--set``
    does; ``line``: of the check."""

    check: str
    protocol: str
    line: int
    settings: Mapping[str, str]

    @property
    def change(self) -> str:
        """The change, as it is made on a command line."""
        return settings_text(self.settings)


class WorldTask(Struct, frozen=True):
    """A check to be judged in another world; ``share``: seconds for it, where the time of the
    command is shared out."""

    number: int
    mutant: WorldMutant
    original: Spec
    asked: Asked
    options: Options
    share: float | None = None

    def __str__(self) -> str:
        return f"world {self.number}"

    def with_share(self, share: float, *, first: bool) -> WorldTask:
        """Returns the task with a share."""
        return replace(self, share=share)

    @property
    def limited(self) -> Options:
        """Its options, with all limits."""
        options = self.asked.limited(self.options)
        limits = options.limits
        timeout = least(limits.timeout, self.share)
        settings = {**options.settings, **self.mutant.settings}
        return replace(options, limits=replace(limits, timeout=timeout), settings=settings)

    @property
    def seconds(self) -> float | None:
        """The time limit."""
        limit = self.limited.limits.timeout
        return None if limit is None else 3 * limit

    def result(self, fate: Fate, reason: str = "") -> MutantResult:
        """Returns the world with its fate."""
        of = self.mutant
        what = f"{of.check} with `{of.change}`"
        return MutantResult(self.number, of.protocol, of.line, KIND, what, fate, reason=reason)


def judge_world(task: WorldTask, listener: Listener) -> Judged:
    """Returns what becomes of the check in another world."""
    options = task.limited
    found = run_point(PointTask(task.number, task.original, task.mutant.check, options), listener)
    report = found.report
    if report is None:
        return Judged(task.result(Fate.STILLBORN, found.reason))
    kills = tuple(kills_of(report))
    if kills:
        return Judged(replace(task.result(Fate.KILLED), kills=kills))
    reason = undecided(report)
    if not reason:
        return Judged(task.result(Fate.SURVIVED))
    if options.limits.timeout == task.share:
        reason = of_budget(reason)
    hurried = task.share is not None and report.seconds >= task.share
    return Judged(task.result(Fate.UNKNOWN, reason), hurried)


def lost_world(task: WorldTask, status: Status, reason: str, seconds: float) -> Judged:
    """Returns what becomes of a world whose process ended."""
    return Judged(task.result(Fate.UNKNOWN, f"{status.value}: {reason}"))


def worlds_of(check: typed.Check) -> Iterator[WorldMutant]:
    """Yields the worlds that are one step worse than that of ``check``; some of them may be
    contradictory."""
    broken = {e.what for e in check.expect if e.value == Word.VIOLATED.value}
    if all(p.name in broken for p in check.prove):
        return
    world = world_of(check)
    for number, axis in enumerate(world.axes):
        last = axis.at + 1 if axis.counts else len(axis.levels) - 1
        for level in range(axis.at + 1, min(last, len(axis.levels) - 1) + 1):
            point = (*world.own[:number], level, *world.own[number + 1 :])
            settings = world.settings(point)
            yield WorldMutant(check.name, check.protocol.name, check.span.line, settings)
