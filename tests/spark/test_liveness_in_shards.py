"""Liveness where the states are divided among shards: states that can't lie on a cycle are dropped
first, and the rest is decided on as the native engine does, with the same runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.engines.cluster import Cluster, Exchange
from checker.engines.native import engine as native
from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.codegen.image import build
from checker.engines.native.liveness.graph import bytes_needed
from checker.engines.native.search.finalize import finalize
from checker.engines.native.sharding.cycle_filter import Remainder, filter_cycles
from checker.engines.reference import engine as reference
from checker.engines.spark import residual_graph
from checker.engines.spark.driver import SparkRun
from checker.engines.spark.fan_out import ItemFailure
from checker.engines.spark.fan_out import fan_out as fan_out_to_executors
from checker.engines.spark.session import open_session
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.model.evaluate import RunFault
from checker.model.ir import TRUE, Connective, Holds, Modal, TransitionSystem
from checker.model.verify import verify
from checker.properties.buchi_automaton import refuting
from checker.properties.formula import ask
from checker.records import replace
from checker.results.answer import Limits, Unsupported
from checker.session import pipeline
from tests.agreement.test_liveness import verdict
from tests.agreement.test_random_systems import judged, whole
from tests.agreement.test_random_systems import system_of as one_system
from tests.agreement.textbook import random_model, some_fair_run, system_of, violations
from tests.recurring import never_for_ever
from tests.selection import first_by_default
from tests.spark.gang import answer, begun
from tests.spark.test_barrier import compare

CHECKS = [
    "consensus/ben_or.bcast::unlucky_coins",
    "consensus/paxos.bcast::duel",
    "consensus/rotating_coordinator.bcast::no_fault",
    "broadcast/eager_reliable.bcast::crash_one",
    "detectors/heartbeat.bcast::partly_synchronous",
    "exactly_once/one_process.bcast::act_then_log",
    "links/crash_and_recovery.bcast::log_then_deliver",
    "links/stubborn.bcast::lossy",
]
"""With loops and without, to be decided on cycles and to be followed."""
AGAIN_AND_AGAIN = Modal("always", Modal("eventually", Holds(0)))


def made(check: str) -> TransitionSystem:
    path, _, name = f"specs/{check}".partition("::")
    found = pipeline.load_check(path, name, {})
    return estimate_capacities(lambda sizes: instantiate(found, {}, ask, capacities=sizes)).system


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[Remainder]:
    """No graph is so small that nothing is dropped first, until nothing is left to drop; what was
    left in the end."""
    seen: list[Remainder] = []
    drop = filter_cycles

    def trimmed(trim: Any, before: Remainder, *more: Any, least: float) -> Remainder:
        seen.append(drop(trim, before, *more, least=0.0))
        return seen[-1]

    monkeypatch.setattr(residual_graph, "filter_cycles", trimmed)
    monkeypatch.setattr(residual_graph, "AT_ONCE", -1)
    return seen


@pytest.mark.parametrize("check", first_by_default(CHECKS, 3))
def test_the_library(check: str, left: list[Remainder], tmp_path: Path) -> None:
    system = made(check)
    expected = native.explore(system, Limits(), threads=1)
    for shards in (1, 2, 3):
        compare(answer(system, tmp_path / str(shards), shards, Limits()), expected)
    assert all(one.states < expected.distinct_states for one in left)


@pytest.mark.parametrize("first", first_by_default(range(0, 60, 20), 1))
def test_the_textbook(first: int, left: list[Remainder], tmp_path: Path) -> None:
    for seed in range(first, first + 20):
        formula = AGAIN_AND_AGAIN if seed % 2 else Connective("not", (AGAIN_AND_AGAIN,))
        model = replace(random_model(seed), formula=formula)
        system = verify(system_of(model))
        found = answer(system, tmp_path / str(seed), 1 + seed % 3, Limits())
        assert verdict(system, found) == violations(model), f"seed {seed}"
        assert found.fair == some_fair_run(model), f"seed {seed}"
        compare(found, native.explore(system, Limits(), threads=1))
    assert any(one.states for one in left)


@pytest.mark.parametrize("seed", range(40))
def test_random_systems(seed: int, left: list[Remainder], tmp_path: Path) -> None:
    system = one_system(seed) if seed % 2 else whole(seed)
    limits = Limits(max_states=400)
    try:
        expected = reference.explore(system, limits)
        same = native.explore(system, limits, threads=1)
    except (Unsupported, RunFault):
        return
    if expected.stopped is None:
        found = answer(system, tmp_path, 1 + seed % 3, Limits())
        compare(found, same)
        assert (found.fault is None) == (expected.fault is None)
        here, known = judged(system, found), judged(system, expected)
        # Beside an run-time error nothing that is left open counts as holding.
        assert here == known if expected.fault is None else here.items() <= known.items()


# -- where the driver has no room --------------------------------------------------------------


def test_what_has_to_be_followed_is_unknown_and_the_rest_is_not(
    left: list[Remainder], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    system = made("links/crash_and_recovery.bcast::log_then_deliver")
    settles = Modal("eventually", Modal("always", Holds(0)))
    more = replace(never_for_ever("settles", TRUE), formula=settles, automaton=refuting(settles))
    system = replace(system, properties=(*system.properties, more))
    expected = native.explore(system, Limits(), threads=1)
    assert "reliable_delivery" in expected.violations

    monkeypatch.setattr(residual_graph, "available_memory", lambda: 1)
    found = answer(system, tmp_path / "nothing", 2, Limits())
    assert found.undecided.keys() == {"settles", "reliable_delivery"}
    assert f"of {expected.distinct_states} states" in found.undecided["reliable_delivery"]
    assert left[0].states, "some states lie on cycles"

    room = bytes_needed(left[0].states, left[0].steps, build(system).shape.words)
    monkeypatch.setattr(residual_graph, "available_memory", lambda: room)
    found = answer(system, tmp_path / "some", 2, Limits())
    assert found.undecided.keys() == {"settles"}
    assert "does not fit the driver" in found.undecided["settles"]
    assert found.violations == expected.violations
    assert found.fair == expected.fair
    assert found.distinct_states == expected.distinct_states


@pytest.mark.parametrize("large", [False, True])
def test_without_all_states_nothing_is_promised(
    large: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if large:
        monkeypatch.setattr(residual_graph, "AT_ONCE", -1)
    parts = RunFolder.parts

    def without_the_last(self: RunFolder) -> dict[int, list[Part]]:
        found = parts(self)
        return {level: found[level] for level in found if level < 3}

    monkeypatch.setattr(RunFolder, "parts", without_the_last)
    found = answer(made("consensus/paxos.bcast::duel"), tmp_path, 2, Limits())
    assert found.undecided
    assert all("instead of" in why for why in found.undecided.values())


def test_nothing_is_left_behind(left: list[Remainder], tmp_path: Path) -> None:
    answer(made("consensus/paxos.bcast::duel"), tmp_path, 2, Limits())
    assert left[0].states
    assert not list(tmp_path.glob("levels/cycles*"))


# -- on Spark ----------------------------------------------------------------------------------


@pytest.mark.cluster
@pytest.mark.usefixtures("shared_java")
def test_on_executors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Larger steps by executors, some of which fail at first; one way through the levels."""
    monkeypatch.setattr(residual_graph, "AT_ONCE", -1)
    monkeypatch.setattr(residual_graph, "WORTH_IT", 12)
    monkeypatch.setattr(residual_graph, "LEAST", 1.0)
    spread, lost = fan_out_to_executors, list[int]()

    def fan_out(*given: Any) -> Iterator[tuple[int, Any]]:
        for number, result in spread(*given):
            if number == 0 and len(lost) < 3:
                lost.append(number)
                yield number, ItemFailure("lost")
            else:
                yield number, result

    monkeypatch.setattr(residual_graph, "fan_out", fan_out)
    system, cluster = made("links/stubborn.bcast::lossy"), Cluster("local[2]", {}, Exchange.BARRIER)
    image = build(system)
    with open_session(cluster) as session:
        folder = begun(tmp_path, system, image)
        run = SparkRun(system, image, Limits(), cluster, folder, session, None)
        found = finalize("spark", run.as_explored(run.outcome(run.job(30.0, False))))
    compare(found, native.explore(system, Limits(), threads=1))
    assert len(lost) == 3
    assert not list(tmp_path.glob("levels/cycles*"))
