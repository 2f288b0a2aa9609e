"""Steps that are drawn by hand: faults do not dominate."""

from __future__ import annotations

import random

from checker.model import interpreter
from checker.model.fault_actions import is_fault
from checker.simulate.drawn_steps import draw_transition
from tests.simulate.opening import library


def test_faults_do_not_dominate() -> None:
    """Where one step in five is an ordinary one, most steps that are drawn are."""
    system = library("broadcast/eager_reliable.bcast::crash_one").system
    start = interpreter.initial_states(system)[0]
    among = list(interpreter.successors(system, start))
    assert [is_fault(t.action) for t in among].count(True) == 3
    chance = random.Random(1)
    found = [draw_transition(system, among, chance, 0.2) for _ in range(500)]
    wrong = sum(is_fault(t.action) for t in found if t is not None)
    assert 60 < wrong < 140
    ordinary = draw_transition(system, among, chance, 0.0)
    assert ordinary is not None and not is_fault(ordinary.action)
    faults = [t for t in among if is_fault(t.action)]
    assert draw_transition(system, faults, chance, 0.0) is None
