"""Steps that a violation does not depend on."""

from __future__ import annotations

import pytest

from checker.explain.slice import FAULTS, context, without_past
from checker.results.causality import CopyOutcome, causality
from tests.explain.test_verdict_sentences import CASES, of_library
from tests.explain.violations import Violation


def sliced(found: Violation) -> tuple[int, ...]:
    return context(found.system, found.prop, found.run, found.trace)


def test_what_no_named_process_could_know_is_context() -> None:
    """p2 decides at step 5: nothing of that reaches p1, which never decides."""
    found = of_library("consensus/paxos.bcast::outvoted", "termination")
    assert sliced(found) == (5,)


def test_messages_that_are_only_counted_belong_to_the_past() -> None:
    found = of_library(
        "consensus/paxos.bcast::quorums_that_miss_each_other", "uniform_consensus_agreement"
    )
    counted = [a for a in causality(found.trace).arrows if a.message == "ACCEPTED"]
    assert [(a.sender, a.receiver, a.how, a.sent, a.ended) for a in counted] == [
        ("a2", "p1", CopyOutcome.RECEIVED, 7, 10),
        ("a2", "p2", CopyOutcome.RECEIVED, 8, 9),
    ]
    assert sliced(found) == ()


def test_no_step_of_a_small_violation_is_context() -> None:
    found = of_library("consensus/wait_for_all_but_one.bcast::no_fault", "consensus_agreement")
    assert sliced(found) == ()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_context_is_closed(case: tuple[str, ...]) -> None:
    """No step that matters depends on one that does not; faults and loops always matter."""
    name, prop, *_ = case
    found = of_library(name, prop)
    order = causality(found.trace)
    left_out = set(sliced(found))
    assert 0 not in left_out
    assert len(left_out) < len(order.steps) - 1 or len(order.steps) == 1
    for step in order.steps[1:]:
        if step.number not in left_out:
            assert not order.causes[step.number] & left_out
        else:
            assert not any(isinstance(event, FAULTS) for event in step.events)
            assert found.trace.closing is None or step.number <= (found.trace.loop or 0)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_essential_is_not_context(case: tuple[str, ...]) -> None:
    name, prop, *_ = case
    trace = of_library(name, prop).trace
    order = causality(trace)
    every = tuple(step.number for step in order.steps[1:])
    for step in every:
        left = without_past(trace, every, {step})
        assert step not in left
        assert not set(left) & order.past({step})
    assert without_past(trace, every, set()) == every
