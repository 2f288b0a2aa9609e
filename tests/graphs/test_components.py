"""Algorithms on graphs against their definitions, by Warshall's closure."""

from __future__ import annotations

import random
from itertools import pairwise, product

import pytest

from checker.graphs import components, cycles, predecessors, reached, route

Graph = dict[int, list[int]]


def drawn(seed: int) -> Graph:
    """A graph of up to nine nodes, some of them with an edge to themselves."""
    rng = random.Random(seed)
    nodes = range(rng.randint(1, 9))
    density = rng.choice([0.1, 0.2, 0.35])
    return {node: [t for t in nodes if rng.random() < density] for node in nodes}


def paths(graph: Graph) -> set[tuple[int, int]]:
    """The pairs of nodes with a path of one edge or more from the first to the second."""
    found = {(node, target) for node, targets in graph.items() for target in targets}
    for middle, one, other in product(graph, repeat=3):
        if (one, middle) in found and (middle, other) in found:
            found.add((one, other))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_components_are_the_classes_of_nodes_that_lead_to_one_another(seed: int) -> None:
    graph = drawn(seed)
    leads, after = paths(graph), graph.__getitem__
    found = components(graph, after)
    together = {(a, b) for one in found for a, b in product(one, repeat=2)}
    assert together == {
        (a, b) for a, b in product(graph, repeat=2) if a == b or {(a, b), (b, a)} <= leads
    }
    assert sum(map(len, found)) == len(graph)
    for number, one in enumerate(found):
        later = set[int]().union(*found[number + 1 :])
        assert not any((b, a) in leads for a in one for b in later), "in topological order"
    around = {node for one in cycles(graph, after) for node in one}
    assert around == {node for node in graph if (node, node) in leads}


@pytest.mark.parametrize("seed", range(60))
def test_closures_forwards_and_backwards(seed: int) -> None:
    graph = drawn(seed)
    leads, before = paths(graph), predecessors(graph)
    for node in graph:
        found = reached([node], graph.__getitem__)
        assert found[0] == node
        assert len(found) == len(set(found))
        assert set(found) == {node} | {b for a, b in leads if a == node}
        back = reached([node], before.__getitem__)
        assert set(back) == {node} | {a for a, b in leads if b == node}


@pytest.mark.parametrize("seed", range(30))
def test_nodes_are_in_the_order_of_their_distance_and_routes_are_shortest(seed: int) -> None:
    graph = drawn(seed)
    level, distance = {0}, {0: 0}
    for steps in range(1, len(graph)):
        level = {target for node in level for target in graph[node]} - distance.keys()
        distance |= dict.fromkeys(level, steps)
    lengths = [distance[node] for node in reached([0], graph.__getitem__)]
    assert lengths == sorted(distance.values())
    for goal in graph:
        way = route([0], graph.__getitem__, goal.__eq__)
        assert (way is None) == (goal not in distance)
        if way is not None:
            assert (way[0], way[-1], len(way)) == (0, goal, distance[goal] + 1)
            assert all(b in graph[a] for a, b in pairwise(way))


def test_components_of_a_part_have_no_other_nodes() -> None:
    graph = {0: [1], 1: [2], 2: [0]}
    assert components([0, 2], graph.__getitem__) == [{2}, {0}]
    assert cycles([0, 2], graph.__getitem__) == []


def test_a_long_path_needs_no_deep_recursion() -> None:
    length = 5000
    found = components(range(length), lambda node: [(node + 1) % length])
    assert [len(one) for one in found] == [length]
