"""Steps as comma-separated values."""

from __future__ import annotations

import csv
import io

from checker.formats.csv_format import COLUMNS, trace_to_csv
from checker.model.ir import VariableKind
from checker.records import replace
from checker.results.events import Partitioned
from checker.results.trace import Change
from tests.results.by_hand import lose, receive, request, send, step, trace

CHANGE = Change("seen", "seen", "p2", "{}", '{"a, b"}', VariableKind.LOCAL, False)
QUIET = replace(CHANGE, quiet=True, title="hidden")
MADE = trace(
    step(1, request("p1", 'say("a, b")'), send("p1", 'SAY("a, b")', "p2", "p3")),
    step(2, receive("p2", 'SAY("a, b")', "p1"), changes=(CHANGE, QUIET)),
    step(3, lose("p1", 'SAY("a, b")', "p3")),
    step(4, Partitioned(("it\nrains",))),
    loop=3,
    closing=step(5, receive("p1", "x", "p1")),
    context=(4,),
)


def read(text: str) -> list[dict[str, str]]:
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert all(None not in row and None not in row.values() for row in rows)
    return rows


def test_a_row_for_each_step() -> None:
    text = trace_to_csv(MADE)
    assert text.startswith(",".join(COLUMNS) + "\r\n")
    rows = read(text)
    assert [row["step"] for row in rows] == ["0", "1", "2", "3", "4", "5"]
    assert [row["kind"] for row in rows[:4]] == ["start", "request", "receive", "lose"]
    assert rows[1]["headline"] == 'p1 is asked: say("a, b")'
    assert (rows[1]["message"], rows[1]["peers"]) == ('SAY("a, b")', "p2; p3")
    assert (rows[2]["causes"], rows[2]["clock"]) == ("1", "p1=1; p2=1")
    assert rows[2]["changes"] == 'p2.seen: {} -> {"a, b"}'
    assert (rows[3]["process"], rows[3]["clock"]) == ("p1", "world=1; p1=1")
    assert rows[4]["headline"] == "the network splits: {it rains} cut off"
    assert len(text.splitlines()) == 1 + len(rows) == 2 + MADE.length
    assert [row["context"] for row in rows] == ["no", "no", "no", "no", "yes", "no"]


def test_nobody_has_asked_what_is_context() -> None:
    rows = read(trace_to_csv(replace(MADE, explanation=None)))
    assert {row["context"] for row in rows} == {""}
