"""Classes of states that are alike: one equation for each gives the values of all."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from hypothesis import given, settings
from hypothesis import strategies as st

from checker.chance.linear import Equation, solve
from checker.chance.lumping import Lumps

Chain = dict[int, dict[int, int]]


@st.composite
def chains(draw: st.DrawFn) -> tuple[Chain, dict[int, int], int]:
    """Rows of a few states with few different weights, so that many states are alike; the last two
    states have no row."""
    count = draw(st.integers(1, 9))
    targets = st.integers(0, count + 1)
    rows = {
        k: draw(st.dictionaries(targets, st.integers(1, 2), min_size=1, max_size=3))
        for k in range(count)
    }
    return rows, {k: draw(st.integers(0, 1)) for k in range(count)}, count


def coarsest(rows: Chain, counted: dict[int, int], count: int) -> list[int]:
    """The classes by plain rounds over all states."""
    of = [0] * count + [1, 2]
    while True:
        keys = [(counted[k], of[k], _shares(rows[k], of)) for k in range(count)]
        numbers = {key: 3 + i for i, key in enumerate(dict.fromkeys(keys))}
        found = [*(numbers[key] for key in keys), 1, 2]
        if len(set(found)) == len(set(of)):
            return found
        of = found


def _shares(row: dict[int, int], of: list[int]) -> frozenset[tuple[int, int]]:
    sums: dict[int, int] = {}
    for there, weight in row.items():
        sums[of[there]] = sums.get(of[there], 0) + weight
    common = gcd(*sums.values())
    return frozenset((name, weight // common) for name, weight in sums.items())


@settings(deadline=None, max_examples=300)
@given(chains())
def test_the_classes_are_the_coarsest(chain: tuple[Chain, dict[int, int], int]) -> None:
    rows, counted, count = chain
    lumps, expected = Lumps(count + 2), coarsest(*chain)
    lumps.join(rows, counted)
    for one in range(count + 2):
        for other in range(count + 2):
            assert (lumps.of[one] == lumps.of[other]) == (expected[one] == expected[other])


@settings(deadline=None, max_examples=200)
@given(chains())
def test_states_of_a_class_have_the_same_value(chain: tuple[Chain, dict[int, int], int]) -> None:
    rows, counted, count = chain
    equations = {k: Equation(Fraction(counted[k])) for k in range(count)}
    for k, row in rows.items():
        for there, weight in row.items():
            share = Fraction(weight, sum(row.values()) + 1)  # it ends at any time
            if there < count:
                equations[k].terms[there] = share
            else:
                equations[k].constant += share * (there - count)
    lumps, values = Lumps(count + 2), dict[int, Fraction]()
    # What ends is a state of its own, and so are the two that have no row.
    lumps.join(rows, {k: 100 * sum(rows[k].values()) + counted[k] for k in rows})
    for k, value in solve(equations).items():
        assert values.setdefault(lumps.of[k], value) == value


def test_rotations_of_a_ring_are_alike() -> None:
    """A token moves on or stays, on a ring without an end but for one state."""
    rows = {k: {(k + 1) % 5: 1, k: 1, 5: 1} for k in range(5)}
    lumps = Lumps(7)
    lumps.join(rows, dict.fromkeys(rows, 1))
    assert len(set(lumps.of[:5])) == 1
