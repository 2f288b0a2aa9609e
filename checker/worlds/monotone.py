"""Searches a product of chains for the points up to which something holds.

The levels of each chain go from easy to hard: where a point holds, each easier one should.  The
search finds all hardest points that hold and all easiest points that do not.  The candidates are
the hardest points that no known failure is below (the dual of the minimal failures: Berge,
*Hypergraphs*, 1989; for the alternation of both sides Gunopulos, Khardon, Mannila and Toivonen,
*Data mining, hypergraph transversals, and machine learning*, PODS 1997).  Each candidate is asked;
one that fails is lowered, axis by axis, to a smallest point that does.  One that is too large to
be decided is approached from below: an axis more at a time, as long as it holds.

Nothing is taken for granted that was not asked: every hardest point was asked, and so was every
easiest failure and each point one level below it.  Where two answers contradict monotony, the pair
is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

Point = tuple[int, ...]


class Answer(StrEnum):
    """What is known of a point."""

    HOLDS = "holds"
    FAILS = "fails"
    VACUOUS = "vacuous"  # no run violates it, but only since something never happens
    UNKNOWN = "unknown"
    IMPOSSIBLE = "impossible"  # there is no such point: it counts as neither


class Boundary(Struct, frozen=True):
    """``holding``: the hardest points that hold; ``failing``: the easiest that do not, with their
    answers; ``contradictions``: pairs of a point that fails and a harder one that holds;
    ``answers``: of all points that were asked; ``impossible``: points left out.  ``complete``:
    the search has ended; nothing is known below the ``undecided`` points but what is said."""

    holding: tuple[Point, ...]
    failing: Mapping[Point, Answer]
    contradictions: tuple[tuple[Point, Point], ...]
    answers: Mapping[Point, Answer]
    impossible: frozenset[Point] = frozenset()
    complete: bool = False
    undecided: frozenset[Point] = frozenset()


Asking = Generator[set[Point], Mapping[Point, Answer], None]


def below(one: Point, other: Point) -> bool:
    """Returns whether ``one`` is no harder than ``other`` on any axis."""
    return all(a <= b for a, b in zip(one, other, strict=True))


def minimal(points: Iterable[Point]) -> list[Point]:
    """Returns those points that are not harder than another one, sorted."""
    found = sorted(set(points))
    return [p for p in found if not any(q != p and below(q, p) for q in found)]


def maximal(points: Iterable[Point]) -> list[Point]:
    """Returns those points that are not easier than another one, sorted."""
    found = sorted(set(points))
    return [p for p in found if not any(q != p and below(p, q) for q in found)]


def contradictions(answers: Mapping[Point, Answer]) -> tuple[tuple[Point, Point], ...]:
    """Returns the pairs of a point that fails and a harder one that holds: for each failure that
    has one, the first."""
    failing = sorted(p for p, answer in answers.items() if answer is Answer.FAILS)
    holding = sorted(p for p, answer in answers.items() if answer is Answer.HOLDS)
    first = ((p, next((q for q in holding if below(p, q)), None)) for p in failing)
    return tuple((p, q) for p, q in first if q is not None)


class Search:
    """A search of the points from ``bottom`` to ``top``; ``start``: where to begin, such as a point
    that is known to hold; ``exists``: whether there is such a point."""

    def __init__(
        self,
        bottom: Point,
        top: Point,
        start: Point,
        exists: Callable[[Point], bool] = lambda _: True,
    ) -> None:
        self._bottom, self._top, self._start, self._exists = bottom, top, start, exists
        self._answers: dict[Point, Answer] = {}
        self._failing: dict[Point, Answer] = {}
        self._impossible: set[Point] = set()
        self._complete = False
        self._undecided: frozenset[Point] = frozenset()

    def run(self) -> Asking:
        """Searches: yields points whose answers are wanted, all at once, and is sent these."""
        start = self._start
        (first,) = yield from self._ask([start])
        if first in (Answer.HOLDS, Answer.IMPOSSIBLE):
            yield from self._climb(start)
        else:
            yield from self._lower(start)
        grown = set[Point]()
        while True:
            candidates = [p for p in self._candidates() if p not in grown]
            answers = yield from self._ask(candidates)
            if all(answer is Answer.HOLDS for answer in answers):
                break
            for point in candidates:
                if self._is_open(point) and self._answers[point] is Answer.FAILS:
                    yield from self._lower(point)
                elif self._is_open(point):
                    yield from self._grow(point)
                    grown.add(point)
        self._undecided = frozenset(p for p in self._candidates() if p in grown)
        self._complete = True

    def boundary(self) -> Boundary:
        """Returns what is known so far."""
        holding = (p for p, answer in self._answers.items() if answer is Answer.HOLDS)
        asked = {p: a for p, a in self._answers.items() if a is not Answer.IMPOSSIBLE}
        return Boundary(
            tuple(maximal(holding)),
            {p: self._failing[p] for p in minimal(self._failing)},
            contradictions(asked),
            asked,
            frozenset(self._impossible),
            self._complete,
            self._undecided,
        )

    def _is_open(self, point: Point) -> bool:
        """Returns whether ``point`` does not hold, and no failure is known that explains it."""
        answer = self._answers[point]
        explained = any(below(f, point) for f in self._failing)
        return answer not in (Answer.HOLDS, Answer.IMPOSSIBLE) and not explained

    def _ask(
        self, points: Iterable[Point]
    ) -> Generator[set[Point], Mapping[Point, Answer], list[Answer]]:
        wanted = list(points)
        new = {p for p in wanted if p not in self._answers and self._there(p)}
        if new:
            self._answers |= yield new
        self._impossible |= {p for p in new if self._answers[p] is Answer.IMPOSSIBLE}
        return [self._answers.get(p, Answer.IMPOSSIBLE) for p in wanted]

    def _there(self, point: Point) -> bool:
        if point in self._impossible:
            return False
        if self._answers.get(point) is not Answer.IMPOSSIBLE and self._exists(point):
            return True
        self._impossible.add(point)
        return False

    def _climb(self, start: Point) -> Asking:
        """Goes up from ``start`` on each axis alone, as far as it holds; records what fails."""
        at = {axis: start[axis] for axis in range(len(start))}
        while at:
            higher = {axis: self._next_higher(start, axis, level) for axis, level in at.items()}
            above = {axis: point for axis, point in higher.items() if point is not None}
            answers = yield from self._ask(above.values())
            at = {}
            for (axis, point), answer in zip(above.items(), answers, strict=True):
                if answer in (Answer.HOLDS, Answer.IMPOSSIBLE):
                    at[axis] = point[axis]
                else:
                    yield from self._lower(point)

    def _lower(self, point: Point) -> Asking:
        """Records a smallest point below ``point``, which does not hold, that does not either: one
        that fails as ``point`` does, and each point one level below which does not."""
        answer = self._answers[point]
        while True:
            axes = range(len(point))
            lower = [p for axis in axes if (p := self._next_lower(point, axis)) is not None]
            found = yield from self._ask(lower)
            alike = (p for p, a in zip(lower, found, strict=True) if a in (answer, Answer.FAILS))
            at = next(alike, None)
            if at is None:
                break
            answer = self._answers[at]
            point = yield from self._drop(at, answer)
        self._failing[point] = answer

    def _drop(
        self, point: Point, answer: Answer
    ) -> Generator[set[Point], Mapping[Point, Answer], Point]:
        """Moves each axis of ``point`` to the bottom, where it still answers as it does."""
        for axis in range(len(point)):
            lowest = _moved(point, axis, self._bottom[axis])
            if lowest != point and self._there(lowest):
                (found,) = yield from self._ask([lowest])
                if found is answer:
                    point = lowest
        return point

    def _grow(self, point: Point) -> Asking:
        """Raises the start, or the easiest point where that does not hold, towards ``point``, which
        is not known to hold, by one axis after the other, as long as it holds."""
        holds = self._answers.get(self._start) is Answer.HOLDS
        at = self._start if holds else self._bottom
        yield from self._ask([at])
        if self._answers.get(at) is not Answer.HOLDS:
            return
        for axis in range(len(point)):
            higher = _moved(at, axis, point[axis])
            if higher in (at, point):
                continue
            (answer,) = yield from self._ask([higher])
            if answer is Answer.HOLDS:
                at = higher
            elif answer is Answer.FAILS:
                yield from self._lower(higher)
                return

    def _next_lower(self, point: Point, axis: int) -> Point | None:
        """Returns the next point below on ``axis`` that exists."""
        levels = range(point[axis] - 1, self._bottom[axis] - 1, -1)
        return next((p for n in levels if self._there(p := _moved(point, axis, n))), None)

    def _next_higher(self, point: Point, axis: int, level: int) -> Point | None:
        """Returns the next point above ``level`` on ``axis`` that exists."""
        levels = range(level + 1, self._top[axis] + 1)
        return next((p for n in levels if self._there(p := _moved(point, axis, n))), None)

    # ---- candidates ---------------------------------------------------------------------------

    def _candidates(self) -> list[Point]:
        """Returns the hardest points that exist and that no known failure is below."""
        waiting, seen, found = [self._top], set[Point](), set[Point]()
        failing = sorted(self._failing)
        while waiting:
            point = waiting.pop()
            if point in seen:
                continue
            seen.add(point)
            known = next((f for f in failing if below(f, point)), None)
            if known is not None:
                waiting += self._around(point, known)
            elif not self._there(point):
                waiting += self._possible_below(point)
            else:
                found.add(point)
        return maximal(found)

    def _around(self, point: Point, known: Point) -> list[Point]:
        """Returns the hardest points below ``point`` that ``known`` is not below."""
        return [
            _moved(point, axis, level - 1)
            for axis, level in enumerate(known)
            if level > self._bottom[axis]
        ]

    def _possible_below(self, point: Point) -> list[Point]:
        """Returns points below ``point``, which does not exist, that every one below it that does
        is below: where two of its levels alone contradict each other, only these are lowered."""
        raised = [axis for axis in range(len(point)) if point[axis] > self._bottom[axis]]
        for i, one in enumerate(raised):
            for other in raised[:i]:
                pair = _moved(_moved(self._bottom, one, point[one]), other, point[other])
                alone = [_moved(self._bottom, axis, point[axis]) for axis in (one, other)]
                if not self._exists(pair) and all(map(self._exists, alone)):
                    return [_moved(point, axis, point[axis] - 1) for axis in (one, other)]
        return [_moved(point, axis, point[axis] - 1) for axis in raised]


def _moved(point: Point, axis: int, level: int) -> Point:
    return (*point[:axis], level, *point[axis + 1 :])
