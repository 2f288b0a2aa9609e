"""The benchmark of random walks: everybody sees the same, or it is an error."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks import walking
from benchmarks.comparing import WrongAnswer
from checker.records import replace
from checker.simulate.simulation import WalkPlan


def test_a_row() -> None:
    found = CliRunner().invoke(
        walking.main, ["--walks", "50", "--repeat", "1", "--only", "paxos"], catch_exceptions=False
    )
    assert found.exit_code == 0
    assert "consensus/paxos::crash_and_loss" in found.output


def test_what_is_seen_has_to_be_the_same() -> None:
    check = walking.opened("broadcast/eager_reliable", "two_senders", "no_creation")
    walks, _ = walking.walked(check, WalkPlan(1, 3))
    other = replace(walks, seen=replace(walks.seen, steps=walks.seen.steps + 1))
    walking.require_same(walks, walks)
    with pytest.raises(WrongAnswer):
        walking.require_same(walks, other)
