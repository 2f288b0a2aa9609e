"""The counts of distinct states that other checkers found, by both engines."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from checker.pipeline import Options, checks_in, run_check
from checker.resources import specs
from checker.witness.verdict import Report

FOLDER = specs() / "oracles"
TABLE: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "counts.toml").read_text(encoding="utf-8")
)
ROWS = TABLE["row"]
REACHED = TABLE["reached"]
LARGE = os.environ.get("BIVALENCE_LARGE") == "1"


def _name(row: dict[str, Any]) -> str:
    settings = "".join(f"-{k}={v}" for k, v in row.get("settings", {}).items())
    return f"{row['id']}-{Path(row['file']).stem}-{row['check']}{settings}"


def _run(row: dict[str, Any], engine: str) -> Report:
    options = Options(settings=row.get("settings", {}), engine=engine, reduce="none")
    return run_check(str(FOLDER / row["file"]), row["check"], options)


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_native(row: dict[str, Any]) -> None:
    if row.get("large") and not LARGE:
        pytest.skip("a benchmark: set BIVALENCE_LARGE=1")
    report = _run(row, "native")
    assert report.exhaustive
    assert report.distinct_states == row["states"]
    assert report.exit_code == 0


@pytest.mark.parametrize("row", [r for r in ROWS if not r.get("slow")], ids=_name)
def test_reference(row: dict[str, Any]) -> None:
    report = _run(row, "reference")
    assert report.exhaustive
    assert report.distinct_states == row["states"]
    assert report.exit_code == 0


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("row", REACHED, ids=_name)
def test_reached(row: dict[str, Any], engine: str) -> None:
    assert _run(row, engine).exit_code == 0


def test_the_table_names_every_check() -> None:
    listed = {(r["file"], r["check"]) for r in (*ROWS, *REACHED)}
    there = {(p.name, check) for p in FOLDER.glob("*.bcast") for check in checks_in(str(p))}
    assert there
    assert listed == there
