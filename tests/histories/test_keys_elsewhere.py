"""Keys whose searches go on in other processes: the report is that of one process."""

from __future__ import annotations

import json
import os
import pickle
import random
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from checker.cli.judge_tasks import Processes
from checker.cli.main import main
from checker.engines import budgets
from checker.histories import elsewhere, just_in_time, linearizability, wing_gong_lowe
from checker.histories.judging import Judge, Request, judge_of
from checker.histories.linearizability import Part, Reached
from checker.histories.pairing import Shape
from checker.records import replace
from checker.results.judgement import Judgement
from checker.results.verdict import Word
from tests.histories.sweep import draw_case, rows_with_ends


def in_messages(parts: Sequence[Part], until: int) -> Generator[Reached]:
    """Does what another process would, with all that goes there and back as bytes."""
    for task in elsewhere.tasks_of(NAME, parts, until, None):
        SENT.append(task)
        outcome = elsewhere.run_task(pickle.loads(pickle.dumps(task)), lambda progress: None)
        yield pickle.loads(pickle.dumps(outcome)).reached


NAME = "KeyValueMap"
SENT: list[elsewhere.PartTask] = []


def report_of(judge: Judge, file: Path) -> Judgement:
    return replace(judge.judge(str(file)), seconds=0.0)


@pytest.mark.parametrize("name", ["CompareAndSwap", "Queue", "Lock"])
def test_reports_do_not_depend_on_where_keys_are_judged(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, word in ((linearizability, "FIRST"), (just_in_time, "PAUSE")):
        monkeypatch.setattr(module, word, 1)
    monkeypatch.setattr(wing_gong_lowe, "PAUSE", 1)
    monkeypatch.setitem(globals(), "NAME", name)
    draw = random.Random(f"elsewhere {name}")
    request = Request(name, shape=Shape(by_key=True))
    here, there = judge_of(request), judge_of(request, in_messages)
    file, words, asked = tmp_path / "history.ndjson", set(), len(SENT)
    for many in [1, 2, 3, 6] * 3:
        cases = [draw_case(draw, name) for _ in range(many)]
        rows = [row for k, case in enumerate(cases) for row in rows_with_ends(draw, name, case, k)]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        expected = report_of(here, file)
        assert report_of(there, file) == expected
        words.add(expected.word)
    assert {Word.HOLDS, Word.VIOLATED} <= words
    assert len(SENT) - asked > 10


def hard(keys: int, writes: int, wrong: bool) -> str:
    """Writes of each key that overlap, and a read of the first one: each search tries hundreds of
    orders.  `wrong`: the last key is read as what nobody wrote."""
    rows = []
    for key in range(keys):
        read = 99 if wrong and key == keys - 1 else 0
        rows += [(f"{key}.{n}", "invoke", "write", key, n) for n in range(writes)]
        rows += [(f"{key}.{n}", "ok", "write", key, n) for n in range(writes)]
        rows += [(f"{key}.0", "invoke", "read", key, "nil"), (f"{key}.0", "ok", "read", key, read)]
    form = '{:process "%s" :type :%s :f :%s :value [%s %s]}'
    return "\n".join(form % row for row in rows) + "\n"


@pytest.mark.parametrize("wrong", [False, True])
def test_processes_decide_hard_keys(wrong: bool, tmp_path: Path) -> None:
    file = tmp_path / "history.edn"
    file.write_text(hard(3, 11, wrong), encoding="utf-8")
    request = Request("Register", shape=Shape(by_key=True))
    processes = Processes("Register", 2, None, True)
    found = report_of(judge_of(request, processes), file)
    assert found.work > 6 * linearizability.FIRST
    assert found == report_of(judge_of(request), file)
    assert found.word is (Word.VIOLATED if wrong else Word.HOLDS)


def test_a_lost_process_makes_the_history_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its message says why, and no verdict is made up."""
    monkeypatch.setattr("checker.histories.elsewhere.run_task", die)
    file = tmp_path / "history.edn"
    file.write_text(hard(3, 11, False), encoding="utf-8")
    request = Request("Register", shape=Shape(by_key=True))
    processes = Processes("Register", 2, None, True)
    found = judge_of(request, processes).judge(str(file))
    assert found.word is Word.UNKNOWN
    assert found.stopped is not None and "exit code 7" in found.stopped
    assert len(found.undecided) == 3


def die(task: object, listener: object) -> None:
    os._exit(7)


def test_a_limit_of_memory_in_a_process_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(part: Part, until: int) -> None:
        raise budgets.BudgetExhausted("the memory limit of 5 bytes was reached")

    monkeypatch.setattr(Part, "advance", exhausted)
    task = elsewhere.PartTask(0, "Register", 4, 5, 1, [], (), None)
    assert "memory limit" in elsewhere.run_task(task, lambda progress: None).stopped


def test_jobs_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "history.edn"
    file.write_text(hard(2, 3, True), encoding="utf-8")
    asked = ["judge", str(file), "--as", "Register", "--by", "key", "--jobs"]
    assert main([*asked, "1"]) == 1
    assert main([*asked, "2"]) == 1
    assert main([*asked, "0"]) == 2
