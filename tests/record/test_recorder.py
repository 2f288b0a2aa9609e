"""The recorder: what it has written survives, and a process goes on with its own file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from checker.record import Recorder


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_lines_are_numbered_and_have_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    with Recorder(path, "p1", run="r", clock=lambda: 12.5) as log:
        assert log.broadcast("a") == 2
        log.deliver("a", sender="p1", seq=0)
        log.send("DATA", "p2", {"m": "a"}, {"sent": {"b", "a"}})
        log.receive("DATA", "p2", {"key": b"\x01"})
    found = rows(path)
    assert [row["pos"] for row in found] == [1, 2, 3, 4, 5, 6]
    assert [row["kind"] for row in found][0::5] == ["start", "end"]
    assert found[1] == {
        "run": "r", "process": "p1", "pos": 2, "kind": "broadcast", "msg": "a", "ts": 12.5,
    }  # fmt: skip
    assert found[2]["sender"] == "p1"
    assert found[3]["receivers"] == ["p2"]
    assert found[3]["state"] == {"sent": ["a", "b"]}
    assert found[4]["fields"] == {"key": "01"}
    assert "receivers" not in found[4]


def test_many_threads_write_whole_lines_in_the_order_of_their_positions(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    with Recorder(path, "p1") as log:

        def work(number: int) -> None:
            for i in range(200):
                log.perform(f"{number}.{i}")

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = rows(path)
    assert [row["pos"] for row in found] == list(range(1, 1603))
    for number in range(8):
        own = [row["name"] for row in found if str(row.get("name", "")).startswith(f"{number}.")]
        assert own == [f"{number}.{i}" for i in range(200)]


KILLED = """
import os, signal, sys
from checker.record import Recorder
log = Recorder(sys.argv[1], "p1", buffered=int(sys.argv[2]))
for i in range(10):
    log.perform(i)
    if i == 4:
        log.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("buffered", "survive"), [(0, 10), (100, 5)])
def test_what_was_flushed_survives_a_kill(tmp_path: Path, buffered: int, survive: int) -> None:
    path = tmp_path / "p1.ndjson"
    done = subprocess.run([sys.executable, "-c", KILLED, path, str(buffered)], check=False)
    assert done.returncode == -signal.SIGKILL
    acts = [row["name"] for row in rows(path) if row["kind"] == "perform"]
    assert acts == list(range(survive))
    with Recorder(path, "p1") as log:
        log.perform("again")
    found = rows(path)
    assert [row["pos"] for row in found] == list(range(1, len(found) + 1))
    assert [row["kind"] for row in found[-3:]] == ["recover", "perform", "end"]


def test_half_a_last_line_becomes_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    Recorder(path, "p1", clock=None).perform("x")
    with path.open("ab") as file:
        file.write(b'{"process":"p1","po')
    assert Recorder(path, "p1", clock=None).perform("y") == 5
    found = rows(path)
    assert [(row["pos"], row["kind"]) for row in found] == [
        (1, "start"), (2, "perform"), (3, "gap"), (4, "recover"), (5, "perform"),
    ]  # fmt: skip
    assert found[2]["lost"] == '{"process":"p1","po'


def test_half_a_first_line_is_a_gap_too(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    path.write_text('{"pro', encoding="utf-8")
    Recorder(path, "p1")
    assert [(row["pos"], row["kind"]) for row in rows(path)] == [(1, "gap"), (2, "recover")]


def test_a_last_line_may_be_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    Recorder(path, "p1").perform("x" * 200_000)
    assert Recorder(path, "p1").perform("y") == 4


def test_a_file_has_one_recorder_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    log = Recorder(path, "p1")
    with pytest.raises(BlockingIOError):
        Recorder(path, "p1")
    log.close()
    with pytest.raises(ValueError, match="is the log of p1, not of p2"):
        Recorder(path, "p2")
    with pytest.raises(ValueError, match="is closed"):
        log.perform("x")
    log.close()


def test_what_is_no_log_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes\n", encoding="utf-8")
    with pytest.raises(ValueError, match="is not a log"):
        Recorder(path, "p1")
    assert path.read_text(encoding="utf-8") == "these are notes\n"


def test_what_is_no_json_and_no_kind_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    log = Recorder(path, "p1")
    with pytest.raises(TypeError):
        log.perform(object())
    with pytest.raises(ValueError, match="unknown kind of line"):
        log.record("delivered")
    assert log.perform("x") == 2
    assert len(rows(path)) == 2


def test_a_child_that_was_forked_does_not_write_into_the_log_of_its_parent(tmp_path: Path) -> None:
    log = Recorder(tmp_path / "p1.ndjson", "p1")
    child = os.fork()
    if not child:
        try:
            log.perform("x")
        except ValueError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_the_log_of_an_earlier_run_is_refused_unless_said_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    Recorder(path, "p1").close()
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="mode='w' replaces it"):
        Recorder(path, "p1")
    with pytest.raises(FileExistsError, match="already exists"):
        Recorder(path, "p1", mode="x")
    assert path.read_bytes() == before
    Recorder(path, "p1", mode="a").close()
    assert [(row["pos"], row["kind"]) for row in rows(path)] == [
        (1, "start"),
        (2, "end"),
        (3, "recover"),
        (4, "end"),
    ]
    Recorder(path, "p1", mode="w").close()
    assert [(row["pos"], row["kind"]) for row in rows(path)] == [(1, "start"), (2, "end")]
    with pytest.raises(ValueError, match="unknown mode"):
        Recorder(path, "p1", mode="r")


def test_another_run_begins_behind_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    Recorder(path, "p1", run="one").close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"run":"one","pro')
    Recorder(path, "p1", run="two").close()
    assert [(row["run"], row["pos"], row["kind"]) for row in rows(path)] == [
        ("one", 1, "start"),
        ("one", 2, "end"),
        ("two", 1, "start"),
        ("two", 2, "end"),
    ]


def test_half_a_line_of_another_run_is_a_gap_of_that_run(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    with Recorder(path, "p1", run="a", clock=None) as log:
        log.deliver("m")
    whole = path.read_text(encoding="utf-8").splitlines()[:-1]  # it was killed before its `end`
    half = '{"run":"a","process":"p1","pos":3,"ki'
    path.write_text("\n".join([*whole, half]), encoding="utf-8")
    Recorder(path, "p1", run="b", clock=None).close()
    assert rows(path)[1:] == [
        {"run": "a", "process": "p1", "pos": 2, "kind": "deliver", "msg": "m"},
        {"run": "a", "process": "p1", "pos": 3, "kind": "gap", "lost": half},
        {"run": "b", "process": "p1", "pos": 1, "kind": "start"},
        {"run": "b", "process": "p1", "pos": 2, "kind": "end"},
    ]


@pytest.mark.parametrize("blank", ["\n", "\n\n \r\n", "\n" * 70_000])
def test_blank_lines_do_not_hide_the_log(blank: str, tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    Recorder(path, "p1").close()
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(blank)
    for mode in (None, "x"):
        with pytest.raises(FileExistsError):
            Recorder(path, "p1", mode=mode)
    with Recorder(path, "p1", mode="a"):
        pass
    found = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    assert [row["pos"] for row in found] == [1, 2, 3, 4]
    assert [row["kind"] for row in found] == ["start", "end", "recover", "end"]
