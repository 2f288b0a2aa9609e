"""Fair end components: where an execution may stay forever so that it is fair.

As Streett objectives are decided for Markov decision processes (de Alfaro 1997, 4.4; Baier and
Katoen 2008, 10.6.4), with fairness as it is judged on graphs: a maximal end component is unfair if
a weak constraint is enabled in all its states and no choice in it takes it; states in which a
strong constraint is enabled that no choice takes are left out, and the rest is judged again.  A
scheduler that takes all choices of a fair component again and again, and so visits all its states,
is fair with probability 1.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct, field

from checker.chance.graph import EndComponent, Part, ProcessGraph, end_component
from checker.chance.kernels import numbers, octets
from checker.chance.native_graph import INSIDE, NONE


class FairComponents(Struct):
    """The maximal fair end components of a part, and its ends.

    ``states``: all of theirs; ``of``: the component of each state of the process (32 bits, or
    NONE); ``choices``: a byte for each choice, not 0 where it is one of its component.
    """

    graph: ProcessGraph
    of: array[Any]
    choices: array[int]
    states: array[Any] = field(default_factory=lambda: array("I"))
    count: int = 0

    def add(self, states: Iterable[int], choices: array[int]) -> None:
        """Adds a component: its states, and bytes for the choices that it may have."""
        for state in states:
            self.of[state] = self.count
            self.states.append(state)
            for choice in self.graph.process.choices_of(state):
                self.choices[choice] = choices[choice]
        self.count += 1

    def component(self, state: int) -> EndComponent:
        """Returns the component of one of its states."""
        inside = (s for s in self.states if self.of[s] == self.of[state])
        return end_component(self.graph.process, inside, self.choices)


def fair_components(
    graph: ProcessGraph, part: Part, visiting: AbstractSet[int] | None = None, fair: bool = True
) -> FairComponents:
    """Returns the maximal fair end components of a part, and its ends.

    ``visiting``: only those with one of these states (such a component also visits the others);
    ``fair``: false where constraints are not asked for.
    """
    process = graph.process
    found = FairComponents(graph, numbers(process.states, NONE), octets(process.choices))
    for state in _ends(graph, part):
        if visiting is None or state in visiting:
            found.add((state,), part.choices)
    pending = part
    while True:
        inner, components = graph.end_components(pending)
        starved: list[int] = []
        pending = Part(octets(process.states), inner.choices)
        for states in _groups(graph, inner, components.of):
            if visiting is not None and visiting.isdisjoint(states):
                continue
            left = _judged(graph, states, inner.choices) if fair else states
            if left is states:
                found.add(states, inner.choices)
            elif left:
                starved.extend(left)
        if not starved:
            return found
        for state in starved:
            pending.states[state] = INSIDE


def _ends(graph: ProcessGraph, part: Part) -> Iterator[int]:
    first = graph.process.first_choice
    return (s for s, kept in enumerate(part.states) if kept and first[s] == first[s + 1])


def _groups(graph: ProcessGraph, inner: Part, of: array[Any]) -> Iterable[list[int]]:
    """Returns the states of each component."""
    groups: dict[int, list[int]] = {}
    for state in graph.having(inner.states, INSIDE):
        groups.setdefault(of[state], []).append(state)
    return groups.values()


def _judged(graph: ProcessGraph, states: list[int], allowed: array[int]) -> Sequence[int]:
    """Returns ``states`` itself where the end component is fair; otherwise those among which a fair
    one may be."""
    process = graph.process
    indices = {process.enabled[state] for state in states}
    sets = [process.constraint_sets[index] for index in indices]
    enabled = frozenset[int]().union(*sets)
    if not enabled:
        return states
    taken = {
        process.constraint[choice]
        for state in states
        for choice in process.choices_of(state)
        if allowed[choice]
    }
    if frozenset.intersection(*sets) - process.strong - taken:
        return ()
    starving = (enabled & process.strong) - taken
    if not starving:
        return states
    return [s for s in states if not process.enabled_in(s) & starving]
