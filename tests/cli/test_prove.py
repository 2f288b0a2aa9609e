"""``prove``, and what ``check``, ``show`` and ``test`` make of checks about all sizes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import checker
from checker.cli.main import main
from checker.resources import specs
from checker.results.proof import Proof
from checker.results.verdict import PropertyVerdict, Report, Word
from tests.documents import only_report, validator

Out = pytest.CaptureFixture[str]

SPEC = """
protocol Counters(limit: Nat = 9) {
  state seen : 0..9 = 0
  state told : 0..9 = 0
  upon condition seen < 4 { seen := seen + 1 }
  upon condition told < seen { told := told + 1 }
  property known "Nobody tells more than there is." : always forall p in Proc: p.told <= p.seen
  property small : always forall p in Proc: p.told <= 2
  property ends : eventually forall p in Proc: p.told == 4
  invariant within : forall p in Proc: p.seen <= 4
}
check one of Counters { n = 1  prove known }
check wrong of Counters { n = 1  expect known holds  expect small violated }
check live of Counters { n = 1  prove ends }
check every of Counters { for all n, f when n > 2 * f  prove known }
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "100")
    path = tmp_path / "counters.bcast"
    path.write_text(SPEC, encoding="utf-8")
    return str(path)


# ---- finite systems ---------------------------------------------------------------------------


def test_a_finite_system_is_proved_at_every_depth(spec: str, tmp_path: Path, capsys: Out) -> None:
    certificate, report = tmp_path / "known.smt2", tmp_path / "report.json"
    words = ["--certificate", str(certificate), "--json", str(report)]
    assert main(["prove", f"{spec}::one", *words]) == 0
    said = capsys.readouterr().out
    assert "PROVED for n=1" in said and "distinct states" not in said
    assert certificate.read_text().count("(check-sat)") >= 1
    document = only_report(report.read_text())
    found = {v["property"]: v["verdict"] for v in document["verdicts"]}
    assert found["known"] == found["within"] == "proved"
    assert all(v["certificate"] for v in document["verdicts"])
    assert document["proof"]["scope"] == ""
    validator("report", "report").validate(document)


def test_what_is_violated_has_a_run(spec: str, tmp_path: Path, capsys: Out) -> None:
    trace = tmp_path / "run.json"
    assert main(["prove", f"{spec}::wrong", "--trace-out", str(trace)]) == 0
    assert "VIOLATED" in capsys.readouterr().out
    assert main(["replay", str(trace)]) == 1


def test_whole_runs_are_left_unknown_and_not_left_out(spec: str, capsys: Out) -> None:
    assert main(["prove", f"{spec}::live", "-q"]) == 3
    assert "UNKNOWN" in capsys.readouterr().out


def test_runs_of_so_many_steps(spec: str, capsys: Out) -> None:
    """Six steps are the fewest after which a process has told three: it has seen three before."""
    words = ["check", f"{spec}::wrong", "--engine", "symbolic", "-q", "--depth"]
    assert main([*words, "5"]) == 3
    said = capsys.readouterr().out
    assert "HOLDS UP TO 5" in said and "all runs of up to 5 steps" in said
    assert main([*words, "6"]) == 3  # what is expected to hold is not known to
    said = capsys.readouterr().out
    assert "VIOLATED" in said and "HOLDS UP TO 6" in said


# ---- what makes no sense ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["::one", "--depth", "-1"], "--depth"),
        (["::one", "--depth", "100000000"], "--depth"),
        (["::one", "--budget", "0"], "--budget"),
        (["::one", "--query-timeout", "0"], "--query-timeout"),
        (["::one", "--method", "magic"], "--method"),
        (["::one", "--synthesize"], "--all-n"),
        (["::one", "--all-n", "--set", "n=4"], "leave out `--set n=4`"),
        (["::one", "--all-n", "--certificate", "c"], "finite systems"),
        (["::every", "--depth", "3"], "finite systems"),
        (["", "--certificate", "c"], "one check"),
        (["::none"], "no check `none`"),
        (["::every", "--set", "limits=3"], "no parameter `limits`"),
        (["::every", "--set", "limit=many"], "needs a number"),
    ],
)
def test_what_makes_no_sense_is_refused(
    spec: str, words: list[str], said: str, capsys: Out
) -> None:
    assert main(["prove", spec + words[0], *words[1:]]) == 2
    assert said in capsys.readouterr().err


