"""Finds the bad prefixes of a formula: the finite executions of which no continuation satisfies it.

A formula is the conjunction of a safety property, whose violations are the executions with a bad
prefix, and a liveness property, which has none (Alpern and Schneider 1987).  The automaton of the
formula without its accepting sets recognises the first (Kupferman and Vardi 2001): a prefix is bad
if the automaton has no path on it, as every state that is left has an accepting continuation.  Here
it is made deterministic and minimal.  Propositions count as independent of one another.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checker.graphs import cycles, reached
from checker.model.ir import Automaton, Connective, Formula, Holds, Modal
from checker.properties.buchi_automaton import (
    LARGEST,
    AutomatonTooLarge,
    accepting,
    always,
    both,
    inverse,
    normal,
)

MOST_SPLITS = 1 << 13
"""The largest number of tests of propositions, or of pairs of states of two automata."""

BAD = -1
"""The state after a bad prefix."""


class Split(Struct, frozen=True):
    """The next state is ``yes`` or ``no``, by the truth of a proposition."""

    proposition: int
    no: Tree
    yes: Tree


Tree = int | Split
"""The next state, by the propositions that hold now; they are tested in the order of their
numbers."""


class PrefixAutomaton(Struct, frozen=True):
    """A deterministic automaton of prefixes; ``moves``: of each state the next one.  State 0 is
    initial and has read nothing yet.  ``BAD`` is never left."""

    moves: tuple[Tree, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no prefix is bad."""
        return not any(BAD in leaves(tree) for tree in self.moves)

    @property
    def remembers(self) -> bool:
        """Whether it takes more than the last state to tell whether a prefix is bad."""
        return len(self.moves) > 1


def bad_prefixes(formula: Formula) -> PrefixAutomaton:
    """Returns the automaton of the bad prefixes of ``formula``; raises
    :class:`AutomatonTooLarge`."""
    automaton = accepting(formula)
    edges: list[list[_Edge]] = [[] for _ in range(automaton.states)]
    for edge in automaton.edges:
        edges[edge.source].append((edge.target, edge.yes, edge.no))
    return _minimal(_Subsets(edges).moves())


def is_safety(formula: Formula, prefixes: PrefixAutomaton) -> bool:
    """Tells whether each execution that violates ``formula`` has one of its bad ``prefixes``."""
    return not _accepts_some(accepting(inverse(formula)), prefixes)


def independent_parts(formula: Formula, known: frozenset[int]) -> list[Formula]:
    """Splits a conjunction into parts that have no propositions in common except ``known``, which
    are constant: a prefix is bad where it is bad for one of them."""
    groups: list[tuple[set[int], list[Formula]]] = []
    for part in _conjuncts(normal(formula)):
        names = set(propositions_of(part)) - known
        joined: list[Formula] = []
        apart = []
        for others, parts in groups:
            if others & names:
                names |= others
                joined += parts
            else:
                apart.append((others, parts))
        groups = [*apart, (names, [*joined, part])]
    return [both(parts) for _, parts in groups]


def _conjuncts(formula: Formula) -> list[Formula]:
    match formula:
        case Connective("and", parts) if parts:
            return [one for part in parts for one in _conjuncts(part)]
        case Modal("always", Connective("and", parts)) if parts:
            return [one for part in parts for one in _conjuncts(always(part))]
        case _:
            return [formula]


def propositions_of(formula: Formula) -> Iterator[int]:
    """Yields the propositions of ``formula``."""
    match formula:
        case Holds(index):
            yield index
        case Connective(_, parts):
            for part in parts:
                yield from propositions_of(part)
        case Modal(_, part):
            yield from propositions_of(part)


def leaves(tree: Tree) -> frozenset[int]:
    """Returns the states to which ``tree`` leads."""
    return leaves(tree.no) | leaves(tree.yes) if isinstance(tree, Split) else frozenset({tree})


# ---- determinisation ----------------------------------------------------------------------------

_Edge = tuple[int, frozenset[int], frozenset[int]]


