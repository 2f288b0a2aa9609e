"""Rows of a pretty-printed object have lines of their own, in each command that reads logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.audit.audit import Request, audit
from checker.conform.read_log import read_logs
from checker.diagnostics import SpecError
from checker.histories.reading import read_history
from checker.logs.content import Unreadable
from checker.logs.mapping import NO_MAPPING
from checker.logs.objects import Placed, parse
from checker.logs.read_mapping import read_mapping


def spans(*names: Any) -> dict[str, Any]:
    """OTLP's JSON with a span for each name."""
    times = {"startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": n, **times} for n in names]}]}]}


def test_objects_begin_where_their_brackets_are() -> None:
    text = '{"a":\n {"b": [{},\n\n{"c": "x\\n"}]}}'
    found = parse(text, 10, has_rows=True)
    places = [found, found["a"], *found["a"]["b"]]
    assert all(isinstance(each, Placed) for each in places)
    assert [each.line for each in places] == [10, 11, 11, 13]
    assert found == parse(text, 10) and type(parse(text, 10)) is dict
    assert type(parse('{"a": {}}', 3, has_rows=True)) is dict


@pytest.mark.parametrize("text", [
    '{"a":\n1, "a": 2}', '{"a":\nNaN}', '{"a":\n1e999}', '{"a":\n"\\ud800"}', '{\n"a": 1',
    '{"a"\n1}', "[\n1]", '{"a":\n' + "[" * 600 + "]" * 600 + "}", '{"a":\n' + "9" * 5000 + "}",
])  # fmt: skip
def test_what_is_refused_is_refused_for_the_same_reason(text: str) -> None:
    said = []
    for has_rows in (False, True):
        with pytest.raises(Unreadable) as caught:
            parse(text, 1, has_rows=has_rows)
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]


def test_a_history_has_the_lines_of_its_spans(tmp_path: Path) -> None:
    file = tmp_path / "spans.json"
    text = json.dumps(spans("read", "write"), indent=1)
    file.write_text(text, encoding="utf-8")
    lines = [n for n, line in enumerate(text.splitlines(), 1) if '"name"' in line]
    found = [row.line for row in read_history(str(file)).rows]
    assert sorted(found) == [line - 1 for line in lines for _ in range(2)]


def test_the_line_of_a_wrong_span_is_said(tmp_path: Path) -> None:
    file = tmp_path / "spans.json"
    given = spans("read", "write")
    given["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["endTimeUnixNano"] = "soon"
    text = json.dumps(given, indent=1)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_history(str(file))
    wanted = text[: text.index('"write"')].count("\n")
    (found,) = caught.value.diagnostics
    assert found.code == "E099" and found.span is not None and found.span.line == wanted


def test_an_audit_and_a_comparison_have_the_lines_of_nested_rows(tmp_path: Path) -> None:
    rows = [{"process": "p", "pos": n, "kind": "broadcast", "msg": "m"} for n in (1, 2)]
    rows.append({"process": "p", "pos": "x", "kind": "broadcast", "msg": "m"})
    file, mapping = tmp_path / "log.json", tmp_path / "map.toml"
    text = json.dumps({"batch": {"events": rows}}, indent=1)
    file.write_text(text, encoding="utf-8")
    mapping.write_text('rows = "batch.events[]"\n', encoding="utf-8")
    wanted = text[: text.index('"x"')].count("\n")
    known = read_mapping(str(mapping))
    for read in (
        lambda: audit(Request((str(file),), "ReliableBroadcast", mapping=known)),
        lambda: read_logs([str(file)], known),
    ):
        with pytest.raises(SpecError) as caught:
            read()
        (found,) = caught.value.diagnostics
        assert found.span is not None and found.span.line == wanted - 1, found


@pytest.mark.parametrize(("data", "what"), [
    (b"PAR1\x15\x04", "a Parquet file"), (b"process,pos,kind\np,1,request\n", "CSV"),
    (b"Dumping /logs/t-0/0.log\nLog starting offset: 0\n", "a dump of kafka-dump-log"),
])  # fmt: skip
def test_formats_of_audits_are_named_elsewhere(data: bytes, what: str, tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(data)
    for read in (read_history, lambda name: read_logs([name], NO_MAPPING)):
        with pytest.raises(SpecError) as caught:
            read(str(file))
        (found,) = caught.value.diagnostics
        assert f"this is {what}, which only" in found.message
        assert found.span is not None and found.span.line == 1 and "NDJSON" in found.hint
