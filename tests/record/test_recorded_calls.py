"""Calls and their answers, from many threads, are a history that is judged."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.histories.pairing import operations_of
from checker.histories.reading import read_history
from checker.record import Recorder


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_call_and_its_answer_have_a_number(tmp_path: Path) -> None:
    path = tmp_path / "h.ndjson"
    with Recorder(path, "c", clock=None) as log:
        write, read, cas = log.call("write", 3), log.call("read"), log.call("cas", [3, 4], key="x")
        read.ok(None)
        cas.fail()
        write.info()
    found = rows(path)
    assert found[1:4] == [
        {"process": "c", "pos": 2, "kind": "request", "name": "write", "arguments": [3], "call": 2},
        {"process": "c", "pos": 3, "kind": "request", "name": "read", "arguments": [], "call": 3},
        {"process": "c", "pos": 4, "kind": "request", "name": "cas", "arguments": [3, 4],
         "key": "x", "call": 4},
    ]  # fmt: skip
    assert found[4]["call"] == 3 and found[4]["arguments"] == [None] and "status" not in found[4]
    assert [row.get("status") for row in found[5:7]] == ["fail", "maybe"]
    made = operations_of(read_history(str(path))).found
    assert [(one.f, one.outcome) for one in made] == [
        ("write", "info"), ("read", "ok"), ("cas", "fail"),
    ]  # fmt: skip


def test_a_call_has_one_answer(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.ndjson", "c") as log:
        call = log.call("read")
        with pytest.raises(TypeError):
            call.ok(object())
        call.ok(1)
        for again in (call.ok, call.fail, call.info):
            with pytest.raises(ValueError, match="already"):
                again()


def test_threads_record_one_history(tmp_path: Path) -> None:
    """A register with a lock is linearizable; one that is wrong once is not."""
    for wrong in (False, True):
        path, lock, register = tmp_path / f"{wrong}.ndjson", threading.Lock(), [0]
        with Recorder(path, "clients") as log:

            def work(
                of: int, log: Recorder = log, lock: Any = lock, register: Any = register
            ) -> None:
                for number in range(30):
                    called = (
                        log.call("write", of * 100 + number) if number % 2 else log.call("read")
                    )
                    with lock:
                        if number % 2:
                            register[0] = of * 100 + number
                        value = register[0]
                    called.ok() if number % 2 else called.ok(value)

            threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            log.call("read").ok(-1 if wrong else register[0])
        code = main(["judge", str(path), "--as", "Register", "--initial", "write(0)", "-q"])
        assert code == wrong


def test_what_was_called_before_a_kill_never_returns(tmp_path: Path) -> None:
    path = tmp_path / "h.ndjson"
    log = Recorder(path, "c")
    log.call("write", 1)
    log.request("write", 2)
    log._close()  # as a kill does, without `end`
    with Recorder(path, "c") as log:
        log.request("read")
        log.indicate("read", 2)
        log.call("read").ok(1)
    made = operations_of(read_history(str(path))).found
    assert [one.outcome for one in made] == ["open", "open", "ok", "ok"]
    assert main(["judge", str(path), "--as", "Register", "-q"]) == 0


def test_transactions_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "h.ndjson"
    with Recorder(path, "c") as log:
        log.call("txn", [[["append", "x", 1]]]).ok([["append", "x", 1]])
        log.call("txn", [[["r", "x", None]]]).ok([["r", "x", [1]]])
    assert main(["judge", str(path), "--as", "ListAppend", "-q"]) == 0


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"call": [1]}, "`call` must be"),
        ({"call": 9}, "has no call"),
        ({"call": 1, "status": "lost"}, "unknown outcome"),
    ],
)
def test_wrong_answers_are_told(
    row: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    called = {"process": "c", "pos": 1, "kind": "request", "name": "read", "call": 1}
    answered = {"process": "c", "pos": 2, "kind": "indicate", "name": "read"} | row
    path = tmp_path / "h.ndjson"
    path.write_text(f"{json.dumps(called)}\n{json.dumps(answered)}\n", encoding="utf-8")
    assert main(["judge", str(path), "--as", "Register"]) == 2
    err = capsys.readouterr().err
    assert said in err and f"{path}:2" in err


def test_a_log_of_calls_is_audited_without_warnings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "h.ndjson"
    with Recorder(path, "c") as log:
        log.call("propose", "a").ok("a")
    main(["audit", str(path), "--as", "Consensus"])
    assert "E084" not in "".join(capsys.readouterr())
