"""The command: verdicts, exit codes, reasons, documents."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from checker import resources
from checker.cli.main import main
from checker.conform import conform_log
from checker.conform.search import Search
from checker.formats.json_format import reports_of
from checker.polling import poll
from tests.documents import only_report, validator

RAFT = str(resources.specs() / "replication" / "raft.bcast") + "::two_terms"

ENTRY = {"term": 1, "by": "p1"}
P1: list[dict[str, Any]] = [
    {"kind": "start"},
    {"kind": "handler", "name": "stands", "state": {"term": 1}},
    {"kind": "receive", "message": "VOTE", "from": "p2", "state": {"phase": "leader"}},
    {"kind": "handler", "name": "takes"},
    {"kind": "handler", "name": "replicates"},
]
P2: list[dict[str, Any]] = [
    {"kind": "start"},
    {"kind": "receive", "message": "ASK", "from": "p1", "fields": {"term": 1}},
    {"kind": "receive", "message": "APPEND", "fields": {"entry": ENTRY}, "state": {"log": [ENTRY]}},
]
P3: list[dict[str, Any]] = [{"kind": "start"}, {"kind": "end"}]


def written(folder: Path, **logs: list[dict[str, Any]]) -> list[str]:
    folder.mkdir(exist_ok=True)
    for process, rows in logs.items():
        lines = [{"process": process, "pos": n, **row} for n, row in enumerate(rows, 1)]
        text = "".join(json.dumps(each) + "\n" for each in lines)
        (folder / process).write_text(text, encoding="utf-8")
    return [str(folder / process) for process in logs]


def test_a_log_conforms_and_its_run_is_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, p1=P1, p2=P2, p3=P3)
    out, trace = tmp_path / "o.json", tmp_path / "t.json"
    assert main(["conform", RAFT, *files, "--json", str(out), "--trace-out", str(trace)]) == 0
    said = capsys.readouterr().out
    assert "CONFORMS" in said
    assert "all 6 lines are explained" in said
    report = only_report(out.read_text(encoding="utf-8"))
    validator("conformance").validate(json.loads(out.read_text(encoding="utf-8")))
    assert (report["lines"], report["explained"], report["read"]) == (6, 6, 10)
    assert report["trace"]["steps"][0]["kind"] == "start"
    assert json.loads(trace.read_text(encoding="utf-8"))["steps"] == report["trace"]["steps"]


def test_the_native_search_explains_what_the_interpreter_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter searches no node, so each line is explained by native steps."""
    monkeypatch.setattr(conform_log, "FEW", 0)
    files, out = written(tmp_path, p1=P1, p2=P2, p3=P3), tmp_path / "o.json"
    assert main(["conform", RAFT, *files, "--json", str(out)]) == 0
    report = only_report(out.read_text(encoding="utf-8"))
    assert (report["engine"], report["explained"]) == ("native", 6)