def test_formulas_are_not_unrolled_for_ever(spec: str, capsys: Out) -> None:
    words = ["check", f"{spec}::one", "--engine", "symbolic", "--depth", "100000000"]
    assert main(words) == 2
    assert "is too large" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["prove", "::one"],
        ["prove", "::every"],
        ["check", "::every"],
        ["check", "::one", "--engine", "symbolic"],
    ],
)
def test_without_z3_it_is_said_how_to_get_it(
    spec: str, words: list[str], capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    assert main([words[0], spec + words[1], *words[2:]]) == 2
    said = capsys.readouterr().err
    assert "E041" in said and "pip install z3-solver" in said


# ---- all sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--checkpoint", "--states-out"])
def test_there_are_no_states_to_keep(spec: str, option: str, tmp_path: Path, capsys: Out) -> None:
    assert main(["check", f"{spec}::every", option, str(tmp_path / "kept")]) == 2
    said = capsys.readouterr().err
    assert "E007" in said and option in said
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("command", ["explore", "simulate"])
def test_there_is_nothing_to_step_through(spec: str, command: str, capsys: Out) -> None:
    assert main([command, f"{spec}::every"]) == 2
    said = capsys.readouterr().err
    assert "C205" in said and "--set n=… --set f=…" in said


def test_some_sizes_are_not_all_that_are_needed(spec: str, capsys: Out) -> None:
    assert main(["check", f"{spec}::every", "--set", "n=3"]) == 2
    assert "C205" in capsys.readouterr().err


def test_with_sizes_it_is_explored_or_proved_as_any_other(spec: str, capsys: Out) -> None:
    sizes = ["--set", "n=1", "--set", "f=0"]
    assert main(["check", f"{spec}::every", *sizes]) == 0
    assert "exhaustive for n=1, f=0" in capsys.readouterr().out
    assert main(["prove", f"{spec}::every", *sizes]) == 0
    assert "PROVED for n=1, f=0" in capsys.readouterr().out


def test_what_it_asks_is_shown(spec: str, capsys: Out) -> None:
    assert main(["show", f"{spec}::every"]) == 0
    said = capsys.readouterr().out
    assert "for every n, f with n > 2 * f" in said
    assert "known (expected: holds)\n    Nobody tells more than there is." in said


@pytest.fixture
def proving(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A stand-in for the proof: the names of the checks that it was asked about."""
    from checker.proving import dispatch_check

    asked: list[str] = []

    def proved(path: str, name: str | None, *rest: object, **how: object) -> Report:
        asked.append(str(name))
        verdict = PropertyVerdict("known", "", Word.PROVED, None, "for every n, f", queries=3)
        proof = Proof(scope="every n, f", queries=3)
        return Report(path, str(name), {}, "z3", False, (verdict,), exhaustive=True, proof=proof)

    monkeypatch.setattr(dispatch_check, "for_every_size", proved)
    return asked


def test_check_and_test_prove_it(spec: str, proving: list[str], capsys: Out) -> None:
    assert main(["check", f"{spec}::every"]) == 0
    assert "PROVED for every n, f" in capsys.readouterr().out
    assert main(["test", spec]) == 0
    said = capsys.readouterr().out
    assert "4 of 4 as expected" in said and "::every  (3 queries" in said
    assert proving == ["every", "every"]


def test_from_python_as_well(spec: str, proving: list[str]) -> None:
    assert checker.check(spec, "every").verdicts[0].word is Word.PROVED
    assert checker.check(spec, "every", settings={"n": 1, "f": 0}).verdicts[0].word is Word.HOLDS
    assert proving == ["every"]


def test_echo_is_proved_for_every_n(tmp_path: Path, capsys: Out) -> None:
    """The verdicts are those of Srikanth and Toueg 1987."""
    spec, out = str(specs() / "byzantine" / "echo.bcast"), tmp_path / "report.json"
    words = ["--no-tight", "-q", "--json", str(out)]
    assert main(["prove", f"{spec}::for_every_n", *words]) == 0
    document = only_report(out.read_text())
    assert {v["property"]: v["verdict"] for v in document["verdicts"]} == {
        "unforgeability": "proved",
        "correctness": "proved",
        "relay": "proved",
    }
    assert document["proof"]["scope"] == "every n, T, f with n > 3 * T and f <= T"
    validator("report", "report").validate(document)
    capsys.readouterr()


def test_its_automaton_is_shown_and_drawn(tmp_path: Path, capsys: Out) -> None:
    check = f"{specs() / 'byzantine' / 'echo.bcast'}::for_every_n"
    assert main(["show", check, "--automaton"]) == 0
    said = capsys.readouterr().out
    assert "n > 3 * T" in said and all(len(line) <= 100 for line in said.splitlines())
    picture = tmp_path / "echo.svg"
    assert main(["show", check, "--svg", str(picture)]) == 0
    assert picture.read_text().startswith("<svg")
    assert main(["show", check, "--automaton", "--system"]) == 2
