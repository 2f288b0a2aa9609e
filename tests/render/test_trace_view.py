"""Traces and reports as text, against golden files.

``BIVALENCE_GOLDEN=1 pytest tests/render`` writes them anew; read the difference before keeping it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checker.engines.reference.engine import explore
from checker.records import replace
from checker.render.terminal.canvas import as_text
from checker.render.terminal.report import report_view
from checker.render.terminal.text import same_run, source_view, trace_view
from checker.results.answer import Limits
from checker.results.events import OracleIndicated, TimerChanged
from checker.results.narrate import narrate
from checker.results.trace import (
    Cost,
    Counterfactual,
    Explanation,
    FairnessJustification,
    Header,
    Source,
    Trace,
)
from checker.results.vacuity import coverage
from checker.results.verdict import Covered, PropertyVerdict, Report, Word
from tests.results.by_hand import call, perform, run_handler, send, store
from tests.results.pingpong import lasso, pingpong
from tests.results.relay import relay
from tests.results.test_documents import made, trace_of

GOLDEN = Path(__file__).parent / "golden"


def compare(name: str, text: str) -> None:
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("BIVALENCE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def steady(report: Report) -> Report:
    return replace(report, seconds=0.25, bytes_per_state=12.5, notes=("it was a quiet day",))


@pytest.mark.parametrize("width", [80, 120])
def test_trace(width: int) -> None:
    compare(f"violation-{width}", as_text(trace_view(trace_of(made())), width))


def test_trace_step_by_step() -> None:
    compare("violation-steps-80", as_text(trace_view(trace_of(made()), steps=True)))


def test_trace_of_an_error() -> None:
    compare("error-80", as_text(trace_view(trace_of(made(limit=1)))))


@pytest.mark.parametrize("width", [80, 120])
def test_report(width: int) -> None:
    compare(f"report-{width}", as_text(report_view(steady(made()), verbose=True), width))


def test_report_with_coverage_and_liveness() -> None:
    system = relay(crash=False)
    answer = explore(system, Limits())
    reached = coverage(system, replace(answer, reached_marks=frozenset({1})))
    branch = Covered("branch", "if m in seen: else", "relay.bcast", 5, 5, False)
    asked = replace(
        steady(made()),
        coverage=(*reached, branch),
        edges=40_000,
        bytes_per_edge=12.0,
        liveness_seconds=0.5,
        verdicts=(
            PropertyVerdict(
                "at_most_once over effects",
                "No act has its effect twice;\nan idempotent one counts once.",
                Word.HOLDS,
                None,
                "in every reachable state",
            ),
        ),
        expectations=(),
    )
    compare("report-coverage-80", as_text(report_view(asked, verbose=True)))


def test_report_that_surprises() -> None:
    compare("report-error-80", as_text(report_view(steady(made(limit=1)))))


@pytest.mark.parametrize("width", [80, 120])
def test_a_run_that_goes_on_for_ever(width: int) -> None:
    system = pingpong()
    header = Header("0.1", "pingpong.bcast", "turns", {"n": 3})
    trace = narrate(system, lasso(system), system.properties[0], header)
    compare(f"lasso-{width}", as_text(trace_view(trace), width))
    if width == 80:
        compare("lasso-steps-80", as_text(trace_view(trace, steps=True), width))


def test_a_run_that_stays_where_it_is() -> None:
    system = pingpong()
    run = lasso(system)
    justice = tuple(entry for entry in run.ledger if entry.kind == "justice")
    stays = replace(run, loop=3, closing=None, ledger=justice, ends=True)
    trace = narrate(system, stays, system.properties[0], HEADER)
    text = as_text(trace_view(trace))
    assert "forever" not in text
    assert "in 3 steps" in text
    assert "the detector tells the truth\n    so it is at the end" in text
    assert "The run is over: no fairness assumption requires another step." in text


def test_a_run_that_stays_where_something_still_happens() -> None:
    system = pingpong()
    idle = FairnessJustification("the timer of p1 eventually expires", "weak", "taken", ())
    stays = replace(lasso(system), loop=3, closing=None, ledger=(idle,), ends=True)
    text = as_text(trace_view(narrate(system, stays, system.properties[0], HEADER)))
    assert "Why the run may stay like this forever" in text
    assert "it happens again and again without changing the state" in text
    assert "The run stays like this forever, as the world allows." in text
    assert "The run is over" not in text


def test_what_the_world_does_has_lines_of_its_own() -> None:
    events = (
        perform("p1", "go"),
        store("p1", "log", "{a}"),
        TimerChanged("start", "t", process="p1"),
        OracleIndicated(call("trust(p1)"), process="p2"),
    )
    whole = trace_of(made())
    step = replace(whole.steps[1], events=events)
    faulty = (
        replace(whole.fates[0], crashed=False, recovered=True),
        replace(whole.fates[1], faulty="byzantine"),
        replace(whole.fates[2], faulty="omitting", crashed=True),
    )
    trace = replace(whole, steps=(whole.steps[0], step), fates=faulty)
    text = as_text(trace_view(trace, steps=True))
    assert "performs  go\n" in text
    assert "stores    log = {a}\n" in text
    assert "starts    the timer `t`\n" in text
    assert "then      the detector tells p2 that it trusts p1\n" in text
    assert "(crashed and came back up)" in text
    assert "(Byzantine)" in text
    assert "(omission-faulty, crashed)" in text


def test_report_of_a_search_that_stopped() -> None:
    unknown = PropertyVerdict("validity", "", Word.UNKNOWN, None, "no violation in 10 states")
    vacuous = PropertyVerdict("order", "", Word.VACUOUS, "holds", "never ran: upon init")
    text = as_text(
        report_view(
            Report(
                "a.bcast",
                "big",
                {"n": 9},
                "native",
                True,
                (unknown, vacuous),
                distinct_states=10,
                depth=2,
                stopped="the time limit of 1 s was reached",
            )
        )
    )
    assert "NOT exhaustive for n=9: the time limit of 1 s was reached" in text
    assert "1 vacuous, 1 unknown" in text
    assert "native engine, fine steps" in " ".join(text.split())


def test_no_line_is_wider_than_the_page() -> None:
    long = replace(trace_of(made()), sentence="x" * 50 + " " + "y" * 200)
    event = send("p1", "DATA" + "(a)" * 60, *("p2",) * 40)
    step = replace(long.steps[1], events=(event, run_handler("p1", "h" * 300)), kind="step")
    trace = replace(long, steps=(long.steps[0], step))
    for width in (40, 80, 120):
        lines = as_text(trace_view(trace, steps=True), width).splitlines()
        assert max(map(len, lines)) <= width
        assert "".join(lines).count("h") >= 300


def test_brackets_and_colours() -> None:
    trace = replace(trace_of(made()), sentence="[red]seq[/red] = [a, b] :smile: 1.5")
    assert "[red]seq[/red] = [a, b] :smile: 1.5." in as_text(trace_view(trace))
    assert "\x1b" not in as_text(trace_view(trace))
    assert "\x1b[" in as_text(trace_view(trace), colour=True)


def test_a_violation_in_the_initial_state() -> None:
    whole = trace_of(made())
    trace: Trace = replace(whole, steps=whole.steps[:1], copies=(), ends=False, header=HEADER)
    text = as_text(trace_view(trace))
    assert "in the initial state" in text
    assert "whatever follows, the violation has occurred" in text


EXPLAINED = Explanation(
    sentences=("Agreement fails: p2 delivered a; p3 never does.", "p1 reached only p2."),
    context=(1,),
    before=Cost(2, 4, 9),
    after=Cost(1, 1, 2),
    least=True,
    ablations=(
        Counterfactual("fault", "the crash of p1", 1, "holds"),
        Counterfactual("message", "DATA(p1, a) to p2", 1, "violated", steps=3),
        Counterfactual("message", "DATA(p1, a) to p3", 1, "unknown", "the time is over"),
    ),
    note="the budget of 5 s was reached",
)


def test_an_explanation() -> None:
    trace = replace(trace_of(made()), explanation=EXPLAINED)
    text = as_text(trace_view(trace))
    compare("explained-80", text)
    assert text.startswith("agreement: VIOLATED\nAgreement fails: p2 delivered a; p3 never does.\n")


def counterfactuals(*ablations: Counterfactual) -> str:
    explanation = replace(EXPLAINED, ablations=ablations)
    text = as_text(trace_view(replace(trace_of(made()), explanation=explanation)), 100)
    return " ".join(text[text.index("What matters") : text.index("\nwhat ")].split())


def test_what_does_not_matter_is_one_line() -> None:
    messages = [Counterfactual("message", f"M{i}", i, "violated", steps=i) for i in range(1, 5)]
    crash = Counterfactual("fault", "the crash of p1", 1, "holds")
    first, second, third, fourth = messages
    assert counterfactuals(crash, *messages) == (
        "What matters essential the crash of p1 (step 1): the property would hold without it"
        " replaceable no single message matters: other executions violate the property without any"
        " one of the 4"
    )
    needed = replace(first, outcome="holds", steps=None)
    three = "replaceable 3 of the 4 messages: other executions violate the property without any one"
    assert three in counterfactuals(needed, second, third, fourth)
    assert counterfactuals(needed, replace(second, steps=3), third).endswith(
        "replaceable M2 (step 2) and M3 (step 3): other executions violate the property without"
        " either of them, in 3 steps"
    )
    one = "another execution violates the property without this message, in 2 steps"
    assert one in counterfactuals(crash, second)


def test_one_run_that_violates_two_properties_is_drawn_once() -> None:
    one = trace_of(made())
    other = replace(one, property_name="totality", sentence="totality is violated with p = p3")
    assert same_run(one, other)
    assert not same_run(one, replace(other, steps=other.steps[:-1]))
    assert not same_run(one, trace_of(made(limit=1)))
    text = as_text(trace_view(one, others=(other,)))
    assert "totality: VIOLATED, by the same run" in text
    assert text.count("▷ broadcast(a)") == 1
    assert text.index("agreement is violated with p = p2, q = p3.") < text.index(
        "totality is violated with p = p3."
    )


def test_a_document_that_nobody_has_replayed_is_not_said_to_be_accepted() -> None:
    text = as_text(trace_view(trace_of(made()), replayed=False))
    assert "in 2 steps, as recorded in the trace file" in text
    assert "independent replay" not in text


def test_the_spec_as_it_was() -> None:
    source = Source("a.bcast", "", "// one\n\n  two\n")
    whole = trace_of(made())
    text = as_text(source_view(replace(whole, header=replace(HEADER, sources=(source,)))))
    assert text == "a.bcast\n1 // one\n2\n3   two\n"
    assert "does not contain its spec" in as_text(source_view(replace(whole, header=HEADER)))


HEADER = Header("0.1", "a.bcast", "c", fine_steps=True)
