"""A handler that runs for hours within one step is given up on executors, too: by their own clock,
and where the run is told to end.  Tasks are threads of this process, and Spark is not needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from checker.engines import budgets
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.codegen.image import build
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.spark import barrier, local_prefix
from checker.engines.spark.job import STOP, Job, RunOutcome
from checker.engines.spark.run_state import RunState
from checker.instantiate.assemble import instantiate
from checker.properties.formula import ask
from checker.records import replace
from checker.results.answer import INTERRUPTED, Limits
from checker.session.load import load_check
from tests.instantiate.limited import (
    LONG_HANDLER,
    MANY_STARTS,
    asked,
    interrupting,
    soon,
    written,
)
from tests.spark import relay
from tests.spark.gang import begun, gather, job_of

SHARDS = 2


def by_barrier(job: Job) -> RunOutcome:
    """As executors do it: each task is heard from, and heeds what it is told."""
    kernel_of(job.image)
    meet = gather(SHARDS)

    def task(index: int) -> RunOutcome:
        with job.beat.of(index):
            return barrier.in_task(job, index, "127.0.0.1", meet(index))[0]

    with ThreadPoolExecutor(SHARDS) as pool:
        found = list(pool.map(task, range(SHARDS)))
    assert len({outcome.stopped for outcome in found}) == 1
    return found[0]


def by_shuffle(job: Job) -> RunOutcome:
    with job.beat.of(0):
        return relay.outcome(job)


BOTH = pytest.mark.parametrize("run", [by_barrier, by_shuffle])


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Of a system whose only step takes hours."""
    check = load_check(written(LONG_HANDLER, tmp_path), "c", {})
    system = instantiate(check, {}, ask).system
    image = build(system)
    folder = begun(tmp_path / "run", system, image)
    folder.claim()
    return job_of(system, image, folder, SHARDS, Limits(timeout=1.0))


def said_soon(folder: RunFolder) -> None:
    """The driver tells the tasks to end, in a second."""
    threading.Timer(1.0, folder.say, (STOP, {STOP: True})).start()


@BOTH
def test_by_their_own_clock(
    run: Callable[[Job], RunOutcome], job: Job, nothing_in_the_driver: None
) -> None:
    with soon():
        outcome = run(replace(job, deadline=time.time() + 1.0))
    assert outcome.stopped == job.limits.no_more_time
    assert (outcome.states, outcome.found.transitions) == (1, 0)


@BOTH
def test_when_they_are_told(
    run: Callable[[Job], RunOutcome], job: Job, nothing_in_the_driver: None
) -> None:
    said_soon(job.folder)
    with soon():
        outcome = run(job)
    assert outcome.stopped == INTERRUPTED
    assert (outcome.states, outcome.found.transitions) == (1, 0)


def test_a_step_that_takes_long_is_left_to_executors(job: Job) -> None:
    """As a level is that takes long."""
    found, parts = job.folder.latest(), job.folder.parts()
    assert found is not None
    with soon():
        written = local_prefix.LocalPrefix(
            job, RunState.after(job, found, parts), lambda: None
        ).run(parts)
    assert not written


@pytest.mark.parametrize("how", ["time", "interrupt", "memory"])
def test_initial_states(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made by the driver, before there is a session."""
    monkeypatch.setattr(budgets, "GRACE", 2.0)
    monkeypatch.setattr(budgets, "BESIDE", 32 << 20)
    limits = {"time": {"timeout": 1.0}, "memory": {"memory": 8 << 20}}.get(how, {})
    with soon(), interrupting(1.0 if how == "interrupt" else None):
        report = asked(MANY_STARTS, tmp_path, "spark", **limits)
    assert report.exit_code == 3
    assert report.stopped is not None
    why = {"time": "the time limit", "memory": "the memory limit"}.get(how, INTERRUPTED)
    assert report.stopped.startswith(why)
