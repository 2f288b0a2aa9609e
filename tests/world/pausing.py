"""Pauses: a process stops inside a handler, or is late to handle a timer, and goes on.

What a paused process still has to do is found by running its handler again, from the state in which
it began and with the same choices, up to where it stopped; what it does behind that is done in the
state of now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tests.world.step import Step
from tests.world.system import Model, State, unit_of

if TYPE_CHECKING:
    from tests.world.running import Way

Which = tuple[str, int]
"""A step, by its name and its position among those of that name."""
BEGINNING = "", 0
"""The step by which everything begins."""
ELSEWHERE = ""
"""What is kept of the pause of another process."""


class Paused(Exception):
    """The process has paused inside the handler."""


class Finished(Exception):
    """The rest of a handler has been done."""


def is_paused(state: State, p: str) -> bool:
    """Whether ``p`` has paused, or one that stops together with it: that is kept of the lead."""
    return ("paused", unit_of(state, p)[0]) in state


def is_busy(state: State, p: str) -> bool:
    """Whether ``p`` is inside a handler: it can begin nothing else."""
    return bool(state["rest", p]) or is_paused(state, p)


class Pauses:
    """The pauses of one way of making a step, which is ``which`` in the state where it begins.

    ``passed``: the points that have been passed at which a process may stop; ``stops``: those at
    which one has; ``taken``: what has been chosen, but for faults.  A handler whose ``owner`` goes
    on is run again up to ``until``; ``now``: the state in which it goes on.
    """

    def __init__(self, way: Way, which: Which | None) -> None:
        self.way, self.which, self.begun = way, which, dict(way.state)
        self.passed = 0
        self.stops: list[int] = []
        self.taken: list[int] = []
        self.owner, self.until = "", 0
        self.left: list[int] = []
        self.now: State | None = None

    @property
    def replays(self) -> bool:
        """Whether what has happened before is only done again."""
        return self.now is not None

    def next_choice(self) -> int:
        return self.left.pop(0)

    def may_stop(self, p: str) -> None:
        """A point at which ``p`` may stop."""
        way, p = self.way, self.way.model.lead(p)
        if way.kept_together or way.left is not None or way.stopped is not None:
            return
        self.passed += 1
        if self.now is not None:
            if p != self.owner and self.passed in self.stops:
                raise Paused
            if p == self.owner and self.passed == self.until:
                assert not self.left
                way.state, self.now = self.now, None
                way.sent.clear()
            return
        stops = self.which is not None and not is_paused(way.state, p) and self.room([p])
        if stops and way.pick_fault((False, True)):
            self.stops.append(self.passed)
            way.stop(pauses=True)

    def crashed(self, *, behind: bool) -> None:
        """A process crashes at the point that has been passed last, or ``behind`` the effect
        there: it goes no further when this is done again."""
        self.stops.append(-self.passed if behind else self.passed)

    def may_have_crashed(self, p: str) -> None:
        """A point right behind an effect, at which ``p`` may have crashed."""
        if self.replays and p != self.owner and -self.passed in self.stops:
            raise Paused

    def room(self, more: list[str]) -> bool:
        """Whether all of ``more`` may pause once more."""
        model, state = self.way.model, self.way.state
        if not model.world.pause:
            return False
        so_far = (*state.get("pauses", ()), *more)
        bound = model.world.pause
        return (bound < 0 or len(so_far) <= bound) and model.has_room("pause", so_far)

    def use(self, some: list[str]) -> None:
        """All of ``some`` pause."""
        state = self.way.state
        if self.way.model.world.pause > 0:
            state["pauses"] = tuple(sorted((*state.get("pauses", ()), *some)))
            state["late"] = state.get("late", frozenset()) | {*some}

    def no_longer_late(self, p: str) -> None:
        if "late" in self.way.state:
            self.way.state["late"] -= {self.way.model.lead(p)}

    def begin(self, p: str) -> None:
        """``p`` has stopped: what it has still to do is kept."""
        p = self.way.model.lead(p)
        begun = {k: ELSEWHERE if k[0] == "paused" else v for k, v in self.begun.items()}
        rest = frozenset(begun.items()), self.which, tuple(self.stops), tuple(self.taken)
        self.way.state["paused", p] = (*rest, self.passed)
        self.use([p])
        self.ends(p)

    def forget(self, p: str) -> None:
        self.way.state.pop(("paused", p), None)
        self.no_longer_late(p)

    def ends(self, p: str) -> None:
        """A handler of ``p`` has ended, or ``p`` has crashed inside."""
        if self.way.model.lead(p) == self.owner and not self.replays:
            raise Finished


def go_on(p: str, *, whole: bool = False) -> Callable[[Way], None]:
    """``p`` goes on; ``whole``: without another pause."""

    def does(way: Way) -> None:
        from tests.world.steps import begin, steps

        now, pauses = way.state, way.pauses
        begun, which, stops, taken, until = now.pop(("paused", p))
        pauses.no_longer_late(p)
        pauses.begun, pauses.which = dict(begun), None if whole else which
        pauses.stops, pauses.taken, pauses.left = [*stops], [*taken], [*taken]
        pauses.owner, pauses.until, pauses.now = p, until, now
        way.state = dict(begun)
        again = begin(way.model)
        if which != BEGINNING:
            name, position = which
            same = [step for step in steps(way.model, way.state) if step.name == name]
            again = same[position].does
        try:
            again(way)
        except Finished:
            return
        raise AssertionError("a handler that has paused comes to an end")

    return does


def steps_of_paused(model: Model, state: State, p: str) -> Iterator[Step]:
    """What ``p``, which has paused, can do: go on; where it may pause without end, what is promised
    of it when it has gone on is promised all the time."""
    from tests.world.running import ways
    from tests.world.steps import own, steps

    promises = [own(model, state, ("paused", p), each) for each in model.units[p]]
    yield Step(f"{p} goes on", go_on(p), next(filter(None, promises), None))
    ours = tuple(f"{q}{mark}" for q in model.units[p] for mark in (" ", ":", "'s "))
    if model.world.pause > 0 or state["paused", p] == ELSEWHERE:
        return
    for done in ways(model, state, go_on(p, whole=True)):
        if is_paused(done.state, p) or p in done.state["down"]:
            continue
        for step in steps(model, done.state):
            if step.promise is not None and step.name.startswith(ours):

                def does(way: Way, step: Step = step, after: Any = done) -> None:
                    way.state = dict(after.state)
                    way.sent |= after.sent
                    step.does(way)

                yield Step(step.name, does, step.promise, step.strong, whole=True)
