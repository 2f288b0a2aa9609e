"""Samples reachable states with the interpreter, from which candidates for lemmas are learned.

Samples prove no invariant.  What they show is real, though: a premise that held, a handler that
ran.
"""

from __future__ import annotations

import random
from contextlib import suppress

from msgspec import Struct, field

from checker.engines import budgets
from checker.engines.symbolic.solver_queries import QueryBudget
from checker.model import interpreter
from checker.model.interpreter import State, surely_holds
from checker.model.ir import PropertyKind, TransitionSystem
from checker.results.answer import Path
from checker.results.trace import ERRORS

BREADTH = 600
"""The number of states of the breadth-first search."""

WALKS = 60
"""The number of random walks from the states that the search has left unexpanded."""

LENGTH = 60
"""The largest number of steps of one walk."""


class Samples(Struct):
    """The sampled ``states`` in the order in which they were found.

    ``exhaustive``: they are all reachable states.  ``violated``: properties that are false in some
    state, and ``fault``, each with a path; ``shortest``: those whose path is a shortest one.
    """

    states: dict[State, State | None] = field(default_factory=dict)
    exhaustive: bool = False
    marks: set[int] = field(default_factory=set)
    premises: set[str] = field(default_factory=set)
    violated: dict[str, Path] = field(default_factory=dict)
    fault: Path | None = None
    shortest: set[str] = field(default_factory=set)
    depth: int = 0
    transitions: int = 0

    def path_to(self, state: State, then_fault: bool = False) -> Path:
        """Returns the path by which ``state`` was found."""
        states = [state]
        while (before := self.states[states[-1]]) is not None:
            states.append(before)
        return Path(tuple(reversed(states)), then_fault)


def sample(
    system: TransitionSystem,
    clock: QueryBudget,
    *,
    breadth: int = BREADTH,
    walks: int = WALKS,
    length: int = LENGTH,
) -> Samples:
    """Samples states of ``system``: the first ones in breadth-first order, and those of random
    walks from there.

    The result is deterministic, unless ``clock`` ends before.  Raises :class:`RunFault` where no
    initial state can be computed.
    """
    found = Samples()
    with (
        suppress(budgets.BudgetExhausted),
        budgets.within(clock.seconds_left),
        budgets.raising_when_exhausted(),
    ):
        _sample(system, found, clock, breadth, walks, length)
    return found


def _sample(
    system: TransitionSystem,
    found: Samples,
    clock: QueryBudget,
    breadth: int,
    walks: int,
    length: int,
) -> None:
    """Collects states, until it has enough of them, or is interrupted."""
    for state, events in interpreter.initial_events(system):
        found.marks.update(event.mark for event in events)
        _note(system, found, state, None)
    level = _search(system, found, breadth, clock.share(0.4))
    found.exhaustive = not level
    found.shortest.update(found.violated, () if found.fault is None else (ERRORS,))
    draw = random.Random(0)
    for _ in range(walks if level else 0):
        if clock.seconds_left is not None and clock.seconds_left <= 0.0:
            break
        _walk(system, found, draw.choice(level), length, draw)


def _search(
    system: TransitionSystem, found: Samples, breadth: int, clock: QueryBudget
) -> list[State]:
    """Explores level by level; returns the states that were found and not expanded."""
    level = list(found.states)
    while level and len(found.states) < breadth:
        following: list[State] = []
        for number, state in enumerate(level):
            if clock.seconds_left is not None and clock.seconds_left <= 0.0:
                return [*following, *level[number:]]
            for successor in _successors(system, found, state):
                if successor not in found.states:
                    _note(system, found, successor, state)
                    following.append(successor)
        found.depth += bool(following)
        level = following
    return level


def _walk(
    system: TransitionSystem, found: Samples, state: State, length: int, draw: random.Random
) -> None:
    for _ in range(length):
        ways = [s for s in _successors(system, found, state) if s != state]
        if not ways:
            return
        fresh = [s for s in ways if s not in found.states]
        following = draw.choice(fresh or ways)
        if following not in found.states:
            _note(system, found, following, state)
        state = following


def _successors(system: TransitionSystem, found: Samples, state: State) -> list[State]:
    ways = []
    for transition in interpreter.successors(system, state):
        if transition.successor is None:
            if found.fault is None:
                found.fault = found.path_to(state, then_fault=True)
            continue
        found.transitions += 1
        found.marks.update(event.mark for event in transition.events)
        ways.append(transition.successor)
    return ways


def _note(system: TransitionSystem, found: Samples, state: State, before: State | None) -> None:
    found.states.setdefault(state, before)
    for prop in system.properties:
        if prop.name not in found.premises and surely_holds(system, prop.premise, state):
            found.premises.add(prop.name)
        if prop.kind is PropertyKind.INVARIANT and prop.name not in found.violated:
            if surely_holds(system, prop.bad, state):
                found.violated[prop.name] = found.path_to(state)
