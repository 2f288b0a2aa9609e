"""Figure 8 of the Raft paper: a leader that counts copies of an entry of an earlier term may lose
what it has committed.  Some forty steps, in a system that no search comes to the end of.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.language.load import load_text
from checker.results.replay import replay
from checker.simulate.simulation import WalkPlan, simulate
from tests.simulate.opening import of

RULE = " and log[length - 1].term == term and is_majority"
CHECK = """
check figure_8 of Raft {
  n = 3
  terms = 4
  entries = 2
  faults crash <= 2, recover
  links persistent
  prove state_machine_safety
}
"""


@pytest.mark.slow
def test_figure_8_is_found() -> None:
    text = Path("specs/replication/raft.bcast").read_text(encoding="utf-8")
    assert text.count(RULE) == 1
    protocol = text[: text.index("\ncheck ")].replace(RULE, " and is_majority")
    opened = of(load_text(protocol + CHECK, "figure_8.bcast").checks[0])
    walks = simulate(opened, WalkPlan(1, 100_000, 80))
    path = walks.finding.violations["state_machine_safety"]
    (prop,) = opened.system.properties
    assert replay(opened.system, path, prop).word == "violated"
