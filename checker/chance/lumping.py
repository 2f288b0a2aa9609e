"""States of a Markov chain that surely have the same value.

Two states are alike if what is counted in them is the same, and so is the probability with which
they lead to each class of states that are alike (Larsen and Skou, Bisimulation through
probabilistic testing, 1991).  One equation is enough for each class.  Classes are split until that
is so, beginning with one; only states that lead to a class that was split are looked at again
(Valmari and Franceschinis, Simple O(m log n) time Markov chain lumping, 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd

from checker.polling import poll

Row = Mapping[int, int]
"""The states to which a state leads, with weights in proportion to the probabilities."""


class Lumps:
    """The class of each state, a number: each is alone until its group is joined."""

    def __init__(self, states: int) -> None:
        self.of = list(range(states))
        self._classes = states

    def merged(self, row: Row) -> dict[int, int]:
        """Returns the classes to which a row leads, with weights."""
        found: dict[int, int] = {}
        of = self.of
        for there, weight in row.items():
            name = of[there]
            found[name] = found.get(name, 0) + weight
        return found

    def join(self, rows: Mapping[int, Row], counted: Mapping[int, int]) -> None:
        """Puts the states of ``rows`` that are alike in the same class; ``counted``: what is
        counted in each.  The classes of other states stay as they are."""
        before: dict[int, list[int]] = {state: [] for state in rows}
        for state, row in rows.items():
            for there in row:
                if there in before:
                    before[there].append(state)
        sizes = {self._name(rows): len(rows)}
        todo: Iterable[int] = rows
        first = True
        while todo:
            moved = self._split({k: rows[k] for k in todo}, counted if first else {}, sizes)
            todo = dict.fromkeys(source for state in moved for source in before[state])
            first = False

    def _split(
        self, rows: Mapping[int, Row], counted: Mapping[int, int], sizes: dict[int, int]
    ) -> list[int]:
        """Splits the classes of these states by where they lead to; returns those whose class is
        another one now.

        The other states of a class lead where they led, to classes with the same numbers, and
        these do not: so they stay together.
        """
        parts: dict[tuple[object, ...], list[int]] = {}
        for state, row in rows.items():
            poll()
            ahead = self.merged(row)
            common = gcd(*ahead.values())
            share = frozenset((name, weight // common) for name, weight in ahead.items())
            key = self.of[state], counted.get(state, 0), share
            parts.setdefault(key, []).append(state)
        by_class: dict[int, list[list[int]]] = {}
        for part in parts.values():
            by_class.setdefault(self.of[part[0]], []).append(part)
        moved = list[int]()
        for name, found in by_class.items():
            if sum(map(len, found)) == sizes[name]:
                found.remove(max(found, key=len))
            for part in found:
                sizes[name] -= len(part)
                sizes[self._name(part)] = len(part)
                moved += part
        return moved

    def _name(self, states: Iterable[int]) -> int:
        """Puts states in a new class, and returns its number."""
        self._classes += 1
        for state in states:
            self.of[state] = self._classes
        return self._classes
