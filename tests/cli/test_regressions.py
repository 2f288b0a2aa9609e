"""Scenarios of a check: run by ``check``, replayed by name, made from traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.cli.named_scenarios import scenario_name
from tests.documents import only_report

EAGER = Path("specs/broadcast/eager_reliable.bcast")
Out = pytest.CaptureFixture[str]


def _broken(tmp_path: Path) -> str:
    text = EAGER.read_text().replace(
        "p2 receives COPY(DATA(p1, a)) from p1\n    p1 crashes", "p2 x"
    )
    file = tmp_path / "eager.bcast"
    file.write_text(text)
    return str(file)


def test_check_runs_them(capsys: Out) -> None:
    assert main(["check", f"{EAGER}::crash_one", "-q"]) == 0
    out = capsys.readouterr().out
    assert "scenario told_to_nobody: passed (3 steps)\n" in out
    assert "all as expected" in out


def test_one_that_is_not_as_told_fails_the_check(capsys: Out, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    name = f"{_broken(tmp_path)}::crash_one"
    assert main(["check", name, "-q", "--json", str(report)]) == 1
    out = capsys.readouterr().out
    assert "scenario told_to_one: FAILED, line 59, after 1 step: `p2 x` can't happen here\n" in out
    assert "NOT as expected" in out
    found = only_report(report.read_text())
    assert [scenario["met"] for scenario in found["scenarios"]] == [True, False]
    assert found["scenarios"][1]["possible"]
    assert found["exit_code"] == 1


def test_test_says_where_one_is_not_as_told(capsys: Out, tmp_path: Path) -> None:
    assert main(["test", _broken(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "scenario told_to_one, line 59: `p2 x` can't happen here\n" in out


def test_they_are_not_run_where_the_check_is_changed(capsys: Out) -> None:
    assert main(["check", f"{EAGER}::crash_one", "-q", "--set", "n=2"]) == 0
    assert "told_to_nobody" not in capsys.readouterr().out


def test_one_is_replayed_by_its_name(capsys: Out, tmp_path: Path) -> None:
    assert main(["replay", f"{EAGER}::crash_one::told_to_one"]) == 0
    assert capsys.readouterr().out.endswith("\ntold_to_one: passed\n")
    assert main(["replay", f"{_broken(tmp_path)}::crash_one::told_to_one"]) == 1
    assert "`p2 x` can't happen here" in capsys.readouterr().out
    assert main(["replay", f"{EAGER}::crash_one::nobody"]) == 2
    assert "has no scenario nobody" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/the_sender_dies.scenario", "the_sender_dies"),
        ("it-dies.scenario", "it_dies"),
        ("none.scenario", "run_none"),
        ("7.scenario", "run_7"),
        ("é.scenario", "run"),
    ],
)
def test_a_scenario_is_called_as_its_file(file: str, name: str) -> None:
    assert scenario_name(file) == name


def test_a_trace_becomes_one(capsys: Out, tmp_path: Path) -> None:
    trace = str(tmp_path / "trace.json")
    assert main(["check", f"{EAGER}::crash_one", "-q", "--trace-out", trace]) == 0
    capsys.readouterr()
    assert main(["scenario", trace, "--name", "again"]) == 0
    assert capsys.readouterr().out == (
        "scenario again {\n"
        "  p1 broadcasts a\n"
        "  p1 receives COPY(DATA(p1, a)) from p1\n"
        "  p1 crashes\n"
        "  then uniform_agreement violated\n"
        "}\n"
    )
    file = str(tmp_path / "again.scenario")
    assert main(["scenario", trace, "-o", file]) == 0
    assert main(["replay", file]) == 0
