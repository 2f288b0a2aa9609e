"""Every budget, and Ctrl-C, binds in every phase of what is no search: formulas, proofs, walks,
sweeps, and reading a spec."""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.engines import budgets
from checker.engines.options import Options
from checker.engines.symbolic import prover
from checker.engines.symbolic.interruptible import interruptible
from checker.proving.finite import prove_check
from checker.proving.parametric import prove_every
from checker.resources import specs
from checker.results.answer import INTERRUPTED, Limits
from checker.results.verdict import Report
from checker.session.pipeline import open_check, run_check
from checker.simulate.simulation import WalkPlan, simulate
from tests.instantiate.limited import (
    LONG_HANDLER,
    MANY_STARTS,
    SHORT,
    SLOW,
    asked,
    for_ever,
    greedy,
    interrupting,
    soon,
    written,
)

Patch = pytest.MonkeyPatch

NO_TIME = "the time limit of 1 s was reached"
LARGE = str(specs() / "oracles" / "two_phase.bcast"), "eight"
VOTING = specs() / "for_every_n" / "naive_voting.bcast"
FOR_EVERY_N = """
check proved of NaiveVoting { for all n  links authenticated  prove agreement, validity }
check refuted of NaiveVoting { for all n  links authenticated  prove termination }
"""
HOW = ["time", "interrupt"]
BOTH = pytest.mark.parametrize("how", HOW)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: Patch) -> None:
    """Telling what was found takes little."""
    monkeypatch.setattr(budgets, "GRACE", 2.0)


def reasons(report: Report) -> str:
    return "; ".join(verdict.reason for verdict in report.verdicts)


# ---- formulas -------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("phase", ["scouting", "writing formulas", "asking"])
def test_formulas(how: str, phase: str, monkeypatch: Patch) -> None:
    if phase == "scouting":
        monkeypatch.setattr("checker.instantiate.capacity_estimation.estimate_capacities", for_ever)
    if phase == "writing formulas":
        monkeypatch.setattr("checker.engines.symbolic.bounded.Encoding", for_ever)
    limits = Limits(max_depth=500, timeout=1.0 if how == "time" else None)
    with soon(), interrupting(None if how == "time" else 2.0):
        report = run_check(*LARGE, Options(engine="symbolic", limits=limits, explain=1.0))
    assert report.exit_code == 3
    assert report.stopped == (NO_TIME if how == "time" else INTERRUPTED)


