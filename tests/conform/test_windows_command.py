"""`conform --windows`: the table, exit codes, several logs, and what is said of a red window."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.results.conformance import Conformance
from checker.results.verdict import Word
from checker.results.windows import HandlerScore
from tests.documents import only_report

COUNTER = """
protocol Counter {
  message ADD(k: 1..3)
  message TOTAL(t: 0..9)
  role client(1) {
    state asked : 0..3 = 0
    upon condition asked < 3 as asks { asked += 1  send ADD(asked) to server }
    upon receive TOTAL(_) { skip }
  }
  role server(1) {
    state total : 0..9 = 0
    upon receive ADD(k) from c {
      if total + k <= 9 { total += k }
      send TOTAL(total) to c
    }
  }
  property fine "" : always true
}
check one of Counter { prove fine }
"""

PAIR = """
protocol Pair {
  message PUT
  role app(1) {
    state done = false
    upon condition not done as puts { done := true  send PUT to store }
  }
  role store(1) dies with app {
    stable state kept : 0..3 = 0
    upon receive PUT { if kept < 3 { kept += 1 } }
  }
  property fine "" : always true
}
check together of Pair { faults crash <= 1, recover  prove fine }
"""


def adds(*totals: int) -> list[dict[str, Any]]:
    """The server's lines when it receives ADD(1), ADD(2), ... and has these totals."""
    rows: list[dict[str, Any]] = []
    for number, total in enumerate(totals, 1):
        rows.append({"kind": "receive", "message": "ADD", "from": "c1", "fields": {"k": number}})
        sent = {"kind": "send", "message": "TOTAL", "receivers": ["c1"], "fields": {"t": total}}
        rows.append({**sent, "state": {"total": total}})
    return rows


ASKS: list[dict[str, Any]] = [
    line
    for number in (1, 2, 3)
    for line in (
        {"kind": "handler", "name": "asks"},
        {"kind": "send", "message": "ADD", "receivers": ["s1"], "fields": {"k": number}},
    )
]


def written(folder: Path, text: str = COUNTER, **logs: list[dict[str, Any]]) -> list[str]:
    folder.mkdir(exist_ok=True)
    spec = folder.parent / "spec.bcast"
    spec.write_text(text, encoding="utf-8")
    for process, rows in logs.items():
        lines = [{"process": process, "pos": n, **row} for n, row in enumerate(rows, 1)]
        path = folder / f"{process}.ndjson"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return [str(spec), str(folder)]


def judged(folder: Path, check: str, text: str = COUNTER, **logs: Any) -> Conformance:
    spec, inside = written(folder / "logs", text, **logs)
    files = sorted(map(str, Path(inside).iterdir()))
    return conform(Asked(spec, check, Options(), windows=True), files)


def by_name(report: Conformance) -> dict[str, HandlerScore]:
    assert report.windows is not None
    return {each.name: each for each in report.windows.handlers}


