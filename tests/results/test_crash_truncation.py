"""What a crash inside a handler cut off: together with what was done it is what can be done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.instantiate.assemble import instantiate
from checker.model import interpreter
from checker.model.interpreter import State, Transition
from checker.model.ir import CRASHING, TransitionSystem
from checker.properties.formula import ask
from checker.resources import specs
from checker.results.crash_truncation import cut_short
from checker.results.events import (
    Effect,
    Event,
    Sent,
    Stored,
    kind_name,
    message_of,
    peers_of,
)
from checker.results.mark_events import trace_events
from checker.results.rerun import Moment
from checker.session.pipeline import load_check
from checker.words.events import assignment, sentence
from tests.explain.violations import violation


def states(system: TransitionSystem) -> Iterator[State]:
    waiting = list(interpreter.initial_states(system))
    seen = set(waiting)
    while waiting:
        state = waiting.pop()
        yield state
        for step in interpreter.successors(system, state):
            if step.successor is not None and step.successor not in seen:
                seen.add(step.successor)
                waiting.append(step.successor)


def single(events: tuple[Event, ...]) -> list[tuple[str, ...]]:
    """The effects among ``events``, with one for each receiver, without an order."""
    return sorted(
        (
            kind_name(event),
            event.process,
            "" if message_of(event) else sentence(event),
            message_of(event),
            peer,
        )
        for event in events
        if isinstance(event, Effect)
        for peer in (peers_of(event) or ("",))
    )


def whole(system: TransitionSystem, state: State, step: Transition) -> list[list[tuple[str, ...]]]:
    name = step.action.name.removesuffix(CRASHING)
    (action,) = (a for a in system.actions if a.name == name)
    ways = interpreter.action_transitions(system, action, state)
    return [single(trace_events(system, way.events)) for way in ways if way.params == step.params]


def crashes(
    system: TransitionSystem,
) -> Iterator[tuple[State, Transition, tuple[Event, ...], tuple[Event, ...]]]:
    """Each crash inside a handler, from a state: what was done before it, and what it cut off."""
    for state in states(system):
        for step in interpreter.successors(system, state):
            if step.action.name.endswith(CRASHING) and step.successor is not None:
                cut = cut_short(system, state, Moment(step.successor, step, step.events))
                yield state, step, trace_events(system, step.events), cut


@pytest.mark.parametrize(
    "check",
    [
        "exactly_once/one_process.bcast::act_then_log",
        "exactly_once/one_process.bcast::log_then_act",
        "exactly_once/two_changes.bcast::plain",
        "links/crash_and_recovery.bcast::deliver_then_log",
        "exactly_once/winch.bcast::lower_then_log",
    ],
)
def test_what_was_done_and_what_was_cut_off_are_one_way_to_go(check: str) -> None:
    path, _, name = check.partition("::")
    system = instantiate(load_check(str(specs() / path), name, {}), {}, ask).system
    told_of = 0
    for state, step, done, cut in crashes(system):
        ways = whole(system, state, step)
        if cut:
            told_of += 1
        assert not cut or any(set(single((*done, *cut))) <= set(way) for way in ways)
        if len(ways) == 1:
            assert single((*done, *cut)) == ways[0]
    assert told_of


MULTICAST = """
protocol Multicast(sender: Proc) {
  message M
  state sent = false
  upon condition not sent at sender { sent := true  send M to all }
  upon receive M { skip }
  property trivially : always true
}
check c of Multicast {
  n = 3  sender = p1  links bounded 1  faults crash <= 1  prove trivially  allow unused
}
"""


def test_receivers_that_a_cut_multicast_misses_are_told(tmp_path: Path) -> None:
    (tmp_path / "multicast.bcast").write_text(MULTICAST, encoding="utf-8")
    check = load_check(str(tmp_path / "multicast.bcast"), "c", {})
    numbers = set()
    for _, _, done, cut in crashes(instantiate(check, {}, ask).system):
        reached, missed = (
            [to for event in events if isinstance(event, Sent) for to in event.receivers]
            for events in (done, cut)
        )
        if any(isinstance(event, Sent) for event in done):
            assert sorted(reached + missed) == ["p1", "p2", "p3"]
            numbers.add(len(missed))
    assert numbers == {0, 1, 2, 3}


def test_the_way_that_was_taken_is_the_one_that_is_told() -> None:
    found = violation(
        specs() / "exactly_once/one_process.bcast", "log_then_act", "exactly_once over effects"
    )
    (crash,) = (step for step in found.trace.steps if step.cut)
    (stored,) = (event for event in crash.events if isinstance(event, Stored))
    assert assignment(stored) == "orders = {}"
    assert [sentence(event) for event in crash.cut] == ["p1 performs a"]
