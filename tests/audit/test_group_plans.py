"""Plans of groups and transactions against plain definitions, on random logs."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from checker.audit import arrow_engine, arrow_slices
from checker.audit.audit import Request, audit
from checker.engines.cluster import Cluster
from tests.audit.brute_force import worst
from tests.audit.plain_groups import GROUPS, TRANSACTIONS, Log
from tests.audit.random_groups import Row, random_rows

INTERFACES = {"ConsumerGroup": GROUPS, "TransactionalLog": TRANSACTIONS}


def found_by_audit(
    logs: dict[str, list[Row]], interface: str, folder: Path, cluster: Cluster | None = None
) -> dict[tuple[str, str], str]:
    file = folder / "log.ndjson"
    lines = (json.dumps(row) + "\n" for rows in logs.values() for row in rows)
    file.write_text("".join(lines), encoding="utf-8")
    found: dict[tuple[str, str], list[str]] = {}
    for row in audit(Request((str(file),), interface), cluster=cluster).violations.to_pylist():
        found.setdefault((row["property"], row["run"]), []).append(row["verdict"])
    return {key: worst(words) for key, words in found.items()}


def random_logs(seed: int, number: int) -> dict[str, list[Row]]:
    draw = random.Random(seed)
    return {f"r{at}": random_rows(draw, f"r{at}") for at in range(number)}


def compare(interface: str, seed: int, number: int, folder: Path) -> dict[str, int]:
    logs = random_logs(seed, number)
    found = found_by_audit(logs, interface, folder)
    said: dict[str, int] = {}
    for name, rows in logs.items():
        log = Log(rows)
        for prop, define in INTERFACES[interface].items():
            expected = define(log)
            assert found.get((prop, name), "") == expected, (prop, name, rows)
            key = f"{prop} {expected}"
            said[key] = said.get(key, 0) + 1
    return said


@pytest.mark.every
@pytest.mark.parametrize("interface", INTERFACES)
def test_plans_are_the_definitions(interface: str, tmp_path: Path) -> None:
    said = compare(interface, 1, 400, tmp_path)
    for name in INTERFACES[interface]:
        assert said.get(f"{name} violated", 0) > 3 and said.get(f"{name} ", 0) > 30, (name, said)


@pytest.mark.parametrize("interface", INTERFACES)
def test_plans_are_the_definitions_slice_by_slice(
    interface: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_engine, "WHOLE", 0)
    monkeypatch.setattr(arrow_slices, "ROWS", 50)
    compare(interface, 2, 20, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("interface", INTERFACES)
def test_plans_are_the_definitions_on_many_logs(interface: str, tmp_path: Path) -> None:
    for seed in range(3, 11):
        compare(interface, seed, 1000, tmp_path)
