"""A session goes where the interpreter goes, and back."""

from __future__ import annotations

import random

import pytest

from checker.model import interpreter
from checker.simulate.choices import Choice
from checker.simulate.phrase_matching import Unclear
from checker.simulate.session import NotPossible, SteppingSession
from tests.simulate.opening import library, spec

CRASH_ONE = "broadcast/eager_reliable.bcast::crash_one"

GROWS = """
protocol Counts {
  state log : seq<0..40> = []
  state x : Nat = 0
  upon condition x < 40 { x += 1  log := log ++ [x] }
  property small: always forall p in Proc: p.x < 39
}
check one of Counts { n = 1  prove small }
"""


@pytest.mark.parametrize("seed", range(3))
def test_undo_and_redo_are_the_interpreters_states(seed: int) -> None:
    session, chance = SteppingSession(library(CRASH_ONE)), random.Random(seed)
    states = [session.state]
    for _ in range(12):
        ways = session.choices.ways
        if not ways:
            break
        before = session.state
        assert before is not None
        session.pick(chance.choice(ways))
        after = {t.successor for t in interpreter.successors(session.system, before)}
        assert session.state in after
        states.append(session.state)
    last = len(states) - 1
    for number in range(last - 1, -1, -1):
        session.undo()
        assert session.state == states[number]
    for number in range(1, last + 1):
        session.redo()
        assert session.state == states[number]
    session.jump(last // 2)
    assert session.state == states[last // 2]
    session.jump(last)
    assert session.state == states[last]


def test_what_was_undone_is_gone_after_another_step() -> None:
    session = SteppingSession(library(CRASH_ONE))
    session.say("p1 broadcasts a")
    session.undo()
    session.say("p1 crashes")
    with pytest.raises(NotPossible, match="nothing was undone"):
        session.redo()


def test_the_start_can_not_be_undone() -> None:
    with pytest.raises(NotPossible, match="this is the start"):
        SteppingSession(library(CRASH_ONE)).undo()


def test_a_step_that_the_run_does_not_have() -> None:
    with pytest.raises(NotPossible, match="steps 0 to 0"):
        SteppingSession(library(CRASH_ONE)).jump(3)


def test_what_is_violated_if_it_ends_here() -> None:
    session = SteppingSession(library(CRASH_ONE))
    for words in ("p1 broadcasts a", "p1 receives COPY"):
        assert isinstance(session.say(words), Choice)
    assert not session.ends()
    assert session.enabled_fairness()
    session.say("p1 crashes")
    assert session.ends()
    assert session.enabled_fairness() == ()
    assert [broken.property.name for broken in session.open()] == ["uniform_agreement"]
    trace = session.trace()
    assert (trace.word, trace.property_name, trace.length) == ("violated", "uniform_agreement", 3)


def test_a_run_that_violates_nothing_is_one_all_the_same() -> None:
    session = SteppingSession(library(CRASH_ONE))
    session.say("p1 broadcasts a")
    trace = session.trace()
    assert (trace.word, trace.property_name, trace.length) == ("run", "", 1)


def test_words_that_mean_nothing_leave_the_run_alone() -> None:
    session = SteppingSession(library(CRASH_ONE))
    before = session.state
    assert isinstance(session.say("p9 broadcasts a"), Unclear)
    assert session.state == before


def test_capacities_grow_on_the_way() -> None:
    session = SteppingSession(spec(GROWS))
    for _ in range(40):
        session.pick(session.choices.ways[0])
    assert len(session.steps_taken) == 41
    assert not session.faults()
    assert [prop.name for prop in session.violated_invariants()] == ["small"]
