"""`conform --coverage`: what no log has seen, and runs that show it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.conform.explain_events import Observation
from checker.conform.lines import Logged, Resolver
from checker.conform.local_log import LocalLog
from checker.conform.local_windows import LocalWindows
from checker.conform.log_coverage import Seen, _Targets, unseen
from checker.conform.read_log import read_log
from checker.logs.mapping import NO_MAPPING
from checker.model.ir import MarkKind
from checker.records import replace
from checker.results.windows import Unseen
from tests.conform.projection import KINDS, draw_run, logs_of, write
from tests.conform.test_local_systems import EVERY, small
from tests.conform.test_windows_command import ASKS, adds, written
from tests.documents import only_report

MODES = """
protocol Modes {
  message GO
  role leader(1) {
    state sent = false
    upon condition not sent as starts { sent := true  send GO to all worker }
  }
  role worker(1) {
    state done : 0..2 = 0
    upon receive GO { done := 1 }
    upon condition done == 1 as ends { done := 2 }
    upon condition done > 5 as dreams { skip }
  }
  property fine "" : always true
}
check one of Modes { faults crash <= 1, recover  allow unused  prove fine }
"""
STARTS = [{"kind": "handler", "name": "starts"}]
GO = {"kind": "receive", "message": "GO", "from": "l1"}


def covered_by(folder: Path, *more: str, **logs: object) -> list[Unseen]:
    folder.mkdir(exist_ok=True)
    spec, inside = written(folder / "logs", MODES, **logs)  # type: ignore[arg-type]
    out = folder / "out.json"
    main(["conform", f"{spec}::one", inside, "--coverage", "--json", str(out), *more])
    windows = only_report(out.read_text(encoding="utf-8"))["windows"]
    keys = ("kind", "text", "file", "line", "column", "never")
    return [
        Unseen(**{key: each[key] for key in keys}, run=tuple(each["run"]))
        for each in windows.get("unseen", [])
    ]


def test_what_no_log_has_seen_comes_with_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {each.text: each for each in covered_by(tmp_path, l1=STARTS, w1=[GO])}
    capsys.readouterr()
    assert "upon receive GO" not in found
    assert "done = 1" not in found
    assert found["done = 2"].kind == "state"
    assert [step for step in found["done = 2"].run if "ends" in step]
    assert found["dreams"].never
    assert not found["dreams"].run
    assert any("crash" in step for step in found["crash"].run)
    assert any("up" in step or "recover" in step for step in found["recover"].run)
    assert not found["ends"].never


def test_what_a_log_shows_is_not_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ends = {"kind": "handler", "name": "ends", "state": {"done": 2}}
    before = {each.text for each in covered_by(tmp_path / "a", l1=STARTS, w1=[GO])}
    after = {each.text for each in covered_by(tmp_path / "b", l1=STARTS, w1=[GO, ends])}
    assert before - after == {"ends", "done = 2"}
    crashed = [GO, {"kind": "crash"}, {"kind": "recover"}]
    texts = {each.text for each in covered_by(tmp_path / "c", l1=STARTS, w1=crashed)}
    assert not texts & {"crash", "recover"}
    capsys.readouterr()


def test_in_the_terminal_and_for_several_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, one = written(tmp_path / "one", c1=ASKS, s1=adds(1))
    _, two = written(tmp_path / "two", c1=[*ASKS], s1=adds(1, 3))
    assert main(["conform", f"{spec}::one", one, two, "--coverage", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("Not seen in any log") == 1
    assert "c1 receives TOTAL(1) from s1" in shown
    page = tmp_path / "page.html"
    asked = ["conform", f"{spec}::one", one, "--coverage", "--quiet", "--html", str(page)]
    assert main(asked) == 0
    assert "c1 receives TOTAL(1) from s1" in page.read_text(encoding="utf-8")
    assert "Not seen in any log" in capsys.readouterr().out


def test_a_log_without_events_has_seen_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {each.text for each in covered_by(tmp_path, l1=[{"kind": "end"}], w1=[])}
    assert {"starts", "ends", "dreams", "done = 1"} <= found
    capsys.readouterr()


@pytest.mark.parametrize("seed", range(12))
def test_what_is_seen_is_in_the_run_and_what_never_is_is_in_none(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    opened = small(seed, tmp_path)
    system = opened.system
    targets = _Targets(system)
    kinds = frozenset(Logged(kind) for kind, name in KINDS.items() if name in EVERY)
    logged = (kinds | {Logged(MarkKind.CRASH)},) * len(system.processes)
    never = {replace(each, never=False) for each in unseen(opened, Seen()) if each.never}
    for _ in range(5):
        _, run = draw_run(system, draw, 10)
        log = read_log(write(tmp_path, logs_of(system, run, EVERY)), NO_MAPPING)
        timelines = Resolver(system, NO_MAPPING).timelines(log)
        seen = Seen()
        for number in range(len(timelines)):
            of_one = LocalLog(Observation(system, timelines, logged), number)
            for window in LocalWindows(of_one):
                seen.add(of_one, window)
        marks = {event.mark for step in run for event in step.events}
        assert seen.marks <= marks
        happened = {key for mark in marks for key in targets.of_mark(mark)}
        every = targets.all()
        assert not never & {every[key] for key in happened}
