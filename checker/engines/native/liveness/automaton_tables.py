"""Automata as tables for native code: successors by letter, and accepting sets.

A letter is a number whose bit ``i`` says whether proposition ``i`` holds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checker.model.ir import Automaton

FEW = 64
"""Alphabets of at most so many letters are laid out whole, whichever letters occur."""

Edge = tuple[int, int, int, int]
"""Source, target, bits that have to be set, bits that must not be."""


@dataclass(frozen=True)
class Product:
    """The product of a graph with an automaton: one copy of the graph for each of some states.

    ``ways``, ``following``: see WAYS and NEXT in
    :mod:`checker.engines.native.codegen.graph_fields`; ``accepting``: for each copy the accepting
    sets that it is in, as bits; ``stays``: for each copy and letter, 1 where reading that letter
    forever is accepted.
    """

    copies: int
    alphabet: int
    ways: array[int]
    following: array[int]
    accepting: array[int]
    stays: bytes


TRIVIAL = Product(1, 1, array("I", [0, 1]), array("I", [0]), array("Q", [0]), b"\0")
"""The trivial automaton, for graphs whose letters are all 0."""


class AutomatonTable:
    """An automaton, ready for products with graphs whose states have certain letters."""

    def __init__(self, automaton: Automaton, propositions: int) -> None:
        self.automaton, self.alphabet = automaton, 1 << propositions
        self.edges: list[Edge] = [
            (e.source, e.target, _bits(e.yes), _bits(e.no)) for e in automaton.edges
        ]
        self.accepting = sorted(set().union(*self._accepting_components()))
        waits = any(e == (0, 0, 0, 0) for e in self.edges)
        self.waits = waits and 0 not in self.accepting
        self._known: Product | None = None

    def _accepting_components(self) -> list[set[int]]:
        graph = [(source, target) for source, target, _, _ in self.edges]
        return accepting_components(self.automaton, graph)

    def lasts(self, letter: int) -> bool:
        """Whether the automaton of a persistence property can stay accepting by reading this
        letter.
        """
        return any(e[:2] == (1, 1) and _reads(e, letter) for e in self.edges)

    def cycles(self, letters: Iterable[int], shift: int) -> Product:
        """The copies for states on accepting cycles alone; accepting sets from bit ``shift`` on."""
        return self._lay_out(self.accepting, letters, shift)

    def whole(self, letters: Sequence[int]) -> Product:
        """The copies for all states.

        Where the automaton waits, no edge leads to the waiting state: the automaton may have waited
        until any reachable state.
        """
        if self.alphabet > FEW:
            return self._lay_out(range(self.automaton.states), letters, 0)
        if self._known is None:
            all_letters = range(self.alphabet)
            self._known = self._lay_out(range(self.automaton.states), all_letters, 0)
        return self._known

    def _lay_out(self, states: Sequence[int], letters: Iterable[int], shift: int) -> Product:
        local = {state: i for i, state in enumerate(states)}
        known = sorted(set(letters))
        ways, following = array("I", [0]), array("I")
        stays = bytearray(len(states) * self.alphabet)
        for state in states:
            mine = [e for e in self.edges if e[0] == state and e[1] in local]
            if self.waits:
                mine = [e for e in mine if e[1] != 0]
            at = 0
            for letter in known:
                ways.extend([len(following)] * (letter - at))
                targets = sorted({local[e[1]] for e in mine if _reads(e, letter)})
                following.extend(targets)
                ways.append(len(following))
                at = letter + 1
            ways.extend([len(following)] * (self.alphabet - at))
        for letter in known:
            for state in self._staying(letter):
                if state in local:
                    stays[local[state] * self.alphabet + letter] = 1
        accepting = array("Q", [self._unmet_sets(state) << shift for state in states])
        return Product(len(states), self.alphabet, ways, following, accepting, bytes(stays))

    def _unmet_sets(self, state: int) -> int:
        sets = self.automaton.accepting
        return sum(1 << i for i, states in enumerate(sets) if state in states)

    def _staying(self, letter: int) -> set[int]:
        """The automaton states from which reading ``letter`` forever is accepted."""
        graph = [(e[0], e[1]) for e in self.edges if _reads(e, letter)]
        found = set().union(*accepting_components(self.automaton, graph))
        while True:
            more = {source for source, target in graph if target in found} | found
            if more == found:
                return found
            found = more


def _bits(propositions: Iterable[int]) -> int:
    return sum(1 << i for i in propositions)


def _reads(edge: Edge, letter: int) -> bool:
    return letter & edge[2] == edge[2] and not letter & edge[3]


def accepting_components(automaton: Automaton, graph: list[tuple[int, int]]) -> list[set[int]]:
    """The strongly connected sets of states, with edges inside, that meet every accepting set."""
    after: dict[int, set[int]] = {}
    for source, target in graph:
        after.setdefault(source, set()).add(target)
    reach = {state: _reachable_from(after, state) for state in after}
    found: list[set[int]] = []
    for state, beyond in reach.items():
        component = {other for other in beyond if state in reach.get(other, ())}
        if component and component not in found:
            found.append(component)
    return [c for c in found if all(c & states for states in automaton.accepting)]


def _reachable_from(after: dict[int, set[int]], state: int) -> set[int]:
    found: set[int] = set()
    todo = list(after.get(state, ()))
    while todo:
        here = todo.pop()
        if here not in found:
            found.add(here)
            todo.extend(after.get(here, ()))
    return found
