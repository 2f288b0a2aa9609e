"""Named alternatives of ``either``: systems, traces, scenarios, reasons, diagnostics."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.instantiate.world import PENDING
from checker.language.formatting.layout import format_text
from checker.language.load import load_text
from checker.model.dump import dump
from checker.model.interpreter import State, initial_states, successors
from checker.model.ir import PAUSING
from checker.properties.formula import ask
from checker.results.verdict import Word
from checker.session.pipeline import open_check, run_check
from checker.simulate.scenario import play

SPEC = """protocol Store {
  message PUT(k: 1..2)
  message ACK(k: 1..2)
  message ERROR(k: 1..2)
  role broker(1) {
    state log : seq<1..2> = []
    upon receive PUT(k) from p {
      either%s {
        log := log + k
        send ACK(k) to p
      } or%s {
        send ERROR(k) to p
      }
    }
  }
  role producer(1) {
    state next : 1..3 = 1
    state free = true
    upon condition free and next < 3 as puts {
      free := false
      send PUT(next) to all broker
    }
    upon receive ACK(k) {
      free := true
      next := k + 1
    }
    upon receive ERROR(k) { free := true }
  }
  property all_there : eventually forall b in broker: #b.log == 2
  property quick : always forall b in broker: #b.log < 2
}

check c of Store {
  %s
}
"""
PAUSED = "links bounded 2 timing clocks drift 1 faults pause prove quick"
NAMES = " as stored", " as fails"


def spec(tmp_path: Path, clauses: str, names: tuple[str, str] = NAMES) -> str:
    file = tmp_path / "store.bcast"
    file.write_text(SPEC % (*names, clauses))
    return str(file)


def system(clauses: str, names: tuple[str, str] = NAMES, *, fine: bool = False) -> str:
    (check,) = load_text(SPEC % (*names, clauses), "a.bcast").checks
    return dump(instantiate(check, {}, ask, fine=fine).system)


@pytest.mark.parametrize(("most", "word"), [("", Word.VIOLATED), ("at most 2 fails", Word.HOLDS)])
@pytest.mark.parametrize("fine", [False, True])
def test_what_fails_without_end_fails_often_enough(
    tmp_path: Path, most: str, word: Word, fine: bool
) -> None:
    report = run_check(spec(tmp_path, f"{most} prove all_there"), None, Options(fine_steps=fine))
    assert report.verdicts[0].word is word
    assert most in report.verdicts[0].reason


def test_names_alone_change_nothing_but_what_is_told(tmp_path: Path) -> None:
    """Marks apart it is the same system."""
    plain, named = (
        [re.sub(r"\.\d+", "", line) for line in system("prove quick", names).splitlines()]
        for names in (("", ""), NAMES)
    )
    of_plain, of_named = ([i for i in lines if "mark " not in i] for lines in (plain, named))
    assert of_named == of_plain and len(named) == len(plain) + 2
    counts = [
        run_check(spec(tmp_path, "prove quick", names), None, Options()).distinct_states
        for names in (("", ""), NAMES)
    ]
    assert counts[0] == counts[1]


def test_a_check_may_set_the_bound(tmp_path: Path) -> None:
    file = spec(tmp_path, "at most f fails f = 0 allow unused prove all_there, quick")
    for bound in (0, 1, 2):
        report = run_check(file, None, Options(settings={"f": str(bound)}))
        assert report.verdicts[0].word is Word.HOLDS
        assert f"at most {bound} fails" in report.world
    with pytest.raises(SpecError) as caught:
        run_check(spec(tmp_path, "at most -1 fails prove quick"), None, Options())
    assert [found.code for found in caught.value.diagnostics] == ["E003"]


SCENARIO = """expect quick violated
  %s
  scenario s {
    p1: puts
    b1 receives PUT(1) from p1 as fails
    p1 receives ERROR(1)
    p1: puts
    b1 receives PUT(1) from p1 as %s
    then quick holds
  }"""


@pytest.mark.parametrize(
    ("most", "second", "met"), [(2, "fails", True), (1, "fails", False), (1, "stored", True)]
)
def test_a_scenario_says_which_one(tmp_path: Path, most: int, second: str, met: bool) -> None:
    file = spec(tmp_path, SCENARIO % (f"at most {most} fails", second))
    opened = open_check(file, None, Options())
    (scenario,) = opened.check.scenarios
    played = play(opened, scenario)
    assert (played.problem is None) == met
    if not met:
        assert played.problem is not None
        assert "b1 receives PUT(1) from p1 as stored" in played.problem.possible
        assert "`fails` is used up: at most 1 time" in played.problem.message


def test_a_trace_says_which_one(tmp_path: Path) -> None:
    report = run_check(spec(tmp_path, "prove quick"), None, Options())
    trace = report.verdicts[0].trace
    assert trace is not None
    taken = [
        str(e) for step in trace.steps for e in step.events if "Alternative" in type(e).__name__
    ]
    assert len(taken) == 2 and all("stored" in text for text in taken)


@pytest.mark.parametrize("most", ["", "at most 1 fails"])
def test_a_handler_that_counts_is_not_paused_inside(most: str) -> None:
    (check,) = load_text(SPEC % (*NAMES, f"{most} {PAUSED}"), "a.bcast").checks
    made = instantiate(check, {}, ask).system
    paused = [a.name for a in made.actions if a.name.endswith(PAUSING)]
    assert any("PUT" in name or "receive" in name for name in paused) == (not most), paused


@pytest.mark.parametrize("most", ["", "at most 1 fails"])
def test_a_handler_that_counts_is_one_step(tmp_path: Path, most: str) -> None:
    """Otherwise what it sends waits for a step of its own."""
    check = spec(tmp_path, f"{most} prove quick")
    system = open_check(check, None, Options(fine_steps=True)).system
    queue = next(n for n, v in enumerate(system.variables) if v.name == PENDING)
    broker, states, waiting = system.processes.index("b1"), set[State](), False
    found = list(initial_states(system))
    while found:
        state = found.pop()
        waiting = waiting or bool(state[queue][broker])
        later = {step.successor for step in successors(system, state)} - states - {None}
        states |= later
        found += later
    assert waiting == (not most)


@pytest.mark.parametrize(
    ("names", "clauses", "code"),
    [
        ((" as fails", " as fails"), "prove quick", "N004"),
        (NAMES, "at most 2 fail prove quick", "C034"),
        (NAMES, "at most 2 fails at most 1 fails prove quick", "C009"),
        ((" as puts", ""), "at most 2 puts prove quick", "C034"),
        (NAMES, "at most quick fails prove quick", "N002"),
    ],
)
def test_a_wrong_name_is_told(names: tuple[str, str], clauses: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_text(SPEC % (*names, clauses), "a.bcast")
    assert code in {found.code for found in caught.value.diagnostics}


def test_it_is_formatted_as_it_is_written() -> None:
    text = SPEC % (" as stored", " as fails when k == 1", "prove quick")
    assert format_text(text, "a.bcast") == text
