"""The graph of a decision process: closures, strongly connected components, end components.

Baier and Katoen, Principles of Model Checking (2008), 10.6; de Alfaro, Formal Verification of
Probabilistic Systems (1997).  A set of states and of choices is a :class:`Part` of a process: a
sub-process where no allowed choice leads out of it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from checker.chance.decision_process import DecisionProcess
from checker.chance.kernels import kernels, numbers, octets, words
from checker.chance.native_graph import INSIDE, KEPT, NONE, OUT

WEIGHTS = 1 << 62
"""The weights of a choice are less, together."""


class Part(Struct):
    """States and choices of a process: a byte for each, not 0 where it is in the part."""

    states: array[int]
    choices: array[int]

    def copy(self) -> Part:
        """Returns the same states and choices, to be changed."""
        return Part(self.states[:], self.choices[:])


class EndComponent(Struct, frozen=True):
    """A set of states, and of choices that each of them has, by which a scheduler can stay there
    forever and visit all of them (an end of the process: no choice)."""

    states: tuple[int, ...]
    choices: tuple[int, ...]


def end_component(
    process: DecisionProcess, states: Iterable[int], choices: array[int]
) -> EndComponent:
    """Returns the end component of these states with those of their choices that are marked."""
    inside = tuple(states)
    taken = (c for s in inside for c in process.choices_of(s) if choices[c])
    return EndComponent(inside, tuple(taken))


class Components(Struct):
    """Numbers of components (32 bits for each state; NONE: in none), and ``order``: the states,
    those of each component side by side, components that are reached before those that reach them.
    """

    of: array[Any]
    order: array[Any]
    count: int
    ordered: int


class Closure(Struct):
    """The states that can reach a target: ``status`` is KEPT for those, ``how`` the choice of each
    that leads nearer (NONE for the targets), and ``queue`` has them by distance."""

    status: array[int]
    how: array[Any]
    queue: array[Any]

    def __contains__(self, state: int) -> bool:
        return self.status[state] == KEPT


def _require_room(process: DecisionProcess) -> None:
    if max(process.states, process.choices, process.branches) >= NONE:
        raise ValueError("the process has 2^32 states, choices or branches, or more")
    if max(process.weight, default=0) * process.branches < WEIGHTS:
        return
    for choice in range(process.choices):
        if sum(process.weight[b] for b in process.branches_of(choice)) >= WEIGHTS:
            raise ValueError(f"the weights of choice {choice} are 2^62 or more together")


@dataclass(slots=True)
class ProcessGraph:
    """A process, with the choices that lead to each of its states.

    Raises ``ValueError`` if the numbers of states, choices or branches, or the weights of a choice,
    are too large for native code.
    """

    process: DecisionProcess
    owner: array[Any] = field(init=False)
    start: array[Any] = field(init=False)
    source: array[Any] = field(init=False)

    def __post_init__(self) -> None:
        p = self.process
        _require_room(p)
        self.owner, self.source = numbers(p.choices), numbers(p.branches)
        self.start = words(p.states + 2)
        found = self.owner, self.start, self.source
        kernels()("invert", *self._forward, *found, p.states, p.choices)

    @property
    def _forward(self) -> tuple[array[int], array[int], array[int]]:
        return self.process.first_choice, self.process.first_branch, self.process.target

    @property
    def _backward(self) -> tuple[array[int], array[int], array[int]]:
        return self.owner, self.start, self.source

    def whole(self) -> Part:
        """Returns all states and choices."""
        return Part(octets(self.process.states, INSIDE), octets(self.process.choices, 1))

    def having(self, status: array[int], value: int) -> array[Any]:
        """Returns the states with this status, in their order."""
        found = numbers(self.process.states)
        count = kernels()("select", status, found, self.process.states, value)
        return found[:count]

    def without(self, removed: Iterable[int], part: Part) -> Part:
        """Returns ``part`` without some states, and without the choices that may lead to them,
        closed: states of which no choice is left are left out, too, unless they are KEPT."""
        p, left = self.process, part.copy()
        queue, count = numbers(p.states), 0
        for state in removed:
            if left.states[state] != OUT:
                left.states[state], queue[count] = OUT, state
                count += 1
        self._peel(left, self._counts(left), queue, count)
        return left

    def _counts(self, part: Part) -> array[Any]:
        """Returns how many choices each state has."""
        p = self.process
        counts, nobody = numbers(p.states), octets(p.states)
        kernels()("count_choices", p.first_choice, nobody, part.choices, counts, nobody, p.states)
        return counts

    def _peel(self, part: Part, counts: array[Any], queue: array[Any], count: int) -> None:
        kernels()("peel", *self._backward, part.choices, part.states, counts, queue, count)

    def reaching(self, targets: Iterable[int], part: Part) -> Closure:
        """Returns the states of ``part`` from which its choices may lead to ``targets``."""
        p = self.process
        queue, count, status = numbers(p.states), 0, part.states[:]
        how = numbers(p.states, NONE)
        for state in targets:
            if status[state] == INSIDE:
                status[state], queue[count] = KEPT, state
                count += 1
        total = kernels()("attract", *self._backward, part.choices, status, how, queue, count)
        return Closure(status, how, queue[:total])

    def almost_surely_reaching(self, targets: Iterable[int], part: Part) -> tuple[Closure, Part]:
        """Returns the states of ``part`` from which a scheduler reaches ``targets`` with
        probability 1, and the part of them and of the choices by which it can stay among them
        (Baier and Katoen 2008, algorithm 45)."""
        goals = [state for state in targets if part.states[state] != OUT]
        left = part.copy()
        while True:
            closure = self.reaching(goals, left)
            lost = self.having(closure.status, INSIDE)
            if not lost:
                return closure, left
            for state in goals:
                left.states[state] = KEPT
            left = self.without(lost, left)
            for state in goals:
                left.states[state] = INSIDE

    def components(self, part: Part) -> Components:
        """Returns the strongly connected components of a part."""
        n = self.process.states
        of, order = numbers(n, NONE), numbers(n)
        room = numbers(n), numbers(n), numbers(n), numbers(n), words(n), words(n)
        given = *self._forward, part.choices, part.states, of, order, *room, n
        count = kernels()("components", *given)
        return Components(of, order, count, n - part.states.count(OUT))

    def end_components(self, part: Part) -> tuple[Part, Components]:
        """Returns the maximal end components of a part, and the part of their states and choices:
        all states of a component with choices by which it can be stayed in (de Alfaro 1997,
        algorithm 3.1).  Ends are no end components here."""
        p, left = self.process, part.copy()
        counts, queue, forbidden = numbers(p.states), numbers(p.states), words(1)
        given = p.first_choice, left.states, left.choices, counts, queue, p.states
        self._peel(left, counts, queue, kernels()("count_choices", *given))
        while True:
            found = self.components(left)
            changed = *self._forward, found.of, left.choices, left.states, counts, queue, forbidden
            self._peel(left, counts, queue, kernels()("split", *changed, p.states))
            if not forbidden[0]:
                return left, found
