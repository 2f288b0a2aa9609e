"""Lassos: a cycle through a fair component that satisfies its fairness constraints.

Each part leads to the nearest node that satisfies one more of them.  All choices depend on the
contents of states alone, so that the result is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checker.engines.native.codegen.graph_fields import STRONG, WEAK, QueryField
from checker.engines.native.liveness.graph_query import GraphQuery

Key = Callable[[int], tuple[tuple[int, ...], int]]
"""The key of a node, which does not depend on the numbers of states."""


STARTS, SMALL = 8, 1 << 14
"""In queries of at most so many nodes a cycle is begun at so many places, to find a short one."""


def shortest(question: GraphQuery, nodes: list[int], key: Key) -> list[int]:
    """The shortest cycle found from some of ``nodes``, of fair components."""
    tries = sorted(nodes, key=key)[: STARTS if question.size <= SMALL else 1]
    return min((Lasso(question, node, key).loop() for node in tries), key=len)


class Lasso:
    """A cycle from ``node`` through its fair component, under construction."""

    def __init__(self, question: GraphQuery, node: int, key: Key) -> None:
        self.question, self.home, self.key = question, node, key
        self.component = question.component(node)
        self.path = [node]
        self.taken: set[int] = set()
        self.lasting = self._enabled_labels(node, WEAK)
        self.strong = self._enabled_labels(node, STRONG)
        self.has = question.bits_at(node)

    def loop(self) -> list[int]:
        """The nodes of the cycle, the first one once."""
        while True:
            maybe = self.lasting - self.taken
            must = self.strong - self.taken
            missing = self.question.full & ~self.has
            here = self.path[-1]
            if maybe or must or missing:
                self._go(self._nearest(maybe, must, missing))
                left = (maybe & self.lasting) - self.taken, must - self.taken, missing & ~self.has
                if left == (maybe, must, missing):
                    self._take(maybe | must)
            elif here != self.home:
                self._go(self._route(self._at_home))
            elif len(self.path) == 1:
                self._move(min(self._inside(here), key=self.key))
            else:
                return self.path[:-1]

    def _enabled_labels(self, node: int, kind: int) -> set[int]:
        kinds = self.question.graph.kinds
        return {label for _, label in self.question.edges(node) if kinds[label] == kind}

    def _inside(self, node: int) -> list[int]:
        steps = {after for after, _ in self.question.steps(node)}
        return [n for n in steps if self.question.is_inside(n, self.component)]

    def _move(self, node: int) -> None:
        """Adds one step to ``node``."""
        question, here = self.question, self.path[-1]
        state = question.split(node)[1]
        self.taken |= {label for target, label in question.edges(here) if target == state}
        self.path.append(node)
        self.lasting &= self._enabled_labels(node, WEAK)
        self.strong |= self._enabled_labels(node, STRONG)
        self.has |= question.bits_at(node)

    def _go(self, route: Sequence[int]) -> None:
        for node in route:
            self._move(node)

    def _take(self, wanted: set[int]) -> None:
        """Adds a step that takes one of the constraints, which has to be possible here."""
        found = [
            node
            for node, label in self.question.steps(self.path[-1])
            if label in wanted and self.question.is_inside(node, self.component)
        ]
        self._move(min(found, key=self.key))

    def _nearest(self, maybe: set[int], must: set[int], missing: int) -> Sequence[int]:
        """Goes to the nearest node that satisfies something still wanted."""
        question, wanted = self.question, self.question.wanted.bytes()
        for label in maybe:
            wanted[label] = 2
        for label in must:
            wanted[label] = 1
        question.put(QueryField.WANTED_COUNT, len(maybe))
        question.put(QueryField.WANTED_BITS, missing)
        try:
            return self._route(self._wanted_nodes)
        finally:
            for label in maybe | must:
                wanted[label] = 0

    def _wanted_nodes(self, begin: int, end: int) -> list[int]:
        question = self.question
        return question.reported_nodes(question.code.find_wanted(question.task, begin, end))

    def _at_home(self, begin: int, end: int) -> list[int]:
        return [self.home] if self.question.is_reached(self.home) else []

    def _route(self, goals: Callable[[int, int], list[int]]) -> Sequence[int]:
        """A shortest path from the end of the cycle so far to a node that ``goals`` finds."""
        question = self.question
        question.begin_spreading(self.component)
        question.push(self.path[-1])
        levels = [0]
        while True:
            end = question.get(QueryField.QUEUED)
            assert end > levels[-1], "a fair component has all that it needs"
            found = goals(levels[-1], end)
            if found:
                return way_to(question, [*levels, end], min(found, key=self.key), self.key)
            levels.append(question.spread(levels[-1]))


def way_to(question: GraphQuery, levels: Sequence[int], node: int, key: Key) -> list[int]:
    """The nodes after the first level on a shortest path to ``node``, which is in the last one.

    ``levels``: where each level of the queue starts, and where the last one ends.
    """
    way = [node]
    for depth in reversed(range(len(levels) - 2)):
        begin, end = levels[depth : depth + 2]
        count = question.code.parents(question.task, begin, end, way[-1])
        way.append(min(question.reported_nodes(count), key=key))
    return way[-2::-1]
