"""What pauses without a number cost: as many states, or at most twice as many."""

from __future__ import annotations

import pytest

from checker.engines.options import Options
from checker.resources import specs
from checker.session.pipeline import run_check

UNNOTICED = (
    "broadcast/eager_reliable::crash_one",
    "broadcast/uniform_majority_ack::minority_may_crash",
    "consensus/paxos::quorums_that_miss_each_other",
    "exactly_once/failover::with_numbers",
    "incidents/stale_leader_read::asked_before",
    "incidents/two_takes::checks_again",
    "links/alternating_bit::lossy_fifo",
)
"""Checks whose handlers act before they send, or do nothing else."""

NOTICED = (
    "broadcast/fifo::crash_one",
    "exactly_once/work_queue::act_then_log",
    "incidents/hidden_retry::tells_the_application",
    "links/connections::numbered",
    "links/connections::resent",
    "replication/chain::any_one_dies",
    "time/leases::fenced",
)


def states(name: str, pause: str, reduce: str) -> int:
    path, check = name.split("::")
    options = Options(settings={"pause": pause}, reduce=reduce)
    report = run_check(str(specs() / f"{path}.bcast"), check, options)
    assert report.exhaustive
    return report.distinct_states


@pytest.mark.every
@pytest.mark.parametrize("name", UNNOTICED)
def test_pauses_that_nobody_notices_cost_nothing(name: str) -> None:
    for reduce in ("none", "auto"):
        assert states(name, "any", reduce) == states(name, "none", reduce), reduce


@pytest.mark.parametrize("name", NOTICED)
def test_pauses_at_most_double_the_states(name: str) -> None:
    without, paused = (states(name, pause, "none") for pause in ("none", "any"))
    assert without < paused <= 2 * without
