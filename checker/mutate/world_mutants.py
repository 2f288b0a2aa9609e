"""Worlds in which more can go wrong than in that of a check, and what becomes of the check there.

A world under which every verdict stays as expected shows an assumption that the check does not
need.  Checks that expect nothing to hold have no such worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.link_kinds import DUPLICATING, FAIR_LOSS, PERFECT
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.mutate.mutant_tasks import Asked, first_problem, kills_of, undecided
from checker.records import replace
from checker.results.mutation import Fate, MutantResult
from checker.results.verdict import Word

if TYPE_CHECKING:
    from checker.results.answer import Listener
    from checker.sweep.cells import Status

MANY = 1_000_000
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
        return " ".join(f"--set {_word(f'{name}={to}')}" for name, to in self.settings.items())


def _word(text: str) -> str:
    return f"'{text}'" if " " in text else text


class WorldTask(Struct, frozen=True):
    """A check to be judged in another world."""

    number: int
    mutant: WorldMutant
    original: Spec
    asked: Asked
    options: Options

    def __str__(self) -> str:
        return f"world {self.number}"

    @property
    def seconds(self) -> float | None:
        """The time limit."""
        limit = self.asked.limited(self.options).limits.timeout
        return None if limit is None else 3 * limit

    def result(self, fate: Fate, reason: str = "") -> MutantResult:
        """Returns the world with its fate."""
        of = self.mutant
        what = f"{of.check} with `{of.change}`"
        return MutantResult(self.number, of.protocol, of.line, KIND, what, fate, reason=reason)


def judge_world(task: WorldTask, listener: Listener) -> MutantResult:
    """Returns what becomes of the check in another world."""
    from checker.proving.dispatch_check import answer_check

    limited = task.asked.limited(task.options)
    settings = {**limited.settings, **task.mutant.settings}
    try:
        report = answer_check(
            task.original, task.mutant.check, replace(limited, settings=settings), listener
        )
    except SpecError as refused:
        return task.result(Fate.STILLBORN, first_problem(refused))
    if report.was_interrupted:
        raise KeyboardInterrupt
    kills = tuple(kills_of(report))
    if kills:
        return replace(task.result(Fate.KILLED), kills=kills)
    reason = undecided(report)
    return task.result(Fate.UNKNOWN if reason else Fate.SURVIVED, reason)


def lost_world(task: WorldTask, status: Status, reason: str, seconds: float) -> MutantResult:
    """Returns what becomes of a world whose process ended."""
    return task.result(Fate.UNKNOWN, f"{status.value}: {reason}")


def worlds_of(check: typed.Check) -> Iterator[WorldMutant]:
    """Yields the worlds that are one step worse than that of ``check``; some of them may be
    contradictory."""
    broken = {e.what for e in check.expect if e.value == Word.VIOLATED.value}
    if all(p.name in broken for p in check.prove):
        return
    for settings in (*_stops(check), *_links(check), *_time(check)):
        yield WorldMutant(check.name, check.protocol.name, check.span.line, settings)


def _stops(check: typed.Check) -> Iterator[dict[str, str]]:
    """One crash more, processes that come back, omit or lie, crashes in more places, pauses."""
    if not check.role_faults:
        crashes = _value(check, check.crash)
        if crashes is not None and crashes + 1 < _processes(check):
            yield {"crash": str(crashes + 1)}
        if crashes:
            yield {"crash": "none", "recover": "no", "omission": str(crashes)}
            yield {"crash": "none", "recover": "no", "byzantine": str(crashes)}
        lies = _value(check, check.byzantine)
        if lies:
            yield {"byzantine": str(lies + 1)}
        if crashes and not check.recover:
            yield {"recover": "yes"}
    if check.crash_points == "between_handlers":
        yield {"crash_points": "inside"}
    if not check.pausing:
        yield {"pause": "1"}


def _links(check: typed.Check) -> Iterator[dict[str, str]]:
    """Links that lose, repeat, reorder, or are cut."""
    kinds = [kind for kind in check.links if kind != PERFECT and not kind.has_capacity]
    names = [kind.name for kind in kinds]
    ordered = any(kind.ordered for kind in check.links)
    if not any(kind.loses for kind in check.links):
        yield {"links": "+".join([*names, FAIR_LOSS.name])}
    if not any(kind.repeats for kind in check.links):
        yield {"links": "+".join([*names, DUPLICATING.name])}
    if ordered:
        rest = [kind.name for kind in kinds if not kind.ordered]
        yield {"links": "+".join(rest) or PERFECT.name}
    if not check.cuts:
        yield {"cut": "1"}
    if not check.splits:
        yield {"partition": "1"}


def _time(check: typed.Check) -> Iterator[dict[str, str]]:
    """A detector that is wrong for a while, a system that is synchronous later or never."""
    if check.detector is not None and check.detector.kind in ("P", "S"):
        if not check.detector.eventually:
            yield {"detector": f"eventually {check.detector.kind}"}
    kind = None if check.timing is None else check.timing.kind
    if kind == "synchronous":
        yield {"timing": "partial"}
    if kind in ("synchronous", "partial"):
        yield {"timing": "asynchronous"}


def _processes(check: typed.Check) -> int:
    """Returns `n`, where the check says it as a number; a large number elsewhere."""
    found = (s.value for s in check.settings if s.name == "n")
    size = next(found, None)
    return int(size.value) if isinstance(size, typed.Literal) else MANY


def _value(check: typed.Check, bound: typed.Expr | None) -> int | None:
    """Returns a bound of faults, 0 where there is none; ``None`` where it is no number and no
    parameter that the check sets."""
    if bound is None:
        return 0
    if isinstance(bound, typed.Param):
        found = (s.value for s in check.settings if s.name == bound.name)
        bound = next(found, bound)
    return int(bound.value) if isinstance(bound, typed.Literal) else None
