"""``bivalence explore --from TRACE@STEP``, and what else could have happened."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.cli.main import main

SPEC = Path("specs/broadcast/eager_reliable.bcast")
Said = Callable[..., str]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of a spec in a folder of its own, which violates uniform agreement in three steps."""
    folder = tmp_path_factory.mktemp("from")
    spec = folder / "eager.bcast"
    spec.write_text(SPEC.read_text(encoding="utf-8"), encoding="utf-8")
    file = folder / "run.json"
    assert main(["check", f"{spec}::crash_one", "--trace-out", str(file)]) == 0
    return file


@pytest.fixture
def explore(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs the command with these lines as its input, and returns what it says."""

    def said(position: str, *lines: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["explore", "--from", position, "--no-diagram"]) == 0
        return capsys.readouterr().out

    return said


def test_it_goes_on_from_a_step(explore: Said, trace: Path) -> None:
    document = json.loads(trace.read_text())
    headlines = [step["headline"] for step in document["steps"]]
    out = explore(f"{trace}@1", "alternatives", "redo", "undo", "undo")
    assert "    0  the run starts  (" in out
    assert "    1  p1 broadcasts a  (3 alternatives)\n" in out
    assert "    2  " not in out.partition("> redo")[0].partition("> alternatives")[2]
    assert "step 2: p1 receives COPY(DATA(p1, a)) from p1\n" in out
    assert "undone: p1 broadcasts a\n" in out
    assert headlines[2] in out


def test_without_a_step_it_is_the_end(explore: Said, trace: Path) -> None:
    out = explore(str(trace), "q")
    assert "VIOLATED if it ends here: uniform_agreement\n" in out
    last = len(json.loads(trace.read_text())["steps"]) - 1
    assert explore(f"{trace}@{last}", "q") == out


def test_alternatives_say_what_they_bring_about(explore: Said, trace: Path) -> None:
    out = explore(f"{trace}@2", "alternatives 2", "instead 2 p2 receives COPY", "alternatives 1")
    assert "instead of step 2, p1 receives COPY(DATA(p1, a)) from p1:\n" in out
    listed = out.partition("instead of step 2")[2].partition("> instead")[0]
    assert "p2 receives COPY(DATA(p1, a)) from p1\n         p2 indicates deliver(p1, a)\n" in listed
    assert "         seen of p2: {} → {(p1, a)}\n" in listed
    assert "step 2: p2 receives COPY(DATA(p1, a)) from p1\n" in out
    assert "instead of step 1, p1 broadcasts a:\n    1  p1 crashes\n    2  p2 crashes\n" in out


def test_alternatives_are_taken_by_number_and_undone(explore: Said, trace: Path) -> None:
    out = explore(f"{trace}@3", "instead 1 2", "undo", "redo", "why not p1 crashes")
    assert out.count("step 1: p2 crashes\n") == 2
    assert "the fault budget is used up (at most 1 process crashed: p2)\n" in out


def test_what_can_not_be_taken_is_said(explore: Said, trace: Path) -> None:
    out = explore(
        f"{trace}@1", "alternatives 7", "alternatives x", "instead", "instead 1", "instead 1 99",
        "instead 9 1", "instead 1 p1 recovers", "alternatives 0",
    )  # fmt: skip
    assert "the run has no step 7: it has steps 0 to 1\n" in out
    assert "the run has no step x: it has steps 0 to 1\n" in out
    assert out.count("`instead` needs a step and an alternative, such as `instead 2 1`\n") == 2
    assert "there are 3 alternatives to step 1\n" in out
    assert "`p1 recovers` can't happen here" in out
    assert "no other step was possible\n" in out


@pytest.mark.parametrize("step", ["99", "-1", "last"])
def test_a_step_that_is_not_there(
    step: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["explore", "--from", f"{trace}@{step}"]) == 2
    told = capsys.readouterr().err
    assert f"error[E044]: {trace} has no step `{step}`\n" in told
    assert "expected: a number from 0 to 3\n" in told


@pytest.mark.parametrize(
    "given",
    [(), ("--from", "run.json", "x.bcast"), ("--from", "run.json", "--set", "n=4"),
     ("--from", "run.json", "--fine-steps"), ("--from", "run.json", "--scenario", "x")],
)  # fmt: skip
def test_a_run_or_a_check(given: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", *given]) == 2
    assert "--from TRACE@STEP" in capsys.readouterr().err


def test_a_trace_that_the_spec_does_not_follow(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(trace.read_text())
    spec = tmp_path / "changed.bcast"
    text = SPEC.read_text(encoding="utf-8")
    spec.write_text(text.replace("crash <= 1", "crash <= 0"), encoding="utf-8")
    document["file"] = str(spec)
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document))
    capsys.readouterr()
    assert main(["explore", "--from", f"{other}@1"]) == 2
    assert "error[E009]" in capsys.readouterr().err


@pytest.mark.parametrize("options", [("--fine-steps",), ("--set", "n=4")])
def test_settings_of_the_trace_are_those_of_the_session(
    options: tuple[str, ...], tmp_path: Path, explore: Said
) -> None:
    file = tmp_path / "run.json"
    main(["check", f"{SPEC}::crash_one", *options, "--trace-out", str(file)])
    out = explore(f"{file}@1", "alternatives 1", f"save {tmp_path}/again")
    assert "instead of step 1, " in out
    saved = (tmp_path / "again.scenario").read_text()
    assert ("fine steps" in saved) == ("--fine-steps" in options)
    assert ("set n = 4" in saved) == ("--set" in options)


def test_a_lasso_goes_on_behind_its_cycle(tmp_path: Path, explore: Said) -> None:
    file = tmp_path / "run.json"
    main(["check", "specs/consensus/ben_or.bcast::unlucky_coins", "--trace-out", str(file)])
    document = json.loads(file.read_text())
    assert document["closing"] is not None
    last = len(document["steps"])
    assert f"\n  {last:>3}  p" in explore(str(file), "alternatives")
