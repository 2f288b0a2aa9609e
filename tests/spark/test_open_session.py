"""One session: used from several places, interrupted, and still open."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from checker.engines.cluster import Cluster
from checker.engines.spark.fan_out import ItemFailure, fan_out
from checker.engines.spark.session import Session, open_session
from tests.spark.conftest import SHARED
from tests.spark.test_spark_session import refused

pytestmark = pytest.mark.cluster


@pytest.fixture
def here(shared_java: None) -> Iterator[Session]:
    """The shared session, which stays open."""
    with open_session(SHARED) as opened:
        yield opened


def test_what_it_is(here: Session) -> None:
    assert (here.slots, here.dynamic, here.connect, here.local) == (2, False, False, True)
    assert here.spark.conf.get("spark.sql.adaptive.enabled") == "false"
    assert here.spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_another_one_on_the_same_master_is_the_same_and_stays_open(here: Session) -> None:
    with open_session(SHARED) as second:
        assert second.run(lambda: second.spark.range(5).count()) == 5
    assert here.run(lambda: here.spark.range(6).count()) == 6
    assert "local[2]" in refused(Cluster("local[1]"))


@pytest.mark.slow
def test_the_surroundings_are_as_they_were(here: Session) -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert "SPARK_CONNECT_MODE_ENABLED" not in os.environ
    assert os.environ.get("PYSPARK_PYTHON") != sys.executable


def asleep() -> Any:
    """A task that does not end."""

    def task(batches: Any) -> Any:
        for batch in batches:
            time.sleep(300)
            yield batch

    return task


def test_an_interrupt_cancels_what_runs_there(here: Session) -> None:
    frame = here.spark.range(0, 2, 1, 2)
    with interrupted_when(lambda: running(here) == 2), pytest.raises(KeyboardInterrupt):
        here.run(lambda: frame.mapInArrow(asleep(), "id long").collect())
    assert running(here) == 0
    assert here.run(lambda: here.spark.range(7).count()) == 7


def test_patience_ends_what_runs_there(here: Session) -> None:
    frame = here.spark.range(0, 2, 1, 2)
    with pytest.raises(TimeoutError, match="no end within 1 s"):
        here.run(lambda: frame.mapInArrow(asleep(), "id long").collect(), 1)
    assert here.run(lambda: here.spark.range(8).count()) == 8


def running(here: Session) -> int:
    """The tasks that run there now."""
    tracker = here.spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numActiveTasks for stage in stages if stage is not None)


@contextlib.contextmanager
def interrupted_when(ready: Any) -> Iterator[None]:
    """This process is interrupted, as by Ctrl-C, as soon as ``ready``."""
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            if ready():
                os.kill(os.getpid(), signal.SIGINT)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# ---- one function over many items -------------------------------------------------------------


def test_each_item_has_its_result_and_none_loses_the_others(here: Session) -> None:
    def work(item: int) -> object:
        match item:
            case 1:
                raise ValueError("one\nis bad")
            case 2:
                os.kill(os.getpid(), signal.SIGKILL)
            case 3:
                return threading.Lock()
            case 4:
                sys.exit(3)
        return item * item

    found = dict(fan_out(here, work, range(7)))
    assert {k: v for k, v in found.items() if not isinstance(v, ItemFailure)} == {
        0: 0,
        5: 25,
        6: 36,
    }
    reasons = {k: v.reason for k, v in found.items() if isinstance(v, ItemFailure)}
    assert reasons.pop(3).startswith("TypeError: cannot pickle")
    assert reasons == {1: "ValueError: one is bad", 2: "a Python worker died", 4: "SystemExit: 3"}


def test_what_can_not_be_sent_is_a_failure_and_nothing_is_nothing(here: Session) -> None:
    ((number, found),) = fan_out(here, lambda item: item, [threading.Lock()])
    assert number == 0
    assert isinstance(found, ItemFailure)
    assert found.reason.startswith("it can't be sent: ")
    assert list(fan_out(here, lambda item: item, [])) == []


@pytest.mark.slow
def test_when_nobody_wants_more_the_rest_is_cancelled(here: Session) -> None:
    def work(item: int) -> int:
        time.sleep(0 if item == 0 else 300)
        return item

    results = fan_out(here, work, range(9))
    assert next(results) == (0, 0)
    results.close()  # type: ignore[attr-defined]
    assert here.run(lambda: here.spark.range(9).count()) == 9


def test_an_item_that_can_not_be_had_is_an_error(here: Session) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(fan_out(here, lambda item: item, items()))
