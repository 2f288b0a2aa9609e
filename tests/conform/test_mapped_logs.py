"""Logs of other tools: text, spans and nested objects become the rows of a log by a mapping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.conform.read_log import Log, read_log
from checker.diagnostics import SpecError
from checker.logs.mapping import LogMapping
from checker.logs.read_mapping import read_mapping

SPEC = """
protocol Post implements ReliableBroadcast {
  message DATA(m: Msg)
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { deliver(p, m) }
}
check two of Post { n = 2  clients { p1 broadcasts a } prove no_creation }
"""
PLAIN = [
    {"process": "p1", "pos": 1, "kind": "broadcast", "msg": "a"},
    {"process": "p1", "pos": 2, "kind": "send", "message": "DATA", "fields": {"m": "a"}},
    {"process": "p2", "pos": 1, "kind": "deliver", "msg": "a", "sender": "p1"},
]
"""What all logs below say, in the words of the spec."""


def mapping_in(folder: Path, text: str) -> LogMapping:
    (folder / "names.toml").write_text(text, encoding="utf-8")
    return read_mapping(str(folder / "names.toml"))


def log_in(folder: Path, text: str, names: str = "") -> Log:
    (folder / "log").write_text(text, encoding="utf-8")
    return read_log([str(folder / "log")], mapping_in(folder, names))


def rows_of(log: Log) -> list[dict[str, Any]]:
    return [
        {"process": row.process, "pos": row.pos, **row.data}
        for rows in log.rows.values()
        for row in rows
        if row.kind != "gap"
    ]


NESTED = (
    'rows = "batches[].events[]"\n[columns]\nprocess = "node.id"\npos = "@row"\nkind = "what"\n'
    'msg = "body[0]"\nsender = "body[1]"\nmessage = "type"\nfields.m = "body[0]"\n'
    '[values.kind]\nbroadcast = "cast"\ndeliver = ["got", "had"]\nsend = "out"\n'
    '[values.process]\np1 = 1\np2 = 2\n[values.message]\nDATA = "data"\n'
)
BATCHES = {
    "batches": [
        {"node": {"id": 1}, "events": [{"what": "cast", "body": ["a"]}]},
        {"node": {"id": 2}, "events": [{"what": "had", "body": ["a", "p1"]}]},
        {"node": {"id": 1}, "events": [{"what": "out", "type": "data", "body": ["a"]}]},
    ]
}


def span(process: str, name: str, **attributes: Any) -> dict[str, Any]:
    given = [{"key": k.replace("_", "."), "value": {"stringValue": v}}
             for k, v in attributes.items()]  # fmt: skip
    spans = [{"name": name, "kind": 3, "attributes": given}]
    of = {"attributes": [{"key": "service.name", "value": {"stringValue": process}}]}
    return {"resource": of, "scopeSpans": [{"spans": spans}]}


SPANS = {
    "resourceSpans": [
        span("p1", "cast", message_id="a"),
        span("p2", "got", message_id="a", message_from="p1"),
        span("p1", "out", message_type="DATA", message_id="a"),
    ]
}
OF_SPANS = (
    '[columns]\nprocess = "resource.attributes.service.name"\npos = "@row"\nkind = "name"\n'
    'msg = "attributes.message.id"\nsender = "attributes.message.from"\n'
    'message = "attributes.message.type"\nfields.m = "attributes.message.id"\n'
    '[values.kind]\nbroadcast = "cast"\ndeliver = "got"\nsend = "out"\n'
)
TEXT = 'starting up\np1 #1 cast a\np2 #1 got a from p1\n\nwhat is this?\np1 #2 out DATA{"m": "a"}\n'
OF_TEXT = (
    "lines = '^(?P<process>\\w+) #(?P<pos>\\d+) (?P<kind>\\w+) "
    "(?:(?P<message>[A-Z]+)(?P<fields>.*)|(?P<msg>\\w+)(?: from (?P<sender>\\w+))?)$'\n"
    '[values.kind]\nbroadcast = "cast"\ndeliver = "got"\nsend = "out"\n'
)  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize(
    ("text", "names"),
    [
        (json.dumps(BATCHES), NESTED),
        (json.dumps(BATCHES, indent=1), NESTED),
        (json.dumps(SPANS) + "\n", OF_SPANS),
        (TEXT, OF_TEXT),
    ],
)
def test_other_formats_say_the_same(
    text: str, names: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows_of(log_in(tmp_path, text, names))
    want = [{**row, "message": "data"} if "message" in row and names is NESTED else row
            for row in PLAIN]  # fmt: skip
    for row, wanted in zip(found, want, strict=True):
        kind = {"cast": "broadcast", "got": "deliver", "had": "deliver", "out": "receive"}
        said = {**row, "kind": kind.get(row["kind"], row["kind"])}
        assert {name: said.get(name) for name in wanted} == wanted
    (tmp_path / "post.bcast").write_text(SPEC, encoding="utf-8")
    asked = ["conform", f"{tmp_path}/post.bcast::two", f"{tmp_path}/log"]
    assert main([*asked, "--mapping", f"{tmp_path}/names.toml"]) == 0
    assert main([*asked, "--map", f"{tmp_path}/names.toml"]) == 0
    skipped = "2 lines do not [E098]" in " ".join(capsys.readouterr().out.split())
    assert skipped == (names is OF_TEXT)


def test_a_swap_of_names_is_one_swap(tmp_path: Path) -> None:
    names = '[columns]\nprocess = "node"\n[values.process]\np1 = "p2"\np2 = "p1"\n'
    text = '{"node": "p1", "pos": 1, "kind": "crash"}\n'
    assert [*log_in(tmp_path, text, names).rows] == ["p2"]


@pytest.mark.parametrize(
    ("text", "names", "code", "line"),
    [
        ("a\nb\n", "lines = '(?P<process>x)'\n", "E098", 1),
        ("p1 1\n", "lines = '(?P<process>p.) (?P<pos>.)'\n", "E071", 1),
        ("p1 x perform\n", "lines = '(?P<process>p.) (?P<pos>.) (?P<kind>.*)'\n", "E071", 1),
        ('\n{"events": 3}\n', 'rows = "events[]"\n', "E077", 2),
        (json.dumps(SPANS), "", "E071", 1),
        ('{"resourceSpans": [3]}', "", "E077", 1),
        ('{"process": {"a": 1}, "pos": 1, "kind": "x"}', '[columns]\nkind = "a.b"\n', "E071", 1),
    ],
)
def test_what_a_mapping_does_not_find_is_told(
    text: str, names: str, code: str, line: int, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as caught:
        log_in(tmp_path, text, names)
    found = caught.value.diagnostics[0]
    assert found.code == code and found.span is not None and found.span.line == line


def test_a_line_of_text_without_an_end_is_a_gap(tmp_path: Path) -> None:
    log = log_in(tmp_path, TEXT + "p1 #3 got a fr", OF_TEXT)
    assert log.rows["p1"][-1].kind == "gap" and len(log.gaps) == 1
    assert [*log_in(tmp_path, "", OF_TEXT).rows] == []


def test_a_kind_in_the_old_direction_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "post.bcast").write_text(SPEC, encoding="utf-8")
    mapping_in(tmp_path, '[values.kind]\nrecv = "receive"\n')
    asked = ["conform", f"{tmp_path}/post.bcast::two", "-", "--mapping", f"{tmp_path}/names.toml"]
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert "[E097]" in said and 'write `receive = "recv"` in [values.kind]' in said


def test_parts_of_parts_are_mapped(tmp_path: Path) -> None:
    names = (
        '[columns]\nstate.last.term = "now.t"\nstate.last.by.name = "who"\nstate.phase = "phase"\n'
        'pos = "@row"\n'
    )
    text = '{"process": "p1", "kind": "handler", "now": {"t": 3}, "who": "x", "phase": "new"}\n'
    (row,) = rows_of(log_in(tmp_path, text, names))
    assert row["state"] == {"last": {"term": 3, "by": {"name": "x"}}, "phase": "new"}


TWO = """
protocol Two {
  message ASK(number: 0..9)
  message ANSWER(number: 0..9, right: bool)
  state asked = false
  upon condition not asked and rank(self) == 1 {
    choose k in (0..9)
    asked := true
    send ASK(k) to { p for p in Proc when rank(p) == 2 }
  }
  upon receive ASK(k) from p { send ANSWER(k, k > 4) to p }
  upon receive ANSWER(k, right) from p { skip }
  property small "Nothing." : always forall p in Proc: p.asked or not p.asked
}
check two of Two { n = 2  prove small }
"""


@pytest.mark.parametrize(
    ("right", "column", "code"), [("true", "right", 0), ("false", "right", 1), ("true", "rigth", 2)]
)
def test_a_column_is_for_the_messages_that_have_it(
    right: str, column: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.bcast").write_text(TWO, encoding="utf-8")
    lines = (
        "(?P<process>.*): (?P<kind>\\\\w+) (?P<message>\\\\w+) (?P<number>\\\\d) (?P<right>\\\\w+)"
    )
    names = f'lines = "{lines}"\n[columns]\npos = "@row"\nfields.number = "number"\n'
    mapping_in(tmp_path, names + f'fields.{column} = "right"\n')
    text = "p1: send ASK 7 null\np2: receive ASK 7 null\n"
    text += f"p2: send ANSWER 7 {right}\np1: receive ANSWER 7 {right}\n"
    (tmp_path / "log").write_text(text, encoding="utf-8")
    asked = ["conform", f"{tmp_path}/two.bcast::two", f"{tmp_path}/log"]
    assert main([*asked, "--mapping", f"{tmp_path}/names.toml"]) == code
    if code == 2:
        assert "unknown field `rigth`" in capsys.readouterr().err
