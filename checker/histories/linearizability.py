"""Decides linearizability of histories of parts, and finds a small reason where one is refuted.

Two searches run by turns with budgets that double, all parts with a small budget first: where one
is slow the other often is not, and one refuted part decides all.  That parts may be decided alone
is locality: M. Herlihy, J. Wing: Linearizability, TOPLAS 1990; for the keys of one object it is
P-compositionality: A. Horn, D. Kroening: Faster Linearizability Checking via P-Compositionality,
FORTE 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from checker.histories.events import Events, events_of
from checker.histories.initial import Initial
from checker.histories.just_in_time import Configurations, JustInTime
from checker.histories.objects import Executed, Found, Machines
from checker.histories.rows import MISSING
from checker.histories.shrinking import smallest
from checker.histories.steps import Bound, Steps, execute
from checker.histories.unseen import without_unseen
from checker.histories.wing_gong_lowe import WingGongLowe
from checker.properties.consistency.sequential_object import TooSmall
from checker.records import replace

FIRST = 2_000
"""The work of the first turn of a search."""
TO_SHRINK = 20_000
"""The work for the question whether a history without some operations is refuted."""
SHRINKING = 200_000
"""The work in all to make a refuted history smaller."""


class Turns:
    """Both searches of one history, by turns; only the second one knows what else precedes an
    operation (``events.before``).  ``jit`` may be at a later place than the verdict shows."""

    def __init__(self, steps: Steps, events: Events) -> None:
        self.jit, self.wgl = JustInTime(steps, events), WingGongLowe(steps, events)
        self._both = not events.before

    @property
    def verdict(self) -> bool | None:
        """Whether the history is linearizable; ``None``: not yet known."""
        return self.wgl.verdict if self.jit.verdict is None else self.jit.verdict

    @property
    def work(self) -> int:
        """The work of both."""
        return self.jit.work + self.wgl.work

    def advance(self, work: int) -> bool | None:
        """Gives each search ``work`` more, and returns the verdict."""
        if self._both:
            self.jit.advance(work)
        if self.jit.verdict is None:
            self.wgl.advance(work)
        return self.verdict


class Part(Struct):
    """The operations of one key (:data:`MISSING`: of all), and what is known of them."""

    key: Any
    bound: list[Bound]
    executed: Executed
    steps: Steps
    events: Events
    turns: Turns
    verdict: bool | None = None

    @property
    def work(self) -> int:
        """The work of its searches."""
        return self.turns.work


class Refutation(Struct):
    """Why ``part`` is not linearizable; ``steps``: those up to that return.

    ``chosen``: operations that have no order together, in the order of their calls; ``last``: the
    one whose return is refuted; ``tried``: the configurations in which it does not fit.
    ``prefix``: how many operations were called up to there; the others are left out.
    """

    part: Part
    steps: Steps
    chosen: list[int]
    last: int
    tried: Configurations
    prefix: int


def parts_of(
    found: Found, bound: Sequence[Bound], by_key: bool, initial: Sequence[Initial] = ()
) -> list[Part]:
    """Returns the parts that are decided alone: one for each key, or one in all; in each the
    ``initial`` operations have taken effect before."""
    groups: dict[Any, list[Bound]] = {}
    for one in bound:
        groups.setdefault(one.recorded.key if by_key else MISSING, []).append(one)
    machines = Machines(found)
    return [_part(machines, key, group, initial) for key, group in groups.items()]


def _part(machines: Machines, key: Any, bound: list[Bound], initial: Sequence[Initial]) -> Part:
    bound = without_unseen(machines.found, bound)
    executed = execute(machines, bound, initial)
    steps = _steps(executed, bound, initial)
    events = events_of(bound)
    return Part(key, bound, executed, steps, events, Turns(steps, events))


def reordered(part: Part, events: Events) -> Part:
    """Returns ``part``, not decided yet, with its operations ordered by ``events`` alone."""
    return replace(part, events=events, turns=Turns(part.steps, events), verdict=None)


def _steps(executed: Executed, bound: list[Bound], initial: Sequence[Initial]) -> Steps:
    while True:
        try:
            return Steps(executed, bound, initial)
        except TooSmall as small:
            executed.grow(small.name)


def decide(parts: Sequence[Part], look: Callable[[], None] = lambda: None) -> Part | None:
    """Decides the parts until one is refuted, which is returned; ``None``: all are linearizable.

    ``look`` is called between turns.  An interrupt leaves ``verdict`` of the others at ``None``.
    """
    budget, left = FIRST, list(parts)
    while left:
        for part in left:
            part.verdict = _growing(part, partial(_advance, budget))
            look()
            if part.verdict is False:
                return part
        left = [part for part in left if part.verdict is None]
        budget *= 2
    return None


def _advance(work: int, part: Part) -> bool | None:
    return part.turns.advance(work)


def _growing(part: Part, ask: Callable[[Part], Any]) -> Any:
    """Calls ``ask``; where a capacity of the object is too small it starts over with a larger
    one."""
    while True:
        try:
            return ask(part)
        except TooSmall as small:
            part.executed.grow(small.name)
            part.steps = _steps(part.executed, part.bound, part.steps.initial)
            part.turns = Turns(part.steps, part.events)


# ---- why a part is refuted ----------------------------------------------------------------------


def as_recorded(part: Part) -> Part:
    """Returns a refuted part in the order of its rows, in which it is refuted all the more."""
    if not part.events.before:
        return part
    found = reordered(part, events_of(part.bound))
    work = FIRST
    while _growing(found, partial(_advance, work)) is None:
        work *= 2
    return found


def explain(part: Part) -> Refutation:
    """Returns why ``part``, which is refuted, is not linearizable.

    First the smallest prefix that is refuted: it ends at a return.  Then operations are left out:
    reads, if the rest is refuted without them; updates, if the rest is refuted even where each of
    them may take effect between its call and its return, or never.  So it does not depend on those
    that are left out that the others have no order.
    """
    return _growing(part, _explained)  # type: ignore[no-any-return]


def _explained(part: Part) -> Refutation:
    whole = part.events
    prefix = _smallest_prefix(part, whole)
    steps = _steps_of(part, prefix)
    shrunk = _Shrinking(steps, prefix)
    kept = shrunk.minimal()
    return Refutation(part, steps, kept, shrunk.last, _tried(steps, prefix), len(shrunk.called))


def _tried(steps: Steps, prefix: Events) -> Configurations:
    """Returns the configurations before the last return of a refuted prefix; none where there are
    too many."""
    search = JustInTime(steps, prefix)
    search.advance(SHRINKING)
    return search.tried if search.verdict is False else {}


def _smallest_prefix(part: Part, whole: Events) -> Events:
    """Returns the smallest refuted prefix, which ends at a return.

    It is no smaller than one that the search of the whole history refutes, and perhaps larger: that
    search knows the results of operations that return later.
    """
    ends = [at + 1 for at, (_, is_call) in enumerate(whole.order) if not is_call]
    searched = part.turns.jit.refuted
    until = part.turns.jit.at if searched is None else searched
    low, high = sum(end <= until for end in ends), len(ends) - 1
    if searched is not None and _is_refuted(part, whole.prefix(ends[low])):
        high = low
    while low < high:
        middle = (low + high) // 2
        if _is_refuted(part, whole.prefix(ends[middle])):
            high = middle
        else:
            low = middle + 1
    return whole.prefix(ends[low])


def _steps_of(part: Part, prefix: Events) -> Steps:
    """Returns the steps in which what has not returned in ``prefix`` may have any result."""
    bound = [
        replace(one, result=MISSING) if number in prefix.lost else one
        for number, one in enumerate(part.bound)
    ]
    return Steps(part.executed, bound, part.steps.initial)


def _is_refuted(part: Part, prefix: Events) -> bool:
    turns = Turns(_steps_of(part, prefix), prefix)
    work = FIRST
    while turns.advance(work) is None:
        work *= 2
    return not turns.verdict


class _Shrinking:
    """Leaves operations out of a refuted history as long as it stays refuted; ``last``: the one
    whose return ends it, ``called``: all, in the order of their calls."""

    def __init__(self, steps: Steps, prefix: Events) -> None:
        self._steps, self._prefix = steps, prefix
        self.last = prefix.order[-1][0]
        self.called = [number for number, is_call in prefix.order if is_call]
        self._reads = {n for n in self.called if steps.is_read[steps.number_of[n]]}
        self._work = 0

    def events(self, kept: Iterable[int]) -> Events:
        """Returns the events of the prefix, without reads that are not ``kept``; updates that are
        not are optional."""
        optional = frozenset(self.called) - frozenset(kept)
        dropped = optional & self._reads
        order = tuple(each for each in self._prefix.order if each[0] not in dropped)
        lost = self._prefix.lost - dropped
        return Events(order, lost, optional - dropped - lost)

    def minimal(self) -> list[int]:
        """Returns the operations that are kept: none of them can be left out alone, unless that
        takes too long to decide."""
        goes_on = lambda: self._work < SHRINKING  # noqa: E731
        return smallest(self.called, self._is_refuted, goes_on, self.last)

    def _is_refuted(self, kept: list[int]) -> bool:
        search = JustInTime(self._steps, self.events(kept))
        search.advance(TO_SHRINK)
        self._work += search.work + len(kept)
        return search.verdict is False