def test_a_value_that_differs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = [*P2[:2], {**P2[2], "state": {"log": [{"term": 2, "by": "p1"}]}}]
    files = written(tmp_path, p1=P1, p2=other, p3=P3)
    assert main(["conform", RAFT, *files]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "DOES NOT CONFORM" in said
    assert f"{tmp_path}/p2:3" in said
    differs = "but log would be [(term: 1, by: p1)] after it, and the log says [(term: 2, by: p1)]"
    assert said.count(differs) == 1, "the process alone and the run have the same reason"


def test_a_guard_that_is_false_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    early = [P1[0], P1[1], P1[3]]
    files = written(tmp_path, p1=early, p2=P2[:2], p3=P3)
    assert main(["conform", RAFT, *files]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "`phase == leader` is false: phase = candidate" in said


def test_the_page_says_why_not_and_underlines_the_guard(tmp_path: Path) -> None:
    early = [P1[0], P1[1], P1[3]]
    other = {**P2[1], "fields": {"term": 2}, "ts": 7}
    files = written(tmp_path, p1=early, p2=[*P2[:2], other], p3=P3)
    page = tmp_path / "page.html"
    assert main(["conform", RAFT, *files, "--html", str(page)]) == 1
    said = page.read_text(encoding="utf-8")
    assert "upon condition <u>phase == leader</u> and" in said
    assert said.count("<u>") == 1, "other handlers with this condition are not the candidate"
    assert "<code>phase == leader</code> is false: phase = candidate" in said
    assert "&#34;pos&#34;: 3" in said and "&#34;fields&#34;: {&#34;term&#34;: 2}}" in said
    assert '<th scope="row">p2 receives ASK(1, 0, 0) from p1</th>' in said


def test_the_page_of_a_log_that_conforms_is_that_of_its_run(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    files = written(tmp_path, p1=P1, p2=P2, p3=P3)
    assert main(["conform", RAFT, *files, "--html", str(page)]) == 0
    assert "why no step explains it" not in page.read_text(encoding="utf-8")


def test_a_log_that_says_nothing_is_vacuous(tmp_path: Path) -> None:
    assert main(["conform", RAFT, *written(tmp_path, p1=P3, p2=P3)]) == 4


def test_what_a_budget_ends_is_unknown(tmp_path: Path) -> None:
    files = written(tmp_path, p1=P1, p2=P2)
    assert main(["conform", RAFT, *files, "--max-states", "1"]) == 3


def test_the_search_ends_with_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(search: Search[object], most: int | None = None) -> None:
        for _ in range(100_000):
            time.sleep(0.001)
            poll()
        raise AssertionError("nothing has ended the search")

    files = written(tmp_path, p1=P1, p2=P2)
    monkeypatch.setattr(Search, "run", endless)
    assert main(["conform", RAFT, *files, "--timeout", "1"]) == 3


def test_folders_are_logs_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "good", p1=P1, p2=P2, p3=P3)
    written(tmp_path / "bad", p1=[P1[0], P1[3]], p2=P2[:2], p3=P3)
    out = tmp_path / "o.json"
    folders = [str(tmp_path / "good"), str(tmp_path / "bad")]
    assert main(["conform", RAFT, *folders, "--json", str(out)]) == 1
    said = capsys.readouterr().out
    assert "1 conforming, 1 not conforming" in said and "DOES NOT CONFORM" in said
    assert [one["verdict"] for one in reports_of(out.read_text(encoding="utf-8"))] == [
        "holds",
        "violated",
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"kind": "receive", "message": "VOTES"}, "no message `VOTES`: did you mean `VOTE`?"),
        ({"kind": "receive", "message": "VOTE", "fields": {"trem": 1}}, "did you mean `term`?"),
        (
            {"kind": "receive", "message": "VOTE", "fields": {"term": 7}},
            "7 is not a number from 1 to 2",
        ),
        ({"kind": "receive", "message": "VOTE", "from": "p9"}, "unknown Proc `p9`"),
        ({"kind": "handler", "name": "stand"}, "did you mean `stands`?"),
        ({"kind": "crash", "state": {"terms": 1}}, "did you mean `term`?"),
        ({"kind": "perform", "name": "x"}, "no process performs anything"),
    ],
)
def test_what_the_check_does_not_have_is_told_with_its_row(
    row: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = written(tmp_path, p1=[P3[0], row])
    assert main(["conform", RAFT, file]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"{file}:2" in told and "E074" in told
    assert said in told


WATCH = """
interface Watch {
  request say(m: Msg)
  indication missed(p: Proc)
}
protocol Watcher(a: Proc = p1) implements Watch {
  message DATA(m: Msg)
  state got = false
  upon request say(m) { send DATA(m) to Proc minus {self} }
  upon receive DATA(m) { got := true }
  upon timeout when not got and self != a { missed(a) }
  property fine : always forall p in Proc: p.got => p != a
}
check c of Watcher {
  n = 2
  timing synchronous
  faults FAULTS
  clients { p1 says x }
  prove fine
  allow unused
}
"""


@pytest.mark.parametrize(
    ("faults", "code"), [("cut <= 1", 0), ("cut <= 1 of a -> Proc", 0), ("cut of Proc -> a", 1)]
)
def test_a_log_may_show_that_a_link_was_cut(
    faults: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In rounds a message that is missed was lost: here only a cut loses any."""
    spec = tmp_path / "watch.bcast"
    spec.write_text(WATCH.replace("FAULTS", faults), encoding="utf-8")
    files = written(
        tmp_path / "logs",
        p1=[{"kind": "request", "name": "say", "arguments": {"m": "x"}}],
        p2=[{"kind": "indicate", "name": "missed", "arguments": {"p": "p1"}}],
    )
    assert main(["conform", f"{spec}::c", *files]) == code
    assert ("is cut" in capsys.readouterr().out) is (code == 0)
