"""Plain algorithms on directed graphs that are given by their successors: small graphs, and the
definitions by which native code is judged.

A graph is a function from a node to the nodes after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from checker.polling import poll

T = TypeVar("T", bound=Hashable)


def reached(starts: Iterable[T], after: Callable[[T], Iterable[T]]) -> list[T]:
    """Returns ``starts`` and all nodes that can be reached from them, breadth first, each once."""
    found = list(dict.fromkeys(starts))
    seen = set(found)
    for node in found:  # the list grows while it is read
        poll()
        for target in after(node):
            if target not in seen:
                seen.add(target)
                found.append(target)
    return found


def predecessors(graph: Mapping[T, Iterable[T]]) -> dict[T, list[T]]:
    """Returns the nodes before each node of ``graph``, once for each edge."""
    before: dict[T, list[T]] = {node: [] for node in graph}
    for node, targets in graph.items():
        for target in targets:
            before.setdefault(target, []).append(node)
    return before


def components(nodes: Iterable[T], after: Callable[[T], Iterable[T]]) -> list[set[T]]:
    """Returns the strongly connected components of the subgraph induced by ``nodes``, none of them
    before one that leads to it: by Kosaraju's two searches (Sharir, A strong-connectivity algorithm
    and its applications in data flow analysis, 1981)."""
    inside = dict.fromkeys(nodes)
    graph = {node: [target for target in after(node) if target in inside] for node in inside}
    before, placed, found = predecessors(graph), set[T](), list[set[T]]()
    for root in reversed(_finished(graph)):
        if root not in placed:
            one = reached([root], lambda node: (n for n in before[node] if n not in placed))
            placed.update(one)
            found.append(set(one))
    return found


def _finished(graph: Mapping[T, Iterable[T]]) -> list[T]:
    """Returns the nodes in the order in which a depth-first search leaves them."""
    finished, seen = list[T](), set[T]()
    for root in graph:
        stack = [] if root in seen else [(root, iter(graph[root]))]
        seen.add(root)
        while stack:
            poll()
            node, rest = stack[-1]
            for target in rest:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(graph[target])))
                    break
            else:
                finished.append(node)
                stack.pop()
    return finished


def cycles(nodes: Iterable[T], after: Callable[[T], Iterable[T]]) -> list[set[T]]:
    """Returns the components that have an edge: the largest sets of nodes in which a path can stay
    forever and visit all of them again and again."""
    found = components(nodes, after)
    return [one for one in found if len(one) > 1 or not one.isdisjoint(after(next(iter(one))))]


def route(
    starts: Iterable[T], after: Callable[[T], Iterable[T]], goal: Callable[[T], bool]
) -> list[T] | None:
    """Returns a shortest path from one of ``starts`` to a ``goal``, both ends included."""
    parent: dict[T, T | None] = dict.fromkeys(starts)
    queue = deque(parent)
    while queue:
        poll()
        node = queue.popleft()
        if goal(node):
            way = [node]
            while (before := parent[way[-1]]) is not None:
                way.append(before)
            return way[::-1]
        for target in after(node):
            if target not in parent:
                parent[target] = node
                queue.append(target)
    return None
