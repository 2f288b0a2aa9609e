"""What a harness reads in the logs of nodes, and what it writes there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.harness.runtime.acts import Line
from checker.harness.runtime.node_logs import NodeLog, agree, is_line
from checker.record import Recorder

FIELDS = {"origin": "p1", "m": "a"}


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({}, True),
        ({"m": "a"}, True),
        ({"m": "b"}, False),
        ({"m": "_", "origin": "p1"}, True),
        ({"m": ["a"]}, True),  # sets and lists are not compared
        ({"from": "p1", "text": "a"}, True),  # other names: in order
        ({"from": "p1", "text": "b"}, False),
    ],
)
def test_what_a_message_says_has_to_be_so(given: dict[str, object], fits: bool) -> None:
    assert agree(FIELDS, given) is fits


@pytest.mark.parametrize(
    ("wanted", "row", "fits"),
    [
        (Line("indicate", "deliver", ["p1", "a"]), {"kind": "deliver", "msg": "a"}, True),
        (Line("indicate", "deliver", ["p1", "a"]),
         {"kind": "deliver", "msg": "a", "sender": "p2"}, False),
        (Line("request", "broadcast", ["a"]), {"kind": "broadcast", "msg": "a"}, True),
        (Line("request", "broadcast", ["a"]), {"kind": "broadcast", "msg": "b"}, False),
        (Line("request", "write", ["3", "true"]),
         {"kind": "request", "name": "write", "arguments": [3, True]}, True),
        (Line("receive", "DATA", FIELDS, "p2"),
         {"kind": "receive", "message": "DATA", "from": "p3"}, False),
        (Line("receive", "DATA", FIELDS, "p2"), {"kind": "receive", "message": "DATA"}, True),
        (Line("receive", "DATA", FIELDS, "p2"), {"kind": "receive", "message": "ACK"}, False),
        (Line("recover"), {"kind": "recover"}, True),
        (Line("recover"), {"kind": "start"}, False),
    ],
)  # fmt: skip
def test_lines_of_the_trace(wanted: Line, row: dict[str, object], fits: bool) -> None:
    assert is_line(wanted, row) is fits


def test_each_line_is_waited_for_once(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    with Recorder(path, "p1") as recorder:
        recorder.deliver("a", sender="p1")
        log, wanted = NodeLog(path), Line("indicate", "deliver", ["p1", "a"])
        assert log.find(wanted)
        assert not log.find(wanted)
        recorder.deliver("a", sender="p1")
        assert log.find(wanted)
        recorder.deliver("b", sender="p2")
    assert log.others(["indicate"]) == ["line 4: deliver(p2, b)"]


def test_a_line_that_is_being_written_is_read_later(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    path.write_text('{"kind":"sta', "utf-8")
    log = NodeLog(path)
    assert log.read() == 0
    with path.open("a", encoding="utf-8") as file:
        file.write('rt"}\nno json\n')
    assert log.read() == 2
    assert log.rows[0] == {"kind": "start"}


@pytest.mark.parametrize("half", ["", '{"process":"p1","po'])
def test_the_crash_is_in_the_log_and_the_process_goes_on_behind_it(
    half: str, tmp_path: Path
) -> None:
    path = tmp_path / "p1.ndjson"
    recorder = Recorder(path, "p1", run="r")
    recorder.broadcast("a")
    recorder._close()  # as a kill does: without a line `end`
    with path.open("a", encoding="utf-8") as file:
        file.write(half)
    NodeLog(path).write_crash("p1")
    Recorder(path, "p1", run="r").close()
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    kinds = ["start", "broadcast", *(["gap"] if half else []), "crash", "recover", "end"]
    assert [row["kind"] for row in rows] == kinds
    assert [row["pos"] for row in rows] == [*range(1, len(kinds) + 1)]
    assert {row["run"] for row in rows} == {"r"}


def test_other_logs_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    NodeLog(path).write_crash("p1")
    assert not path.exists()
    path.write_text("2026-01-01 started\n", "utf-8")
    NodeLog(path).write_crash("p1")
    assert path.read_text("utf-8") == "2026-01-01 started\n"
