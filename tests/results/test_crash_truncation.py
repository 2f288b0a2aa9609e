"""What a crash inside a handler cut off: together with what was done it is what can be done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from checker.pipeline import load_check
from checker.properties import ask
from checker.resources import specs
from checker.system import interpreter
from checker.system.instantiate.assemble import instantiate
from checker.system.interpreter import State, Transition
from checker.system.ir import CRASHING, TransitionSystem
from checker.witness.crash_truncation import EFFECTS, cut_short
from checker.witness.events import trace_events
from checker.witness.rerun import Moment
from checker.witness.trace import Event
from tests.explaining.violations import violation


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
        (event.kind, event.process, event.name, event.message, peer)
        for event in events
        if event.kind in EFFECTS
        for peer in (event.peers or ("",))
    )


def whole(system: TransitionSystem, state: State, step: Transition) -> list[list[tuple[str, ...]]]:
    name = step.action.name.removesuffix(CRASHING)
    (action,) = (a for a in system.actions if a.name == name)
    ways = interpreter.action_transitions(system, action, state)
    return [single(trace_events(system, way.events)) for way in ways if way.params == step.params]


@pytest.mark.parametrize(
    "check",
    [
        "exactly_once/one_process.bcast::act_then_log",
        "exactly_once/one_process.bcast::log_then_act",
        "exactly_once/two_changes.bcast::plain",
        "links/crash_and_recovery.bcast::deliver_then_log",
        "commit/two_phase_commit.bcast::crash_any",
    ],
)
def test_what_was_done_and_what_was_cut_off_are_one_way_to_go(check: str) -> None:
    path, _, name = check.partition("::")
    system = instantiate(load_check(str(specs() / path), name, {}), {}, ask).system
    told_of = 0
    for state in states(system):
        for step in interpreter.successors(system, state):
            if not step.action.name.endswith(CRASHING) or step.successor is None:
                continue
            cut = cut_short(system, state, Moment(step.successor, step, step.events))
            done = trace_events(system, step.events)
            ways = whole(system, state, step)
            if cut:
                told_of += 1
            assert not cut or any(set(single((*done, *cut))) <= set(way) for way in ways)
            if len(ways) == 1:
                assert single((*done, *cut)) == ways[0]
    assert told_of


def test_the_way_that_was_taken_is_the_one_that_is_told() -> None:
    found = violation(
        specs() / "exactly_once/one_process.bcast", "log_then_act", "exactly_once over effects"
    )
    (crash,) = (step for step in found.trace.steps if step.cut)
    (stored,) = (event.name for event in crash.events if event.kind == "store")
    assert stored == "orders = {a}"
    assert [event.sentence for event in crash.cut] == ["p1 performs b"]
