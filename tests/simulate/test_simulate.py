"""Random walks are runs, the same for the same seed, and prove nothing."""

from __future__ import annotations

import random

import pytest

from checker.model import interpreter
from checker.results.answer import Progress
from checker.simulate.random_walks import WalkPlan, draw_transition, goes_wrong, simulate
from tests.simulate.opening import library, spec

EAGER = "broadcast/eager_reliable.bcast::crash_one"
WITHOUT_RELAY = "broadcast/eager_reliable_without_relay.bcast::crash_one"


def test_a_violation_is_found_and_replayed() -> None:
    opened = library(WITHOUT_RELAY)
    walks = simulate(opened, WalkPlan(1, only=("agreement",)))
    assert walks.found is not None
    assert walks.found.trace.word == "violated"
    assert walks.found.trace.property_name == "agreement"
    assert walks.walks == walks.found.walk


def test_the_same_seed_walks_the_same_ways() -> None:
    one, other = (simulate(library(EAGER), WalkPlan(5, 40, only=("agreement",))) for _ in range(2))
    assert (one.steps, one.states, one.wrong, one.ends) == (
        other.steps,
        other.states,
        other.wrong,
        other.ends,
    )
    assert simulate(library(EAGER), WalkPlan(6, 40, only=("agreement",))).steps != one.steps


def test_what_holds_is_not_found_to_be_violated() -> None:
    walks = simulate(
        library(EAGER), WalkPlan(2, 100, only=("agreement", "validity", "no_creation"))
    )
    assert walks.found is None
    assert walks.walks == 100
    assert walks.wrong["crash"] > 0
    assert walks.ends > 0
    assert not walks.answer.exhaustive


def test_walks_see_states_that_can_be_reached() -> None:
    opened = library("exactly_once/winch.bcast::lower_then_log")
    walks = simulate(opened, WalkPlan(3, 30, only=("arrives",)))
    todo = interpreter.initial_states(opened.system)
    reachable = set(todo)
    for state in todo:
        for transition in interpreter.successors(opened.system, state):
            if transition.successor is not None and transition.successor not in reachable:
                reachable.add(transition.successor)
                todo.append(transition.successor)
    assert walks.states <= reachable


def test_walks_end_after_so_many_steps() -> None:
    assert simulate(library(EAGER), WalkPlan(2, 20, 3, only=("agreement",))).longest == 3


def test_the_time_is_limited() -> None:
    walks = simulate(library(EAGER), WalkPlan(2, 100_000, timeout=0.05, only=("agreement",)))
    assert walks.walks < 100_000
    assert walks.stopped == "the time limit of 0.05 s was reached"


def test_somebody_wants_it_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.simulate.random_walks.EVERY", 0.0)

    def enough(progress: Progress) -> None:
        raise KeyboardInterrupt

    walks = simulate(library(EAGER), WalkPlan(2, 50, only=("agreement",)), enough)
    assert walks.stopped == "interrupted"
    assert walks.walks == 1


def test_faults_do_not_dominate() -> None:
    """Where one step in five is an ordinary one, most steps that are drawn are."""
    system = library(EAGER).system
    start = interpreter.initial_states(system)[0]
    among = list(interpreter.successors(system, start))
    assert [goes_wrong(t) for t in among].count(True) == 3
    chance = random.Random(1)
    found = [draw_transition(system, among, chance, 0.2) for _ in range(500)]
    wrong = sum(goes_wrong(t) for t in found if t is not None)
    assert 60 < wrong < 140
    assert not any(
        goes_wrong(t) for t in (draw_transition(system, among, chance, 0.0),) if t is not None
    )
    assert draw_transition(system, [t for t in among if goes_wrong(t)], chance, 0.0) is None


def test_an_error_of_the_run_is_found() -> None:
    opened = spec(
        """
protocol Fails {
  state x : 0..3 = 0
  upon condition true { x += 1 }
}
check one of Fails { n = 1 }
"""
    )
    found = simulate(opened, WalkPlan(1, 1)).found
    assert found is not None
    assert found.trace.word == "error"
    assert found.trace.length == 3


def test_capacities_grow() -> None:
    opened = spec(
        """
protocol Counts {
  state x : Nat = 0
  upon condition x < 100 { x += 1 }
  property small: always forall p in Proc: p.x < 100
}
check one of Counts { n = 1  prove small }
"""
    )
    found = simulate(opened, WalkPlan(1, 2)).found
    assert found is not None
    assert found.trace.length == 100
