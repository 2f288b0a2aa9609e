"""``bivalence simulate``: found, or unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import main

EAGER = "specs/broadcast/eager_reliable.bcast::crash_one"
Out = pytest.CaptureFixture[str]


def test_nothing_found_is_unknown(capsys: Out) -> None:
    assert main(["simulate", EAGER, "--runs", "20", "--seed", "7", "--only", "agreement"]) == 3
    out = capsys.readouterr().out
    assert "20 walks" in out
    assert "seed 7" in out
    assert "UNKNOWN: nothing was found in 20 walks" in out
    assert "HOLDS" not in out
    assert "Coverage: 4 of 4 handlers" in out


def test_a_violation_is_shown_and_written(capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    arguments = ["simulate", EAGER, "--seed", "3", "--trace-out", str(file)]
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert "uniform_agreement is violated" in out
    assert "of seed 3)" in " ".join(out.split())
    assert "uniform_agreement: VIOLATED" in out
    assert json.loads(file.read_text())["verdict"] == "violated"
    assert main(["replay", str(file)]) == 1
    capsys.readouterr()
    assert main(arguments) == 1
    assert capsys.readouterr().out.split("seed 3")[1:] == out.split("seed 3")[1:]


def test_a_seed_is_drawn_and_told(capsys: Out) -> None:
    assert main(["simulate", EAGER, "--runs", "1", "--steps", "2", "--only", "agreement"]) == 3
    assert "; seed " in capsys.readouterr().out


def test_no_trace_where_nothing_is_found(capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    arguments = ["--runs", "2", "--only", "agreement", "--trace-out", str(file), "-q"]
    assert main(["simulate", EAGER, *arguments]) == 3
    assert "no trace was written" in capsys.readouterr().err
    assert not file.exists()


def test_a_property_that_is_not_asked(capsys: Out) -> None:
    assert main(["simulate", EAGER, "--only", "peace"]) == 2
    assert "not for peace" in capsys.readouterr().err


def test_ends_are_not_counted_where_only_safety_is_looked_at(capsys: Out) -> None:
    arguments = ["simulate", EAGER, "--runs", "5", "--seed", "7", "--only"]
    assert main([*arguments, "no_duplication"]) == 3
    assert "stayed forever" not in capsys.readouterr().out
    assert main([*arguments, "validity"]) == 3
    assert "stayed forever" in capsys.readouterr().out
