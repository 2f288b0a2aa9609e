"""Systems of equations of Markov chains: what plain elimination in fractions says."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.chance import linear
from checker.chance.linear import Equation, solve
from tests.chance import brute

System = dict[str, Equation[str]]


@st.composite
def systems(draw: st.DrawFn) -> System:
    """Chains that may leave their states, or not; some have no solution, others many."""
    names = [f"x{i}" for i in range(draw(st.integers(1, 7)))]
    fractions = st.fractions(-9, 9, max_denominator=60)
    found = {}
    for name in names:
        after = draw(st.sets(st.sampled_from(names)))
        weights = {other: draw(st.integers(1, 9)) for other in sorted(after)}
        total = sum(weights.values()) + draw(st.sampled_from((0, 0, 1, 5)))
        terms = {other: Fraction(weight, total) for other, weight in weights.items()}
        found[name] = Equation(draw(fractions), terms)
    return found


def by_hand(system: System) -> dict[str, Fraction] | None:
    """The solution; none where some states never leave."""
    names = list(system)
    leaving = {n for n in names if sum(system[n].terms.values()) < 1}
    while more := {n for n in names if system[n].terms.keys() & leaving} - leaving:
        leaving |= more
    if leaving != set(names):
        return None
    rows = [
        [*(int(n == o) - system[n].terms.get(o, Fraction(0)) for o in names), system[n].constant]
        for n in names
    ]
    return dict(zip(names, brute.gauss(rows), strict=True))


def solved(system: System) -> dict[str, Fraction] | None:
    try:
        return solve(system)
    except ZeroDivisionError:
        return None


@settings(deadline=None, max_examples=200)
@given(systems())
def test_the_solution_is_that_of_plain_elimination(system: System) -> None:
    assert solved(system) == by_hand(system)


@settings(deadline=None, max_examples=100)
@given(systems())
def test_neither_the_prime_nor_the_digits_matter(system: System) -> None:
    """With primes of a few units some system has no inverse, and wrong fractions are found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "PRIMES", (2, 3, 5, 7, 11, 13, *linear.PRIMES))
        assert solved(system) == by_hand(system)


def test_numbers_of_thousands_of_digits() -> None:
    """A walk that mostly goes back: the expected number of steps is 100 to the power of its
    length."""
    last = 60
    system = {
        i: Equation(Fraction(1), {max(i - 1, 0): Fraction(99, 100), i + 1: Fraction(1, 100)})
        for i in range(last)
    }
    system[last] = Equation(Fraction(0))
    found = solve(system)
    for i in range(last):
        after = (99 * found[max(i - 1, 0)] + found[i + 1]) / 100
        assert found[i] == 1 + after
    assert found[0] > 99**last


@pytest.mark.parametrize("wrong", [lambda x: x + 1, lambda x: -x, lambda x: x / 2])
def test_what_is_not_a_solution_is_not_returned(
    wrong: Callable[[Fraction], Fraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fractions that are found are substituted: wrong ones lead to more digits only."""
    right, asked = linear._fractions, list[int]()

    def wrong_at_first(residues: list[int], modulus: int) -> list[Fraction] | None:
        asked.append(modulus)
        found = right(residues, modulus)
        return found if found is None or len(asked) > 1 else [wrong(x) for x in found]

    monkeypatch.setattr(linear, "_fractions", wrong_at_first)
    system = {"x": Equation(Fraction(2, 3), {"x": Fraction(1, 2)})}
    assert solve(system) == {"x": Fraction(4, 3)} and len(asked) == 2
