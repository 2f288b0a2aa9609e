"""Cells in processes: those that die, hang or are interrupted take no other with them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from checker.results.answer import Limits
from checker.session.pipeline import Options
from checker.sweep import local
from checker.sweep.cells import Status, lost_cell, run_cell
from checker.sweep.grid import grid_of
from checker.sweep.local import Pool, Work
from checker.sweep.run import for_each_cell, jobs_for, run
from checker.sweep.sweep_plan import CellTask, plan
from tests.sweep.test_sweep_plan import SPEC


class Exits(CellTask):
    """A task that no process survives: unpickling it ends the process."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (3,)


class Killed(CellTask):
    def __reduce__(self) -> tuple[object, ...]:
        return signal.raise_signal, (signal.SIGKILL,)


class Hangs(CellTask):
    def __reduce__(self) -> tuple[object, ...]:
        return time.sleep, (600,)


def tasks(folder: Path, count: int) -> list[CellTask]:
    path = folder / "counter.bcast"
    path.write_text(SPEC, encoding="utf-8")
    options = Options(engine="reference", limits=Limits(timeout=60))
    return list(plan(str(path), "c", grid_of([f"top=1..{count}"]), options).tasks)


def instead(kind: type[CellTask], task: CellTask, timeout: float | None = None) -> CellTask:
    options = Options(limits=Limits(timeout=timeout))
    return kind(task.cell, task.path, task.check, options)


def test_all_cells_are_run_by_few_processes(tmp_path: Path) -> None:
    todo = tasks(tmp_path, 3)
    heard: list[int] = []
    with Pool(2, Work(run_cell, lost_cell)) as pool:
        outcomes = list(pool.run(todo, lambda done, running: heard.append(done)))
    assert sorted(o.cell for o in outcomes) == [1, 2, 3]
    assert {o.status for o in outcomes} == {Status.DONE}
    assert heard[-1] == 3
    assert multiprocessing.active_children() == []


def test_what_dies_or_hangs_is_a_row_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "GRACE", 0.1)
    first, second, third, fourth = tasks(tmp_path, 4)
    todo = [instead(Exits, first), instead(Killed, second), instead(Hangs, third, 0.1), fourth]
    with Pool(1, Work(run_cell, lost_cell)) as pool:
        outcomes = {o.cell: o for o in pool.run(todo)}
    assert outcomes[1].status is Status.DIED and "exit code 3" in outcomes[1].reason
    assert outcomes[2].status is Status.DIED and "SIGKILL" in outcomes[2].reason
    assert outcomes[3].status is Status.TIMEOUT and "0.1 s" in outcomes[3].reason
    assert outcomes[4].status is Status.DONE


def dies(*_: object) -> None:
    """In the place of the loop of a process: it ends before it can take a task."""
    os._exit(9)


def test_processes_that_end_at_their_start_are_not_replaced_for_each_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_serve", dies)
    with Pool(2, Work(run_cell, lost_cell)) as pool:
        outcomes = list(pool.run(tasks(tmp_path, 40)))
    assert len(outcomes) == 40 and {o.status for o in outcomes} == {Status.DIED}
    started = [o for o in outcomes if "exit code 9" in o.reason]
    assert len(started) <= local.FALSE_STARTS + 1
    assert sum("no process could be started" in o.reason for o in outcomes) == 40 - len(started)


def test_nobody_goes_on_when_nobody_listens(tmp_path: Path) -> None:
    first, second = tasks(tmp_path, 2)
    with Pool(2, Work(run_cell, lost_cell)) as pool:
        running = pool.run([first, instead(Hangs, second)])
        assert next(running).cell == 1
        running.close()
    assert multiprocessing.active_children() == []


def test_no_tasks_no_processes(tmp_path: Path) -> None:
    path = tmp_path / "counter.bcast"
    path.write_text(SPEC, encoding="utf-8")
    impossible = plan(str(path), "c", grid_of(["n=0"]), Options())
    assert list(run(impossible, 4, None)) == []


def test_each_cell_has_one_thread_and_its_share_of_the_memory() -> None:
    from checker.engines.cluster import Cluster

    one = for_each_cell(Options(), 4)
    assert (one.engine, one.threads) == ("native", 1)
    assert one.limits.memory is not None and one.limits.memory > 0
    mine = Options(threads=3, engine="reference", limits=Limits(memory=7))
    kept = for_each_cell(mine, 4)
    assert (kept.engine, kept.threads, kept.limits.memory) == ("reference", 3, 7)
    remote = for_each_cell(Options(engine="spark", cluster=Cluster("local[2]")), 2)
    assert (remote.engine, remote.cluster, remote.limits.memory) == ("native", None, None)
    assert jobs_for(10**6) == 1
