"""Several logs at once: told apart by folders or by the name of their run, each asked in a process
of its own, counted where they conform."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.cli import conform_tasks
from checker.cli.main import main
from checker.conform.conform_log import Asked, conform
from checker.conform.read_log import read_log, read_logs
from checker.diagnostics import SpecError
from checker.formats.json_format import reports_of
from checker.logs.mapping import LogMapping
from checker.polling import poll
from tests.documents import only_report, validator

SPEC = """
protocol Echo implements BestEffortBroadcast {
  message DATA(m: Msg)
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { deliver(p, m) }
}
check c of Echo { n = 2  clients { p1 broadcasts a }  expect validity holds }
"""

GOOD = [{"kind": "broadcast", "msg": "a"}, {"kind": "deliver", "msg": "a", "sender": "p1"}]
BAD = GOOD[::-1]
EMPTY = [{"kind": "start"}]
UNUSABLE = [{"kind": "broadcast", "msg": "z"}]

Out = pytest.CaptureFixture[str]


@pytest.fixture
def check(tmp_path: Path) -> str:
    path = tmp_path / "echo.bcast"
    path.write_text(SPEC, encoding="utf-8")
    return f"{path}::c"


def lines(rows: list[dict[str, Any]], run: str = "") -> str:
    named = {"run": run} if run else {}
    numbered = ({**named, "process": "p1", "pos": n, **row} for n, row in enumerate(rows, 1))
    return "".join(json.dumps(row) + "\n" for row in numbered)


def folders(folder: Path, **logs: list[dict[str, Any]]) -> list[str]:
    for name, rows in logs.items():
        (folder / name).mkdir()
        (folder / name / "p1.ndjson").write_text(lines(rows), encoding="utf-8")
    return [str(folder / name) for name in logs]


@pytest.fixture
def merged(tmp_path: Path) -> str:
    """Three runs in one file, their lines between one another."""
    runs = [lines(rows, name).splitlines(True) for name, rows in (("x", GOOD), ("y", BAD))]
    path = tmp_path / "log"
    mixed = [line for pair in zip(*runs, strict=True) for line in pair]
    path.write_text("".join(mixed) + lines(EMPTY, "z"), encoding="utf-8")
    return str(path)


def test_runs_in_a_file_are_told_apart_by_name(merged: str) -> None:
    logs = read_logs([merged], LogMapping())
    assert [(log.run, log.read, len(log.rows["p1"])) for log in logs] == [
        ("x", 2, 2),
        ("y", 2, 2),
        ("z", 1, 1),
    ]
    with pytest.raises(SpecError) as error:
        read_log([merged], LogMapping())
    assert error.value.diagnostics[0].code == "E073"


def test_two_logs_of_a_process_are_fine_in_two_runs(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).write_text(lines(GOOD, name), encoding="utf-8")
    logs = read_logs([str(tmp_path / "x"), str(tmp_path / "y")], LogMapping())
    assert [log.files for log in logs] == [(str(tmp_path / "x"),), (str(tmp_path / "y"),)]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_is_asked_and_those_that_conform_are_counted(
    jobs: str, check: str, merged: str, tmp_path: Path, capsys: Out
) -> None:
    out = tmp_path / "o.json"
    assert main(["conform", check, merged, "--jobs", jobs, "--json", str(out)]) == 1
    said = capsys.readouterr().out
    assert "3 logs: 1 conforming, 1 not conforming, 1 vacuous" in said
    assert "VACUOUS  z" in said
    assert said.count("DOES NOT CONFORM") == 1 and "why no step explains it" in said
    found = [(one["run"], one["verdict"]) for one in reports_of(out.read_text(encoding="utf-8"))]
    assert found == [("x", "holds"), ("y", "violated"), ("z", "vacuous")]


def test_a_log_that_cannot_be_used_loses_no_other(check: str, tmp_path: Path, capsys: Out) -> None:
    logs = folders(tmp_path, good=GOOD, unusable=UNUSABLE, more=GOOD)
    assert main(["conform", check, *logs, "--jobs", "1"]) == 2
    said = capsys.readouterr()
    assert "3 logs: 2 conforming, 1 can't be used" in said.out
    assert "E074" in said.err


def test_lines_without_a_run_beside_some_with_one_are_no_run_of_their_own(tmp_path: Path) -> None:
    for nothing in ({}, {"run": None}):
        named = [{"run": "r1", **row} for row in GOOD]
        (tmp_path / "p1").write_text(lines(named), encoding="utf-8")
        (tmp_path / "p2").write_text(lines([{**nothing, "process": "p2", **GOOD[1]}]))
        with pytest.raises(SpecError) as error:
            read_logs([str(tmp_path / "p1"), str(tmp_path / "p2")], LogMapping())
        (found,) = error.value.diagnostics
        assert found.code == "E073" and found.span is not None
        assert (found.span.file, found.span.line) == (str(tmp_path / "p2"), 1)


def test_a_folder_in_a_folder_is_not_passed_over(check: str, tmp_path: Path, capsys: Out) -> None:
    (good,) = folders(tmp_path, good=GOOD)
    folders(tmp_path / "good", bad=BAD)
    assert main(["conform", check, good]) == 2
    said = capsys.readouterr().err
    assert "E075" in said and "good/bad is a nested folder" in said and "good/*" in said


def test_what_is_no_file_and_a_folder_without_files_lose_no_other(
    check: str, tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = folders(tmp_path, good=GOOD, queue=GOOD, locked=GOOD)
    os.mkfifo(tmp_path / "queue" / "p2")
    (tmp_path / "empty").mkdir()
    real = Path.iterdir

    def refused(path: Path) -> Iterator[Path]:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "iterdir", refused)
    assert main(["conform", check, *logs, str(tmp_path / "empty"), "--jobs", "1"]) == 2
    said = capsys.readouterr()
    assert "4 logs: 1 conforming, 3 can't be used" in said.out
    assert "p2 is not a file" in said.err and "has no files" in said.err
    assert "locked can't be read: Permission denied" in said.err


def test_a_folder_that_is_named_twice_is_one_log(check: str, tmp_path: Path, capsys: Out) -> None:
    (good,) = folders(tmp_path, good=GOOD)
    assert main(["conform", check, good, good + "/", "-q"]) == 0
    assert "logs" not in capsys.readouterr().out


def test_a_process_of_which_all_lines_are_ignored_need_not_be_in_the_check(
    check: str, tmp_path: Path
) -> None:
    (tmp_path / "map.toml").write_text('ignored = ["metrics"]', encoding="utf-8")
    log = tmp_path / "log"
    log.write_text(lines(GOOD) + lines([{"process": "mon", "kind": "metrics"}]), encoding="utf-8")
    assert main(["conform", check, str(log), "--map", str(tmp_path / "map.toml"), "-q"]) == 0


def test_an_empty_one_among_them_is_not_green(check: str, tmp_path: Path) -> None:
    logs = folders(tmp_path, good=GOOD, empty=EMPTY)
    assert main(["conform", check, *logs, "--jobs", "1"]) == 4


def test_an_interrupt_keeps_what_was_found(
    check: str, tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    real = conform_tasks.run_task

    def once(*given: Any) -> Any:
        if asked:
            raise KeyboardInterrupt
        asked.append(given)
        return real(*given)

    monkeypatch.setattr(conform_tasks, "run_task", once)
    logs = folders(tmp_path, bad=BAD, good=GOOD)
    assert main(["conform", check, *logs, "--jobs", "1"]) == 1
    said = capsys.readouterr()
    assert "2 logs: 1 not conforming, 1 not checked" in said.out
    assert "not all logs were checked" in said.err


def test_the_time_limit_binds_while_a_log_is_read(
    check: str, tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*given: object) -> Iterator[object]:
        while True:
            poll()
            yield from ()

    monkeypatch.setattr("checker.conform.read_log.texts", endless)
    monkeypatch.setattr("checker.conform.read_log.read_logs", lambda *given: next(endless(), None))
    (log,) = folders(tmp_path, good=GOOD)
    assert main(["conform", check, log, "--timeout", "0.2"]) == 3
    assert "UNKNOWN  c: the time limit of 0.2 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    "slow", ["read_log.read_logs", "conform_log._open", "lines.Resolver.timelines"]
)
def test_a_limit_before_the_search_is_a_report(
    slow: str, check: str, tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*given: object) -> object:
        while True:
            poll()

    logs = folders(tmp_path, one=GOOD, two=GOOD)
    monkeypatch.setattr(f"checker.conform.{slow}", endless)
    out = tmp_path / "o.json"
    limit = ["--timeout", "0.1", "--jobs", "1", "--json", str(out)]
    assert main(["conform", check, *logs, *limit]) == 3
    said = capsys.readouterr()
    assert "2 logs: 2 unknown" in said.out and said.err == ""
    found = reports_of(out.read_text(encoding="utf-8"))
    assert [(one["verdict"], one["stopped"]) for one in found] == [
        ("unknown", "the time limit of 0.1 s was reached")
    ] * 2
    assert main(["conform", check, logs[0], *limit]) == 3
    assert only_report(out.read_text(encoding="utf-8"))["verdict"] == "unknown"


def test_what_those_that_conform_leave_free_is_told(
    check: str, tmp_path: Path, capsys: Out
) -> None:
    logs = folders(tmp_path, both=GOOD, one=GOOD[1:], bad=BAD)
    with (tmp_path / "one" / "p1.ndjson").open("a") as file:
        file.write(lines([{"process": "p1", "pos": 9, "kind": "end"}]))
    assert main(["conform", check, *logs, "--jobs", "1", "-q"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "receive, send and everything at p2: not logged in 2 of 2 logs that conform" in said
    assert "conform request: not logged in 1 of 2 logs that conform" in said
    assert "conform gaps in 1 of 2 logs that conform" in said


def test_a_document_of_several_is_a_list_with_those_that_cannot_be_used(
    check: str, tmp_path: Path, capsys: Out
) -> None:
    logs = folders(tmp_path, good=GOOD, bad=UNUSABLE)
    out, page = tmp_path / "o.json", tmp_path / "p.html"
    assert main(["conform", check, *logs, "--jobs", "1", "--json", str(out)]) == 2
    good, bad = found = reports_of(out.read_text(encoding="utf-8"))
    document = json.loads(out.read_text(encoding="utf-8"))
    validator("conformance").validate(document)
    assert [problem["code"] for problem in document["diagnostics"]] == ["E074"]
    assert (good["verdict"], bad["verdict"], bad["name"]) == ("holds", "unknown", logs[1])
    assert "E074" in bad["error"] and len(found) == 2
    assert main(["conform", check, logs[1], "--json", str(out)]) == 2
    assert "E074" in only_report(out.read_text(encoding="utf-8"))["error"]
    (tmp_path / "none").mkdir()
    assert main(["conform", check, str(tmp_path / "none"), "--json", str(out)]) == 2
    assert "E075" in only_report(out.read_text(encoding="utf-8"))["error"]
    capsys.readouterr()
    (more,) = folders(tmp_path, more=GOOD)
    assert main(["conform", check, logs[0], more, "--jobs", "1", "--html", str(page)]) == 0
    assert "all logs conform, and their runs are not stored" in capsys.readouterr().err


def test_what_conforms_travels_without_its_run(check: str, tmp_path: Path) -> None:
    spec, name = check.split("::")
    (log,) = folders(tmp_path, good=GOOD)
    from checker.engines.options import Options

    asked = Asked(spec, name, Options())
    (task,) = conform_tasks.tasks_of(asked, [log])
    ((_, report),) = conform_tasks.run_task(task, lambda progress: None).reports
    assert report.trace is None
    assert conform(asked, [f"{log}/p1.ndjson"]).trace is not None


ORDERED = """
protocol Echo implements BestEffortBroadcast {
  message DATA(m: Msg)
  message SEEN(m: Msg)
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { deliver(p, m)  send SEEN(m) to p }
  upon receive SEEN(m) from p { skip }
}
check c of Echo {
  n = 2
  faults crash <= 1
  clients { p1 broadcasts a }
  expect validity holds
}
"""


def test_a_step_in_another_order_is_told_by_both_lines_and_crashes_are_counted(
    tmp_path: Path, capsys: Out
) -> None:
    path = tmp_path / "echo.bcast"
    path.write_text(ORDERED, encoding="utf-8")
    step = [{"kind": "receive", "message": "DATA"}, {"kind": "send", "message": "SEEN"}, GOOD[1]]
    sent = {"kind": "send", "message": "DATA"}
    (log,) = folders(tmp_path, p1=[GOOD[0], sent, *step])
    assert main(["conform", f"{path}::c", log, "-q"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "then the log should have `p1 indicates deliver(p1, a)` next, and it has `p1 sends" in said
    )
    assert "in which p1 crashes halfway" in said
