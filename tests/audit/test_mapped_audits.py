"""Logs of other tools: text, nested objects and tables become the rows of a log by a mapping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from checker.audit.columns import operators_of
from checker.audit.declared import interface_called
from checker.audit.files import find_files
from checker.audit.reading import Reader
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import LogMapping
from checker.logs.read_mapping import read_mapping

OPERATORS = operators_of(interface_called("Queue"))
WANTED = [
    {"process": "p1", "pos": 1, "kind": "sent", "msg": "a", "status": "ok", "effect": True},
    {"process": "p1", "pos": 2, "kind": "sent", "msg": "b", "status": "maybe", "effect": False},
    {"process": "p2", "pos": 3, "kind": "got", "msg": "a", "status": "ok", "effect": True},
]
"""What all logs below say; kinds are renamed when they are looked up."""
VALUES = (
    '[values.status]\nok = 200\nmaybe = [500, "lost"]\n'
    '[values.effect]\ntrue = "yes"\nfalse = "no"\n'
)
ROWS = [
    ("p1", "sent", "a", 200, "yes"),
    ("p1", "sent", "b", 500, "no"),
    ("p2", "got", "a", 200, "yes"),
]
FLAT = [dict(zip(("node", "what", "id", "code", "new"), row, strict=True)) for row in ROWS]
NAMES = (
    '[columns]\nprocess = "node"\npos = "@row"\nkind = "what"\nmsg = "id"\n'
    'status = "code"\neffect = "new"\n'
)
NESTED = {
    "hosts": [
        {
            "node": {"id": "p1"},
            "log": [{"e": ["sent", "a", 200, "yes"]}, {"e": ["sent", "b", 500, "no"]}],
        },
        {"node": {"id": "p2"}, "log": [{"e": ["got", "a", 200, "yes"]}]},
    ]
}
OF_NESTED = (
    'rows = "hosts[].log[]"\n[columns]\nprocess = "node.id"\npos = "@row"\nkind = "e[0]"\n'
    'msg = "e[1]"\nstatus = "e[2]"\neffect = "e[-1]"\n'
)
TEXT = "".join(f"{n}: {' '.join(map(str, row))}\n" for n, row in enumerate(ROWS, 1))
OF_TEXT = (
    "lines = '^(?P<pos>.): (?P<process>..) (?P<kind>\\w+) (?P<msg>.) (?P<status>\\d+)"
    " (?P<effect>\\w+)$'\n"
)  # fmt: skip


def read(folder: Path, mapping: str, name: str = "log") -> tuple[list[dict[str, Any]], Reader]:
    (folder / "names.toml").write_text(mapping, encoding="utf-8")
    given = read_mapping(str(folder / "names.toml"))
    reader = Reader(given, OPERATORS)
    (file,) = find_files((str(folder / name),), is_text=given.lines is not None)
    return pa.concat_tables(reader.tables(file)).to_pylist(), reader


@pytest.mark.every
@pytest.mark.parametrize(
    ("text", "mapping"),
    [
        ("".join(json.dumps(row) + "\n" for row in FLAT), NAMES + VALUES),
        (json.dumps(NESTED), OF_NESTED + VALUES),
        (json.dumps(NESTED, indent=2), OF_NESTED + VALUES),
        (TEXT, OF_TEXT + VALUES),
        (
            "node,what,id,code,new\n" + "".join(",".join(map(str, r)) + "\n" for r in ROWS),
            NAMES + VALUES,
        ),
    ],
)
def test_other_formats_say_the_same(text: str, mapping: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text, encoding="utf-8")
    rows, reader = read(tmp_path, mapping)
    assert [{name: row[name] for name in WANTED[0]} for row in rows] == WANTED
    assert reader.warnings == []


def test_a_table_of_parquet_is_mapped(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(FLAT), tmp_path / "log.parquet")
    rows, _ = read(tmp_path, NAMES + VALUES, "log.parquet")
    assert [{name: row[name] for name in WANTED[0]} for row in rows] == WANTED


def test_constants_lines_and_alternatives(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("k,a,b\nsent,,x\nsent,y,\n", encoding="utf-8")
    mapping = '[columns]\nprocess = "@const p 1"\npos = "@line"\nkind = "k"\nmsg = ["a", "b"]\n'
    rows, _ = read(tmp_path, mapping, "log.csv")
    found = [(row["process"], row["pos"], row["msg"]) for row in rows]
    assert found == [("p 1", 2, "x"), ("p 1", 3, "y")]
    (tmp_path / "log").write_text('\n{"k": "sent", "b": "x"}\n{"k": "sent", "a": "y"}\n')
    rows, _ = read(tmp_path, mapping)
    assert [(row["process"], row["pos"], row["msg"]) for row in rows] == found


def wrong_in(folder: Path, text: bytes, mapping: str) -> Diagnostic:
    (folder / "log").write_bytes(text)
    with pytest.raises(SpecError) as caught:
        read(folder, mapping)
    return caught.value.diagnostics[0]


@pytest.mark.parametrize(
    ("text", "mapping", "code", "line"),
    [
        (b"x\ny\n", OF_TEXT, "E098", 1),
        (TEXT.encode() + b"\xff\n", OF_TEXT + VALUES, "E080", 4),
        (b"1: p1 sent a 1 x\n", OF_TEXT, "E088", 1),
        (b"x: p1 sent a 1 true\n", OF_TEXT, "E088", 1),
        (b'\n{"hosts": [{"log": 3}]}\n', OF_NESTED, "E080", 2),
        (b'{"resourceSpans": [{"resource": 1, "scopeSpans": 2}]}\n', "", "E080", 1),
    ],
)
def test_what_a_mapping_does_not_find_is_told(
    text: bytes, mapping: str, code: str, line: int, tmp_path: Path
) -> None:
    found = wrong_in(tmp_path, text, mapping)
    assert found.code == code and found.span is not None and found.span.line == line


def test_lines_that_do_not_match_are_counted(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"starting\n{TEXT}  at x\n\n4: p1 sent c 2", encoding="utf-8")
    rows, reader = read(tmp_path, OF_TEXT + VALUES)
    assert len(rows) == 3 and [file.path for file in reader.torn] == [str(tmp_path / "log")]
    skipped, cut = reader.warnings
    assert skipped.code == "E098" and "2 lines do not" in skipped.message
    assert skipped.span is not None and skipped.span.line == 1 and cut.code == "E085"


def test_a_mapping_of_nothing_is_empty() -> None:
    assert LogMapping() == read_mapping(None)
