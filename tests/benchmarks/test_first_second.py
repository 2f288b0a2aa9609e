"""The benchmark of small checks: what it takes for an answer, and what it prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import first_second
from benchmarks.comparing import WrongAnswer
from benchmarks.tables import number

PRINTS = (sys.executable, "-c", "import time; print('7 states;', time.time(), 's')")


def test_a_failure_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WrongAnswer, match="exit code 3"):
        first_second.run((sys.executable, "-c", "raise SystemExit(3)"), tmp_path, str(tmp_path))


def test_times_are_not_compared(tmp_path: Path) -> None:
    printed = {first_second.run(PRINTS, tmp_path, str(tmp_path)).printed for _ in range(2)}
    assert printed == {"7 states; … s\n"}


def test_other_reports_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = iter(range(100))
    monkeypatch.setattr(
        first_second, "of_case", lambda *_: first_second.Run(1.0, str(next(reports)))
    )
    with pytest.raises(WrongAnswer, match="different reports"):
        first_second.measured([Path.cwd(), Path.cwd()], 1)


def test_the_table_has_a_row_for_each_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_second, "measured", lambda *_: (1.0, [[2.5]] * 4))
    shown = CliRunner().invoke(first_second.main, ["--turns", "1"])
    ratio = number(2.5)
    assert shown.exit_code == 0 and shown.output.count(ratio) == 2 * len(first_second.CASES)
