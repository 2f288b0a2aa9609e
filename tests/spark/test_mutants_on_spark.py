"""Mutants and fillings are judged alike in one process, in two, and by tasks of Spark's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import resources
from checker.cli.main import main
from tests.mutate.test_mutate_command import WEAK

pytestmark = [pytest.mark.cluster, pytest.mark.slow]
WHERE = (["--jobs", "1"], ["--jobs", "2"], ["--master", "local[2]"])


def asked(command: str, spec: Path, out: Path, *words: str) -> Any:
    assert main([command, str(spec), "-q", "--json", str(out), *words]) == 0
    (report,) = json.loads(out.read_text("utf-8"))["reports"]
    return report


@pytest.mark.parametrize("kind", [(), ("--world",), ("--properties",)])
def test_mutants(kind: tuple[str, ...], shared_java: None, tmp_path: Path) -> None:
    spec = tmp_path / "counter.bcast"
    spec.write_text(WEAK, "utf-8")
    out = tmp_path / "out.json"
    tables = [asked("mutate", spec, out, *kind, *where)["mutants"] for where in WHERE]
    assert tables[0] == tables[1] == tables[2] != []


def test_fillings(shared_java: None, tmp_path: Path) -> None:
    """Which runs were replayed, and so which of several properties refutes, may differ."""
    spec = resources.specs().parent / "examples" / "holes" / "majority.bcast"
    tables = [
        {
            tuple(each["values"]): (each["fate"], each["messages"])
            for each in asked("fill", spec, tmp_path / "out.json", *where)["fillings"]
        }
        for where in WHERE
    ]
    assert tables[0] == tables[1] == tables[2]
    assert [fate for fate, _ in tables[0].values()].count("holds") == 2
