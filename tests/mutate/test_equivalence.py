"""Graphs are bisimilar if the largest bisimulation, by its definition, relates their first
states."""

from __future__ import annotations

import itertools
import random

import pytest

from checker.mutate.equivalence import Graph, same_behaviour


def drawn(draw: random.Random, states: int) -> Graph:
    moves = [
        frozenset(
            ((draw.choice("ab"), ()), draw.randrange(states)) for _ in range(draw.randrange(3))
        )
        for _ in range(states)
    ]
    observed = tuple(draw.choice((0, 0, 0, 1)) for _ in range(states))
    return Graph(observed, tuple(moves), frozenset({0}))


def by_definition(one: Graph, other: Graph) -> bool:
    """Pairs are removed in which one can do what the other can't, until none is left to remove."""
    pairs = {
        (s, t)
        for s, t in itertools.product(range(len(one.observed)), range(len(other.observed)))
        if one.observed[s] == other.observed[t]
    }

    def answered(s: int, t: int) -> bool:
        forth = all(
            any(a == b and (x, y) in pairs for b, y in other.transitions[t])
            for a, x in one.transitions[s]
        )
        back = all(
            any(a == b and (x, y) in pairs for a, x in one.transitions[s])
            for b, y in other.transitions[t]
        )
        return forth and back

    while wrong := {(s, t) for s, t in pairs if not answered(s, t)}:
        pairs -= wrong
    return all(any((s, t) in pairs for t in other.initial) for s in one.initial) and all(
        any((s, t) in pairs for s in one.initial) for t in other.initial
    )


@pytest.mark.every
@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed: int) -> None:
    draw, found = random.Random(seed), set[bool]()
    for _ in range(400):
        one, other = drawn(draw, draw.randrange(1, 4)), drawn(draw, draw.randrange(1, 5))
        expected = by_definition(one, other)
        assert same_behaviour(one, other) is expected
        found.add(expected)
    assert found == {True, False}


def test_an_unrolled_loop_is_the_same() -> None:
    loop = Graph((0,), (frozenset({(("a", ()), 0)}),), frozenset({0}))
    a = ("a", ())
    twice = Graph((0, 0), (frozenset({(a, 1)}), frozenset({(a, 0)})), frozenset({0}))
    ends = Graph((0, 0), (frozenset({(a, 1)}), frozenset()), frozenset({0}))
    assert same_behaviour(loop, twice)
    assert not same_behaviour(loop, ends)
