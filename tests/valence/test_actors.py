"""An action's actor is the process whose step a trace says it is."""

from __future__ import annotations

from itertools import islice

import pytest

from checker import resources
from checker.engines.attribution import attributed
from checker.engines.options import Options
from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import ActionKind, TransitionSystem
from checker.results.mark_events import acting
from checker.session.pipeline import open_check

CHECKS = (
    "consensus/leader::impatient_crash_one",
    "consensus/paxos::crash_and_loss",
    "consensus/rotating_coordinator::any_detector",
    "consensus/hierarchical::wrong_detector",
    "consensus/flood_set::two_rounds",
    "commit/three_phase_commit::crash_one",
    "byzantine/consistent_echo::three",
    "links/stubborn::lossy",
)
OF_NOBODY = (ActionKind.CRASH, ActionKind.LOSE, ActionKind.WORLD)
STATES = 80


def system_of(name: str, *, fine: bool) -> TransitionSystem:
    file, _, check = name.partition("::")
    path = str(resources.specs() / f"{file}.bcast")
    return open_check(path, check, Options(fine_steps=fine)).system


def some_states(system: TransitionSystem) -> list[State]:
    """The first states of a search: breadth first, and then depth first from the last."""
    found = dict.fromkeys(islice(interpreter.initial_states(system), 5))
    for number, state in enumerate(todo := list(found)):
        for step in interpreter.successors(system, state):
            if step.successor is not None and step.successor not in found:
                found[step.successor] = None
                todo.append(step.successor)
        if number > STATES:
            break
    return todo[:STATES]


@pytest.mark.parametrize("fine", [False, True], ids=["coarse", "fine"])
@pytest.mark.parametrize("name", CHECKS)
def test_it_is_the_process_of_the_events(name: str, fine: bool) -> None:
    system = system_of(name, fine=fine)
    by = attributed(system)
    seen = set()
    for state in some_states(by.system):
        for action in by.system.actions:
            for step in interpreter.action_transitions(by.system, action, state):
                taken = interpreter.taken_constraint(by.system, state, step)
                assert taken is not None
                actor = by.actor(taken)
                whose = acting(system, step.events)
                if action.kind in OF_NOBODY:
                    assert actor is None
                elif whose:
                    assert actor is not None
                    assert system.processes[actor] == whose
                seen.add(action.kind)
    assert len(seen) > 2


@pytest.mark.every
@pytest.mark.parametrize("name", CHECKS)
def test_states_steps_and_constraints_are_those_of_the_system(name: str) -> None:
    system = system_of(name, fine=False)
    by = attributed(system)
    for state in some_states(system)[:40]:
        plain, labelled = interpreter.moves(system, state), interpreter.moves(by.system, state)
        pairs = {c: by.original(c) for c in labelled.enabled}
        assert {pair[0] for pair in pairs.values() if pair} == set(plain.enabled)
        assert plain.steps.keys() - {state} == labelled.steps.keys() - {state}
        for successor, taken in plain.steps.items():
            again = {pair[0] for c in labelled.steps[successor] if (pair := pairs[c])}
            assert again == taken
