"""``--budget`` of commands that run a check many times: a report on what is known when the time is
over."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from checker.cli.parallel import run_in_order
from checker.cli.points import Clock, Keeper, run_points
from checker.cli.progress import Count
from checker.engines import budgets
from checker.mutate import fill_tasks
from checker.sweep.local import Work
from checker.worlds import asking
from checker.worlds.points import PointOutcome
from tests.mutate.test_fill import COUNTER, filled
from tests.worlds.test_assumptions import question, spec
from tests.worlds.test_frontier import QUORUM
from tests.worlds.test_frontier import asked as frontier

STEP = 0.15
"""The seconds that a task takes which handles the end of the time itself, as a check does."""


class Task(Struct, frozen=True):
    number: int
    seconds: float | None = None


def run(task: Any, listener: Any = None) -> PointOutcome:
    with budgets.stopping_native_code():
        time.sleep(STEP)
    return PointOutcome(task.number, None, "the time limit was reached")


def lost(task: Task, *why: object) -> PointOutcome:
    raise AssertionError(task)


class Some:
    """A search of twenty points."""

    def __init__(self, options: Any) -> None:
        self._options = options

    def run(self, asker: asking.Asker) -> None:
        from checker.records import replace

        asker.ask({n: replace(self._options, settings={"x": str(n)}) for n in range(20)})

    def report(self, stopped: str | None = None) -> str | None:
        return stopped


def test_no_task_is_begun_when_the_time_is_over() -> None:
    found: list[int] = []

    def one_by_one() -> None:
        tasks = [Task(number) for number in range(20)]
        with Count("count", len(tasks), "task", silent=True) as meter:
            for outcome in run_in_order(tasks, 1, Work(run, lost), meter, str):
                found.append(outcome.number)

    said = Clock(2 * STEP).run(one_by_one, lambda: f"{len(found)} reached")
    assert 1 <= len(found) <= 3
    assert said == f"the budget of {2 * STEP:g} s is over: {len(found)} reached"


def test_no_point_is_begun_when_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = question(tmp_path / "p.bcast", spec())
    monkeypatch.setattr(asking, "run_point", run)
    keeper = Keeper(lambda report: 0)
    said = run_points(Some(of.options), of, Clock(2 * STEP), keeper, 1, "some", quiet=True)
    assert said in [f"the budget of {2 * STEP:g} s is over: {n} reached" for n in NAMED]


def test_what_the_budget_ends_says_so() -> None:
    """The user gave a budget, and no time limit of a check."""
    ends: list[object] = []

    def check() -> None:
        with budgets.raising_when_exhausted():
            while True:
                time.sleep(0.01)
                budgets.raise_if_exhausted()

    Clock(STEP).run(lambda: ends.append(budgets.ended(check)), str)
    assert [str(each) for each in ends] == [f"the budget of {STEP:g} s is over"]


NAMED = ("1 point", "2 points", "3 points")


def ending(module: Any, name: str, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the time end when ``after`` tasks are done."""
    does, done = getattr(module, name), list[int]()

    def some(task: Any, listener: Any = None) -> Any:
        if len(done) == after:
            raise budgets.BudgetExhausted("the time is over")
        done.append(task.number)
        return does(task, listener)

    monkeypatch.setattr(module, name, some)


def test_a_frontier_has_the_points_that_were_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a round that did not end count, too."""
    ending(asking, "run_point", 2, monkeypatch)
    words = ("--over", "n=2..4,f=0..3", "--budget", "1000")
    report, code = frontier(tmp_path / "p.bcast", QUORUM, *words)
    assert code == 3 and not report["is_decided"] and report["runs"] == 2
    assert report["stopped"] == "the budget of 1000 s is over: 2 points reached"
    (enough,) = report["properties"]
    known: Sequence[str] = [each["known"] for each in enough["cells"]]
    assert known.count("holds") == 2 and "unknown" in known


def test_fillings_that_were_judged_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending(fill_tasks, "run_filling", 1, monkeypatch)
    text = COUNTER.replace("x < most", "x < ??(1, 2, 3)")
    report, code = filled(tmp_path / "p.bcast", text, "--budget", "1000")
    assert code == 3
    assert report["stopped"] == "the budget of 1000 s is over: 1 of 3 fillings judged"
    fates = sorted(each["fate"] for each in report["fillings"])
    assert fates.count("unknown") == 2


HANGING = """
import sys, time
from checker.cli import points, supervisor
from checker.{module} import {where} as place
does, done = place.{name}, []
def hang(*given):
    done.append(given)
    while len(done) > 2:
        try:
            time.sleep(3600)
        except KeyboardInterrupt:
            pass
    return does(*given)
place.{name} = hang
points.KEEPING, supervisor.SILENT, supervisor.GLANCE = -1.0, 0.2, 0.1
from checker.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("command", "place", "text", "words"),
    [
        ("mutate", "mutate.mutant_tasks.judge_mutant", QUORUM, ""),
        ("frontier", "worlds.asking.run_point", QUORUM, "--over n=2..4,f=0..3"),
        ("assumptions", "worlds.asking.run_point", spec(), ""),
        ("fill", "mutate.fill_tasks.run_filling", COUNTER.replace("most w", "??(1, 2, 3) w"), ""),
    ],
)
def test_a_command_that_is_killed_tells_what_it_knew(
    command: str, place: str, text: str, words: str, tmp_path: Path
) -> None:
    """Its third task does not notice that the time is over."""
    (file, out), (module, where, name) = (
        (tmp_path / "p.bcast", tmp_path / "out.json"),
        (place.split(".")),
    )
    file.write_text(text, "utf-8")
    program = HANGING.format(module=module, where=where, name=name)
    given = [command, str(file), "--jobs", "1", "--fresh", "--budget", "10", "--json", str(out)]
    ended = subprocess.run(
        [sys.executable, "-c", program, *given, *words.split()],
        capture_output=True, text=True, timeout=120.0, check=False,
    )  # fmt: skip
    said = ended.stdout + ended.stderr
    assert ended.returncode == 3, said
    (report,) = json.loads(out.read_text("utf-8"))["reports"]
    assert report["stopped"].startswith("the budget of 10 s is over: "), said
    number = int(re.search(r"(\d+) (?:of \d+|points?)", report["stopped"])[1])  # type: ignore[index]
    assert number in (1, 2)
    assert "stopped" in ended.stdout
