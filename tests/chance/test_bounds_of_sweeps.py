"""What the bound rests on: residuals are rounded outward, and a saturated value is no solution."""

from __future__ import annotations

from array import array
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.chance.decision_process import DecisionProcess
from checker.chance.graph import ProcessGraph
from checker.chance.intervals import RANK_SCALE, SCALE, Sweeps, find_rank
from checker.chance.native_sweeps import MOST
from checker.chance.policies import ExactQuotient
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
    above, below = sweeps.residual()
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
    above, _ = sweeps.residual()
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
    assert sweeps.residual()[0] == 1
