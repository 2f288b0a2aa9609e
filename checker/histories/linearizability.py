"""Decides linearizability of histories in parts.

Two searches run by turns with budgets that grow, all parts with a small budget first: where one is
slow the other often is not, and one refuted part decides all.  That parts may be decided alone is
locality: M. Herlihy, J. Wing: Linearizability, TOPLAS 1990; for the keys of one object it is
P-compositionality: A. Horn, D. Kroening: Faster Linearizability Checking via P-Compositionality,
FORTE 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

from msgspec import Struct

from checker.histories.events import Events, events_of
from checker.histories.initial import Initial
from checker.histories.just_in_time import JustInTime
from checker.histories.objects import Executed, Machines
from checker.histories.rows import MISSING
from checker.histories.steps import Bound, Steps, executed_on
from checker.histories.unseen import without_unseen
from checker.histories.wing_gong_lowe import WingGongLowe
from checker.properties.consistency.sequential_object import TooSmall
from checker.records import replace

FIRST = 2_000
"""The work of the first turn of a search."""
GROWTH = 4
"""How many times as much work each search of a part has done after a further turn of all parts: a
process that begins anew then does a third more."""


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

    def advance(self, until: int) -> bool | None:
        """Advances each search until its work is ``until``, and returns the verdict."""
        work = FIRST
        while self.verdict is None and work <= until:
            if self._both:
                self.jit.advance(work)
            if self.jit.verdict is None:
                self.wgl.advance(work)
            work *= 2
        return self.verdict

    def decide(self) -> bool:
        """Returns the verdict."""
        work = FIRST
        while (verdict := self.advance(work)) is None:
            work *= 2
        return verdict

    def end(self) -> None:
        """Gives up what the searches hold."""
        self.jit.end()
        self.wgl.end()

    @property
    def reached(self) -> Reached:
        """How far both have come."""
        jit = self.jit
        return Reached(self.verdict, self.wgl.work + jit.work, jit.at, jit.refuted, jit.size)


class Reached(Struct, frozen=True):
    """How far the searches of a part have come: the ``verdict``, and the ``work`` of both.

    Of the search event by event: ``at``, the event that it is at, and ``refuted``, the one at which
    no configuration is left; ``size``, the largest number of configurations.
    """

    verdict: bool | None = None
    work: int = 0
    at: int = 0
    refuted: int | None = None
    size: int = 1


class Part(Struct):
    """The operations of one key (:data:`MISSING`: of all), and what is known of them.

    ``sure``: their order by several clocks, if that is not the order of their rows; ``turns``: the
    searches, while they are under way.
    """

    key: Any
    bound: list[Bound]
    executed: Executed
    steps: Steps
    sure: Events | None = None
    turns: Turns | None = None
    reached: Reached = Reached()

    @property
    def verdict(self) -> bool | None:
        """Whether it is linearizable; ``None``: not yet known."""
        return self.reached.verdict

    @property
    def events(self) -> Events:
        """The order of its calls and returns."""
        return events_of(self.bound) if self.sure is None else self.sure

    def advance(self, until: int) -> None:
        """Advances both searches until the work of each is ``until``."""
        self.growing(lambda: self._advance(until))
        if self.verdict is not None:
            self.give_up()

    def give_up(self) -> None:
        """Frees the searches; what they have found is kept."""
        if self.turns is not None:
            self.turns.end()
            self.turns = None

    def _advance(self, until: int) -> None:
        if self.turns is None:
            self.turns = Turns(self.steps, self.events)
        try:
            self.turns.advance(until)
        finally:
            self.reached = self.turns.reached

    def growing(self, ask: Callable[[], Any]) -> Any:
        """Calls ``ask``; where a capacity of the object is too small it starts over with a larger
        one."""
        while True:
            try:
                return ask()
            except TooSmall as small:
                self.executed.grow(small.name)
                self.steps = _steps(self.executed, self.bound, self.steps.initial)
                self.give_up()


def parts_of(
    machines: Machines, bound: Sequence[Bound], by_key: bool, initial: Sequence[Initial] = ()
) -> list[Part]:
    """Returns the parts that are decided alone, with the object that ``machines`` are of: one for
    each key, or one in all; in each the ``initial`` operations have taken effect before."""
    groups: dict[Any, list[Bound]] = {}
    for one in bound:
        groups.setdefault(one.recorded.key if by_key else MISSING, []).append(one)
    return [part_of(machines, key, group, initial) for key, group in groups.items()]


def part_of(
    machines: Machines, key: Any, bound: list[Bound], initial: Sequence[Initial] = ()
) -> Part:
    """Returns the part of a history with these operations."""
    bound = without_unseen(machines.found, bound)
    executed = executed_on(machines, bound, initial)
    return Part(key, bound, executed, _steps(executed, bound, initial))


def reordered(part: Part, events: Events | None) -> Part:
    """Returns ``part``, not decided yet, with its operations ordered by ``events`` alone, or by
    their rows."""
    return replace(part, sure=events, turns=None, reached=Reached())


def _steps(executed: Executed, bound: list[Bound], initial: Sequence[Initial]) -> Steps:
    while True:
        try:
            return Steps(executed, bound, initial)
        except TooSmall as small:
            executed.grow(small.name)


Elsewhere = Callable[[Sequence[Part], int], Generator[Reached]]
"""Advances the searches of parts to a work in other processes: yields how far each one has come, in
their order."""


def decide(parts: Sequence[Part], elsewhere: Elsewhere | None = None) -> Part | None:
    """Decides the parts until one is refuted, which is returned; ``None``: all are linearizable.

    Parts that are not decided in the first turn go ``elsewhere``, if there are several.  It makes
    no difference to what is found.  An interrupt leaves the others undecided.
    """
    until, left = FIRST, list(parts)
    while left:
        if elsewhere is None or until == FIRST or len(left) == 1:
            refuted = _decided_here(left, until)
        else:
            refuted = _decided_elsewhere(left, until, elsewhere)
        if refuted is not None:
            return refuted
        left = [part for part in left if part.verdict is None]
        until *= GROWTH
    return None


def _decided_here(parts: Sequence[Part], until: int) -> Part | None:
    for part in parts:
        part.advance(until)
        if part.verdict is False:
            return part
    return None


def _decided_elsewhere(parts: Sequence[Part], until: int, elsewhere: Elsewhere) -> Part | None:
    for part in parts:
        part.give_up()
    with closing(elsewhere(parts, until)) as found:
        for part, reached in zip(parts, found, strict=True):
            part.reached = reached
            if part.verdict is False:
                return part
    return None
