"""Steps that are drawn by hand: faults do not dominate."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from checker.model import interpreter
from checker.model.fault_actions import is_fault
from checker.session.pipeline import Options, open_check
from checker.simulate.drawn_steps import draw_transition
from checker.simulate.session import SteppingSession
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


WEIGHED = """
protocol Weighed {
  state at : 0..3 = 0
  upon condition at == 0 as draws { choose s by chance { 0: 1, 1: 2, 2: 3, 3: 4 } at := s }
  property moves : eventually p1.at != 0
}
check c of Weighed { n = 1  prove almost surely moves }
"""


def test_coins_show_what_they_show_by_their_weights(tmp_path: Path) -> None:
    path = tmp_path / "weighed.bcast"
    path.write_text(WEIGHED, encoding="utf-8")
    session = SteppingSession(open_check(str(path), "c", Options()))
    moving = [way.transition for way in session.moving() if way.transition is not None]
    assert len(moving) == 4, "it also counts that nothing changes"
    chance, times = random.Random(2), 4000
    drawn = (session.draw(moving, chance, 0.2) for _ in range(times))
    found = Counter(step.successor for step in drawn if step is not None)
    for step in moving:
        assert step.successor is not None
        share = found[step.successor] / times
        weight = (step.successor[0][0] + 1) / 10  # type: ignore[index]
        assert abs(share - weight) < 5 * (weight * (1 - weight) / times) ** 0.5
