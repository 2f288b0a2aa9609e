"""Finds the smallest cycle in what several logs say of the order of entries."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any

from msgspec import Struct, field

from checker.graphs import cycles

Node = Hashable
TRIED = 2000
"""From how many nodes of cycles a shortest one is looked for."""


class OrderGraph(Struct):
    """Which entries come before which, and who says so.

    ``edges``: of each node those that come after it, each with a process that has both in this
    order.
    """

    edges: dict[Node, dict[Node, Any]] = field(default_factory=dict)

    def add(self, before: Node, after: Node, process: Any) -> None:
        """Adds that ``process`` has ``before`` before ``after``."""
        self.edges.setdefault(before, {}).setdefault(after, process)
        self.edges.setdefault(after, {})

    def smallest_cycle(self) -> list[tuple[Node, Node, Any]] | None:
        """Returns the edges of a shortest cycle, or ``None`` if the graph has no cycle."""
        left = set().union(*cycles(self.edges, self.edges.__getitem__))
        best: list[tuple[Node, Node, Any]] | None = None
        for start in list(left)[:TRIED]:
            found = self._shortest(start, left, len(best) if best else len(left) + 1)
            if found is not None and (best is None or len(found) < len(best)):
                best = found
            if best is not None and len(best) <= 2:
                break
        return best

    def _shortest(
        self, start: Node, inside: set[Node], less_than: int
    ) -> list[tuple[Node, Node, Any]] | None:
        """Returns the edges of a shortest cycle through ``start`` with fewer edges than a limit."""
        parent: dict[Node, Node] = {}
        depth = {start: 0}
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            if depth[node] + 1 >= less_than:
                return None
            for after in self.edges[node]:
                if after == start:
                    return self._path(start, node, parent)
                if after in inside and after not in depth:
                    depth[after], parent[after] = depth[node] + 1, node
                    waiting.append(after)
        return None

    def _path(
        self, start: Node, last: Node, parent: dict[Node, Node]
    ) -> list[tuple[Node, Node, Any]]:
        nodes = [last]
        while nodes[-1] != start:
            nodes.append(parent[nodes[-1]])
        nodes.reverse()
        pairs = zip(nodes, [*nodes[1:], start], strict=True)
        return [(one, other, self.edges[one][other]) for one, other in pairs]


def order_graph(rows: Iterable[dict[str, Any]], line: tuple[str, ...]) -> OrderGraph:
    """Returns the graph of ``rows``, in the order of ``line`` and ``pos``: deliveries of entries
    that the pivot of their run lacks (``lacks``), and of those just behind them.

    A node is an entry that the pivot lacks, or ``(pivot, rank)``: a place in the pivot's log, whose
    places are a chain.
    """
    graph = OrderGraph()
    ranks: dict[Any, set[int]] = {}
    at: tuple[Any, ...] | None = None
    before: Node | None = None
    for row in rows:
        here = tuple(row[name] for name in line)
        if here != at:
            at, before = here, None
        pivot, highest = row["pivot"], row["highest"]
        if row["lacks"]:
            node: Node = ("entry", row["entry"])
            if highest is not None:
                graph.add((pivot, highest), node, row["process"])
                ranks.setdefault(pivot, set()).add(highest)
        else:
            node = pivot, row["rank"]
            ranks.setdefault(pivot, set()).add(row["rank"])
        if before is not None:
            graph.add(before, node, row["process"])
        before = node if row["lacks"] else None
    for pivot, known in ranks.items():
        chain = sorted(known)
        for one, other in itertools.pairwise(chain):
            graph.add((pivot, one), (pivot, other), pivot)
    return graph
