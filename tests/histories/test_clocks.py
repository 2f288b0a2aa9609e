"""Operations with times: what clocks order, and never finer; nothing is refuted wrongly."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.histories.judging import Request, judge_of
from checker.histories.pairing import shape_of
from checker.histories.reading import read_history
from checker.logs.mapping import NO_MAPPING
from checker.results.judgement import Judgement
from checker.results.verdict import Word

Operation = dict[str, Any]


def written(folder: Path, rows: list[Operation], name: str = "log") -> str:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def judged(folder: Path, rows: list[Operation], error: int | None = None) -> Judgement:
    shape = shape_of(NO_MAPPING, False)
    request = Request("Register", shape=shape, clock_error=error)
    return judge_of(request).judge(written(folder, rows))


def write(value: int, began: int, ended: int, host: str | None = None) -> Operation:
    row = {"process": 0, "f": "write", "value": value, "call_time": began, "return_time": ended}
    return row if host is None else row | {"host": host}


def read(value: int | None, began: int, ended: int, host: str | None = None) -> Operation:
    row = write(0, began, ended, host)
    return row | {"f": "read", "value": None, "result": value}


# ---- the second definition: all orders ----------------------------------------------------------


def precedes(one: Operation, other: Operation, error: int | None) -> bool:
    """Whether ``one`` surely returned before ``other`` was called."""
    if one["return_time"] is None:
        return False
    if one.get("host") == other.get("host"):
        return bool(one["return_time"] < other["call_time"])
    if error is None:
        return False
    seconds = error / 10**9
    return bool(one["return_time"] + seconds < other["call_time"] - seconds)


def has_an_order(rows: list[Operation], error: int | None) -> bool:
    for order in itertools.permutations(rows):
        if any(precedes(late, early, error) for early, late in itertools.combinations(order, 2)):
            continue
        value = None
        for row in order:
            if row["f"] == "read" and row["result"] != value:
                break
            value = row["value"] if row["f"] == "write" else value
        else:
            return True
    return False


def drawn(draw: random.Random) -> list[Operation]:
    rows = []
    for number in range(draw.randint(2, 6)):
        began = draw.randint(1, 12)
        ended, host = began + draw.randint(0, 4), draw.choice("ab")
        if draw.random() < 0.5:
            rows.append(write(number, began, ended, host))
        else:
            rows.append(read(draw.choice([None, *range(6)]), began, ended, host))
    return rows


@pytest.mark.every
@pytest.mark.parametrize("error", [None, 0, 10**9, 2 * 10**9])
def test_a_verdict_is_that_of_all_orders(error: int | None, tmp_path: Path) -> None:
    draw, found = random.Random(error or 7), set()
    for _ in range(120):
        rows = drawn(draw)
        word = judged(tmp_path, rows, error).word
        assert (word is Word.HOLDS) == has_an_order(rows, error), rows
        assert word in (Word.HOLDS, Word.VIOLATED)
        found.add(word)
    assert len(found) == 2


def executed(draw: random.Random, most: int) -> list[Operation]:
    """An execution of a register, with clocks that are off by at most ``most``."""
    value, time, rows = None, 0, []
    off = {host: draw.randint(-most, most) for host in "abc"}
    for number in range(12):
        time += draw.randint(1, 3)
        host = draw.choice("abc")
        began, ended = time - draw.randint(0, 4) + off[host], time + draw.randint(0, 4) + off[host]
        if draw.random() < 0.5:
            value = number
            rows.append(write(number, began + 100, ended + 100, host))
        else:
            rows.append(read(value, began + 100, ended + 100, host))
    draw.shuffle(rows)
    return rows


def test_a_right_execution_is_never_refuted(tmp_path: Path) -> None:
    draw = random.Random(3)
    for _ in range(60):
        rows = executed(draw, 5)
        assert judged(tmp_path, rows, 5 * 10**9).word is Word.HOLDS
        assert judged(tmp_path, rows).word is Word.HOLDS


# ---- what is said --------------------------------------------------------------------------------


def test_operations_that_touch_are_not_ordered(tmp_path: Path) -> None:
    assert judged(tmp_path, [write(1, 0, 5), read(None, 5, 6)]).word is Word.HOLDS
    late = {name: value for name, value in read(None, 6, 7).items() if name != "process"}
    early = {name: value for name, value in write(1, 0, 5).items() if name != "process"}
    found = judged(tmp_path, [late, early])
    assert found.word is Word.VIOLATED and found.refutation is not None
    assert "MISSING" not in found.refutation.sentence
    assert found.notes == ("assumed: one clock orders all operations, and was never set back",)


def test_hosts_are_ordered_only_by_an_error_that_is_known(tmp_path: Path) -> None:
    stale = [write(1, 0, 1, "a"), write(2, 2, 3, "a"), read(1, 10, 11, "b")]
    found = judged(tmp_path, stale)
    assert found.word is Word.HOLDS and "2 pairs" in found.notes[1] and "a and b" in found.notes[1]
    found = judged(tmp_path, stale, 10**9)
    assert found.word is Word.VIOLATED and found.refutation is not None
    assert "at most 1 s" in found.notes[0]
    assert "not ordered" not in " ".join(found.notes)
    assert judged(tmp_path, stale, 5 * 10**9).word is Word.HOLDS
    own = [write(1, 0, 1, "a"), read(None, 2, 3, "a"), write(2, 50, 51, "b")]
    found = judged(tmp_path, own, 10**9)
    assert found.word is Word.VIOLATED  # by one clock, though less apart than the error


def test_an_operation_that_has_not_returned_may_take_effect_later(tmp_path: Path) -> None:
    for ended in (None, 0, ""):
        rows = [write(1, 1, 0) | {"return_time": ended}, read(None, 5, 6), read(1, 7, 8)]
        found = judged(tmp_path, rows)
        assert found.word is Word.HOLDS and found.indeterminate == 1


def test_times_are_numbers_or_dates(tmp_path: Path) -> None:
    rows = [write(1, 0, 1) | {"call_time": "2026-01-01T00:00:00Z", "return_time": 1767225601.5}]
    (call, answer) = read_history(written(tmp_path, rows)).rows
    assert call.time is not None and answer.time == call.time + 1_500_000_000


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"return_time": 1, "call_time": 2}, "before it is called"),
        ({"call_time": "x"}, "not a time"),
        ({"call_time": True}, "not a time"),
        ({"call_time": 1e300}, "not a time"),
        ({"call_time": 10**30}, "not a time"),
        ({"call_time": [1]}, "not a time"),
        ({"return_time": "2026-13-01"}, "not a time"),
        ({"host": "a"}, "no `host`"),
    ],
)
def test_wrong_times_are_told_with_their_line(
    row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = written(tmp_path, [write(1, 0, 1), write(2, 2, 3) | row])
    with pytest.raises(SpecError, match=said) as caught:
        read_history(file)
    (found,) = caught.value.diagnostics
    assert found.code == "E099" and found.span is not None
    assert found.span.line == (1 if "host" in row else 2)


def test_rows_with_and_without_times_do_not_mix(tmp_path: Path) -> None:
    plain = {"process": 1, "type": "invoke", "f": "read"}
    with pytest.raises(SpecError, match="no time"):
        read_history(written(tmp_path, [write(1, 0, 1), plain]))


def span(name: str, began: int, ended: int, host: str, **attributes: Any) -> Operation:
    given = [{"key": k, "value": {"intValue": str(v)}} for k, v in attributes.items()]
    times = {
        "startTimeUnixNano": str(began * 10**6),
        "endTimeUnixNano": str(ended * 10**6),
    }
    spans = [{"name": name, "kind": 3, **times, "attributes": given, "status": {}}]
    of = {"attributes": [{"key": "host.name", "value": {"stringValue": host}}]}
    return {"resource": of, "scopeSpans": [{"spans": spans}]}


def test_spans_are_operations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spans = [span("write", 0, 1, "a", value=1), span("write", 2, 3, "a", value=2)]
    spans.append(span("read", 10, 11, "b", result=1))
    file = written(tmp_path, [{"resourceSpans": spans}])
    judge = ["judge", file, "--as", "Register"]
    assert main(judge) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "not ordered: 2 pairs" in said and "read 3 rows (OTLP JSON)" in said
    assert main([*judge, "--clock-error", "1ms"]) == 1
    assert "differ from the true time by at most 1 ms" in " ".join(capsys.readouterr().out.split())
    assert main([*judge, "--clock-error", "1 hour"]) == 2
    spans[1]["scopeSpans"][0]["spans"][0]["status"] = {"code": 2}
    file = written(tmp_path, [{"resourceSpans": spans}])
    assert main([*judge, "--clock-error", "1ms"]) == 0  # the second write may have had no effect


def test_strict_serializability_needs_an_order(tmp_path: Path) -> None:
    def txn(began: int, ended: int, host: str, *steps: Any) -> Operation:
        called = [step if step[0] == "append" else [*step[:2], None] for step in steps]
        return {"process": 0, "f": "txn", "value": called, "result": list(steps), "host": host,
                "call_time": began, "return_time": ended}  # fmt: skip

    rows = [txn(0, 1, "a", ["append", "x", 1]), txn(10, 11, "b", ["r", "x", []])]
    rows.append(txn(12, 13, "a", ["r", "x", [1]]))
    file = written(tmp_path, rows)
    judge = ["judge", file, "--as", "ListAppend", "--model"]
    assert main([*judge, "serializable"]) == 0
    assert main([*judge, "strict-serializable"]) == 3
    assert main([*judge, "strict-serializable", "--clock-error", "1s"]) == 1


# ---- transactions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hosts", "error", "expected"),
    [
        ("aa", None, Word.VIOLATED),
        ("ab", None, Word.UNKNOWN),
        ("ab", 1, Word.VIOLATED),
        ("ab", 100 * 10**9, Word.UNKNOWN),
    ],
)
@pytest.mark.parametrize(
    ("model", "assumed"), [("strict-serializable", ()), ("serializable", ("linearizable-keys",))]
)
def test_a_stale_read_of_a_register_is_as_sure_as_the_clocks(
    hosts: str, error: int | None, expected: Word, model: str, assumed: tuple[str, ...],
    tmp_path: Path,
) -> None:  # fmt: skip
    """With real time in the model, or in what is assumed of each key."""
    wrote = {"f": "txn", "value": [["w", "x", 1]], "result": [["w", "x", 1]]}
    missed = {"f": "txn", "value": [["r", "x", None]], "result": [["r", "x", None]]}
    rows = [
        {"process": 0, "host": hosts[0], "call_time": 1, "return_time": 2, **wrote},
        {"process": 1, "host": hosts[1], "call_time": 50, "return_time": 60, **missed},
    ]
    request = Request("RwRegister", model, clock_error=error, assumed=assumed)
    report = judge_of(request).judge(written(tmp_path, rows))
    assert report.word is expected, report.sentence
    assert ("assumed: linearizable-keys" in report.notes) is bool(assumed)
    assert len(report.notes) > len(assumed) or hosts == "aa"
