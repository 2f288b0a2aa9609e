"""A conjunction of safety and liveness: its safety part is judged as safety, under one name."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.explain.counterfactual_queries import ExplainingBudget
from checker.explain.explain import explain
from checker.instantiate.assemble import instantiate
from checker.model.ir import PropertyKind, TransitionSystem
from checker.properties.formula import ask
from checker.results.answer import Limits
from checker.results.verdict import Report, Word
from checker.session.pipeline import load_check, replay_trace, run_check

REDELIVERY = """
protocol Redelivery implements Queue {
  message SUBMIT(m: Msg)
  message RECORD(m: Msg)
  message COMMIT()
  role client(1) { upon request submit(m) { send SUBMIT(m) to broker } }
  role broker(1) {
    state log : seq<Msg> = []
    state assigned = false
    upon receive SUBMIT(m) { log := log + m }
    upon condition not assigned and #log > 0 {
      assigned := true
      send RECORD(log[0]) to worker
      start session
    }
    upon receive COMMIT() { log := [] assigned := false cancel session }
    upon timeout session { assigned := false }
  }
  role worker(1) { upon receive RECORD(m) { perform m send COMMIT() to broker } }
}
check twice of Redelivery {
  timing asynchronous
  clients { c1 submits a }
  prove exactly_once over effects
}
check crash of Redelivery {
  faults crash <= 1
  timing asynchronous
  clients { c1 submits a }
  prove exactly_once over effects
}
"""

COUNTER = """
protocol P {
  shared state i : 0..3 = 0
  shared state done = false
  upon condition i < LAST { i := i + 1 }
  upon condition i == LAST and not done { done := true }
  property both : FORMULA
}
check c of P { n = 1  FAULTS  prove both }
"""


def counter(folder: Path, formula: str, last: int = 3, faults: str = "") -> Path:
    path = folder / "p.bcast"
    text = COUNTER.replace("FORMULA", formula).replace("LAST", str(last))
    path.write_text(text.replace("FAULTS", faults))
    return path


def run(path: Path, check: str | None = None, engine: str = "native", **limits: int) -> Report:
    return run_check(str(path), check, Options(engine=engine, limits=Limits(**limits)))


def system_of(path: Path) -> TransitionSystem:
    return instantiate(load_check(str(path), None, {}), {}, ask).system


@pytest.fixture
def redelivery(tmp_path: Path) -> Path:
    path = tmp_path / "redelivery.bcast"
    path.write_text(REDELIVERY)
    return path


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_an_effect_that_comes_twice_is_found_however_many_copies_follow(
    redelivery: Path, engine: str
) -> None:
    (verdict,) = run(redelivery, "twice", engine, max_depth=12).verdicts
    assert verdict.property == "exactly_once over effects"
    assert verdict.word is Word.VIOLATED and verdict.trace is not None
    assert verdict.trace.property_name == verdict.property
    assert verdict.trace.loop is None and verdict.trace.length == 7
    assert len(verdict.trace.steps) == 8


def test_the_trace_of_a_part_replays_under_the_name_of_the_whole(redelivery: Path) -> None:
    for check, lasso in (("twice", False), ("crash", True)):
        (verdict,) = run(redelivery, check).verdicts
        assert verdict.trace is not None
        assert (verdict.trace.loop is not None) is lasso
        again = replay_trace(verdict.trace)
        assert again.sentence == verdict.trace.sentence


def test_what_is_essential_is_asked_of_the_whole_conjunction(redelivery: Path) -> None:
    (verdict,) = run(redelivery, "crash").verdicts
    assert verdict.trace is not None
    system = instantiate(load_check(str(redelivery), "crash", {}), {}, ask).system
    trace = explain(system, verdict.trace, ExplainingBudget(20.0), strict=True)
    assert trace.explanation is not None
    (crash,) = (a for a in trace.explanation.ablations if a.kind == "fault")
    assert crash.outcome == "violated"  # the effect comes twice without any crash
    assert not trace.explanation.least
    assert "safety part fails in another run that takes less" in trace.explanation.note


CASES = [
    # formula, last value, verdict, kinds
    ("(always i <= 2) and (eventually done)", 3, "violated", "invariant liveness"),
    ("(eventually done) and (always i <= 3)", 3, "holds", "invariant liveness"),
    ("(always i <= 3) and (eventually i == 3)", 2, "violated", "invariant liveness"),
    ("(always i <= 3) and (i == 1 ~> done)", 3, "holds", "invariant liveness"),
    ("(always i <= 3) and (i == 3 ~> done)", 2, "vacuous", "invariant liveness"),
    ("(always i == 3 => done or i == 3) and (i == 3 ~> done)", 2, "vacuous", "invariant liveness"),
    ("always (i <= 2 and eventually done)", 3, "violated", "invariant liveness"),
    ("forall p in Proc: (always i <= 2) and (correct(p) ~> done)", 3, "violated",
     "invariant liveness"),
    ("(always i <= 3) and (always i >= 0)", 3, "holds", "invariant"),
    ("(eventually done) and (eventually i == 3)", 3, "holds", "liveness"),
    ("(always i <= 2) or (eventually done)", 3, "holds", "liveness"),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(("formula", "last", "word", "kinds"), CASES, ids=[c[0] for c in CASES])
def test_a_conjunction_is_what_its_parts_are(
    formula: str, last: int, word: str, kinds: str, engine: str, tmp_path: Path
) -> None:
    path = counter(tmp_path, formula, last)
    assert " ".join(p.kind.value for p in system_of(path).properties) == kinds
    (verdict,) = run(path, engine=engine).verdicts
    assert (verdict.property, verdict.word.value) == ("both", word), verdict.reason


def test_a_crash_is_what_makes_it_impossible_that_everybody_is_correct(tmp_path: Path) -> None:
    """`correct` stands in no premise, so nothing about single states can be taken from the formula;
    that somebody has crashed violates it all the same."""
    formula = "(always forall p in Proc: correct(p)) and (eventually done)"
    path = counter(tmp_path, formula, faults="faults crash <= 1")
    kinds = [prop.kind for prop in system_of(path).properties]
    assert kinds == [PropertyKind.INVARIANT, PropertyKind.LIVENESS]
    (verdict,) = run(path).verdicts
    assert verdict.word is Word.VIOLATED and verdict.trace is not None
    assert (verdict.trace.length, verdict.trace.closing) == (1, None)


def test_no_depth_is_given_for_what_is_not_judged_level_by_level(tmp_path: Path) -> None:
    path = counter(tmp_path, "eventually done")
    (verdict,) = run(path, max_depth=2).verdicts
    assert verdict.word is Word.UNKNOWN
    assert "no violation" not in verdict.reason
    assert "liveness is decided once all states are found" in verdict.reason


def test_an_unknown_conjunction_says_so_of_each_part(tmp_path: Path) -> None:
    path = counter(tmp_path, "(always i <= 3) and (eventually done)")
    (verdict,) = run(path, max_depth=2).verdicts
    assert verdict.word is Word.UNKNOWN
    assert "no violation of its safety part up to depth" in verdict.reason
    assert "liveness is decided once all states are found" in verdict.reason
    assert verdict.reason.count("limit of 2") == 1
