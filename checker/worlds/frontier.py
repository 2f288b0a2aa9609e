"""Finds how far a check holds: over sizes, bounds of faults, parameters and worlds.

A grid is cut into slices: the points that differ only on the axes on which a larger value allows
more faults.  In each slice the boundary is searched from the easiest point upwards.  Between slices
nothing is inferred: neither more processes nor another world is known to be easier.  Beyond the
boundary of a slice its hardest point is run, too, so that a boundary that is none can show.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count, listing
from checker.engines.options import Options
from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.language.typecheck.world_settings import BOUNDS
from checker.records import replace
from checker.results.frontier import (
    SHOWN,
    Boundary,
    Fall,
    Frontier,
    FrontierCell,
    Known,
    PropertyFrontier,
)
from checker.results.verdict import ERRORS, Word
from checker.sweep.grid import Grid
from checker.sweep.sweep_plan import Cell, SweepPlan, plan
from checker.worlds.asking import Asker, search_together
from checker.worlds.assumptions import Question
from checker.worlds.formula import fits
from checker.worlds.monotone import Answer, Point, Search, below, contradictions
from checker.worlds.points import PointOutcome, settings_text

SECONDS = 60.0
"""The time limit of a point, where the user gives none."""

KNOWN: Mapping[Word, Known] = {
    Word.HOLDS: "holds", Word.PROVED: "holds", Word.VIOLATED: "violated", Word.ERROR: "error",
    Word.VACUOUS: "vacuous",
}  # fmt: skip

Slice = tuple[str, ...]
"""The values of the axes along which nothing is searched."""
Key = tuple[str, Slice]
"""A property and a slice: there is a search for each."""


class FrontierPlan(Struct, frozen=True):
    """The grid: ``sweep`` has its cells, ``harder`` the axes along which the boundary is searched,
    ``fixed`` the others."""

    sweep: SweepPlan
    harder: tuple[str, ...]
    fixed: tuple[str, ...]

    def levels(self, name: str) -> tuple[str, ...]:
        """Returns the values of an axis, the smallest first."""
        return tuple(sorted(self.sweep.grid.values(name), key=_number))


def _number(value: str) -> int:
    return 0 if value == "none" else int(value)


def plan_frontier(question: Question, grid: Grid, most: int) -> FrontierPlan:
    """Returns the plan of a frontier; raises :class:`SpecError` for an axis that does not exist,
    where there is none to search along (E150), and for a grid with more than ``most`` points, with
    its price (E151)."""
    numeric = [name for name in grid.names if all(map(_is_bound, grid.values(name)))]
    harder = tuple(name for name in numeric if name in bounds_of(question.check))
    if not harder:
        known = listing(sorted(bounds_of(question.check)), "or")
        message = "no axis bounds faults, so there is no boundary to search for"
        raise SpecError((Diagnostic("E150", message, hint=f"add one of {known}, as f=0..3"),))
    if len(grid.cells) > most:
        raise _too_dear(grid, question.options.limits.timeout or SECONDS, most)
    fixed = tuple(name for name in grid.names if name not in harder)
    return FrontierPlan(plan(question.spec, question.name, grid, question.options), harder, fixed)


def _is_bound(value: str) -> bool:
    return value == "none" or value.isdecimal()


def _too_dear(grid: Grid, seconds: float, most: int) -> SpecError:
    points = len(grid.cells)
    hours = points * seconds / 3600
    message = (
        f"the grid has {points:,} points, of {seconds:g} s at most each: up to {hours:.1f} h on one"
        f" core; the limit is {count(most, 'point')}"
    )
    hint = f"narrow the grid, lower --timeout, or allow it with --points {points}"
    return SpecError((Diagnostic("E151", message, hint=hint),))


def bounds_of(check: typed.Check) -> set[str]:
    """Returns the axes on which a larger value allows more faults: the clauses of faults, and the
    parameters that are in the bounds of this check."""
    bounds = (check.crash, check.omission, check.byzantine, check.power, check.wipe, check.resets)
    named = {
        node.name for b in bounds if b is not None for node in nodes(b)
        if isinstance(node, typed.Param)
    }  # fmt: skip
    return {*BOUNDS, *named, "f"}


def proved_of(question: Question) -> frozenset[str]:
    """Returns the properties that `prove` proves for all sizes that the protocol requires; none
    where the check is outside its fragment."""
    from checker.proving.dispatch_check import for_every_size

    if question.check.protocol.requires is None:
        return frozenset()
    limits = replace(question.options.limits, timeout=SECONDS, max_states=None)
    options = replace(question.options, settings={}, limits=limits)
    try:
        report = for_every_size(question.spec, question.name, options)
    except SpecError:
        return frozenset()
    if report.was_interrupted:
        raise KeyboardInterrupt
    return frozenset(v.property for v in report.verdicts if v.word is Word.PROVED)


class FrontierSearch:
    """The search: :meth:`run`, and what is known at any time, :meth:`report`."""

    def __init__(self, question: Question, planned: FrontierPlan) -> None:
        self._question, self._plan = question, planned
        self._started = time.monotonic()
        self._cells: dict[tuple[Slice, Point], Cell] = {}
        levels = {name: planned.levels(name) for name in planned.harder}
        for cell in planned.sweep.cells:
            at = tuple(levels[name].index(cell.settings[name]) for name in planned.harder)
            self._cells[self._slice(cell), at] = cell
        self._top = tuple(len(levels[name]) - 1 for name in planned.harder)
        self._names = [v.property for v in question.report.verdicts if v.property != ERRORS]
        slices = dict.fromkeys(key for key, _ in self._cells)
        self._searches = {
            (name, key): Search(self._zero, self._top, self._zero, self._exists(key))
            for name in self._names
            for key in slices
        }
        self._probed: dict[tuple[str, Slice, Point], Answer] = {}
        self._proved: frozenset[str] = frozenset()
        self._asker: Asker | None = None

    @property
    def _zero(self) -> Point:
        return (0,) * len(self._top)

    def _slice(self, cell: Cell) -> Slice:
        return tuple(cell.settings[name] for name in self._plan.fixed)

    def _exists(self, key: Slice) -> Callable[[Point], bool]:
        def exists(point: Point) -> bool:
            cell = self._cells.get((key, point))
            return cell is not None and not cell.impossible

        return exists

    def run(self, asker: Asker) -> None:
        """Runs the search to its end; raises ``KeyboardInterrupt``."""
        self._asker = asker

        def ask(wanted: Mapping[tuple[Key, Point], Point]) -> dict[tuple[Key, Point], Answer]:
            options = {key: self._at(key[0][1], point) for key, point in wanted.items()}
            outcomes = asker.ask(options)
            return {key: _neither(outcomes[key].answer(key[0][0])) for key in wanted}

        found = search_together(self._searches, ask)
        beyond = {
            (name, key, self._top): self._top
            for (name, key), boundary in found.items()
            if Answer.FAILS in boundary.failing.values() and self._exists(key)(self._top)
        }
        outcomes = asker.ask({each: self._at(each[1], each[2]) for each in beyond})
        self._probed = {each: outcomes[each].answer(each[0]) for each in beyond}
        self._proved = proved_of(self._question)

    def _at(self, key: Slice, point: Point) -> Options:
        settings = {**self._question.options.settings, **self._cells[key, point].settings}
        limits = self._question.options.limits
        limits = replace(limits, timeout=limits.timeout or SECONDS)
        return replace(self._question.options, settings=settings, limits=limits, strips=False)

    # ---- what is reported ---------------------------------------------------------------------

    def report(self, stopped: str | None = None) -> Frontier:
        """Returns the report; ``stopped``: why the search did not end, if so."""
        grid = self._plan.sweep.grid
        return Frontier(
            file=self._question.spec.path,
            check=self._question.name,
            world=self._question.report.world,
            axes=tuple((name, self._values(name)) for name in grid.names),
            harder=self._plan.harder,
            properties=tuple(self._property(name) for name in self._names),
            runs=0 if self._asker is None else self._asker.done,
            skipped=sum(bool(cell.impossible) for cell in self._cells.values()),
            stopped=stopped,
            seconds=time.monotonic() - self._started,
        )

    def _values(self, name: str) -> tuple[str, ...]:
        return (
            self._plan.levels(name)
            if name in self._plan.harder
            else self._plan.sweep.grid.values(name)
        )

    def _property(self, name: str) -> PropertyFrontier:
        cells = {at: self._cell(name, *at) for at in self._cells}
        return PropertyFrontier(
            name,
            tuple(cells.values()),
            tuple(self._boundaries(cells, name in self._proved)),
            tuple(self._contradictions(name)),
        )

    def _contradictions(self, name: str) -> Iterator[tuple[str, str]]:
        for key in dict.fromkeys(key for key, _ in self._cells):
            answers = dict(self._searches[name, key].boundary().answers)
            answers |= {p: a for (n, k, p), a in self._probed.items() if (n, k) == (name, key)}
            for fails, holds in contradictions(answers):
                cells = self._cells[key, fails], self._cells[key, holds]
                yield settings_text(cells[0].settings), settings_text(cells[1].settings)

    def _outcome(self, key: Slice, point: Point) -> PointOutcome | None:
        return None if self._asker is None else self._asker.known(self._at(key, point))

    def _cell(self, name: str, key: Slice, point: Point) -> FrontierCell:
        cell, found = self._cells[key, point], self._searches[name, key].boundary()
        if cell.impossible:
            return FrontierCell(cell.settings, "impossible", reason=cell.impossible)
        outcome = self._outcome(key, point)
        if outcome is None:
            if any(below(f, point) and a is Answer.FAILS for f, a in found.failing.items()):
                why = "an easier point fails"
                return FrontierCell(cell.settings, "violated", inferred=True, reason=why)
            return FrontierCell(cell.settings, "unknown", reason="it was not run")
        at_edge = point in found.holding or point in found.failing
        verdict = outcome.verdict(name)
        if verdict is None:
            absent: Known = "unknown" if outcome.exists else "impossible"
            return FrontierCell(cell.settings, absent, frontier=at_edge, reason=outcome.reason)
        return FrontierCell(
            cell.settings,
            KNOWN.get(verdict.word, "unknown"),
            frontier=at_edge,
            reason=verdict.reason,
            states=0 if outcome.report is None else outcome.report.distinct_states,
            steps=None if verdict.trace is None else verdict.trace.length,
            trace=verdict.trace,
        )

    def _boundaries(
        self, cells: Mapping[tuple[Slice, Point], FrontierCell], proved: bool
    ) -> Iterator[Boundary]:
        """Yields the boundary of each world: of cells that differ in one other number at most."""
        fixed = self._plan.fixed
        x = next((n for n in ("n", *fixed) if n in fixed and self._is_number(n)), "")
        rest = [name for name in fixed if name != x]
        worlds: dict[tuple[str, ...], list[FrontierCell]] = {}
        for cell in cells.values():
            worlds.setdefault(tuple(cell.settings[name] for name in rest), []).append(cell)
        for values, found in worlds.items():
            boundary = self._boundary(dict(zip(rest, values, strict=True)), found, x)
            yield replace(boundary, proved=proved and self._is_required(found, boundary))

    def _is_required(self, cells: list[FrontierCell], boundary: Boundary) -> bool:
        """Returns whether the points that hold are those that the protocol's `requires` admits, in
        the check's own world."""
        within = {tuple(c.settings.items()): c.within for c in self._cells.values()}
        known = [c for c in cells if c.known in ("holds", *SHOWN)]
        same = all((c.known == "holds") == within[tuple(c.settings.items())] for c in known)
        return boundary.shape == "formula" and not boundary.world and same

    def _is_number(self, name: str) -> bool:
        return all(value.isdecimal() for value in self._plan.sweep.grid.values(name))

    def _boundary(self, world: Mapping[str, str], cells: list[FrontierCell], x: str) -> Boundary:
        text = settings_text(world)
        kinds = {cell.known for cell in cells if cell.known not in ("impossible", "vacuous")}
        up_to = f"{x} = {self._values(x)[-1]}" if x else ""
        if kinds == {"holds"}:
            return Boundary(text, "everywhere", up_to=up_to)
        if kinds and kinds <= set(SHOWN):
            return Boundary(text, "nowhere", up_to=up_to)
        if len(self._plan.harder) != 1 or not x:
            points = tuple(_at(c, *self._plan.harder) for c in cells if _is_largest(c))
            return Boundary(text, "points", points=points, up_to=up_to)
        (y,) = self._plan.harder
        good = [c for c in cells if c.known == "holds"]
        bad = [c for c in cells if c.known in SHOWN]
        found = fits((_pair(c, x, y) for c in good), (_pair(c, x, y) for c in bad))
        if not found:
            return Boundary(text, "none", fall=_fall(good, bad, x, y), up_to=up_to)
        first, *others = (formula.text(x, y) for formula in found)
        return Boundary(text, "formula", first, others=tuple(others), up_to=up_to)


def _neither(answer: Answer) -> Answer:
    """Returns ``answer``; a vacuous point neither holds nor fails."""
    return Answer.IMPOSSIBLE if answer is Answer.VACUOUS else answer


def _pair(cell: FrontierCell, x: str, y: str) -> tuple[int, int]:
    return int(cell.settings[x]), _number(cell.settings[y])


def _at(cell: FrontierCell, *names: str) -> str:
    return ", ".join(f"{name} = {cell.settings[name]}" for name in names)


def _is_largest(cell: FrontierCell) -> bool:
    """Returns whether it holds at a point of the boundary."""
    return cell.frontier and cell.known == "holds"


def _fall(good: list[FrontierCell], bad: list[FrontierCell], x: str, y: str) -> Fall | None:
    """Returns a point that holds and one that fails though ``x`` is larger and ``y`` is not."""
    for one in good:
        for other in bad:
            (n, f), (more, faults) = _pair(one, x, y), _pair(other, x, y)
            if more >= n and faults <= f:
                return Fall(_at(one, x, y), _at(other, x, y))
    return None
