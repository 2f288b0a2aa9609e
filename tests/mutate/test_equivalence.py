"""Graphs are bisimilar if the largest bisimulation, by its definition, relates their first
states."""

from __future__ import annotations

import itertools
import random

import pytest

from checker.mutate.equivalence import Graph, same_behaviour

ACTIONS = (("a", "step"), ("b", "step"))


def drawn(draw: random.Random, states: int) -> Graph:
    moves = [
        frozenset(
            ((draw.choice((0, 1)), (), None), draw.randrange(states))
            for _ in range(draw.randrange(3))
        )
        for _ in range(states)
    ]
    observed = tuple(draw.choice((0, 0, 0, 1)) for _ in range(states))
    return Graph(observed, tuple(moves), frozenset({0}), ACTIONS)


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
    a = (0, (), None)
    first = frozenset({0})
    loop = Graph((0,), (frozenset({(a, 0)}),), first, ACTIONS)
    twice = Graph((0, 0), (frozenset({(a, 1)}), frozenset({(a, 0)})), first, ACTIONS)
    ends = Graph((0, 0), (frozenset({(a, 1)}), frozenset()), first, ACTIONS)
    assert same_behaviour(loop, twice)
    assert not same_behaviour(loop, ends)


def test_actions_are_told_apart_by_place_or_name() -> None:
    """A changed guard changes the name of an action; one that is gone changes the places."""

    def loop(number: int, *names: str, kind: str = "step") -> Graph:
        moves = frozenset({((number, (), None), 0)})
        return Graph((0,), (moves,), frozenset({0}), tuple((name, kind) for name in names))

    assert same_behaviour(loop(0, "x > 0", "b"), loop(0, "x >= 0", "b"))
    assert not same_behaviour(loop(0, "a", "b"), loop(1, "a", "b"))
    assert same_behaviour(loop(1, "a", "b"), loop(0, "b"))
    assert not same_behaviour(loop(0, "a", "b"), loop(0, "b"))
    assert not same_behaviour(loop(0, "a"), loop(0, "b", kind="receive"))


def test_a_step_that_is_promised_is_another_one() -> None:
    may, must = (
        Graph((0,), (frozenset({((0, (), key), 0)}),), frozenset({0}), ACTIONS)
        for key in (None, ())
    )
    assert not same_behaviour(may, must)
