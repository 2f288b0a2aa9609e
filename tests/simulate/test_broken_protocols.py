"""Walks find what breaks the library's broken protocols, in every world; the interpreter agrees."""

from __future__ import annotations

import pytest

from checker.results.replay import replay
from checker.session.pipeline import Options, open_check, read_spec
from checker.simulate.simulation import WalkPlan, simulate
from tests.simulate.opening import spec

BROKEN = (
    ("broadcast/eager_reliable_without_relay", "crash_one", "agreement"),
    ("broadcast/gossip", "one_round_crash_one", "agreement"),
    ("broadcast/fifo", "not_causal", "causal_order"),
    ("broadcast/uniform_all_ack", "missed_crash", "validity"),
    ("byzantine/bracha", "too_few_echoes", "consistency"),
    ("byzantine/pbft_round", "too_few_prepares", "consistency"),
    ("commit/two_phase_commit", "crash_any", "nbac_termination"),
    ("consensus/flood_set", "one_round", "consensus_agreement"),
    ("consensus/hierarchical", "wrong_detector", "consensus_agreement"),
    ("consensus/paxos", "quorums_that_miss_each_other", "uniform_consensus_agreement"),
    ("detectors/heartbeat", "partly_synchronous", "strong_accuracy"),
    ("exactly_once/partitioned_queue", "majority_split", "served"),
    ("exactly_once/winch", "lower_then_log", "at_most_once over effects"),
    ("for_every_n/folklore_broadcast", "three", "uniform_relay"),
    ("links/alternating_bit", "lossy_fifo", "all_arrive"),
    ("links/crash_and_recovery", "receiver_forgets", "no_duplication"),
)


@pytest.mark.parametrize(("file", "check", "asked"), BROKEN, ids=[f"{b[0]}-{b[1]}" for b in BROKEN])
def test_what_breaks_it_is_found(file: str, check: str, asked: str) -> None:
    narrow = read_spec(f"specs/{file}.bcast").only([asked])
    opened = open_check(narrow, check, Options())
    walks = simulate(opened, WalkPlan(1, 5000))
    (path,) = walks.finding.violations.values()
    (name,) = walks.finding.violations
    prop = next(p for p in opened.system.properties if p.name == name)
    assert prop.asked == asked
    assert replay(opened.system, path, prop).word == "violated"


REPEATED = (
    ("detectors/increasing_timeout", "impatient_for_ever", ["eventual_strong_accuracy"]),
    ("links/stubborn", "lossy", None),
    ("consensus/flp/rounds", "no_coins", None),
    ("consensus/paxos", "duel", None),
)
"""Walks close no fair cycle there by chance: there are messages to lose, or turns to take."""


@pytest.mark.parametrize(("file", "check", "only"), REPEATED, ids=[f"{r[0]}" for r in REPEATED])
def test_a_run_that_repeats_forever_is_looked_for_around_a_walk(
    file: str, check: str, only: list[str] | None
) -> None:
    whole = read_spec(f"specs/{file}.bcast")
    opened = open_check(whole if only is None else whole.only(only), check, Options())
    walks = simulate(opened, WalkPlan(1, 1000))
    (path,) = walks.finding.violations.values()
    assert path.loop is not None and path.loop < len(path.states) - 1
    (prop,) = (p for p in opened.system.properties if p.name in walks.finding.violations)
    assert replay(opened.system, path, prop).word == "violated"
    assert walks.found is not None and walks.found % 256 == 0


def test_a_long_walk_violates_nothing() -> None:
    """What has to happen eventually may still happen."""
    narrow = read_spec("specs/consensus/ben_or.bcast").only(["termination"])
    opened = open_check(narrow, "unlucky_coins", Options())
    walks = simulate(opened, WalkPlan(1, 200, 10))
    assert walks.seen.longest == 10
    assert not walks.finding.violations


def test_figure_8_of_raft_is_found() -> None:
    """Some twenty steps, in a system that no search comes to the end of."""
    opened = open_check(read_spec("specs/replication/raft.bcast"), "figure_8", Options())
    walks = simulate(opened, WalkPlan(1, 50_000, 60))
    path = walks.finding.violations["leader_completeness"]
    (prop,) = opened.system.properties
    assert replay(opened.system, path, prop).word == "violated"


TOGGLES = """
protocol Toggles {
  state on = false
  state moved = false
  upon condition not moved { moved := true }
  upon condition moved { on := not on }
  property all_move "Everybody moves." : forall p in Proc: eventually p.moved
}
check two of Toggles { n = 2  prove all_move }
"""


def test_a_run_that_repeats_unfairly_violates_nothing() -> None:
    """One process moves on and on, and the other one never does: fairness rules that out."""
    walks = simulate(spec(TOGGLES), WalkPlan(1, 256 * 40, 3))
    assert walks.seen.walks == 256 * 40
    assert not walks.finding.violations