def test_all_windows_of_a_right_log_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, folder = written(tmp_path / "logs", c1=ASKS, s1=adds(1, 3, 6))
    assert main(["conform", f"{spec}::one", folder, "--windows", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "Windows: 6 windows, 0 red" in shown
    assert "CONFORMS" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_one_fault_is_one_red_window(tmp_path: Path) -> None:
    report = judged(tmp_path, "one", c1=ASKS, s1=adds(1, 4, 7))
    assert report.exit_code == 1
    score = by_name(report)
    assert (score["receive ADD"].explained, score["receive ADD"].red) == (2, 1)
    assert score["handler asks"].red == 0
    first = score["receive ADD"].first
    assert first is not None
    assert "ADD(2)" in first.line.text
    assert "TOTAL(3)" in first.reasons[0]
    assert score["receive ADD"].condition == "`send` is missing"
    assert report.word is Word.VIOLATED


def test_what_all_red_windows_share_is_said(tmp_path: Path) -> None:
    again = [*adds(1), *adds(3)]  # twice ADD(1); the second time it counts twice
    report = judged(tmp_path, "one", s1=[*again, *adds(5)], c1=[])
    score = by_name(report)["receive ADD"]
    assert score.red == 2
    assert score.shared == ()  # ADD(1) has been explained, too
    report = judged(tmp_path, "one", s1=[*adds(1, 4), *adds(5, 9)[2:]])
    score = by_name(report)["receive ADD"]
    assert score.red == 2
    assert "k = 2" in score.shared


def test_a_line_without_state_and_effects_is_weak(tmp_path: Path) -> None:
    received = [{"kind": "receive", "message": "ADD", "fields": {"k": 1}}]
    report = judged(tmp_path, "one", c1=[], s1=received)
    assert by_name(report)["receive ADD"].weak == 1
    report = judged(tmp_path, "one", c1=[], s1=[{**received[0], "state": {"total": 1}}])
    assert by_name(report)["receive ADD"].weak == 0


def test_what_is_missing_is_unknown_until_it_is_read(tmp_path: Path) -> None:
    gap = {"kind": "gap"}
    later = [{"kind": "receive", "message": "ADD", "fields": {"k": 3}, "state": {"total": 8}}]
    assert not by_name(judged(tmp_path, "one", s1=[gap, *later]))["receive ADD"].red
    later[0]["state"] = {"total": 1}  # 1 is no total after 3 was added, and no total stays 1
    assert by_name(judged(tmp_path, "one", s1=[gap, *later]))["receive ADD"].red


def test_all_windows_explained_is_not_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = [*adds(1), *adds(2)]  # ADD(1) was sent once
    spec, folder = written(tmp_path / "logs", c1=ASKS[:2], s1=twice)
    out = tmp_path / "out.json"
    asked = ["conform", f"{spec}::one", folder, "--windows", "--json", str(out)]
    assert main(asked) == 1
    report = only_report(out.read_text(encoding="utf-8"))
    assert [each["red"] for each in report["windows"]["handlers"]] == [0, 0]
    assert report["windows"]["exit_code"] == 0
    assert report["verdict"] == "violated"
    assert report["windows"]["nowhere"] == 0
    capsys.readouterr()


def test_messages_that_no_line_sends_are_counted(tmp_path: Path) -> None:
    report = judged(tmp_path, "one", c1=ASKS[:2], s1=[*adds(1), *adds(0, 3)[2:]])
    assert report.windows is not None
    assert report.windows.nowhere == 1


def test_an_empty_log_has_no_windows(tmp_path: Path) -> None:
    report = judged(tmp_path, "one", c1=[{"kind": "end"}], s1=[])
    assert report.windows is not None
    assert not report.windows.handlers
    assert report.exit_code == 4


def test_a_process_without_a_local_system_is_not_asked(tmp_path: Path) -> None:
    lines = [{"kind": "handler", "name": "puts"}]
    report = judged(tmp_path, "together", PAIR, a1=lines)
    assert report.windows is not None
    assert report.windows.aside
    assert report.word is Word.HOLDS
    assert report.exit_code == 3


def test_several_logs_have_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, right = written(tmp_path / "right", c1=ASKS, s1=adds(1, 3, 6))
    _, wrong = written(tmp_path / "wrong", c1=ASKS, s1=adds(1, 4, 7))
    assert main(["conform", f"{spec}::one", right, wrong, "--windows", "--quiet"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("Windows: ") == 1
    assert "Windows: 12 windows, 1 red" in shown


def test_a_wrong_line_near_the_end_is_named_without_a_search(tmp_path: Path) -> None:
    """Two hundred rounds of three clients, in any order: far too many interleavings."""
    spec = COUNTER.replace("role client(1)", "role client(6)").replace("asked < 3", "asked < 1")
    rows = [
        {"kind": "receive", "message": "ADD", "from": f"c{n}", "fields": {"k": 1}}
        for n in range(1, 7)
    ]
    for number, row in enumerate(rows, 1):
        row["state"] = {"total": number}
    rows[-1]["state"] = {"total": 9}
    asks = {f"c{n}": ASKS[:2] for n in range(1, 7)}
    report = judged(tmp_path, "one", spec, s1=rows, **asks)
    assert report.word is Word.VIOLATED
    assert "no step of s1 explains" in report.sentence
    (obstacle,) = report.obstacles
    assert obstacle.line.number == 6
    assert sum("total would be 6 after it" in reason for reason in obstacle.reasons) == 1
