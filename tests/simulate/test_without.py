"""``expect … violated without "WORDS"``: by engines, and by the interpreter as its definition."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.load import load_text
from checker.model import interpreter
from checker.model.ir import TransitionSystem
from checker.results.answer import Limits
from checker.results.verdict import Report
from checker.session.pipeline import open_check, run_check
from checker.simulate.choices import phrases_of_transition
from checker.simulate.judging import invariants, is_bad
from checker.simulate.phrase_matching import best_matches

STORE = """protocol Store(writer: Proc, reader: Proc) {
  message WRITE(k: 1..2)
  message COPY(k: 1..2)
  state latest : 0..2 = 0
  state sent : 0..2 = 0
  upon condition sent < 2 and self == writer as writes {
    sent := sent + 1
    send WRITE(sent) to reader
    send COPY(sent) to reader
  }
  upon receive WRITE(k) { latest := k }
  upon receive COPY(k) when k > latest { latest := k }
  property never_back: always (p2.latest == 2 => always p2.latest == 2)
  property at_last: eventually p2.latest == 2
}
check one of Store { n = 2 writer = p1 reader = p2 %s
  expect %s }
"""
FEW = "faults crash <= 1"


def report_of(tmp_path: Path, expects: str, world: str = "", engine: str = "auto") -> Report:
    spec = tmp_path / "store.bcast"
    spec.write_text(STORE % (world, expects))
    return run_check(str(spec), None, Options(engine=engine))


def found(report: Report) -> tuple[str, bool]:
    (judged,) = (e for e in report.expectations if "without" in e.what)
    return judged.found, judged.met


@pytest.mark.every
@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("p2 receives COPY", "violated"),
        ("p2 receives WRITE(2)", "violated"),
        ("p2 receives WRITE(1)", "holds"),
        ("p2 receives WRITE", "holds"),
        ("p2 receives … from p1", "holds"),
        ("p1: writes", "holds"),
        ("p2 receives COPY(2) from p1", "violated"),
    ],
)
def test_a_pair_of_words(tmp_path: Path, engine: str, words: str, verdict: str) -> None:
    report = report_of(tmp_path, f'never_back violated without "{words}"', engine=engine)
    assert found(report) == (verdict, verdict == "violated")
    assert report.exit_code == (0 if verdict == "violated" else 1)


def test_the_run_without_is_shown_beside_the_shortest_one(tmp_path: Path) -> None:
    report = report_of(tmp_path, 'never_back violated without "p2 receives WRITE(2)"')
    (verdict,) = report.verdicts
    (other,) = verdict.others
    assert verdict.trace is not None and "WRITE(2)" in str(verdict.trace.steps[3].events)
    received = [str(step.events[:1]) for step in other.steps if step.kind == "receive"]
    assert received and not any("WRITE(2)" in text for text in received)


def _by_the_definition(system: TransitionSystem, words: str) -> bool:
    """Returns whether some bad state is reached by steps that the words do not fit."""
    (prop,) = invariants(system)
    waiting = list(interpreter.initial_states(system))
    known = set(waiting)
    while waiting:
        state = waiting.pop()
        if is_bad(system, prop, state):
            return True
        for step in interpreter.successors(system, state):
            phrases = phrases_of_transition(system, state, step)
            if step.successor in known or best_matches(words, [(0, phrases)]):
                continue
            assert step.successor is not None
            known.add(step.successor)
            waiting.append(step.successor)
    return False


@pytest.mark.every
@pytest.mark.parametrize("world", ["", FEW, "links duplicating"])
def test_every_word_of_a_check_as_the_definition_says(tmp_path: Path, world: str) -> None:
    """All phrases of all steps, whole and up to each word."""
    spec = tmp_path / "store.bcast"
    spec.write_text(STORE % (world, "never_back violated"))
    system = open_check(str(spec), None, Options()).system
    waiting = list(interpreter.initial_states(system))
    known, texts = set(waiting), set[str]()
    while waiting:
        state = waiting.pop()
        for step in interpreter.successors(system, state):
            texts.update(phrases_of_transition(system, state, step))
            if step.successor is not None and step.successor not in known:
                known.add(step.successor)
                waiting.append(step.successor)
    asked = {t for text in texts for t in (text, text.rsplit(" ", 1)[0], text.split("(")[0])}
    verdicts = set[str]()
    for words in sorted(asked):
        report = report_of(tmp_path, f'never_back violated without "{words}"', world)
        verdict, _ = found(report)
        expected = "violated" if _by_the_definition(system, words) else "holds"
        assert verdict == expected or (verdict == "unknown" and ", and crashes" in words), words
        verdicts.add(verdict)
    assert {"violated", "holds"} <= verdicts


def test_capacities_grow_in_the_search_without(tmp_path: Path) -> None:
    """The shortest counterexample needs fewer messages in flight than one without that step."""
    spec = tmp_path / "grows.bcast"
    spec.write_text(
        """protocol Grows {
  message M(k: 0..40)
  state sent : 0..40 = 0
  state bad = false
  upon condition sent < 40 as sends { sent := sent + 1  send M(sent) to self }
  may upon condition not bad as breaks { bad := true }
  upon receive M(k) when k == 40 { bad := true }
  property good: always forall p in Proc: not p.bad
}
check one of Grows { n = 1 links fifo expect good violated without "p1: breaks" }
"""
    )
    report = run_check(str(spec), None, Options())
    assert found(report) == ("violated", True)


def test_a_search_that_is_cut_short_is_unknown(tmp_path: Path) -> None:
    spec = tmp_path / "store.bcast"
    spec.write_text(STORE % ("", 'never_back violated without "p2 receives WRITE(1)"'))
    report = run_check(str(spec), None, Options(limits=Limits(max_depth=4)))
    assert found(report) == ("unknown", False) and report.exit_code == 3


@pytest.mark.parametrize(
    ("expects", "code"),
    [
        ('never_back violated without "p2 recieves WRITE"', "E092"),
        ('at_last violated without "p1 crashes"', "C037"),
        ('never_back violated without ""', "C037"),
        ('never_back violated without "…"', "C037"),
        ('never_back holds without "p1 crashes"', "C037"),
        ('states 5 without "p1 crashes"', "C037"),
    ],
)
def test_a_wrong_without_is_told(tmp_path: Path, expects: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        report_of(tmp_path, expects, FEW)
    assert [found.code for found in caught.value.diagnostics] == [code]


def test_a_check_of_all_sizes_has_no_without() -> None:
    with pytest.raises(SpecError) as caught:
        load_text(STORE % ("for all f", 'never_back violated without "p1 crashes"'), "a.bcast")
    assert "C021" in {found.code for found in caught.value.diagnostics}


def test_what_holds_is_no_violation_without_anything(tmp_path: Path) -> None:
    report = report_of(tmp_path, 'at_last violated without "p2 receives WRITE(1)"')
    assert found(report) == ("holds", False) and report.exit_code == 1


EITHER = """protocol Either {
  state x : 0..2 = 0
  upon condition x == 0 as acts { either as one { x := 1 } or as two { x := 2 } }
  property zero: always forall p in Proc: p.x == 0
}
check c of Either { n = 1 expect zero violated without "%s" }
"""


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("p1: acts as one", "violated"),
        ("p1: acts as two", "violated"),
        ("… as one", "violated"),
        ("p1: acts", "holds"),
        ("… as …", "holds"),
    ],
)
def test_words_may_name_an_alternative(tmp_path: Path, words: str, verdict: str) -> None:
    spec = tmp_path / "either.bcast"
    spec.write_text(EITHER % words)
    report = run_check(str(spec), None, Options())
    assert found(report)[0] == verdict
