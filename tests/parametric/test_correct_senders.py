"""Runs in which whoever has to go on listens to correct processes only."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from checker.parametric.automaton.automaton import AcceleratedRun, And, Automaton, Question
from checker.parametric.automaton.correct_senders import strengthen
from checker.parametric.automaton.execution import require_run
from checker.parametric.symbolic.decide import ParametricChecker
from tests.parametric.echo_by_hand import ECHO, RELAY
from tests.parametric.random_automata import automata, questions

NUMBERS = {"n": 6, "T": 1, "f": 2}


def _found(
    automaton: Automaton, question: Question, numbers: dict[str, int]
) -> AcceleratedRun | None:
    counting = ParametricChecker(strengthen(automaton), fixed=numbers, resilience=And())
    found = counting.reachable(question.violated, at_end=question.at_end)
    return found if isinstance(found, AcceleratedRun) else None


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_each_is_a_run(data: st.DataObject) -> None:
    automaton = data.draw(automata())
    numbers = {"n": data.draw(st.integers(1, 3)), "f": data.draw(st.integers(0, 2))}
    question = data.draw(questions(automaton))
    run = _found(automaton, question, numbers)
    event(f"found: {run is not None}, at_end: {question.at_end}")
    if run is not None:
        require_run(automaton, run, question, And())


def test_only_who_is_done_hears_lies() -> None:
    """Two of six lie: one is made to accept, the others, who echo, are told nothing."""
    run = _found(ECHO, RELAY, NUMBERS)
    assert run is not None
    heard = sum(b.times for s in run.segments for b in s if ECHO.rules[b.rule].target in (4, 5))
    assert 0 < heard < NUMBERS["n"] - NUMBERS["f"]
