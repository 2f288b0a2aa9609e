"""The benchmark against other checkers: counts are asserted, who is missing is named."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import comparing, contestants, run
from benchmarks.cases import CASES, USUAL, Case
from benchmarks.comparing import WrongAnswer
from benchmarks.contestants import CONTESTANTS, PEERS, Contestant, Sample, Who
from benchmarks.measure import COMPILER, ProcessFailed, Stopwatch
from checker.records import replace

pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no C compiler")

QUICK = [case for case in CASES.values() if case.quick]


def sample(states: int = 100, search: float = 1.0, **more: object) -> Sample:
    whole = {"depth": None, "whole": search, "peak": 1_000, "stored": 400}
    return Sample(states=states, search=search, **{**whole, **more})  # type: ignore[arg-type]


@pytest.fixture
def stopwatch(tmp_path: Path) -> Stopwatch:
    folder = tmp_path / "measure"
    folder.mkdir()
    return Stopwatch(folder)


@pytest.mark.peers
@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
@pytest.mark.parametrize("who", [Who.C, Who.SPIN, Who.COLLAPSE, Who.RUMUR])
def test_peers_find_all_states(case: Case, who: Who, stopwatch: Stopwatch, tmp_path: Path) -> None:
    reason = CONTESTANTS[who].missing(case)
    if reason is not None:
        pytest.skip(reason)
    found = comparing.measured(case, [who], 1, stopwatch, tmp_path)
    assert [s.states for s in found[who]] == [case.states]


@pytest.mark.peers
def test_symmetry_finds_the_orbits(stopwatch: Stopwatch, tmp_path: Path) -> None:
    case = CASES["two_phase_5"]
    who = Who.RUMUR_SYMMETRY
    reason = CONTESTANTS[who].missing(case)
    if reason is not None:
        pytest.skip(reason)
    assert comparing.measured(case, [who], 1, stopwatch, tmp_path)[who][0].states == 314


@pytest.mark.slow
def test_ours_finds_all_states(stopwatch: Stopwatch, tmp_path: Path) -> None:
    case = CASES["two_phase_5"]
    found = comparing.measured(case, [Who.OURS, Who.C], 1, stopwatch, tmp_path)
    (ours,), (c,) = found[Who.OURS], found[Who.C]
    assert ours.states == c.states == 8_832
    assert ours.depth == c.depth
    assert ours.used == ()


def playing(monkeypatch: pytest.MonkeyPatch, who: Who, found: Sample) -> None:
    play = Contestant(lambda case, stopwatch, folder: found, None, None)
    monkeypatch.setattr(comparing, "CONTESTANTS", {**CONTESTANTS, who: play})


@pytest.mark.parametrize(
    ("who", "found"),
    [
        (Who.SPIN, sample(99)),
        (Who.OURS, sample(101)),
        (Who.OURS_AUTO, sample(101, used=("por",))),
        (Who.OURS_AUTO, sample(0, used=("por",))),
        (Who.OURS_AUTO, sample(99)),
        (Who.OURS_SYMMETRY, sample(12, used=("symmetry",))),
    ],
)
def test_a_wrong_number_is_an_error(
    who: Who, found: Sample, monkeypatch: pytest.MonkeyPatch, stopwatch: Stopwatch, tmp_path: Path
) -> None:
    case = replace(CASES["two_phase_5"], states=100, orbits=10)
    playing(monkeypatch, who, found)
    with pytest.raises(WrongAnswer):
        comparing.measured(case, [who], 1, stopwatch, tmp_path)


def test_another_depth_is_an_error(
    monkeypatch: pytest.MonkeyPatch, stopwatch: Stopwatch, tmp_path: Path
) -> None:
    case = replace(CASES["two_phase_5"], states=100)
    plays = {
        who: Contestant(lambda case, stopwatch, folder, d=depth: sample(depth=d), None, None)
        for who, depth in ((Who.OURS, 3), (Who.C, 4))
    }
    monkeypatch.setattr(comparing, "CONTESTANTS", plays)
    with pytest.raises(WrongAnswer, match="depths differ"):
        comparing.measured(case, list(plays), 1, stopwatch, tmp_path)


def test_who_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    said: list[str] = []
    case = CASES["paxos_1_2"]
    assert comparing.taking_part(case, list(Who), said.append) == []
    assert "  SPIN skipped: spin is not installed" in said
    assert "  C skipped: there is no peers/paxos.c" in said


def test_a_process_that_fails_is_an_error(stopwatch: Stopwatch, tmp_path: Path) -> None:
    with pytest.raises(ProcessFailed, match="status 3"):
        stopwatch.run(["sh", "-c", "exit 3"], tmp_path)
    done = stopwatch.run(["sh", "-c", "echo $WORD; exit 3"], tmp_path, (3,), {"WORD": "yes"})
    assert (done.status, done.output) == (3, "yes\n")


def test_ratios_are_geometric_means() -> None:
    rows = {
        f"case_{i}": {
            Who.OURS: sample(search=1.0),
            Who.SPIN: sample(search=spin),
            Who.RUMUR: sample(search=32.0),
            Who.COLLAPSE: sample(stored=800),
        }
        for i, spin in enumerate((2.0, 8.0))
    }
    rows["alone"] = {Who.OURS: sample(), Who.SPIN: sample(search=1_000.0)}
    found = {ratio.what: ratio for ratio in comparing.ratios(rows)}
    spin = found["states a second over SPIN's"]
    assert (round(spin.mean, 9), spin.cases) == (4.0, 2)
    assert round(found["states a second over Rumur's"].mean, 9) == 32.0
    assert found["SPIN COLLAPSE's bytes a state over ours"].mean == pytest.approx(2.0)


def test_every_case_has_its_files() -> None:
    assert set(USUAL) <= set(CASES)
    for case in CASES.values():
        for end in (".pml", ".m"):
            assert (PEERS / f"{case.model}{end}").is_file()
        file, _, check = case.spec.partition("::")
        assert f"check {check} of" in (contestants.ROOT / file).read_text()
        constants = (PEERS / f"{case.model}.m").read_text()
        assert all(f"  {name}: " in constants for name in case.given())


def test_a_copy_expects_no_number_of_states(tmp_path: Path) -> None:
    spec = contestants.counted("specs/oracles/two_phase.bcast::five", tmp_path)
    assert spec == f"{tmp_path}/two_phase.bcast::five"
    text = (tmp_path / "two_phase.bcast").read_text()
    assert "expect states" not in text and "expect consistent holds" in text
    same = "specs/byzantine/bracha.bcast::four"
    assert contestants.counted(same, tmp_path) == same


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plays = {who: Contestant(partial(_as_asked, who), None, None) for who in Who}
    monkeypatch.setattr(comparing, "CONTESTANTS", plays)
    target, page = tmp_path / "found.json", tmp_path / "page.md"
    page.write_text("before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n")
    options = ["--only", "two_phase_5", "--part", "peers", "--repeat", "1"]
    monkeypatch.setattr(run, "smallest", lambda repeat, stopwatch: None)
    done = CliRunner().invoke(run.main, [*options, "--json", str(target), "--markdown", str(page)])
    assert done.exit_code == 0, done.output
    document = json.loads(target.read_text())
    assert document["cases"]["two_phase_5"]["SPIN"]["states"] == 8_832
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| SPIN | 8,832 |" in text and "states a second over SPIN's" in text


def _as_asked(who: Who, case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    return sample(case.states)


def test_an_error_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Contestant(lambda case, stopwatch, folder: sample(7), None, None)
    monkeypatch.setattr(comparing, "CONTESTANTS", {**CONTESTANTS, Who.COLLAPSE: wrong})
    monkeypatch.setattr(run, "smallest", lambda repeat, stopwatch: None)
    options = ["--only", "two_phase_5", "--with", "SPIN COLLAPSE", "--repeat", "1"]
    done = CliRunner().invoke(run.main, options)
    assert done.exit_code == 1
    assert "SPIN COLLAPSE found 7 states, not 8832" in done.output
