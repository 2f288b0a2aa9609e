"""What the bound rests on: residuals are rounded outward, and a saturated value is no solution."""

from __future__ import annotations

from array import array
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.chance.decision_process import DecisionProcess
from checker.chance.exact import exact_expectation
from checker.chance.expectation import Infinite, expectation, ranked_bounds
from checker.chance.graph import ProcessGraph
from checker.chance.intervals import RANK_SCALE, SCALE, Approximation, Sweeps, find_rank
from checker.chance.kernels import words
from checker.chance.native_sweeps import MOST
from checker.chance.policies import ExactQuotient, iterate_policies
from checker.chance.quotient import Quotient, for_reaching
from tests.chance import brute, models


def _quotient(process: DecisionProcess, goal: set[int]) -> Quotient:
    graph = ProcessGraph(process)
    return for_reaching(graph, graph.whole(), goal)


@settings(deadline=None, max_examples=60)
@given(brute.processes(states=7), st.data())
def test_residuals_and_ranks_hold_in_rationals(
    process: DecisionProcess, data: st.DataObject
) -> None:
    quotient = _quotient(process, data.draw(st.sets(st.integers(0, process.states - 1))))
    if not quotient.numbered:
        return
    exact, rank = ExactQuotient(process, quotient), find_rank(quotient)
    heights = [rank.of(k) for k in range(quotient.numbered + 2)]
    sweeps = Sweeps(quotient, array("Q", [0]) * (quotient.numbered + 2))
    for k in range(quotient.numbered):
        sweeps.values[k] = data.draw(st.integers(0, 1 << SCALE))
    sweeps.values[quotient.numbered] = 1 << SCALE
    above, below = sweeps.residual("max")
    values = [Fraction(value) for value in sweeps.values]
    for k in range(quotient.numbered):
        worth = [_worth(exact, k, choice, values) for choice in quotient.choices_of(k)]
        assert values[k] - below <= max(worth) <= values[k] + above
        ahead = [_worth(exact, k, choice, heights) for choice in quotient.choices_of(k)]
        assert 1 + max(ahead) <= heights[k]


def _worth(exact: ExactQuotient, k: int, choice: int, values: list[Fraction]) -> Fraction:
    """What a choice is worth where it leaves its state."""
    branches = {there: w for there, w in exact.branches(choice).items() if there != k}
    gained = sum((w * values[there] for there, w in branches.items()), Fraction(0))
    return gained / sum(branches.values())


def test_a_saturated_value_is_no_solution() -> None:
    """Two states that hand on to each other, nearly always: no rank has room for their steps."""
    model = models.explore([0], lambda s: [{1 - s: (1 << 50) - 1, 2: 1}] if s < 2 else [])
    quotient = _quotient(model.process, {2})
    assert quotient.numbered == 0, "the end is reached almost surely"
    model = models.explore([0], lambda s: [{1 - s: (1 << 50) - 2, 2: 1, 3: 1}] if s < 2 else [])
    quotient = _quotient(model.process, {2})
    unit = 1 << RANK_SCALE
    sweeps = Sweeps(quotient, array("Q", [MOST, MOST, 0, 0]), constant=unit)
    above, _ = sweeps.residual("max")
    assert above > unit >> 1


def test_weights_without_room_are_refused() -> None:
    model = models.explore([0], lambda s: [{0: 1 << 61, 1: 1 << 61}] if s == 0 else [])
    with pytest.raises(ValueError, match="choice 0"):
        ProcessGraph(model.process)
    model = models.explore([0], lambda s: [{0: 1 << 61, 1: 1 << 60}] if s == 0 else [])
    assert ProcessGraph(model.process).process.states == 2


def test_a_probability_that_is_rounded_down_does_not_lower_a_bound() -> None:
    """Two thirds of a large value: a third of a unit more than a whole number of them, which two
    thirds rounded down don't reach."""
    choices = {0: {1: 2, 3: 1}, 1: {0: 1, 2: 1, 3: 1}, 2: {2: 1}, 3: {3: 1}}
    model = models.explore([0], lambda s: [choices[s]])
    goal = model.states.index(2)
    quotient = _quotient(model.process, {goal})
    first, second = (quotient.classes[model.states.index(s)] for s in (0, 1))
    large = MOST - (MOST - 2) % 3
    sweeps = Sweeps(quotient, array("Q", [0, 0, 0, 0]))
    sweeps.values[first], sweeps.values[second] = 2 * large // 3, large
    assert Fraction(2 * large, 3) == 2 * large // 3 + Fraction(1, 3)
    assert sweeps.residual("max")[0] == 1


@settings(deadline=None, max_examples=80)
@given(brute.processes(states=7), st.booleans(), st.data())
def test_any_values_that_are_a_rank_bound_what_is_sought(
    process: DecisionProcess, largest: bool, data: st.DataObject
) -> None:
    """However far from the solution they are: the residuals say how far."""
    goal = data.draw(st.sets(st.integers(0, process.states - 1), min_size=1))
    reward = array("q", (data.draw(st.sampled_from([1, 1, 2, 5])) for _ in range(process.choices)))
    found = expectation(ProcessGraph(process), goal, reward, largest=largest)
    if isinstance(found, Infinite):
        return
    quotient, approximation = found.problem.quotient, found.approximation
    exact = ExactQuotient(process, quotient, reward)
    final = Fraction(0), Fraction(0)
    values, _ = iterate_policies(exact, approximation.chosen, final, largest)
    sense, shift = "max" if largest else "min", 20
    sweeps = Sweeps(quotient, words(quotient.numbered + 2), found.problem.rewards(), shift=shift)
    for k in range(quotient.numbered):
        factor = Fraction(data.draw(st.integers(80, 120)), 100)
        sweeps.values[k] = int(values[k] * factor * (1 << shift))
    above, below = sweeps.residual(sense)
    best = max if largest else min
    for k in range(quotient.numbered):
        now = [Fraction(int(value), 1 << shift) for value in sweeps.values]
        worth = best(exact.worth(choice, now) for choice in quotient.choices_of(k))
        assert -below <= (worth - now[k]) * (1 << shift) <= above
    bounds = ranked_bounds(sweeps, sense)
    if bounds is not None:
        unit = Fraction(1, 1 << shift)
        judged = Approximation(quotient, sweeps.values, bounds[0], unit, *bounds[1:], array("I"))
        for state, number in enumerate(quotient.classes):
            if number < quotient.numbered:
                interval = judged.interval(state)
                assert interval.lower <= values[number] <= interval.upper


@pytest.mark.parametrize("n", [3, 8, 12])
@pytest.mark.parametrize("largest", [True, False])
def test_steps_of_the_trap(n: int, largest: bool) -> None:
    """Some 2^n steps, most of them between states whose values hardly change from one sweep to the
    next; with and without the rationals that take over where that lasts."""
    model = models.trap(n)
    goal = {model.states.index(0), model.states.index(2 * n)}
    one = array("q", [1]) * model.process.choices
    found = expectation(ProcessGraph(model.process), goal, one, largest=largest)
    assert not isinstance(found, Infinite)
    value = exact_expectation(found).value
    assert value > 1 << (n - 2)
    assert found.interval.lower <= value <= found.interval.upper
    assert found.interval.width <= Fraction(1, 10**6)
