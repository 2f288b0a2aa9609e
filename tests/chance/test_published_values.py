"""Processes from publications: states, transitions, and exact values as they were published.

The shared coin: https://www.prismmodelchecker.org/casestudies/consensus_prism.php has the number of
states and transitions; the exact values are from the equations, by hand or by other checkers.
"""

from __future__ import annotations

from array import array
from fractions import Fraction

import pytest

from checker.chance.exact import exact_expectation, exact_probability
from checker.chance.expectation import Infinite, expectation
from checker.chance.graph import ProcessGraph
from checker.chance.objective import Kind, Objective
from checker.chance.probability import probability
from checker.chance.targets import almost_surely
from tests.chance import models
from tests.chance.models import CHECK, FINISHED, Model

COINS = {
    (2, 2): (272, 492, Fraction(49, 128), Fraction(13, 120)),
    (2, 4): (528, 972, Fraction(1793, 4096), Fraction(251, 4080)),
    (4, 2): (22_656, 75_232, Fraction(325, 1024), Fraction(170_112_531, 577_765_376)),
}


def _finished(state: tuple[int, ...]) -> bool:
    return all(does // 2 == FINISHED for does in state[1:])


def _sides(state: tuple[int, ...]) -> set[int]:
    return {does % 2 for does in state[1:]}


def _check(model: Model, objective: Objective, largest: bool, value: Fraction) -> None:
    found = probability(ProcessGraph(model.process), objective, largest=largest)
    assert found.interval.lower <= value <= found.interval.upper
    assert found.interval.width <= Fraction(1, 10**6)
    assert exact_probability(found, objective).value == value


@pytest.mark.parametrize("size", [(2, 2), (2, 4), pytest.param((4, 2), marks=pytest.mark.slow)])
def test_shared_coin(size: tuple[int, int]) -> None:
    states, transitions, all_heads, disagreement = COINS[size]
    model = models.shared_coin(*size)
    assert (model.process.states, model.process.branches) == (states, transitions)
    heads = model.where(lambda s: _finished(s) and _sides(s) == {1})
    apart = model.where(lambda s: _finished(s) and _sides(s) == {0, 1})
    _check(model, Objective(Kind.EVENTUALLY, heads), False, all_heads)
    _check(model, Objective(Kind.EVENTUALLY, apart), True, disagreement)


def test_shared_coin_is_finished_almost_surely() -> None:
    model = models.shared_coin(2, 2)
    graph = ProcessGraph(model.process)
    finished = Objective(Kind.EVENTUALLY, model.where(_finished))
    assert almost_surely(graph, finished) == (True, None)
    heads = Objective(Kind.EVENTUALLY, model.where(lambda s: _finished(s) and _sides(s) == {1}))
    surely, witness = almost_surely(graph, heads)
    assert not surely and witness is not None
    assert model.states[witness.state] not in {model.states[s] for s in heads.states}
    assert CHECK not in {does // 2 for does in model.states[witness.state][1:]}


@pytest.mark.parametrize("n", [10, 20, 60])
def test_the_trap_of_haddad_and_monmege(n: int) -> None:
    """Where iteration stops when values hardly change, 0.5 comes out of 0.7; the longer ones are
    solved in rationals at once, since executions have some 2^n steps."""
    model = models.trap(n)
    goal = Objective(Kind.EVENTUALLY, model.where(lambda s: s == 2 * n))
    for largest in (True, False):
        _check(model, goal, largest, Fraction(7, 10))


@pytest.mark.parametrize("n", [3, 5, 7])
def test_hermans_ring_stabilizes_almost_surely(n: int) -> None:
    model = models.herman(n)
    one = model.where(lambda s: models.tokens(s) == 1)
    graph = ProcessGraph(model.process)
    assert almost_surely(graph, Objective(Kind.EVENTUALLY, one)) == (True, None)
    assert almost_surely(graph, Objective(Kind.PERSISTENTLY, one)) == (True, None)
    surely, _ = almost_surely(graph, Objective(Kind.ALWAYS, one))
    assert not surely


@pytest.mark.parametrize(
    ("size", "worst", "best"),
    [((2, 2), 75, 48), ((2, 4), 243, 192), pytest.param((4, 2), 363, 192, marks=pytest.mark.slow)],
)
def test_steps_of_the_shared_coin(size: tuple[int, int], worst: int, best: int) -> None:
    model = models.shared_coin(*size)
    graph, finished = ProcessGraph(model.process), model.where(_finished)
    steps = array("q", [1]) * model.process.choices
    for largest, value in ((True, worst), (False, best)):
        _check_expected(graph, finished, steps, largest, Fraction(value))


@pytest.mark.parametrize(
    ("n", "steps"),
    [(3, "4/3"), (5, "16/5"), (7, "48/7"), pytest.param(9, "12", marks=pytest.mark.slow)],
)
def test_steps_of_hermans_ring(n: int, steps: str) -> None:
    """The worst initial state: 4 n^2 / 27 for every n that is a multiple of 3 (McIver and Morgan
    2005, Bruna and others 2016)."""
    model = models.herman(n)
    one = model.where(lambda s: models.tokens(s) == 1)
    count = array("q", [1]) * model.process.choices
    _check_expected(ProcessGraph(model.process), one, count, True, Fraction(steps))


def _check_expected(
    graph: ProcessGraph, goal: frozenset[int], reward: array[int], largest: bool, value: Fraction
) -> None:
    found = expectation(graph, goal, reward, largest=largest)
    assert not isinstance(found, Infinite)
    assert found.interval.lower <= value <= found.interval.upper
    assert found.interval.width <= Fraction(1, 10**6)
    assert exact_expectation(found).value == value


@pytest.mark.parametrize(("n", "k", "rounds"), [(3, 2, "4/3"), (3, 4, "16/15"), (4, 2, "2")])
def test_rounds_of_leader_election(n: int, k: int, rounds: str) -> None:
    model = models.leader_election(n, k)
    over = model.where(lambda s: s[0] == "over")
    drawing = model.where(lambda s: s[0] == "draw")
    reward = array("q", [0]) * model.process.choices
    for state in drawing:
        for choice in model.process.choices_of(state):
            reward[choice] = 1
    for largest in (True, False):
        _check_expected(ProcessGraph(model.process), over, reward, largest, Fraction(rounds))


def test_failures_of_bounded_retransmission() -> None:
    """A frame fails if it, or its acknowledgement, is lost three times: 1 - (1 - q^3)^16."""
    model = models.retransmission(16, 2)
    assert model.process.states == 677
    failed = model.where(lambda s: s[0] == 5)
    lost = 1 - Fraction(49, 50) * Fraction(99, 100)
    value = 1 - (1 - lost**3) ** 16
    assert float(value) == pytest.approx(4.2333344e-4, abs=5e-12)
    for largest in (True, False):
        _check(model, Objective(Kind.EVENTUALLY, failed), largest, value)
