"""The whole explanation: what is in it, and what remains of it when things go wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.engines.native import engine as native
from checker.engines.options import Options
from checker.explain import counterfactual_queries, verdict_sentences
from checker.explain.counterfactual_queries import ExplainingBudget
from checker.explain.explain import ERROR, NO_TIME_GIVEN, NOTHING, explain
from checker.formats.json_format import trace_from_text, trace_to_json
from checker.records import replace
from checker.resources import specs
from checker.results.answer import INTERRUPTED, Answer, Unsupported
from checker.results.mismatch import ReplayMismatch
from checker.results.replay import replay_document
from checker.results.trace import Cost, Counterfactual, Explanation, Failure, Trace
from checker.session import pipeline
from tests.explain.violations import Violation, violation

EAGER = specs() / "broadcast/eager_reliable.bcast"


@pytest.fixture(scope="module")
def found() -> Violation:
    return violation(EAGER, "crash_one", "uniform_agreement")


def explained(trace: Trace) -> Explanation:
    assert trace.explanation is not None
    return trace.explanation


def test_all_of_it(found: Violation) -> None:
    trace = explain(found.system, found.trace, ExplainingBudget(60), strict=True)
    said = explained(trace)
    assert said.before == said.after == Cost(1, 2, 3)
    assert said.least
    assert said.note.startswith("a crash inside a handler counts as one before or after it")
    assert said.ablations == (
        Counterfactual("fault", "the crash of p1", 3, "holds"),
        Counterfactual("message", "DATA(p1, a) from p1 to p1", 2, "holds"),
    )
    assert said.sentences[0].startswith("Uniform agreement fails: p1")
    again = replay_document(found.system, trace)
    assert replace(again, explanation=said) == trace


def test_from_where_on_it_is_too_late(found: Violation) -> None:
    all_ = violation(specs() / "consensus/wait_for_all.bcast", "crash_one", "termination")
    trace = explain(all_.system, all_.trace, ExplainingBudget(60), strict=True)
    (crash,) = (step for step in trace.steps if step.kind == "crash")
    owed = explained(trace).obligations
    assert [(one.text, one.impossible) for one in owed] == [
        ("p1 decides", crash.number),
        ("p3 decides", crash.number),
    ]
    # What a crashed process has sent may still arrive.
    owed = explained(
        explain(found.system, found.trace, ExplainingBudget(60), strict=True)
    ).obligations
    assert [(one.text, one.impossible) for one in owed] == [
        ("p2 delivers a", None),
        ("p3 delivers a", None),
    ]


def test_what_goes_round_may_still_be_met() -> None:
    duel = violation(specs() / "consensus/paxos.bcast", "duel", "proposers_decide")
    said = explained(explain(duel.system, duel.trace, ExplainingBudget(60), strict=True))
    assert said.obligations[0].impossible is None
    assert said.note == "its messages are not counted: they go on forever"
    assert not said.least


def test_no_time(found: Violation) -> None:
    trace = explain(found.system, found.trace, ExplainingBudget(0), strict=True)
    said = explained(trace)
    assert replace(trace, explanation=None) == replace(found.trace, explanation=None)
    assert said.note == NO_TIME_GIVEN
    assert said.sentences
    assert said.ablations == ()
    assert said.before == said.after == Cost(1, 2, 3)
    assert not said.least


def test_too_little_time_names_the_option_that_gives_more(
    found: Violation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counterfactual_queries, "explore_in_time", lambda system, clock: clock.over)
    clock = ExplainingBudget(20, option="--explain")
    said = explained(explain(found.system, found.trace, clock, strict=True))
    over = "the time of --explain, 20 s, is used up"
    assert {one.why for one in said.ablations} == {over}
    assert said.note == (
        f"whether fewer faults or messages suffice is not determined: {over}; try --explain 80"
    )


def test_errors_of_the_run_are_left_as_they_are(found: Violation) -> None:
    failed = replace(found.trace, failure=Failure("R001", "5 is outside 0..4"))
    trace = explain(found.system, failed, ExplainingBudget(60), strict=True)
    assert trace == replace(failed, explanation=Explanation(note=ERROR))


def test_a_run_that_violates_nothing(found: Violation) -> None:
    run = replace(found.trace, property_name="", word="run")
    trace = explain(found.system, run, ExplainingBudget(60), strict=True)
    assert trace == replace(run, explanation=Explanation(note=NOTHING))


def test_a_system_that_the_engine_cannot_take(
    found: Violation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Answer:
        raise Unsupported("it is too wide")

    monkeypatch.setattr(native, "explore", refuse)
    trace = explain(found.system, found.trace, ExplainingBudget(60), strict=True)
    said = explained(trace)
    assert trace.steps == found.trace.steps
    assert not said.least
    assert "it is too wide" in said.note
    assert {(one.outcome, one.why) for one in said.ablations} == {("unknown", "it is too wide")}


def test_a_wrong_run_is_a_fault_of_the_tool(
    found: Violation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mismatch(*_: Any) -> None:
        raise ReplayMismatch("no transition leads to the state of step 2")

    monkeypatch.setattr(counterfactual_queries, "rerun", mismatch)
    crashed = replace(found.trace, header=found.trace.header)
    trace = explain(found.system, crashed, ExplainingBudget(60))
    assert trace.steps == found.trace.steps
    eager = violation(specs() / "broadcast/fifo.bcast", "not_causal", "causal_order")
    with pytest.raises(ReplayMismatch):
        explain(eager.system, eager.trace, ExplainingBudget(60), strict=True)
    said = explained(explain(eager.system, eager.trace, ExplainingBudget(60)))
    assert "no transition leads to the state of step 2" in said.note
    assert said.ablations == ()


def test_interrupted(found: Violation, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def interrupted(*_: Any, **__: Any) -> Answer:
        asked.append(1)
        return Answer("native", 1, 0, False, 0.0, stopped=INTERRUPTED)

    monkeypatch.setattr(native, "explore", interrupted)
    said = explained(explain(found.system, found.trace, ExplainingBudget(60), strict=True))
    assert len(asked) == 1
    assert said.ablations == ()
    assert INTERRUPTED in said.note


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), ValueError("what a word")])
def test_a_part_that_fails_is_left_out(
    found: Violation, monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    def fail(*_: Any) -> tuple[str, ...]:
        raise problem

    monkeypatch.setattr(verdict_sentences, "sentences", fail)
    trace = explain(found.system, found.trace, ExplainingBudget(60))
    said = explained(trace)
    assert trace.steps == found.trace.steps
    assert said.sentences == ()
    assert said.after == Cost(1, 2, 3)
    assert (str(problem) or "interrupted") in said.note


def test_a_check_explains_what_it_shows() -> None:
    plain = pipeline.run_check(str(EAGER), "crash_one", Options())
    said = pipeline.run_check(str(EAGER), "crash_one", Options(explain=60.0))
    without = [replace(v, trace=None) for v in said.verdicts]
    assert without == [replace(v, trace=None) for v in plain.verdicts]
    assert said.expectations == plain.expectations
    (trace,) = (v.trace for v in said.verdicts if v.trace is not None)
    assert explained(trace).least
    assert all(v.trace is None or v.trace.explanation is None for v in plain.verdicts)


def test_what_was_expected_need_not_be_explained(tmp_path: Path) -> None:
    expected = Options(explain=60.0, explain_expected=False)
    report = pipeline.run_check(str(EAGER), "crash_one", expected)
    assert all(v.trace is None or v.trace.explanation is None for v in report.verdicts)
    wrong = tmp_path / "wrong.bcast"
    text = EAGER.read_text(encoding="utf-8")
    wrong.write_text(text.replace("uniform_agreement violated", "uniform_agreement holds"))
    report = pipeline.run_check(str(wrong), "crash_one", expected)
    assert any(v.trace is not None and v.trace.explanation is not None for v in report.verdicts)


def test_the_command(found: Violation, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "trace.json", tmp_path / "explained.json"
    file.write_text(json.dumps(trace_to_json(found.trace)))
    assert main(["explain", str(file), "--budget", "60", "--trace-out", str(out)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("Why uniform_agreement fails\n")
    essential = shown.index("the crash of p1 (step 3): the property would hold")
    assert essential < shown.index("It is minimal") < shown.index("▷ broadcast(a)")
    written = trace_from_text(out.read_text(), str(out))
    assert explained(written).least
    assert main(["explain", str(file), "--budget", "0", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["explanation"]["note"] == NO_TIME_GIVEN


def test_what_was_found_first_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.json"
    check = f"{specs() / 'commit/two_phase_commit.bcast'}::crash_any"
    main(["check", check, "--explain", "60", "--trace-out", str(file)])
    capsys.readouterr()
    assert main(["explain", str(file), "--json"]) == 1
    said = explained(trace_from_text(capsys.readouterr().out, "stdout"))
    assert (said.before, said.after) == (Cost(2, 0, 2), Cost(1, 1, 3))
    assert said.least
