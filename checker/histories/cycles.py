"""Finds cycles of dependencies between transactions, and says which anomaly each one is.

A. Adya: Weak Consistency, MIT 1999.  That snapshot isolation allows only cycles with two adjacent
anti-dependencies: A. Fekete et al.: Making Snapshot Isolation Serializable, TODS 30(2), 2005; and
A. Cerone, A. Gotsman: Analysing Snapshot Isolation, JACM 65(2), 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from checker.graphs import cycles, route
from checker.histories.dependencies import REALTIME, RW, WR, WW, Graph
from checker.polling import poll

G0, G1C, SINGLE, NONADJACENT, ITEM = "G0", "G1c", "G-single", "G-nonadjacent", "G2-item"
SEVERITY = (G0, G1C, SINGLE, NONADJACENT, ITEM)
"""The anomalies that are cycles, the most severe first."""

TRIES = 1_000
"""The largest number of edges with which a cycle may begin that are tried for a shorter one."""

Edge = tuple[int, int, int]
"""A dependency: the transaction before, the one after, and the kind."""
Part = dict[int, dict[int, int]]
"""A part of the graph of dependencies."""


def anomalous_cycles(graph: Graph, kinds: int) -> Iterator[tuple[str, list[Edge]]]:
    """Yields for each strongly connected component of the dependencies of ``kinds`` its most severe
    anomaly, with a cycle that shows it, as short as was found."""
    core = _core(graph, kinds)
    for component in cycles(core, lambda node: _after(graph[node], kinds)):
        cycle = _collapsed(_worst(graph, component, kinds))
        yield name_of_cycle(cycle), cycle


def name_of_cycle(cycle: list[Edge]) -> str:
    """Returns which anomaly a cycle is."""
    kinds = [kind for _, _, kind in cycle]
    anti = kinds.count(RW)
    if anti == 0:
        name = G1C if WR in kinds else G0
    elif anti == 1:
        name = SINGLE
    else:
        adjacent = any(a == b == RW for a, b in zip(kinds, [*kinds[1:], kinds[0]], strict=True))
        name = ITEM if adjacent else NONADJACENT
    return f"{name}-realtime" if REALTIME in kinds else name


def _after(edges: dict[int, int], kinds: int) -> list[int]:
    return [after for after, of in edges.items() if of & kinds]


def _core(graph: Graph, kinds: int) -> list[int]:
    """Returns the nodes that remain when those without a predecessor are removed again and again:
    all that are on cycles, and those after them."""
    degree = [0] * len(graph)
    for edges in graph:
        for after, of in edges.items():
            if of & kinds:
                degree[after] += 1
    todo = [node for node, number in enumerate(degree) if not number]
    for node in todo:  # the list grows while it is read
        poll()
        for after, of in graph[node].items():
            if of & kinds:
                degree[after] -= 1
                if not degree[after]:
                    todo.append(after)
    return [node for node, number in enumerate(degree) if number]


def _worst(graph: Graph, component: set[int], kinds: int) -> list[Edge]:
    """Returns a cycle of the most severe anomaly in a component."""
    order = kinds & REALTIME
    inside = {
        node: {b: of & kinds for b, of in graph[node].items() if b in component and of & kinds}
        for node in component
    }
    for through, along in ((WW, WW | order), (WR, WW | WR | order)):
        found = _cycle_through(inside, component, through, along)
        if found is not None:
            return found
    along = WW | WR | order
    doubled = cycles(
        (2 * node + last for node in component for last in (0, 1)),
        lambda place: _doubled_after(inside, place, along),
    )
    places = set().union(*doubled)
    candidates = [
        (node, after)
        for node in component
        for after, of in inside[node].items()
        if of & RW and 2 * node in places and 2 * after + 1 in places
    ]
    if candidates:
        single = _shortest(inside, candidates, RW, along)
        return single if single is not None else _nonadjacent(inside, candidates, along)
    found = _shortest(inside, _edges(inside, component, RW), RW, kinds)
    assert found is not None
    return found


def _edges(graph: Part, nodes: Iterable[int], kind: int) -> list[tuple[int, int]]:
    return [(n, after) for n in nodes for after, of in graph[n].items() if of & kind]


def _cycle_through(graph: Part, component: set[int], through: int, along: int) -> list[Edge] | None:
    """Returns a short cycle ``along`` edges of these kinds ``through`` one of that kind."""
    for one in cycles(component, lambda node: _after(graph[node], along)):
        edges = [(a, b) for a, b in _edges(graph, one, through) if b in one]
        found = _shortest(graph, edges, through, along)
        if found is not None:
            return found
    return None


def _shortest(
    graph: Part, edges: list[tuple[int, int]], through: int, along: int
) -> list[Edge] | None:
    """Returns the shortest cycle that begins with one of ``edges``, of which not all are tried, and
    goes on ``along`` edges of these kinds."""
    best: list[Edge] | None = None
    for number, (before, after) in enumerate(edges):
        poll()
        if number > TRIES or (best is not None and len(best) == 2):
            break
        way = route([after], lambda node: _after(graph[node], along), before.__eq__)
        if way is not None and (best is None or len(way) < len(best)):
            rest = pairwise(way)
            best = [
                (before, after, through),
                *((a, b, _kind(graph[a][b], along)) for a, b in rest),
            ]
    return best


def _kind(of: int, along: int) -> int:
    """Returns the kind of an edge that makes an anomaly most severe."""
    return next(kind for kind in (WW, WR, REALTIME, RW) if of & along & kind)


def _doubled_after(graph: Part, place: int, along: int) -> list[int]:
    """Returns the places after ``place``, ``2 * node``, or ``2 * node + 1`` where the last edge is
    an anti-dependency: then the next one is not."""
    node, last = divmod(place, 2)
    found = []
    for after, of in graph[node].items():
        if of & along:
            found.append(2 * after)
        if of & RW and not last:
            found.append(2 * after + 1)
    return found


def _nonadjacent(graph: Part, edges: list[tuple[int, int]], along: int) -> list[Edge]:
    """Returns a cycle without two adjacent anti-dependencies, which there is."""
    for before, after in edges:
        poll()
        goal: Callable[[int], bool] = (2 * before).__eq__
        way = route([2 * after + 1], lambda place: _doubled_after(graph, place, along), goal)
        if way is not None:
            rest = pairwise(way)
            return [
                (before, after, RW),
                *(
                    (a // 2, b // 2, RW if b % 2 else _kind(graph[a // 2][b // 2], along))
                    for a, b in rest
                ),
            ]
    raise AssertionError("a cycle that was seen is not there")


def _collapsed(cycle: list[Edge]) -> list[Edge]:
    """Returns the cycle with one realtime edge in place of several in a row: precedence in time is
    transitive."""
    at = next((n for n, (_, _, kind) in enumerate(cycle) if kind != REALTIME), 0)
    found: list[Edge] = []
    for before, after, kind in cycle[at:] + cycle[:at]:
        if found and kind == REALTIME == found[-1][2]:
            found[-1] = (found[-1][0], after, REALTIME)
        else:
            found.append((before, after, kind))
    return found
