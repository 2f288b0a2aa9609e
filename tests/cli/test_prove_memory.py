"""``prove --memory``: a proof that would take more is given up, and that is no verdict."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import z3

from checker.cli.main import main
from checker.engines import budgets
from checker.polling import poll
from tests.parametric.threshold_texts import BROADCAST

EVERY_N = "specs/byzantine/echo.bcast::for_every_n"
ONE_SIZE = "specs/oracles/two_phase.bcast::three"


@pytest.fixture
def automaton(tmp_path: Path) -> str:
    path = tmp_path / "broadcast.ta"
    path.write_text(BROADCAST, "utf-8")
    return str(path)


@pytest.mark.every
@pytest.mark.parametrize("what", [EVERY_N, ONE_SIZE, ""])
def test_memory_that_is_used_up_leaves_all_unknown(
    what: str,
    automaton: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first query of a proof takes more and more, and has no end."""
    used, check = [0], z3.Solver.check

    def greedy(solver: z3.Solver, *assumed: object) -> object:
        if used == [0]:
            used[0] = 1 << 40
            while True:
                poll()
                time.sleep(0.01)
        return check(solver, *assumed)

    monkeypatch.setattr(budgets, "resident", lambda with_files=False: used[0])
    monkeypatch.setattr(z3.Solver, "check", greedy)
    assert main(["prove", what or automaton, "--memory", "1M"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "the memory limit of 1,048,576 bytes was reached" in said
    assert "PROVED" not in said and "VIOLATED" not in said


def test_memory_that_is_used_up_by_reading_is_reported(
    automaton: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(budgets, "BESIDE", -(1 << 30))
    assert main(["prove", automaton, "--memory", "1M"]) == 3
    assert "the memory limit of 1,048,576 bytes was reached" in capsys.readouterr().err


@pytest.mark.every
@pytest.mark.parametrize("what", [EVERY_N, ""])
def test_enough_memory_changes_nothing(what: str, automaton: str) -> None:
    expected = 0 if what else 1
    assert main(["prove", what or automaton, "--memory", "4G"]) == expected
