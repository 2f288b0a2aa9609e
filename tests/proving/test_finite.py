"""``prove`` of finite checks: what is proved, refuted, open, and how that is said."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import z3

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.engines.symbolic.certificate import Stage, WrongCertificate
from checker.engines.symbolic.induction import induct
from checker.engines.symbolic.sampling import Samples, sample
from checker.engines.symbolic.solver_queries import QueryBudget
from checker.model.ir import TransitionSystem
from checker.proving import finite
from checker.proving.finite import prove_check
from checker.proving.parametric import prove_every
from checker.resources import specs
from checker.results.answer import INTERRUPTED, Limits, Progress
from checker.results.trace import ERRORS
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check

PLENTY = 300.0

TWOS = """
protocol Twos {
  shared state x : 0..100 = 0
  upon condition x < 60 { x := x + 2 }
  property never_odd : always x != 57
  property unmet : always (x == 57 => x == 3)
}
check plain of Twos { n = 1 prove never_odd }
check told of Twos { n = 1 prove never_odd invariant even : x mod 2 == 0 }
check hollow of Twos { n = 1 prove unmet }
check wrong of Twos { n = 1 prove never_odd invariant small : x <= 50 }
"""

CLIMB = """
protocol Climb {
  shared state x : 0..9 = 0
  upon condition x < 20 { x := x + 3 }
  property low : always x < 5
  property some_day : always eventually x == 6
  property unmet : always (x == 2 => x == 3)
}
check up of Climb { n = 1 prove low, some_day }
check idle of Climb { n = 1 prove unmet }
"""

LIBRARY = (
    ("oracles", "tcommit", "three"),
    ("oracles", "ab_correctness", "two_data"),
    ("oracles", "networks", "twice_fifo"),
    ("replication", "disks", "barrier"),
    ("replication", "disks", "panicked"),
    ("incidents", "offset_before_rows", "killed"),
)


def words(report: Report) -> dict[str, Word]:
    return {verdict.property: verdict.word for verdict in report.verdicts}


def reason(report: Report, name: str) -> str:
    return next(verdict.reason for verdict in report.verdicts if verdict.property == name)


@pytest.fixture
def twos(tmp_path: Path) -> str:
    (tmp_path / "twos.bcast").write_text(TWOS, encoding="utf-8")
    return str(tmp_path / "twos.bcast")


@pytest.fixture
def climb(tmp_path: Path) -> str:
    (tmp_path / "climb.bcast").write_text(CLIMB, encoding="utf-8")
    return str(tmp_path / "climb.bcast")


def one_step() -> Options:
    return Options(limits=Limits(max_depth=1))


@pytest.mark.parametrize(("folder", "file", "check"), LIBRARY)
def test_what_is_proved_of_the_library_holds(folder: str, file: str, check: str) -> None:
    path = str(specs() / folder / f"{file}.bcast")
    report = prove_check(path, check, Options(), budget=PLENTY)
    explored = words(run_check(path, check, Options()))
    found = words(report)
    assert found.pop(ERRORS) is Word.PROVED
    for name, word in found.items():
        if word is Word.PROVED:
            assert explored[name] is Word.HOLDS
        elif word is Word.VIOLATED:
            assert explored[name] is Word.VIOLATED
    assert Word.PROVED in found.values()


def test_what_is_violated_has_a_shortest_run(climb: str) -> None:
    report = prove_check(climb, "up", Options(), budget=PLENTY)
    verdict = report.verdicts[0]
    assert (verdict.property, verdict.word) == ("low", Word.VIOLATED)
    assert verdict.trace is not None
    assert verdict.trace.length == 2  # 0, 3, 6


def test_an_error_of_the_run_is_told(climb: str) -> None:
    report = prove_check(climb, "idle", Options(), budget=PLENTY)  # 0, 3, 6, 9, and 12 is too much
    assert words(report) == {"unmet": Word.ERROR}
    assert report.exit_code == 1


def test_questions_about_whole_runs_are_unknown(climb: str) -> None:
    report = prove_check(climb, "up", Options(), budget=PLENTY)
    assert words(report)["some_day"] in (Word.UNKNOWN, Word.ERROR)


def test_a_state_that_is_not_excluded_is_shown(twos: str) -> None:
    report = prove_check(twos, "plain", one_step(), ("induction",), PLENTY)
    assert words(report) == {"never_odd": Word.UNKNOWN, ERRORS: Word.PROVED}
    said = reason(report, "never_odd")
    assert "this state is not excluded: x = 55" in said
    assert "x becomes 57" in said
    assert "`invariant`" in said
    assert report.exit_code == 3


def test_a_lemma_of_the_spec_makes_the_proof(twos: str) -> None:
    report = prove_check(twos, "told", one_step(), ("induction",), PLENTY)
    assert set(words(report).values()) == {Word.PROVED}
    assert report.exit_code == 0
    assert "1-inductive" in reason(report, "never_odd")


def test_a_lemma_that_is_false_is_violated_and_helps_nobody(twos: str) -> None:
    report = prove_check(
        twos, "wrong", Options(limits=Limits(max_depth=30)), ("induction",), PLENTY
    )
    assert words(report)["small"] is Word.VIOLATED
    trace = report.verdicts[1].trace
    assert trace is not None
    assert trace.length == 26  # to 52, by twos
    assert words(report)["never_odd"] is Word.PROVED  # from 0 no odd number; 57 takes 28 steps back
    assert report.exit_code == 1


def test_the_certificate_is_a_file_for_any_solver(twos: str, tmp_path: Path) -> None:
    file = tmp_path / "proof.smt2"
    prove_check(twos, "told", Options(), budget=PLENTY, certificate=str(file))
    queries = file.read_text(encoding="utf-8").split("(reset)")[1:]
    assert queries
    for query in queries:
        solver = z3.Solver()
        solver.from_string(re.sub(r"\(check-sat\)|\(exit\)", "", query))
        assert solver.check() == z3.unsat


def test_a_certificate_that_can_not_be_written_is_told(twos: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "no" / "where.smt2")
    report = prove_check(twos, "told", Options(), budget=PLENTY, certificate=folder)
    assert any(folder in failed for failed in report.failed)
    assert report.exit_code == 2
    nothing = prove_check(twos, "told", Options(), budget=0.0, certificate=folder)
    assert any("nothing is proved" in failed for failed in nothing.failed)


def test_no_time_is_unknown_with_the_reason(twos: str) -> None:
    report = prove_check(twos, "told", Options(), budget=0.0)
    assert set(words(report).values()) == {Word.UNKNOWN}
    assert reason(report, "never_odd") == "the time limit of 0 s was reached"
    assert report.exit_code == 3


def test_a_proof_that_the_second_check_refutes_is_our_fault(
    twos: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from checker.engines.symbolic import prover

    real = induct

    def wrong(*args: object) -> object:
        came = real(*args)  # type: ignore[arg-type]
        for fact in tuple(came.open):
            came.stages.append(Stage((fact,), 1))
            del came.open[fact]
        return came

    monkeypatch.setattr(prover, "induct", wrong)
    with pytest.raises(WrongCertificate):
        prove_check(twos, "plain", one_step(), ("induction",), PLENTY)


def test_an_interrupt_keeps_what_is_known(twos: str) -> None:
    def interrupt(progress: Progress) -> None:
        if "induction" in progress.phase:
            raise KeyboardInterrupt

    report = prove_check(twos, "plain", Options(), ("induction",), PLENTY, interrupt)
    assert words(report)["never_odd"] is Word.UNKNOWN
    assert reason(report, "never_odd") == INTERRUPTED
    assert report.was_interrupted


def test_what_is_true_of_nothing_is_vacuous(twos: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from checker.engines.symbolic import prover

    report = prove_check(twos, "hollow", Options(), budget=PLENTY)
    assert words(report)["unmet"] is Word.VACUOUS
    assert report.exit_code == 4

    def few(system: TransitionSystem, clock: QueryBudget) -> Samples:
        return sample(system, clock, breadth=2, walks=0)

    monkeypatch.setattr(prover, "sample", few)  # so that only a proof can know
    report = prove_check(twos, "hollow", Options(), budget=PLENTY)
    assert words(report)["unmet"] is Word.VACUOUS
    assert "provably" in reason(report, "unmet")


ENDLESS = """
import sys, z3
from checker.engines.symbolic.solver_queries import QueryBudget, ask, plain_solver
from checker.engines.symbolic.interruptible import interruptible
solver, a, b = plain_solver(), z3.BitVec("a", 128), z3.BitVec("b", 128)
solver.add(a * b == ((1 << 61) - 1) * ((1 << 61) - 31))  # to find two large primes
solver.add(z3.UGT(a, 1), z3.UGT(b, 1), z3.ULT(a, 1 << 62), z3.ULT(b, 1 << 62))
print("begun", flush=True)
try:
    interruptible(lambda: ask(solver, QueryBudget(600.0)))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_query(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(3.0)
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=60.0)[0] == "interrupted\n"