class _Subsets:
    """The subset construction (Rabin and Scott 1959); a state that is simulated by another one of
    its subset is left out."""

    def __init__(self, edges: list[list[_Edge]]) -> None:
        self.edges = edges
        self.simulated = _simulation(edges)
        self.numbers: dict[frozenset[int], int] = {frozenset({0}): 0}
        self.splits = 0

    def moves(self) -> list[Tree]:
        """Returns of each subset the next one."""
        found: list[Tree] = []
        while len(found) < len(self.numbers):
            subset = list(self.numbers)[len(found)]
            found.append(self._tree([e for s in sorted(subset) for e in self.edges[s]]))
        return found

    def _tree(self, edges: list[_Edge]) -> Tree:
        edges = self._strongest(edges)
        tested = [i for _, yes, no in edges for i in yes | no]
        if not tested:
            subset = frozenset(target for target, _, _ in edges)
            if not subset:
                return BAD
            if len(self.numbers) >= LARGEST:
                raise AutomatonTooLarge
            return self.numbers.setdefault(subset, len(self.numbers))
        self.splits += 1
        if self.splits > MOST_SPLITS:
            raise AutomatonTooLarge
        first = min(tested)
        one = frozenset({first})
        no = self._tree([(t, yes, no - one) for t, yes, no in edges if first not in yes])
        yes = self._tree([(t, yes - one, no) for t, yes, no in edges if first not in no])
        return _split(first, no, yes)

    def _strongest(self, edges: list[_Edge]) -> list[_Edge]:
        """Leaves out each edge such that another one can be taken wherever it can, to a state that
        simulates its target."""
        kept: list[_Edge] = []
        for edge in dict.fromkeys(edges):
            if not any(self._covers(other, edge) for other in kept):
                kept = [other for other in kept if not self._covers(edge, other)]
                kept.append(edge)
        return kept

    def _covers(self, one: _Edge, other: _Edge) -> bool:
        return one[1] <= other[1] and one[2] <= other[2] and (other[0], one[0]) in self.simulated


def _simulation(edges: list[list[_Edge]]) -> set[tuple[int, int]]:
    """Returns the pairs of a state and one that simulates it (Milner 1971)."""
    states = range(len(edges))
    found = {(s, t) for s in states for t in states}
    while True:
        kept = {
            (s, t)
            for s, t in found
            if all(
                any(
                    yes <= edge[1] and no <= edge[2] and (edge[0], target) in found
                    for target, yes, no in edges[t]
                )
                for edge in edges[s]
            )
        }
        if kept == found:
            return found
        found = kept


def _split(proposition: int, no: Tree, yes: Tree) -> Tree:
    return no if no == yes else Split(proposition, no, yes)


# ---- minimisation -------------------------------------------------------------------------------


def _minimal(moves: list[Tree]) -> PrefixAutomaton:
    """Merges the states that no continuation tells apart (Moore 1956)."""
    block = [0] * len(moves)
    while True:
        shapes = [(block[s], _renamed(tree, block)) for s, tree in enumerate(moves)]
        order: dict[object, int] = {}
        for shape in shapes:
            order.setdefault(shape, len(order))
        refined = [order[shape] for shape in shapes]
        if len(order) == len(set(block)):
            break
        block = refined
    heads = {number: s for s, number in reversed(list(enumerate(block)))}
    return PrefixAutomaton(tuple(_renamed(moves[heads[n]], block) for n in range(len(heads))))


def _renamed(tree: Tree, block: list[int]) -> Tree:
    match tree:
        case Split(proposition, no, yes):
            return _split(proposition, _renamed(no, block), _renamed(yes, block))
        case _:
            return BAD if tree == BAD else block[tree]


# ---- comparison with the violations --------------------------------------------------------------


def _accepts_some(automaton: Automaton, prefixes: PrefixAutomaton) -> bool:
    """Tells whether ``automaton`` accepts some execution without a bad prefix."""
    edges: dict[int, list[_Edge]] = {}
    for edge in automaton.edges:
        edges.setdefault(edge.source, []).append((edge.target, edge.yes, edge.no))
    after: dict[tuple[int, int], set[tuple[int, int]]] = {}

    def follow(pair: tuple[int, int]) -> set[tuple[int, int]]:
        if len(after) > MOST_SPLITS:
            raise AutomatonTooLarge
        state, place = pair
        after[pair] = {
            (target, leaf)
            for target, yes, no in edges.get(state, ())
            for leaf in _reached(prefixes.moves[place], yes, no)
            if leaf != BAD
        }
        return after[pair]

    return any(
        all(any(state in one for state, _ in cycle) for one in automaton.accepting)
        for cycle in cycles(reached([(0, 0)], follow), after.__getitem__)
    )


def _reached(tree: Tree, yes: frozenset[int], no: frozenset[int]) -> frozenset[int]:
    """Returns the states to which ``tree`` leads where ``yes`` holds and nothing of ``no``."""
    if not isinstance(tree, Split):
        return frozenset({tree})
    found: frozenset[int] = frozenset()
    if tree.proposition not in yes:
        found |= _reached(tree.no, yes, no)
    if tree.proposition not in no:
        found |= _reached(tree.yes, yes, no)
    return found
