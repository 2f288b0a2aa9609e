"""Logs of other tools, and of positions in a log: what they say is asked about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.audit.audit import Audit, Request, audit
from checker.audit.known_formats import mapping_called
from checker.audit.manifest import Manifest, Told
from checker.diagnostics import SpecError
from checker.logs.mapping import LogMapping
from checker.logs.paths import Path as Place
from tests.audit.logs import words


def asked(folder: Path, interface: str, *rows: dict[str, Any], **more: Any) -> Audit:
    file = folder / "log.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return audit(Request((str(file),), interface, **more))


def appended(pos: int, msg: str, offset: int | None, process: str = "w") -> dict[str, Any]:
    row = {"process": process, "pos": pos, "kind": "append", "msg": msg, "partition": "t"}
    return row if offset is None else {**row, "offset": offset}


def read(pos: int, msg: str, offset: int) -> dict[str, Any]:
    return {**appended(pos, msg, offset, "r"), "kind": "commit"}


WRITER = Manifest({"w": Told(delivers=False)}, Told(), "m.toml")


@pytest.mark.every
@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ([appended(1, "a", 4), appended(2, "b", 4), read(1, "b", 4)], "log_agreement"),
        ([appended(1, "a", 4), read(1, "b", 4)], "log_agreement"),
        ([appended(1, "a", 0), appended(2, "b", 1), read(1, "b", 1)], "no_lost_writes"),
        ([appended(1, "a", 1), appended(2, "b", 0), read(1, "b", 0)], "appends_in_order"),
        ([appended(1, "a", 0), appended(2, "b", 2), read(1, "a", 0), read(2, "b", 2)], ""),
    ],
)
def test_acknowledgements_are_asked_about(
    rows: list[dict[str, Any]], wrong: str, tmp_path: Path
) -> None:
    """The last one has a position that a marker of the broker may have."""
    names = ("log_agreement", "no_lost_writes", "appends_in_order")
    found = words(asked(tmp_path, "ReplicatedLog", *rows, only=names, manifest=WRITER))
    assert found == {name: "violated" if name == wrong else "holds" for name in names}


@pytest.mark.parametrize(
    ("between", "word"), [([], "unknown"), ([appended(3, "c", 1)], "violated")]
)
def test_a_position_that_a_marker_may_have_is_no_gap(
    between: list[dict[str, Any]], word: str, tmp_path: Path
) -> None:
    rows = [appended(1, "a", 0), *between, appended(4, "b", 2), read(1, "a", 0), read(2, "b", 2)]
    assert words(asked(tmp_path, "ReplicatedLog", *rows))["log_without_gaps"] == word


@pytest.mark.every
@pytest.mark.parametrize(
    ("mapping", "kind", "name"),
    [
        (LogMapping(values={"kind": {"order": "submit"}}), "request", "order"),
        (LogMapping(values={"name": {"order": "submit"}}), "request", "order"),
        (LogMapping(values={"kind": {"call": "request"}}), "call", "submit"),
        (
            LogMapping(
                columns={
                    "name": (Place("what", ("what",)),),
                    "arguments": (Place("with", ("with",)),),
                }
            ),
            "request",
            "submit",
        ),
    ],
)
def test_a_mapped_request_has_its_argument(
    mapping: LogMapping, kind: str, name: str, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = []
    for pos in (1, 3):
        (called_name,), (called_with,) = mapping.theirs("name"), mapping.theirs("arguments")
        called = {called_name: name, called_with: [f"o{pos}"]}
        rows.append({"process": "s", "pos": pos, "kind": kind, **called})
        rows.append({"process": "s", "pos": pos + 1, "kind": "perform", "msg": f"o{pos}"})
    once = "exactly_once over effects"
    assert words(asked(tmp_path, "Queue", *rows, over=(once,), mapping=mapping))[once] == "holds"


def span(client: str, kind: str, msg: str) -> dict[str, Any]:
    attributes = {
        "messaging.client.id": client,
        "messaging.operation.type": kind,
        "messaging.message.id": msg,
    }
    return {"attributes": attributes}


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """Returns spans as OTLP's JSON has them, the client as an attribute of the resource."""
    of_client = []
    for each in spans:
        given = [{"key": k, "value": {"stringValue": v}} for k, v in each["attributes"].items()]
        resource, more = {"attributes": given[:1]}, {"status": {}, "name": "x", "kind": 4}
        found = {"spans": [{"attributes": given[1:], "startTimeUnixNano": "17", **more}]}
        of_client.append({"resource": resource, "scopeSpans": [found]})
    return {"resourceSpans": of_client}


SPANS = [span("shop", "send", "m1"), span("bill", "receive", "m1"), span("bill", "receive", "m1")]
OPENTELEMETRY = mapping_called("opentelemetry")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("rows", [SPANS, [otlp(*SPANS)], [otlp(*SPANS[:1]), otlp(*SPANS[1:])]])
def test_attributes_of_opentelemetry_are_read(
    rows: list[dict[str, Any]], known: bool, tmp_path: Path
) -> None:
    """OTLP's own JSON is recognised without the mapping."""
    mapping = OPENTELEMETRY if rows is SPANS or known else LogMapping()
    found = asked(tmp_path, "ReliableBroadcast", *rows, mapping=mapping)
    assert words(found)["no_duplication"] == "violated" and words(found)["no_creation"] == "holds"
    assert found.report.log is not None and found.report.log.rows == 3
    assert found.warnings == []


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"resourceSpans": 3}, "`resourceSpans` is not a list"),
        ({"attributes": [{"key": "a", "value": {}}] * 2}, "duplicate attribute"),
        ({"attributes": [{"key": 1}]}, "`key` with one `value`"),
    ],
)
def test_what_is_no_span_is_said(row: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        asked(tmp_path, "ReliableBroadcast", *SPANS, row, mapping=OPENTELEMETRY)
    (found,) = caught.value.diagnostics
    assert found.code == "E080" and said in found.message
    assert found.span is not None and found.span.line == 4


def test_a_picture_has_the_rows_that_matter(tmp_path: Path) -> None:
    """A violation is drawn with what it names, however often the same has happened."""
    rows = [{"process": "p", "pos": n, "kind": "commit", "msg": "x"} for n in range(1, 200)]
    found = asked(tmp_path, "ReplicatedLog", *rows)
    (verdict,) = (v for v in found.report.verdicts if v.property == "log_validity")
    assert verdict.trace is not None and verdict.trace.length <= 3
    assert verdict.trace.explanation is not None
    assert "197 more rows like these" in " ".join(verdict.trace.explanation.sentences)
