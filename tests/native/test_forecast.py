"""What is foretold from levels: the truth lies in the interval, which becomes narrow."""

from __future__ import annotations

from math import comb

import pytest

from checker.engines.native.search.forecast import LEAST_LEVELS, Outlook, total
from checker.resources import specs
from checker.results.answer import Progress
from checker.session.pipeline import Options, run_check

CHECKS = [
    ("broadcast/eager_reliable", "crash_one"),
    ("broadcast/uniform_all_ack", "majority_may_crash"),
    ("broadcast/gossip", "two_rounds_crash_two"),
    ("byzantine/bracha", "three"),
    ("byzantine/consistent_echo", "forged_senders"),
    ("commit/three_phase_commit", "one_says_no"),
    ("consensus/flood_set", "without_rounds"),
    ("consensus/paxos", "quorums_that_miss_each_other"),
    ("consensus/wait_for_all_but_one", "crash_one"),
    ("links/sliding_window", "reordering"),
    ("oracles/bcast_byz", "four"),
    ("oracles/two_phase", "five"),
]


def profile(spec: str, check: str) -> list[int]:
    """The sizes of the levels of a check of the library."""
    levels: dict[int, int] = {}

    def listen(progress: Progress) -> None:
        if not progress.phase:
            levels[progress.depth] = progress.frontier

    # Coverage asks for every state, also where each property is violated already.
    options = Options(engine="native", threads=1, reduce="none", coverage=True)
    report = run_check(str(specs() / f"{spec}.bcast"), check, options, listen)
    sizes = [size for _, size in sorted(levels.items())]
    assert report.distinct_states == sum(sizes)
    return sizes


@pytest.mark.slow
def test_the_truth_lies_in_the_interval_from_half_the_depth_on() -> None:
    hits, widths = [], []
    for spec, check in CHECKS:
        levels = profile(spec, check)
        for known in range(len(levels) // 2, len(levels)):
            foretold = total(levels[:known])
            if foretold is not None:
                low, high = foretold
                hits.append(low <= sum(levels) <= high)
                widths.append(high / low)
    assert len(hits) > 40
    assert sum(hits) / len(hits) > 0.9
    assert sorted(widths)[len(widths) // 2] < 3


@pytest.mark.parametrize("switches", [20, 40, 60])
def test_of_a_cube_the_interval_closes_around_the_number_of_its_corners(switches: int) -> None:
    levels = [comb(switches, up) for up in range(switches + 1)]
    before = float("inf")
    for known in range(switches // 2, switches + 1, 5):
        foretold = total(levels[:known])
        assert foretold is not None
        low, high = foretold
        assert low <= 2**switches <= high
        assert high / low < before
        before = high / low


def test_nothing_is_said_before_there_is_enough_to_go_on() -> None:
    assert total([4**depth for depth in range(LEAST_LEVELS - 1)]) is None
    assert total([]) is None
    assert total([4**depth for depth in range(12)]) is None, "no end is in sight"


def heard(levels: list[int], rate: float = 1000.0) -> list[Progress]:
    """What an exploration says at the end of each level."""
    said = []
    for depth, size in enumerate(levels[:-1]):
        states = sum(levels[: depth + 2])
        said.append(Progress(states, size, depth, states / rate, 100 * states))
    return said


def test_what_is_said_becomes_a_forecast_of_time_and_memory() -> None:
    levels = [comb(20, up) for up in range(21)]
    told: list[Progress] = []
    outlook = Outlook(told.append)
    course = heard(levels)[:12]
    for progress in course:
        outlook(progress)
    assert [p.forecast for p in told if p.seconds < 2] == [None] * sum(
        p.seconds < 2 for p in course
    )
    forecast = told[-1].forecast
    assert forecast is not None
    assert forecast.low <= 2**20 <= forecast.high
    left = (2**20 - course[-1].states) / 1000
    assert forecast.soonest <= left <= forecast.latest
    assert forecast.memory >= 100 * 2**20
    assert outlook.forecast() == forecast
    outlook(Progress(2**20, 0, 0, 1100.0, 0, "liveness: agreement"))
    assert told[-1].forecast is None, "the search is over"


def test_an_exploration_that_begins_again_is_another_one() -> None:
    outlook = Outlook(None)
    for progress in heard([comb(30, up) for up in range(31)])[:20]:
        outlook(progress)
    assert outlook.forecast() is not None
    outlook(Progress(3, 1, 0, 0.1, 300))
    assert outlook.forecast() is None


def test_a_run_that_is_gone_on_with_counts_what_was_there() -> None:
    levels = [comb(30, up) for up in range(31)]
    outlook = Outlook(None)
    for progress in heard(levels)[5:20]:
        outlook(progress)
    forecast = outlook.forecast()
    assert forecast is not None
    assert forecast.low <= 2**30 <= forecast.high