def test_z3_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, checker.proving.finite; sys.exit('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_methods_are_what_the_prover_knows() -> None:
    from checker.engines.symbolic.prover import METHODS

    assert finite.METHODS == METHODS


ONE_REGISTER = """
protocol Local implements Register {
  state value : option<Msg> = none
  upon request read() { read_return(value) }
  upon request write(v) { KEPT  write_return() }
}
check one of Local { n = 1  clients { p1 writes a  p1 reads }  prove linearizable as Register }
check every of Local { for all n  clients { p1 writes a }  prove linearizable as Register }
"""


@pytest.mark.parametrize(("kept", "word"), [("value := some(v)", "proved"), ("skip", "violated")])
def test_what_is_asked_of_an_object_is_proved_at_one_size(
    kept: str, word: str, tmp_path: Path
) -> None:
    path = tmp_path / "register.bcast"
    path.write_text(ONE_REGISTER.replace("KEPT", kept), encoding="utf-8")
    found = prove_check(str(path), "one", Options(), budget=PLENTY)
    assert {v.property: v.word.value for v in found.verdicts}["linearizable as Register"] == word


def test_what_is_asked_of_an_object_is_refused_for_every_size(tmp_path: Path) -> None:
    path = tmp_path / "register.bcast"
    path.write_text(ONE_REGISTER.replace("KEPT", "value := some(v)"), encoding="utf-8")
    with pytest.raises(SpecError) as refused:
        prove_every(str(path), "every", Options())
    (found,) = refused.value.diagnostics
    wanted = "consistency conditions are checked for one size only"
    assert (found.code, found.message) == ("T013", f"`linearizable as Register`: {wanted}")
