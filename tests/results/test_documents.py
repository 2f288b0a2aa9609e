"""JSON documents: their schemas, reading them back, and the Informal Trace Format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checker.diagnostics import SpecError
from checker.engines.reference.engine import explore
from checker.formats.forms import FORMS
from checker.formats.itf import trace_to_itf
from checker.formats.json_format import (
    document,
    report_to_json,
    trace_from_json,
    trace_from_text,
    trace_to_json,
)
from checker.formats.kinds import REPORTS_KIND
from checker.records import fields, replace
from checker.results.answer import Limits
from checker.results.judge import compare, judge
from checker.results.narrate import narrate
from checker.results.trace import Header, Trace
from checker.results.vacuity import coverage, never_happened
from checker.results.verdict import Expected, Report
from tests.documents import validator
from tests.results.pingpong import lasso, pingpong
from tests.results.relay import relay

HEADER = Header("0.1", "relay.bcast", "three", {"n": 3}, {"n": "3"})


def document_of(*reports: dict[str, Any]) -> dict[str, Any]:
    """What `--json` writes of some reports."""
    return document(REPORTS_KIND, reports, (), 0)


def made(limit: int = 3) -> Report:
    system = relay(limit=limit)
    answer = explore(system, Limits())
    verdicts = judge(system, answer, HEADER)
    expectations = compare([("agreement", "violated"), ("states", 13)], verdicts, answer)
    return Report(
        "relay.bcast",
        "three",
        {"n": 3},
        answer.engine,
        False,
        verdicts,
        expectations,
        answer.distinct_states,
        answer.depth,
        answer.transitions,
        answer.seconds,
        answer.exhaustive,
        answer.stopped,
        answer.bytes_per_state,
        never=never_happened(system, answer),
        version="0.1",
    )


def trace_of(report: Report) -> Trace:
    trace = report.verdicts[-1].trace
    assert trace is not None
    return trace


@pytest.mark.parametrize("limit", [3, 1], ids=["violation", "run-time error"])
def test_documents_follow_their_schemas(limit: int) -> None:
    report = made(limit)
    document = report_to_json(report)
    assert json.loads(json.dumps(document)) == document
    validator("report").validate(document_of(document))
    validator("trace").validate(trace_to_json(trace_of(report)))


PLAIN = (str, int, float, bool, type(None))


def test_each_plain_field_is_written_as_it_is() -> None:
    """No two of the numbers are alike; times are rounded."""
    report = made()
    always = [f.name for f in fields(report) if f.name not in FORMS[Report].optional]
    plain = [name for name in always if type(getattr(report, name)) in PLAIN]
    numbers = {"distinct_states", "depth", "transitions", "edges"}
    told = {name: 1_000 + i for i, name in enumerate(sorted(numbers))}
    for finished in (True, False):
        report = replace(report, **told, exhaustive=finished, fine_steps=not finished, seconds=2.5)
        document = report_to_json(report)
        assert {name: document[name] for name in plain} == {n: getattr(report, n) for n in plain}
        assert document["exit_code"] == report.exit_code
    (unmet,) = report_to_json(
        replace(report, expectations=(Expected("agreement", "holds", "violated", False),))
    )["expectations"]
    wanted = {"what": "agreement", "expected": "holds", "found": "violated", "met": False}
    assert unmet == wanted


def test_coverage_follows_the_schema() -> None:
    system = relay()
    report = replace(made(), coverage=coverage(system, explore(system, Limits())), edges=12)
    validator("report").validate(document_of(report_to_json(report)))


def test_the_schemas_are_strict() -> None:
    document = report_to_json(made())
    assert not validator("report").is_valid(document_of({**document, "surprise": 1}))
    assert not validator("report").is_valid(document_of({**document, "exhaustive": "yes"}))


@pytest.mark.parametrize("limit", [3, 1])
def test_a_trace_survives_being_written(limit: int) -> None:
    trace = trace_of(made(limit))
    assert trace_from_text(json.dumps(trace_to_json(trace))) == trace


def test_a_run_that_goes_on_for_ever_survives_being_written() -> None:
    system = pingpong()
    trace = narrate(system, lasso(system), system.properties[0], HEADER)
    document = trace_to_json(trace)
    validator("trace").validate(document)
    assert document["loop"] == 2
    assert document["closing"]["number"] == 4
    assert document["values"] == [{"name": "p.1", "value": "p3"}]
    assert trace_from_text(json.dumps(document)) == trace
    for loop in (-1, 4, True, "0"):
        assert code_of({**document, "loop": loop}) == "E006"


def test_a_loop_in_itf() -> None:
    system = pingpong()
    run = lasso(system)
    document = trace_to_itf(narrate(system, run, system.properties[0], HEADER))
    assert document["loop"] == 2
    assert len(document["states"]) == 4
    assert document["#meta"]["closed-by"] == "receive BALL 1()"
    ended = trace_to_itf(trace_of(made()))
    assert ended["loop"] == 2
    assert "closed-by" not in ended["#meta"]
    assert "loop" not in trace_to_itf(trace_of(made(limit=1)))


def code_of(document: object) -> str:
    with pytest.raises(SpecError) as raised:
        trace_from_json(document)
    return raised.value.diagnostics[0].code


def test_other_versions_and_other_documents_are_refused() -> None:
    document = trace_to_json(trace_of(made()))
    assert code_of({**document, "format": 1}) == "E005"
    assert code_of({**document, "format": 2}) == "E005"
    assert code_of({**document, "format": 3}) == "E005"
    assert code_of([]) == "E006"
    assert code_of({}) == "E006"
    assert code_of(report_to_json(made())) == "E006"
    assert code_of({**document, "steps": []}) == "E006"
    for key in document:
        if key not in ("format", "kind", "digest"):
            assert code_of({**document, key: -1}) == "E006", key
            if key != "reads":  # documents of before do not have it
                assert code_of({k: v for k, v in document.items() if k != key}) == "E006", key


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "null", "\x00"])
def test_texts_that_are_no_documents(text: str) -> None:
    with pytest.raises(SpecError) as raised:
        trace_from_text(text)
    assert raised.value.diagnostics[0].code == "E006"


def test_itf() -> None:
    document = trace_to_itf(trace_of(made()))
    assert document["#meta"]["format"] == "ITF"
    assert document["vars"] == ["called", "crashed", "net", "delivered", "count"]
    assert all(set(s) == {"#meta", *document["vars"]} for s in document["states"])
    last = document["states"][-1]
    assert last["crashed"] == {"#set": ["p1"]}
    assert last["delivered"]["#map"][1] == ["p2", {"#set": ["a"]}]
    message = {"tag": "DATA", "value": {"origin": "p1", "m": "a"}}
    packet = {"from_": "p1", "to": "p3", "message": message}
    assert packet in last["net"]
