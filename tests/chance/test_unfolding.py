"""Reaching within a bound: backward induction over all choices says the same."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from checker.chance.decision_process import DecisionProcess
from checker.chance.exact import exact_probability
from checker.chance.graph import ProcessGraph
from checker.chance.probability import probability
from checker.chance.unfolding import OVER, within
from tests.chance import brute, models
from tests.chance.models import FLIP


def induction(p: DecisionProcess, goal: set[int], bound: int, largest: bool) -> Fraction:
    """The probability within ``bound`` steps, by backward induction (Puterman 1994, 4.5)."""
    values = [Fraction(int(s in goal)) for s in range(p.states)]
    for _ in range(bound):
        after = []
        for s in range(p.states):
            worth = []
            for c in p.choices_of(s):
                total = sum(p.weight[b] for b in p.branches_of(c))
                gained = sum(p.weight[b] * values[p.target[b]] for b in p.branches_of(c))
                worth.append(Fraction(gained) / total)
            best = (max if largest else min)(worth, default=values[s])
            after.append(values[s] if s in goal else best)
        values = after
    return values[0]


@settings(deadline=None, max_examples=60)
@given(brute.processes(), st.data(), st.integers(0, 5), st.booleans())
def test_within_steps(
    process: DecisionProcess, data: st.DataObject, bound: int, best: bool
) -> None:
    goal = data.draw(st.sets(st.integers(0, process.states - 1)))
    unfolding = within(process, goal, bound)
    found = probability(ProcessGraph(unfolding.process), unfolding.objective, largest=best)
    value = induction(process, goal, bound, best)
    assert found.interval.lower <= value <= found.interval.upper
    assert exact_probability(found, unfolding.objective).value == value


def test_heads_within_so_many_tosses() -> None:
    """Toss until heads, with steps between that are not counted: 1 - 2^-k."""

    def choices(state: str) -> list[models.Choice]:
        return {"ready": [{"toss": 1}], "toss": [{"heads": 1, "ready": 1}], "heads": []}[state]

    model = models.explore(["ready"], choices)
    heads = model.where(lambda s: s == "heads")
    (toss,) = model.where(lambda s: s == "toss")
    for k in range(6):
        unfolding = within(model.process, heads, k, model.process.choices_of(toss))
        found = probability(ProcessGraph(unfolding.process), unfolding.objective, largest=False)
        exact = exact_probability(found, unfolding.objective)
        assert exact.value == 1 - Fraction(1, 2**k)


def test_tosses_of_the_shared_coin_are_counted() -> None:
    """The counter has to move by k n: never within fewer tosses, and more surely within more."""
    model, n, k = models.shared_coin(2, 2), 2, 2
    finished = model.where(lambda s: all(does // 2 == models.FINISHED for does in s[1:]))
    tosses = [
        choice
        for state, key in enumerate(model.states)
        for choice in model.process.choices_of(state)
        if model.process.first_branch[choice + 1] - model.process.first_branch[choice] == 2
        and any(does // 2 == FLIP for does in key[1:])
    ]
    values = []
    for bound in (n * k - 1, n * k, n * k + 2, n * k + 4):
        unfolding = within(model.process, finished, bound, tosses)
        assert OVER in unfolding.states
        found = probability(ProcessGraph(unfolding.process), unfolding.objective, largest=True)
        values.append(exact_probability(found, unfolding.objective).value)
    assert values[0] == 0 and values[1] == Fraction(2, 2 ** (n * k))
    assert values[1] < values[2] < values[3] < 1
