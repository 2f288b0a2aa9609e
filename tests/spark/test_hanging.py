"""Python workers of a real Spark that are stopped (SIGSTOP) in the midst of a run: somebody is
told, the run goes on from the last commit, and the answer is that of a run in peace."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from checker.engines.cluster import Cluster, Exchange
from checker.engines.native import engine as native
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.codegen.image import build
from checker.engines.spark import cancellation, driver, residual_graph
from checker.engines.spark.fan_out import fan_out as fan_out_to_executors
from checker.engines.spark.heartbeat import SILENCE_KEY, START
from checker.model.ir import TransitionSystem
from checker.results.answer import INTERRUPTED, Answer, Limits, Progress
from tests.native.models import two_phase
from tests.spark.cluster import eventually
from tests.spark.gang import begun
from tests.spark.stopping import Stopping, is_there, stop_once, stopped
from tests.spark.test_barrier import compare
from tests.spark.test_liveness_in_shards import made

pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.usefixtures("one_session", "nothing_in_the_driver"),
]

SYSTEM = two_phase(3)
SILENCE = 3.0
PATIENCE = 240.0
"""Seconds for anything here that is not to hang."""


@pytest.fixture
def folder(tmp_path: Path) -> Stopping:
    image = build(SYSTEM)
    begun(tmp_path / "run", SYSTEM, image)
    return Stopping(str(tmp_path / "run"), image.shape.words)


def cluster(exchange: Exchange, silence: float = SILENCE) -> Cluster:
    """Two tasks at a time; the same session for all of these tests."""
    return Cluster("local[2]", {SILENCE_KEY: str(silence)}, exchange, 2)


def peace(system: TransitionSystem = SYSTEM) -> Answer:
    return native.explore(system, Limits(), threads=1)


BARRIER = pytest.param(Exchange.BARRIER, marks=pytest.mark.slow)
"""By the barrier the tasks are those of tests/spark/test_barrier.py."""
BOTH = pytest.mark.parametrize("exchange", [BARRIER, Exchange.SHUFFLE])


@BOTH
@pytest.mark.parametrize(
    "wakes",
    [
        pytest.param(False, id="forever", marks=pytest.mark.slow),
        pytest.param(True, id="until it is too late"),
    ],
)
def test_a_task_that_hangs_is_given_up(
    exchange: Exchange, wakes: bool, folder: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    news: list[str] = []

    def listen(progress: Progress) -> None:
        if progress.news:
            news.append(progress.phase)

    cancel = cancellation.cancel

    def wake_up(*given: Any) -> None:
        os.kill(stopped(folder.place), signal.SIGCONT)
        cancel(*given)

    if wakes:
        monkeypatch.setattr(cancellation, "cancel", wake_up)
    found = driver.explore(SYSTEM, Limits(), cluster(exchange), folder, listen, commit_every=0.0)
    compare(found, peace())
    assert len(news) == 1
    said, patience = f"(process {stopped(folder.place)} on ", SILENCE
    if "(process " not in news[0]:  # it was stopped before it was heard of
        said, patience = "no heartbeat from task ", SILENCE + START
    assert news[0].startswith("no heartbeat from task ") and said in news[0]
    assert f"for {patience:g} s; resuming from level " in news[0]
    assert any(said in remark for remark in found.remarks)
    if not wakes:  # Spark keeps one that wakes up, with nothing to do, for a minute
        eventually(lambda: not is_there(stopped(folder.place)), "what was given up goes on")


@pytest.mark.slow
@BOTH
def test_a_time_limit_binds_whatever_tasks_do(
    exchange: Exchange, folder: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "STOPPING", 1.0)
    limits = Limits(timeout=15.0)
    before = time.monotonic()
    found = driver.explore(SYSTEM, limits, cluster(exchange, 1000.0), folder, commit_every=0.0)
    assert time.monotonic() - before < PATIENCE
    assert found.stopped == limits.no_more_time
    assert not found.exhaustive
    assert any("results are those committed" in remark for remark in found.remarks)
    assert stopped(folder.place)
    eventually(lambda: not is_there(stopped(folder.place)), "what was cancelled goes on")
    again = RunFolder(folder.location, folder.words)
    compare(driver.explore(SYSTEM, Limits(), cluster(exchange), again), peace())


@pytest.mark.slow
@BOTH
def test_an_interrupt_is_heard_whatever_tasks_do(
    exchange: Exchange, folder: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "STOPPING", 1.0)

    def interrupt() -> None:
        eventually(lambda: stopped(folder.place), "nobody was stopped")
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    found = driver.explore(SYSTEM, Limits(), cluster(exchange, 1000.0), folder, commit_every=0.0)
    thread.join()
    assert found.stopped == INTERRUPTED
    assert stopped(folder.place)
    eventually(lambda: not is_there(stopped(folder.place)), "what was cancelled goes on")
    again = RunFolder(folder.location, folder.words)
    compare(driver.explore(SYSTEM, Limits(), cluster(exchange), again), peace())


# ---- liveness -------------------------------------------------------------------------------


LIVE = "links/stubborn.bcast::lossy"


@pytest.fixture
def trimmed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Storage:
    """What can't lie on a cycle is dropped by executors, one of which is stopped; where that is
    written."""
    monkeypatch.setattr(residual_graph, "AT_ONCE", -1)
    monkeypatch.setattr(residual_graph, "WORTH_IT", 12)
    monkeypatch.setattr(residual_graph, "LEAST", 1.0)
    place, spread = Storage(str(tmp_path / "run")), fan_out_to_executors

    def fan_out(
        session: Any, function: Callable[[Any], Any], items: Sequence[Any], listening: Any
    ) -> Iterator[tuple[int, Any]]:
        def stopping(item: Any) -> Any:
            stop_once(place)
            return function(item)

        yield from spread(session, stopping, items, listening)

    monkeypatch.setattr(residual_graph, "fan_out", fan_out)
    return place


@pytest.mark.slow
def test_a_part_of_the_graph_that_hangs_is_done_by_others(trimmed: Storage) -> None:
    system, news = made(LIVE), list[str]()

    def listen(progress: Progress) -> None:
        if progress.news:
            news.append(progress.phase)

    folder = begun(Path(trimmed.location), system, build(system))
    found = driver.explore(system, Limits(), cluster(Exchange.BARRIER), folder, listen)
    compare(found, peace(system))
    assert len(news) == 1 and news[0].startswith("no heartbeat from task ")
    eventually(lambda: not is_there(stopped(trimmed)), "what was given up goes on")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["time", "interrupt"])
def test_whatever_hangs_in_the_graph_ends(
    how: str, trimmed: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "STOPPING", 1.0)
    system = made(LIVE)
    folder = begun(Path(trimmed.location), system, build(system))

    def interrupt() -> None:
        eventually(lambda: stopped(trimmed), "nobody was stopped")
        os.kill(os.getpid(), signal.SIGINT)

    limits, why = Limits(), INTERRUPTED
    if how == "time":
        limits = Limits(timeout=20.0)
        why = limits.no_more_time
    else:
        threading.Thread(target=interrupt).start()
    found = driver.explore(system, limits, cluster(Exchange.BARRIER, 1000.0), folder)
    assert found.stopped is None
    assert found.undecided and set(found.undecided.values()) == {why}
    eventually(lambda: not is_there(stopped(trimmed)), "what was given up goes on")
