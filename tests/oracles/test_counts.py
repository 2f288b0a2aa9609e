"""The counts of distinct states that other checkers found, by both engines."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.resources import specs
from checker.results.verdict import Report
from checker.session.pipeline import Options, checks_in, run_check
from checker.session.published import read_numbers

FOLDER = specs() / "oracles"
TABLE: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "counts.toml").read_text(encoding="utf-8")
)
INTERPRETED, DEFAULT = 4_000, 2_000_000
"""Up to so many states the interpreter is asked, too, and the default run asks at all."""


def _published() -> Iterator[dict[str, Any]]:
    """Yields the rows of ``bivalence bench tla``."""
    for number in read_numbers(FOLDER / "tla.tsv"):
        if number.check and number.states is not None:
            path, _, check = number.check.partition("::")
            yield {
                "id": number.model, "file": Path(path).name, "check": check,
                "settings": number.settings, "states": number.states, "reduce": number.reduce,
                "slow": number.states > INTERPRETED or number.reduce != "none",
                "large": number.states > DEFAULT,
            }  # fmt: skip


ROWS = [*_published(), *TABLE["row"]]
REACHED = TABLE["reached"]


def _name(row: dict[str, Any]) -> str:
    settings = "".join(f"-{k}={v}" for k, v in row.get("settings", {}).items())
    reduced = f"-{row['reduce']}" if row.get("reduce", "none") != "none" else ""
    return (
        f"{row['id'].replace('/', '-')}-{Path(row['file']).stem}-{row['check']}{settings}{reduced}"
    )


def _run(row: dict[str, Any], engine: str) -> Report:
    reduce = row.get("reduce", "none")
    options = Options(settings=row.get("settings", {}), engine=engine, reduce=reduce)
    return run_check(str(FOLDER / row["file"]), row["check"], options)


@pytest.mark.every
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=_name(row), marks=[pytest.mark.slow] if row.get("large") else [])
        for row in ROWS
    ],
)
def test_native(row: dict[str, Any]) -> None:
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


@pytest.mark.parametrize("row", REACHED, ids=_name)
def test_reached(row: dict[str, Any]) -> None:
    assert _run(row, "native").exit_code == 0


@pytest.mark.parametrize("row", [r for r in REACHED if not r.get("slow")], ids=_name)
def test_reached_by_reference(row: dict[str, Any]) -> None:
    assert _run(row, "reference").exit_code == 0


def test_the_table_names_every_check() -> None:
    listed = {(r["file"], r["check"]) for r in (*ROWS, *REACHED)}
    there = {(p.name, check) for p in FOLDER.glob("*.bcast") for check in checks_in(str(p))}
    assert there
    assert listed == there
