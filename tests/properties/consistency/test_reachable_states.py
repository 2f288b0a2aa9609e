"""The states of a sequential object, found without going through all sets of operations."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from checker.graphs import reached
from checker.properties.consistency.monitors import reachable


class Drawn:
    """An object of a few states, whose operations lead to states that are drawn."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        states = range(draw.randrange(1, 25))
        self.calls = range(draw.randrange(7))
        self._after = {
            (at, operation): tuple(
                (draw.choice(states) if draw.random() < 0.7 else at, 0)
                for _ in range(draw.choice((0, 1, 1, 2)))
            )
            for at in states
            for operation in self.calls
        }

    def initial(self) -> int:
        return 0

    def outcomes(self, at: int, operation: int) -> tuple[tuple[int, int], ...]:
        return self._after[at, operation]


class Register(Drawn):
    """A register that many values are written to, and that is read as often."""

    def __init__(self, writes: int) -> None:
        self.calls = range(2 * writes)

    def outcomes(self, at: int, operation: int) -> tuple[tuple[int, int], ...]:
        return ((operation + 1 if operation < len(self.calls) // 2 else at, 0),)


def by_all_sets(of: Drawn) -> list[int]:
    """The definition: every set of operations, in every order."""

    def after(place: tuple[int, frozenset[int]]) -> Iterator[tuple[int, frozenset[int]]]:
        at, applied = place
        for operation in set(of.calls) - applied:
            for following, _ in of.outcomes(at, operation):
                yield following, applied | {operation}

    return list(dict.fromkeys(at for at, _ in reached([(of.initial(), frozenset())], after)))


@pytest.mark.parametrize("begin", range(0, 300, 100))
def test_the_states_and_their_order_are_those_of_the_definition(begin: int) -> None:
    for seed in range(begin, begin + 100):
        of = Drawn(seed)
        assert reachable(of) == by_all_sets(of), f"seed {seed}"


def test_a_register_of_many_operations() -> None:
    """With 2 ** 60 sets of operations."""
    assert reachable(Register(30)) == list(range(31))
    assert reachable(Register(4)) == by_all_sets(Register(4))
