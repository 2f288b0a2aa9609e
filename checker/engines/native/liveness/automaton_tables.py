"""Automata as tables for native code: successors by letter, and accepting sets.

A letter is a combination of propositions: bit ``i`` says whether proposition ``i`` holds.  Letters
have numbers: themselves where propositions are few, otherwise in the order in which they occur.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from msgspec import Struct

from checker.engines.native.search.memory import Buffer
from checker.graphs import cycles, reached
from checker.model.ir import Automaton

FEW = 64
"""Alphabets of at most so many letters are laid out whole, whichever letters occur."""

MOST_LETTERS = 1 << 16
"""The most letters that can be numbered."""

Edge = tuple[int, int, int, int]
"""Source, target, bits that have to be set, bits that must not be."""


class Letters(Struct, frozen=True):
    """The letters of ``count`` states: the number of each, 16 bits, in ``buffer``, and the letters
    themselves, by number, in ``known``.
    """

    buffer: Buffer
    count: int
    known: Sequence[int]

    def occurring(self) -> list[int]:
        """The numbers of the letters that occur, ascending."""
        if isinstance(self.known, range):
            return sorted(set(self.buffer.bytes().cast("H")[: self.count]))
        return list(range(len(self.known)))


class Product(Struct, frozen=True):
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

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.edges: list[Edge] = [
            (e.source, e.target, _bits(e.yes), _bits(e.no)) for e in automaton.edges
        ]
        self.accepting = sorted(set().union(*self._accepting_components()))
        waits = any(e == (0, 0, 0, 0) for e in self.edges)
        self.waits = waits and 0 not in self.accepting
        self._known: Product | None = None
        self._lasting: dict[Sequence[int], bytes] = {}

    def _accepting_components(self) -> list[set[int]]:
        graph = [(source, target) for source, target, _, _ in self.edges]
        return accepting_components(self.automaton, graph)

    def lasting(self, letters: Letters) -> bytes:
        """For each number of a letter, 1 where the automaton of a persistence property can stay
        accepting by reading that letter.
        """
        known = letters.known if isinstance(letters.known, range) else tuple(letters.known)
        if known not in self._lasting:
            lasts = (any(e[:2] == (1, 1) and _reads(e, one) for e in self.edges) for one in known)
            self._lasting[known] = bytes(lasts)
        return self._lasting[known]

    def cycles(self, letters: Letters, shift: int) -> Product:
        """The copies for states on accepting cycles alone; accepting sets from bit ``shift`` on."""
        return self._lay_out(self.accepting, letters.known, letters.occurring(), shift)

    def whole(self, letters: Letters) -> Product:
        """The copies for all states.

        Where the automaton waits, no edge leads to the waiting state: the automaton may have waited
        until any reachable state.
        """
        states, known = range(self.automaton.states), letters.known
        if not isinstance(known, range) or len(known) > FEW:
            return self._lay_out(states, known, letters.occurring(), 0)
        if self._known is None:
            self._known = self._lay_out(states, known, known, 0)
        return self._known

    def _lay_out(
        self, states: Sequence[int], known: Sequence[int], numbers: Sequence[int], shift: int
    ) -> Product:
        """The product with those of the ``known`` letters that have these ``numbers``."""
        local, alphabet = {state: i for i, state in enumerate(states)}, len(known)
        ways, following = array("I", [0]), array("I")
        stays = bytearray(len(states) * alphabet)
        for state in states:
            mine = [e for e in self.edges if e[0] == state and e[1] in local]
            if self.waits:
                mine = [e for e in mine if e[1] != 0]
            at = 0
            for number in numbers:
                ways.extend([len(following)] * (number - at))
                targets = sorted({local[e[1]] for e in mine if _reads(e, known[number])})
                following.extend(targets)
                ways.append(len(following))
                at = number + 1
            ways.extend([len(following)] * (alphabet - at))
        for number in numbers:
            for state in self._staying(known[number]):
                if state in local:
                    stays[local[state] * alphabet + number] = 1
        accepting = array("Q", [self._unmet_sets(state) << shift for state in states])
        return Product(len(states), alphabet, ways, following, accepting, bytes(stays))

    def _unmet_sets(self, state: int) -> int:
        sets = self.automaton.accepting
        return sum(1 << i for i, states in enumerate(sets) if state in states)

    def _staying(self, letter: int) -> set[int]:
        """The automaton states from which reading ``letter`` forever is accepted."""
        graph = [(e[0], e[1]) for e in self.edges if _reads(e, letter)]
        found = set().union(*accepting_components(self.automaton, graph))
        return set(reached(found, lambda to: (source for source, target in graph if target == to)))


def _bits(propositions: Iterable[int]) -> int:
    return sum(1 << i for i in propositions)


def _reads(edge: Edge, letter: int) -> bool:
    return letter & edge[2] == edge[2] and not letter & edge[3]


def accepting_components(automaton: Automaton, graph: list[tuple[int, int]]) -> list[set[int]]:
    """The strongly connected sets of states, with edges inside, that meet every accepting set."""
    after: dict[int, set[int]] = {}
    for source, target in graph:
        after.setdefault(source, set()).add(target)
    found = cycles(after, after.__getitem__)
    return [one for one in found if all(one & states for states in automaton.accepting)]