def test_memory_of_formulas(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(budgets, "BESIDE", 16 << 20)
    monkeypatch.setattr("checker.engines.symbolic.bounded.Encoding", greedy)
    with soon():
        report = asked(SHORT, tmp_path, "symbolic", memory=16 << 20)
    assert report.stopped == "the memory limit of 16,777,216 bytes was reached"


def test_what_asks_z3_is_told_until_it_hears() -> None:
    """Some answer to it would not end what they do; and nobody asks z3 while another does."""
    told: list[str] = []

    def work() -> None:
        for again in ("once", "twice"):
            try:
                for_ever()
            except KeyboardInterrupt:
                told.append(again)

    with (
        soon(),
        pytest.raises(budgets.BudgetExhausted),
        budgets.within(0.2),
        budgets.raising_when_exhausted(),
    ):
        interruptible(work)
    assert told == ["once", "twice"]


# ---- proofs ---------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("phase", SLOW)
def test_proofs_by_induction(how: str, phase: str, tmp_path: Path) -> None:
    """What can't be encoded as formulas is said to be so, if there is time for that."""
    path = written(SLOW[phase], tmp_path)
    with soon(), interrupting(None if how == "time" else 1.0):
        try:
            report = prove_check(path, "c", Options(), budget=1.0 if how == "time" else None)
        except SpecError as problem:
            assert how == "time" and "can't be encoded as formulas" in str(problem)
            return
    assert report.exit_code == 3
    assert ("1 s" if how == "time" else INTERRUPTED) in reasons(report)


PROVING = {
    "scouting": "checker.proving.finite.estimate_capacities",
    "instantiating": "checker.proving.finite.instantiate",
    "sampling": "checker.engines.symbolic.sampling._search",
    "writing formulas": "checker.engines.symbolic.prover.Encoding",
    "candidates": "checker.engines.symbolic.prover.candidates",
    "checking again": "checker.engines.symbolic.prover.audit",
}


@BOTH
@pytest.mark.parametrize("method", prover.METHODS)
def test_methods_of_proof(how: str, method: str) -> None:
    deep, budget = Options(limits=Limits(max_depth=500)), 2.0 if how == "time" else None
    with soon(), interrupting(None if how == "time" else 2.0):
        report = prove_check(*LARGE, deep, (method,), budget)
    assert report.exit_code == 3
    over = r"time limit of [\d.]+ s was reached"
    assert re.search(over if how == "time" else INTERRUPTED, reasons(report))


@BOTH
@pytest.mark.parametrize("phase", PROVING)
def test_phases_of_a_proof(how: str, phase: str, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(PROVING[phase], for_ever)
    path = written(SHORT, tmp_path)
    seconds = 10.0 if phase == "sampling" else 1.0  # of which samples have a tenth
    with soon(), interrupting(None if how == "time" else 2.0):
        report = prove_check(path, "c", Options(), budget=seconds if how == "time" else None)
    if phase == "sampling" and how == "time":
        assert report.exit_code == 0  # the rest goes on without samples
    else:
        assert report.exit_code == 3
        assert (NO_TIME if how == "time" else INTERRUPTED) in reasons(report)


def nothing_for_ever(*_: object) -> Iterator[str]:
    """What goes on forever before it gives anything."""
    for_ever()
    yield ""


FOR_ALL = {
    "extracting": "checker.proving.parametric.extraction",
    "counting": "checker.parametric.symbolic.decide.ParametricChecker",
    "asking": "checker.parametric.symbolic.decide.ParametricChecker._decide",
    "following": "checker.proving.parametric.refute",
    "weakening": "checker.proving.parametric.weaken_assumptions",
    "proposing": "checker.proving.parametric.conditions",
}


@BOTH
@pytest.mark.parametrize("phase", FOR_ALL)
def test_proofs_for_every_n(how: str, phase: str, tmp_path: Path, monkeypatch: Patch) -> None:
    last = phase in ("weakening", "proposing")
    monkeypatch.setattr(FOR_ALL[phase], nothing_for_ever if last else for_ever)
    path = written(VOTING.read_text() + FOR_EVERY_N, tmp_path)
    check = "refuted" if phase == "following" else "proved"
    options = Options(limits=Limits(timeout=2.0 if how == "time" else None))
    with soon(), interrupting(None if how == "time" else 2.0):
        report = prove_every(path, check, options, synthesize=True)
    assert report.stopped == ("the time limit of 2 s was reached" if how == "time" else INTERRUPTED)
    assert report.exit_code == (0 if last else 3)


# ---- walks ----------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("phase", SLOW)
def test_walks(how: str, phase: str, tmp_path: Path) -> None:
    opened = open_check(written(SLOW[phase], tmp_path), "c", Options())
    plan = WalkPlan(1, walks=10**9, timeout=1.0 if how == "time" else None)
    with soon(), interrupting(None if how == "time" else 1.0):
        walks = simulate(opened, plan)
    assert walks.stopped == (NO_TIME if how == "time" else INTERRUPTED)


# ---- sweeps ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [*HOW, "memory"])
def test_sweeps(how: str, tmp_path: Path) -> None:
    path, out = written(MANY_STARTS, tmp_path), tmp_path / "rows.json"
    words = {"time": ["--timeout", "1"], "memory": ["--memory", "8000000"]}.get(how, [])
    with soon(), interrupting(3.0 if how == "interrupt" else None):
        code = main(["sweep", path, "--grid", "n=3..4", "--json", str(out), "-q", *words])
    assert code == 3
    assert not multiprocessing.active_children()
    cells = json.loads(out.read_text())["cells"]
    status = {"time": "timeout", "memory": "memory", "interrupt": "not run"}[how]
    assert [cell["status"] for cell in cells] == [status, status]


# ---- reading --------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("command", ["check", "prove", "show", "simulate", "sweep"])
def test_reading(
    command: str, how: str, tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("checker.language.library.open_source", for_ever)
    path = written(LONG_HANDLER, tmp_path)
    words = [command, path]
    if command != "show":
        words += ["-q", *(["--grid", "n=1..2"] if command == "sweep" else [])]
    limit = "--budget" if command == "prove" else "--timeout"
    if how == "time":
        words += [limit, "1"]
    with soon(), interrupting(None if how == "time" else 1.0):
        assert main(words) == 3
    said = capsys.readouterr().err
    assert (NO_TIME if how == "time" else "interrupted") in said
    assert (f"{path} was not read completely" in said) is (how == "time")


@BOTH
@pytest.mark.parametrize("what", ["--system", "--fine-steps"])
def test_what_is_shown(
    what: str, how: str, tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("checker.instantiate.assemble.instantiate", for_ever)
    words = ["show", written(SHORT, tmp_path), what]
    if how == "time":
        words += ["--timeout", "1"]
    with soon(), interrupting(None if how == "time" else 1.0):
        assert main(words) == 3
    said = capsys.readouterr()
    assert (NO_TIME if how == "time" else "interrupted") in said.err
    assert not said.out


# ---- tables ---------------------------------------------------------------------------------


@BOTH
def test_tables(how: str, tmp_path: Path, monkeypatch: Patch) -> None:
    """They are written after the search, and take no verdict away."""
    monkeypatch.setattr("checker.engines.native.tables.tables.write_tables", for_ever)
    limits = Limits(timeout=1.0 if how == "time" else None)
    out, kept = str(tmp_path / "out"), str(tmp_path / "kept")
    options = Options(states_out=out, checkpoint=kept, limits=limits)
    with soon(), interrupting(None if how == "time" else 3.0):
        report = run_check(written(SHORT, tmp_path), "c", options)
    assert report.exhaustive and report.stopped is None
    why = NO_TIME if how == "time" else INTERRUPTED
    assert report.failed == (f"no tables were written: {why}",)
