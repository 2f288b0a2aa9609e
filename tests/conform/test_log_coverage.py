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


LINKS = """
protocol Links {
  message GO
  message BACK
  role leader(1) {
    state sent : 0..2 = 0
    state back : 0..2 = 0
    upon condition sent < 2 as starts { sent += 1  send GO to all worker }
    upon receive BACK { if back < 2 { back += 1 } }
  }
  role worker(1) { upon receive GO from l { send BACK to l } }
  property fine "" : always true
}
check perfect of Links { allow unused  prove fine }
check loses of Links { links lossy  allow unused  prove fine }
check repeats of Links { links duplicating  allow unused  prove fine }
check splits of Links { faults partition  allow unused  prove fine }
check lies of Links { faults byzantine <= 1  allow unused  prove fine }
check pauses of Links { faults pause <= 1  allow unused  prove fine }
"""
END = {"kind": "end"}


ORDER = """
protocol Order {
  message GO(k: 1..2)
  role leader(1) {
    state sent : 0..2 = 0
    upon condition sent < 2 as starts { sent += 1  send GO(sent) to all worker }
  }
  role worker(1) { upon receive GO(k) from l { skip } }
  property fine "" : always true
}
protocol Relay {
  message GO
  role leader(1) {
    state sent = false
    upon condition not sent as starts { sent := true  send GO to all worker }
  }
  role worker(2) {
    state seen = false
    upon receive GO from l { if not seen { seen := true  send GO to all worker } }
  }
  property fine "" : always true
}
check relayed of Relay { links duplicating  allow unused  prove fine }
check in_order of Order { links fifo, lossy  allow unused  prove fine }
"""


def faults_of(folder: Path, check: str, text: str = LINKS, **logs: object) -> dict[str, Unseen]:
    spec, inside = written(folder / "logs", text, **logs)  # type: ignore[arg-type]
    out = folder / "out.json"
    main(["conform", f"{spec}::{check}", inside, "--coverage", "--json", str(out), "--quiet"])
    windows = only_report(out.read_text(encoding="utf-8"))["windows"]
    return {
        each["text"]: Unseen("fault", each["text"], run=tuple(each["run"]), never=each["never"])
        for each in windows.get("unseen", [])
        if each["kind"] == "fault"
    }


@pytest.mark.parametrize(
    ("check", "faults"),
    [
        ("perfect", {}),
        ("loses", {"loss": "loses GO"}),
        ("repeats", {"duplicate": "receives"}),
        ("splits", {"split": "cut off"}),
        ("lies", {"forged message": "Byzantine, makes"}),
        ("pauses", {"pause": "pause"}),
    ],
)
def test_faults_without_lines_are_listed_with_a_run(
    check: str, faults: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = faults_of(tmp_path, check, l1=[*STARTS, END], w1=[GO, END])
    capsys.readouterr()
    assert set(found) == set(faults)
    for name, said in faults.items():
        assert not found[name].never
        assert any(said in step for step in found[name].run), found[name].run


def test_a_duplicate_that_is_answered_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The worker answers each message, so something is sent whenever one is received."""
    (found,) = faults_of(tmp_path, "repeats", l1=STARTS, w1=[GO]).values()
    assert len(found.run) > len(set(found.run))
    assert not faults_of(tmp_path, "repeats", l1=[*STARTS, END], w1=[GO, GO, END])
    capsys.readouterr()


@pytest.mark.parametrize(("taken", "lost"), [((1, 2), False), ((2,), True)])
def test_a_message_that_must_have_been_lost_is_seen(
    taken: tuple[int, ...], lost: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a link that keeps the order, the second message does not overtake the first one."""
    gone = [{"kind": "receive", "message": "GO", "fields": {"k": k}} for k in taken]
    found = faults_of(tmp_path, "in_order", ORDER, l1=[*STARTS, *STARTS, END], w1=[*gone, END])
    assert ("loss" not in found) is lost
    capsys.readouterr()


def test_a_message_that_is_passed_on_is_no_duplicate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is received leaves the link, and the same message is sent."""
    once = {"l1": [*STARTS, END], "w1": [GO, END], "w2": [END]}
    assert "duplicate" in faults_of(tmp_path, "relayed", ORDER, **once)
    once["w1"] = [GO, GO, END]
    assert "duplicate" not in faults_of(tmp_path, "relayed", ORDER, **once)
    capsys.readouterr()
