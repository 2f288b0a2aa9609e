"""Codes that only the command can meet: run-time errors, of files, and of options."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.diagnostics.codes import codes, page
from checker.results.verdict import Word

BLOCK = re.compile(r"```(\w+)\n(.*?)\n```", re.S)


def blocks(code: str) -> dict[str, str]:
    return dict(BLOCK.findall(page(code)))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("code", [c for c in codes() if c[0] == "R"])
def test_an_error_of_a_run_is_a_verdict_with_a_trace(code: str, engine: str) -> None:
    import checker

    Path("example.bcast").write_text(blocks(code)["bivalence"], encoding="utf-8")
    report = checker.check("example.bcast", engine=engine)
    assert [v.word for v in report.verdicts] == [Word.ERROR]
    verdict = report.verdicts[0]
    assert verdict.trace is not None
    assert code in verdict.reason
    assert "example.bcast:" in verdict.reason
    assert report.exit_code == 1


@pytest.mark.parametrize("code", [c for c in codes() if "console" in blocks(c)])
def test_the_command_says_what_the_page_says(
    code: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = blocks(code)
    if code == "E041":
        monkeypatch.setitem(sys.modules, "z3", None)
    if "bivalence" in parts:
        Path("example.bcast").write_text(parts["bivalence"], encoding="utf-8")
    command, _, expected = parts["console"].partition("\n")
    assert main(shlex.split(command.removeprefix("$ bivalence "))) == 2
    shown = capsys.readouterr().err.strip()
    assert shown == expected
    assert f"[{code}]" in shown


def test_an_unknown_engine_is_refused() -> None:
    import checker

    Path("example.bcast").write_text(blocks("E008")["bivalence"], encoding="utf-8")
    with pytest.raises(SpecError) as refused:
        checker.check("example.bcast", engine="quantum")
    assert [d.code for d in refused.value.diagnostics] == ["E008"]


def test_what_only_the_command_can_meet_is_tested_somewhere() -> None:
    """E005, E007 and E009 need a prepared trace or engine: see tests/results and tests/cli; what a
    cluster can lack is in tests/spark; E010, E013 and E015 need a run: see tests/native; E017
    needs a folder, E040 a scenario, E042 a package and E044 a trace: see tests/cli; E07 and E08
    need a log: see tests/conform and tests/audit; E09 and E10 a log or a history: see
    tests/histories, tests/logs and tests/audit; E12 a file beside a spec: see tests/mutate."""
    elsewhere = {"E005", "E007", "E008", "E009", "E010", "E013", "E015", "E017"}
    elsewhere |= {"E040", "E042", "E044", "E125", "E126", "E158"} | {
        code for code in codes() if code[:3] in ("E07", "E08", "E09", "E10")
    }
    elsewhere |= {"E113", "E114", *(f"E{number}" for number in range(135, 140))}  # tests/harness
    elsewhere |= {"E145", "E128"}  # tests/harness, and notebooks: tests/examples
    elsewhere.add("E130")  # an installation without Arrow: tests/cli
    elsewhere.add("E131")  # a cluster of our own: tests/spark
    elsewhere |= {"E110", "E111", "E112"}  # monitors, and lines that are one step: tests/conform
    elsewhere |= {code for code in codes() if code.startswith("E02")}
    elsewhere |= {f"E{number}" for number in range(117, 125)}  # automata: see tests/parametric
    elsewhere |= {f"E{number}" for number in range(165, 169)}  # tests/assist
    elsewhere.add("E068")  # the reason of a verdict: see tests/chance
    shown = {c for c in codes() if c[0] == "E" and ({"console", "text"} & set(blocks(c)))}
    assert {c for c in codes() if c[0] == "E"} - shown <= elsewhere
