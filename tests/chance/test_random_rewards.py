"""Expected values of random processes: what going through all schedulers says."""

from __future__ import annotations

from array import array
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from checker.chance.decision_process import DecisionProcess
from checker.chance.exact import exact_expectation
from checker.chance.expectation import Infinite, expectation
from checker.chance.graph import ProcessGraph
from checker.records import replace
from tests.chance import brute, models

Question = tuple[DecisionProcess, set[int], list[int]]


@st.composite
def questions(draw: st.DrawFn, constraints: int = 0) -> Question:
    process = draw(brute.processes(constraints=constraints))
    reward = [draw(st.sampled_from([0, 0, 1, 2, 5])) for _ in range(process.choices)]
    return process, draw(st.sets(st.integers(0, process.states - 1), min_size=1)), reward


def accumulated(
    p: DecisionProcess, chosen: list[int], goal: set[int], reward: list[int]
) -> Fraction:
    """The expected sum until the goal, or forever where nothing is counted forever."""
    stopped = [-1 if s in goal else choice for s, choice in enumerate(chosen)]
    after = [brute.steps(p, stopped, s) for s in range(p.states)]
    found = {0}
    while new := {t for s in found for t in after[s]} - found:
        found |= new
    counting = {s for s in found if stopped[s] >= 0 and reward[stopped[s]]}
    while more := {s for s in found if after[s].keys() & counting} - counting:
        counting |= more
    asked = sorted(counting)
    if 0 not in counting:
        return Fraction(0)
    rows = []
    for s in asked:
        row = [Fraction(int(s == t)) - after[s].get(t, Fraction(0)) for t in asked]
        rows.append([*row, Fraction(reward[stopped[s]])])
    return brute.gauss(rows)[asked.index(0)]


@settings(deadline=None, max_examples=100)
@given(questions())
def test_expected_values_of_all_schedulers(question: Question) -> None:
    process, goal, reward = question
    values = []
    for chosen in brute.schedulers(process):
        surely = brute.reached(process, chosen, goal)[0] == 1
        values.append(accumulated(process, list(chosen), goal, reward) if surely else None)
    finite = [value for value in values if value is not None]
    _compare(question, False, min(finite, default=None))
    _compare(question, True, max(finite) if len(finite) == len(values) else None)


@settings(deadline=None, max_examples=100)
@given(questions(constraints=2))
def test_expected_values_of_fair_schedulers(question: Question) -> None:
    process, goal, reward = question
    ends = [one for one in brute.end_components(process) if not one[0] & goal]
    endless = {s for states, cs in ends if any(reward[c] for c in cs) for s in states}
    missed = {s for states, cs in ends if brute.is_fair(process, states, cs) for s in states}
    values, finite, bounded = [], [], True
    for chosen in brute.schedulers(process):
        stopped = [-1 if s in goal else choice for s, choice in enumerate(chosen)]
        if brute.reached(process, stopped, missed | endless)[0] > 0:
            bounded = False
        elif bounded:
            values.append(accumulated(process, list(chosen), goal, reward))
        if brute.reached(process, chosen, goal)[0] == 1:
            finite.append(accumulated(process, list(chosen), goal, reward))
    _compare(question, False, min(finite, default=None))
    _compare(question, True, max(values) if bounded else None)


def _compare(question: Question, largest: bool, value: Fraction | None) -> None:
    process, goal, reward = question
    graph = ProcessGraph(process)
    found = expectation(graph, goal, array("q", reward), largest=largest)
    if value is None:
        assert isinstance(found, Infinite)
        assert found.witness.component is not None
        assert not goal & set(found.witness.component.states)
        return
    assert not isinstance(found, Infinite)
    assert found.interval.lower <= value <= found.interval.upper
    assert found.interval.width <= Fraction(1, 10**6)
    assert exact_expectation(found).value == value


def waiting() -> DecisionProcess:
    """Wait, or go: whoever goes is fair (weak), and has 1 step from there."""
    model = models.explore([0], lambda s: [[{0: 1}, {1: 1}], [{2: 1}], []][s])
    return replace(
        model.process,
        constraint=array("q", [-1, 0, -1]),
        enabled=array("q", [1, 0, 0]),
        constraint_sets=(frozenset(), frozenset([0])),
    )


def test_waiting_is_fair_as_long_as_it_ends() -> None:
    graph = ProcessGraph(waiting())
    every = array("q", [1, 1, 1])
    found = expectation(graph, {2}, every, largest=True)
    assert isinstance(found, Infinite) and not found.forever
    assert found.witness.component is not None
    assert found.witness.component.states == (0,) and found.witness.component.choices == (0,)
    unfair = expectation(graph, {2}, every, largest=True, fair=False)
    assert isinstance(unfair, Infinite) and unfair.forever
    best = expectation(graph, {2}, every, largest=False)
    assert not isinstance(best, Infinite) and exact_expectation(best).value == 2


def test_waiting_that_counts_nothing_is_free() -> None:
    graph = ProcessGraph(waiting())
    found = expectation(graph, {2}, array("q", [0, 1, 1]), largest=True)
    assert not isinstance(found, Infinite)
    assert exact_expectation(found).value == 2
    assert list(found.scheduler()) == [1, 2, -1]
    unfair = expectation(graph, {2}, array("q", [0, 1, 1]), largest=True, fair=False)
    assert isinstance(unfair, Infinite) and unfair.forever
