"""Compares states that a view identifies: do they behave alike?

A view is sound where it is: where of two states in which it is equal each step of the one is
matched by a step of the other to states in which it is equal again (bisimulation: Park 1981; Milner
1989).  Whether a property is violated is part of the view.  Here all states are explored, as if
there were no view, up to so many steps, and each is compared with the first one in which the view
is equal.  Where that comes to an end without a difference the view is sound.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checker.diagnostics.english import count, listing
from checker.model import interpreter
from checker.model.interpreter import State, Transition
from checker.model.ir import MarkKind, TransitionSystem
from checker.model.types import AtomT, MapT, Type, Value, universe
from checker.model.views import seen
from checker.results.mark_events import acting
from checker.results.show_values import show

MOST = 4000
"""The number of steps that are computed at most."""


class Unseparated(Struct, frozen=True):
    """Two states in which the view is equal; ``steps``: how far they are from where runs start;
    ``told``: what is possible in the first only, or else in the second only."""

    states: tuple[State, State]
    steps: tuple[int, int]
    told: str
    first_only: bool


class Comparison(Struct, frozen=True):
    """``found``: two states that the view should not identify; ``states``: the number compared;
    ``all``: there are no others."""

    found: Unseparated | None
    states: int
    all: bool


def compare(system: TransitionSystem, most: int = MOST) -> Comparison:
    """Returns whether states that the view of ``system`` takes for one behave alike, as far as up
    to ``most`` steps tell.  Initial states that can't be computed raise :class:`RunFault`."""
    return _Comparing(system, most).run()


class _Comparing:
    def __init__(self, system: TransitionSystem, most: int) -> None:
        self.system, self.left = system, most
        self.first: dict[State, tuple[State, int]] = {}
        self.after: dict[State, dict[object, Transition]] = {}

    def run(self) -> Comparison:
        level = dict.fromkeys(interpreter.initial_states(self.system))
        depth = 0
        while level:
            following: dict[State, None] = {}
            for state in level:
                following |= dict.fromkeys(self._expand(state))
                first, when = self.first.setdefault(seen(self.system, state), (state, depth))
                found = self._compare((first, state), (when, depth)) if first != state else None
                if found is not None or self.left < 0:
                    return Comparison(found, len(self.after), False)
            level = {state: None for state in following if state not in self.after}
            depth += 1
        return Comparison(None, len(self.after), True)

    def _expand(self, state: State) -> list[State]:
        """Returns the successors of ``state``; of each view that can follow, and of errors, one
        step is kept."""
        found: dict[object, Transition] = {}
        successors = []
        for step in interpreter.successors(self.system, state):
            self.left -= 1
            after = step.successor
            found.setdefault(None if after is None else seen(self.system, after), step)
            if after is not None:
                successors.append(after)
        self.after[state] = found
        return successors

    def _compare(self, states: tuple[State, State], steps: tuple[int, int]) -> Unseparated | None:
        one, other = (self.after[state] for state in states)
        for these, those, first in ((one, other, True), (other, one, False)):
            for key, step in these.items():
                # a step within the view need not be matched: nothing changes
                if key not in those and key != seen(self.system, states[0]):
                    return Unseparated(states, steps, _told(self.system, step), first)
        return None


def _told(system: TransitionSystem, step: Transition) -> str:
    """Returns what happens in ``step``, in the spec's words."""
    if step.successor is None:
        return "an error"
    kinds = (MarkKind.HANDLER, MarkKind.REQUEST, MarkKind.RECEIVE)
    texts = [system.marks[e.mark].text for e in step.events if system.marks[e.mark].kind in kinds]
    who = acting(system, step.events)
    what = f"`{texts[0]}`" if texts else f"a step of kind {step.action.kind.value}"
    return f"{what} at {who}" if who else what


def difference_text(system: TransitionSystem, found: Unseparated) -> str:
    """Returns which states are taken for one, and what shows that they should not be."""
    one, other = found.states
    differences = listing(tuple(_differences(system, one, other)), "and")
    one_steps, other_steps = (count(steps, "step") for steps in found.steps)
    which = "first" if found.first_only else "second"
    return (
        "the view identifies two states that behave differently: one after"
        f" {one_steps} and one after {other_steps}, where {differences}; the outcome of"
        f" {found.told} can follow only the {which}"
    )


def _differences(system: TransitionSystem, one: State, other: State) -> Iterator[str]:
    for variable, a, b in zip(system.variables, one, other, strict=True):
        if a != b:
            title = variable.title or variable.name
            for name, x, y in _entries(variable.type, title, a, b):
                yield f"{name} is {x} and {y}"


def _entries(type_: Type, title: str, a: Value, b: Value) -> Iterator[tuple[str, str, str]]:
    """Yields what differs in a variable: of which process, and the two values."""
    if isinstance(type_, MapT) and isinstance(type_.key, AtomT):
        assert isinstance(a, tuple)
        assert isinstance(b, tuple)
        for key, x, y in zip(universe(type_.key), a, b, strict=True):
            if x != y:
                name = f"{show(type_.key, key)}.{title}"
                yield name, show(type_.value, x), show(type_.value, y)
    else:
        yield title, show(type_, a), show(type_, b)
