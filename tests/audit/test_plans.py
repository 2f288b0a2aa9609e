"""Plans against plain definitions, on many random logs."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.audit import arrow_engine, arrow_slices
from checker.audit.audit import Request, audit
from checker.audit.manifest import read_manifest
from checker.audit.processes import Grace
from checker.engines.cluster import Cluster
from tests.audit import brute_force as plain
from tests.audit.random_logs import MANIFEST, random_run, write_runs

Definition = Callable[[plain.Run], str]
BROADCAST: dict[str, Definition] = {
    "no_duplication": plain.no_duplication,
    "no_creation": plain.no_creation,
    "validity": plain.validity_own,
}
INTERFACES: dict[str, dict[str, Definition]] = {
    "BestEffortBroadcast": {**BROADCAST, "validity": plain.validity_all},
    "FifoReliableBroadcast": {
        **BROADCAST,
        "agreement": plain.agreement,
        "fifo_order": plain.fifo_order,
    },
    "CausalUniformReliableBroadcast": {
        **BROADCAST,
        "uniform_agreement": plain.uniform_agreement,
        "causal_order": plain.causal_order,
    },
    "TotalOrderBroadcast": {
        **BROADCAST,
        "agreement": plain.agreement,
        "total_order": plain.total_order,
        "global_order": plain.global_order,
    },
    "UniformTotalOrderBroadcast": {
        "uniform_total_order": plain.uniform_total_order,
        "global_order": plain.global_order,
    },
    "PrefixTotalOrderBroadcast": {"prefix_order": plain.prefix_order},
    "Queue": {
        "no_creation": plain.requested_by_some,
        "queue_delivery": plain.queue_delivery,
        "single_delivery": plain.single_delivery,
    },
    "MessageConsensus": {
        "termination": plain.termination,
        "consensus_validity": plain.requested_by_some,
        "consensus_integrity": plain.consensus_integrity,
        "consensus_agreement": plain.consensus_agreement,
        "uniform_consensus_agreement": plain.uniform_consensus_agreement,
    },
    "ReplicatedLog": {
        "log_validity": plain.requested_by_some,
        "log_agreement": plain.log_agreement,
        "log_without_gaps": plain.log_without_gaps,
        "log_progress": plain.log_progress,
        "no_lost_writes": plain.no_lost_writes,
        "appends_in_order": plain.appends_in_order,
    },
}
UNNAMED = ("Queue", "MessageConsensus", "ReplicatedLog")
"""Interfaces whose indications name no sender."""
ONCE = [
    f"{times} over {over}"
    for times in ("at_most_once", "at_least_once", "exactly_once")
    for over in ("deliveries", "processings", "effects")
]


def found_by_audit(
    runs: list[plain.Run],
    interface: str,
    folder: Path,
    over: tuple[str, ...] = (),
    cluster: Cluster | None = None,
) -> dict[tuple[str, str], str]:
    """What the audit says of each property in each run: the worst of its findings."""
    manifest = folder / "manifest.toml"
    manifest.write_text(MANIFEST, encoding="utf-8")
    request = Request(
        (str(write_runs(runs, folder)),),
        interface,
        over,
        manifest=read_manifest(str(manifest)),
        grace=Grace(rows=runs[0].grace),
    )
    found: dict[tuple[str, str], list[str]] = {}
    for row in audit(request, cluster=cluster).violations.to_pylist():
        found.setdefault((row["property"], row["run"]), []).append(row["verdict"])
    return {key: plain.worst(words) for key, words in found.items()}


def compare(interface: str, number: int, seed: int, folder: Path) -> dict[str, int]:
    """Compares ``number`` runs, and returns how often each word was said."""
    draw = random.Random(f"{interface} {seed}")
    named = interface not in UNNAMED and seed % 2 == 0
    grace = (0, 0, 2)[seed % 3]
    offsets = interface == "ReplicatedLog"
    runs = [random_run(draw, named, grace, offsets) for _ in range(number)]
    once = ONCE if interface == "Queue" else []
    found = found_by_audit(runs, interface, folder, tuple(once))
    definitions = dict(INTERFACES[interface])
    definitions |= {name: plain.once(*name.split(" over ")) for name in once}
    said: dict[str, int] = {}
    for number, run in enumerate(runs):
        for name, define in definitions.items():
            expected = define(run)
            got = found.get((name, f"r{number}"), "")
            if name == "causal_order" and not run.whole and got == plain.UNKNOWN:
                got = expected or got  # chains through what is in a gap are not followed
            assert got == expected, (name, number, run)
            said[f"{name} {expected}"] = said.get(f"{name} {expected}", 0) + 1
    return said


@pytest.mark.every
@pytest.mark.parametrize("interface", INTERFACES)
def test_plans_are_the_definitions(interface: str, tmp_path: Path) -> None:
    said: dict[str, int] = {}
    for seed in range(3):
        for key, times in compare(interface, 150, seed, tmp_path).items():
            said[key] = said.get(key, 0) + times
    for name in INTERFACES[interface]:
        assert said.get(f"{name} violated") and said.get(f"{name} "), (name, said)


@pytest.mark.parametrize("interface", INTERFACES)
def test_plans_are_the_definitions_slice_by_slice(
    interface: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As logs are worked on that are larger than memory has room for."""
    monkeypatch.setattr(arrow_engine, "WHOLE", 0)
    monkeypatch.setattr(arrow_slices, "ROWS", 50)
    compare(interface, 60, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("interface", INTERFACES)
def test_plans_are_the_definitions_on_many_logs(interface: str, tmp_path: Path) -> None:
    for seed in range(3, 15):
        compare(interface, 1000, seed, tmp_path)
