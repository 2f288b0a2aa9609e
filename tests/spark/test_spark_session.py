"""No session: what is said instead; and what needs none."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.engines.spark import java_process, lost_executors, masters, session, slots
from checker.engines.spark.failures import LONGEST, failure_of, root_cause
from checker.engines.spark.fan_out import ItemFailure, fan_out
from checker.engines.spark.heartbeat import SILENCE_KEY
from checker.engines.spark.lost_executors import LostExecutor
from checker.engines.spark.session import Session, open_session
from checker.records import replace
from tests.spark.cluster import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("no_shared_java")]

HERE = Cluster("local[2]", {"spark.sql.shuffle.partitions": "3"})


def refused(cluster: Cluster) -> str:
    with pytest.raises(SpecError) as error, open_session(cluster):
        raise AssertionError("there is no such cluster")
    (found,) = error.value.diagnostics
    assert "\n" not in found.message
    return f"{found.code}: {found.message} ({found.hint})"


# ---- names of masters -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("master", "places"),
    [
        ("local[*]", []),
        ("local-cluster[2,1,1024]", []),
        ("yarn", []),
        ("spark://a:7077,b:7078", [("a", 7077), ("b", 7078)]),
        ("spark://[::1]:7077", [("::1", 7077)]),
        ("sc://host", [("host", 15002)]),
        ("sc://host:443/;token=x", [("host", 443)]),
        ("k8s://https://host:6443", [("host", 6443)]),
        ("k8s://host", [("host", 443)]),
        ("k8s://http://host", [("host", 80)]),
    ],
)
def test_where_a_master_is(master: str, places: list[tuple[str, int]]) -> None:
    assert masters.addresses(master) == places


@pytest.mark.parametrize(
    "master", ["", "foo", "local[x]", "spark://", "spark://host", "spark://h:port", "k8s://ftp://h"]
)
def test_what_is_no_master_is_refused(master: str) -> None:
    with pytest.raises(SpecError) as error:
        masters.addresses(master)
    assert error.value.diagnostics[0].code == "E023"


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("spark://127.0.0.1:1", True), ("sc://localhost", True), ("yarn", False)],
)
def test_what_stays_on_this_machine(master: str, local: bool) -> None:
    assert masters.on_loopback(master) is local


# ---- no session -------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("kind", ["spark://127.0.0.1:{}", "sc://127.0.0.1:{}"])
def test_nobody_there(kind: str) -> None:
    said = refused(Cluster(kind.format(free_port())))
    assert said.startswith("E023: no answer from ")


def test_yarn_that_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    assert "HADOOP_CONF_DIR" in refused(Cluster("yarn"))


def test_no_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = refused(HERE)
    assert said.startswith("E020")
    assert "pip install" in said


@pytest.mark.slow
def test_one_who_answers_and_is_no_spark(tmp_path: Path) -> None:
    """It takes connections and never says a word."""
    pytest.importorskip("pyspark")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        master = f"spark://127.0.0.1:{listener.getsockname()[1]}"
        said = refused(Cluster(master, {session.PATIENCE_KEY: "12"}))
    assert said.startswith(f"E023: {master} did not open a session within 12 s")


def test_a_java_that_can_not_start_says_why() -> None:
    pytest.importorskip("pyspark")
    said = refused(Cluster("local[1]", {"spark.driver.memory": "much"}))
    assert said.startswith("E029: Spark did not start: Invalid maximum heap size: -Xmxmuch; ")
    log = Path(said.split("log is ")[1].split(" (")[0])
    assert "-Xmxmuch" in log.read_text()
    log.unlink()


# ---- one function over many items -------------------------------------------------------------


class Gone:
    """A session whose Java has ended."""

    slots, dynamic, driver = 2, False, None

    def __init__(self, log: Path) -> None:
        self.log = log

    def __getattr__(self, name: str) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")


def test_where_java_has_ended_every_item_says_so(tmp_path: Path) -> None:
    there: Any = Gone(tmp_path / "log")
    there.driver = Gone(tmp_path / "log")
    found = dict(fan_out(there, lambda item: item, range(5)))
    assert {isinstance(f, ItemFailure) and f.reason for f in found.values()} == {
        "Spark's Java process has ended"
    }
    assert sorted(found) == [0, 1, 2, 3, 4]


# ---- slots ------------------------------------------------------------------------------------


class Clock:
    """Time that passes when somebody sleeps; executors come at the times that are given."""

    def __init__(self, *comings: float) -> None:
        self.now, self.comings = 0.0, comings

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def count(self) -> int:
        return sum(coming <= self.now for coming in self.comings)


@pytest.mark.parametrize(
    ("comings", "wanted", "slots_then"),
    [
        ((1, 2, 2.5), 0, 3),
        ((1, 9), 0, 1),
        ((1, 9), 2, 2),
        ((1, 99), 2, 1),
        ((99,), 0, 0),
        ((), 0, 0),
    ],
)
def test_executors_are_waited_for(comings: tuple[float, ...], wanted: int, slots_then: int) -> None:
    clock = Clock(*comings)
    assert slots.await_count(clock.count, wanted, 30, clock, clock.sleep) == slots_then
    assert clock.now <= 31


def test_the_seconds_without_executors_are_those_that_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And not those that were left of the user's patience."""
    some: Any = None
    clock = iter([100.0, 138.2])
    monkeypatch.setattr(slots, "is_dynamic", lambda spark: False)
    monkeypatch.setattr(slots, "_requested_slots", lambda spark: 0)
    monkeypatch.setattr(slots, "await_count", lambda *given: 0)
    monkeypatch.setattr(slots, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    there = type("Spark", (), {"sparkContext": some})()
    with pytest.raises(SpecError) as error:
        slots.count_slots(there, Cluster("spark://far:7077"), False, 45.0)
    (found,) = error.value.diagnostics
    assert found.code == "E024"
    assert found.message == "spark://far:7077 gave the session no executors within 38 s"


def test_the_java_of_a_local_master_compiles_quickly_unless_told_otherwise() -> None:
    name = "spark.driver.extraJavaOptions"
    assert "-XX:TieredStopAtLevel=1" in java_process.settings(Cluster("local[2]"))[name]
    assert name not in java_process.settings(Cluster("spark://127.0.0.1:7077"))
    assert java_process.settings(Cluster("local[2]", {name: "-Dx=y"}))[name] == "-Dx=y"


@pytest.mark.parametrize(("silence", "limit"), [(None, "30s"), ("3", "30s"), ("100", "110s")])
def test_executors_are_given_up_a_little_later_than_their_tasks(
    silence: str | None, limit: str
) -> None:
    name = "spark.storage.blockManagerHeartbeatTimeoutMs"
    conf = {} if silence is None else {SILENCE_KEY: silence}
    found = java_process.settings(Cluster("spark://127.0.0.1:7077", conf))
    assert found[name] == limit
    assert found["spark.network.timeoutInterval"] == found["spark.executor.heartbeatInterval"]
    own = {**conf, name: "77s"}
    assert java_process.settings(Cluster("spark://127.0.0.1:7077", own))[name] == "77s"
    assert name not in java_process.settings(Cluster("local[2]", conf))


class Status:
    """The list of executors as Spark has it, at one time after the other."""

    def __init__(self, *lists: str) -> None:
        self.lists = list(lists)

    def __getattr__(self, _: str) -> Callable[..., Any]:
        return lambda *given: self.lists.pop(0) if given else self


def test_the_first_lost_executor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_executors, "EVERY", 0.001)
    status = Status("d:1,a:1", "d:1,a:1,b:1,c:1", "d:1,a:1,c:1", "d:1,a:1")
    driver = SimpleNamespace(cancelJobsWithTag=None, _jsc=status)
    there = Session(driver, 2, False, False, False, Path("log"), "spark://far:7077")
    for other in (replace(there, dynamic=True), replace(there, master="local[2]")):
        with lost_executors.lost_executors(other) as check:
            time.sleep(0.02)
            check()
    assert len(status.lists) == 4
    with lost_executors.lost_executors(there) as check:
        eventually(lambda: not status.lists, "nobody looks")
        with pytest.raises(LostExecutor, match=r"^the executor at b:1 was lost$"):
            check()


@pytest.mark.parametrize("seconds", ["soon", "0", "-1", "nan", "inf"])
@pytest.mark.parametrize("name", [session.PATIENCE_KEY, SILENCE_KEY])
def test_settings_of_our_own_are_numbers_of_seconds(name: str, seconds: str) -> None:
    said = refused(Cluster("local[1]", {name: seconds}))
    assert said.startswith(f"E029: {name} is a number of seconds, not {seconds!r}")


@pytest.mark.parametrize(
    ("number", "dynamic", "shards", "possible"),
    [(4, False, 4, True), (4, False, 5, False), (4, True, 1, False)],
)
def test_barrier_needs_a_slot_for_each_shard(
    number: int, dynamic: bool, shards: int, possible: bool
) -> None:
    some: Any = None
    there = Session(some, number, dynamic, False, False, Path("log"))
    assert (slots.why_no_barrier(there, shards) is None) is possible
    if possible:
        slots.require_barrier(there, shards)
        return
    with pytest.raises(SpecError) as error:
        slots.require_barrier(there, shards)
    assert error.value.diagnostics[0].code == "E025"
    assert "--exchange shuffle" in error.value.diagnostics[0].hint


class Shrinking:
    """A session on a cluster that has so many slots, one after the other, until it is cancelled."""

    master, connect, driver = "spark://far:7077", False, None

    def __init__(self, *there: int) -> None:
        self.there, self.cancelled = list(there), threading.Event()

    def slots(self) -> int:
        return self.there.pop(0) if len(self.there) > 1 else self.there[0]

    def cancel_all(self) -> None:
        self.cancelled.set()


def test_an_executor_that_is_not_replaced_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there: Any = Shrinking(2, 2, 1)
    monkeypatch.setattr(slots, "slots_now", lambda spark: there.slots())
    with pytest.raises(slots.TooFew) as error, slots.enough(there, 2, 0.3):
        raise RuntimeError(f"cancelled: {there.cancelled.wait(60)}")
    assert (
        str(error.value)
        == "2 tasks must run at the same time, and for 0 s there were slots for only 1"
    )
    again: Any = Shrinking(2, 1, 1, 2, 1, 2, 2)
    there = again
    with slots.enough(again, 2, 0.3):
        assert not again.cancelled.wait(0.6)
    with pytest.raises(RuntimeError, match="of its own"), slots.enough(again, 2, 0.3):
        raise RuntimeError("of its own")


# ---- what went wrong, in one line -------------------------------------------------------------

WORKER = """An exception was thrown from the Python worker.
  Traceback (most recent call last):
    File "x.py", line 3, in <module>
      f()
  pkg.errors.NoRoomError: no room
\tat org.apache.spark.api.python.Handler.handle(Runner.scala:1)
Caused by: java.io.IOException: something else
"""
JAVA = """An error occurred while calling o1.collect.
: org.apache.spark.SparkException: Job aborted
\tat a.b(C.scala:1)
Caused by: java.net.ConnectException: Connection
  refused
\t... 9 more
"""
SILENT = (
    "Lost task 1.0 in stage 2.0 (TID 5) (worker-7 executor 0): ExecutorLostFailure (executor 0"
    " exited caused by one of the running tasks) Reason: Executor heartbeat timed out after 31000"
    " ms"
)
LOST = "Job aborted: ExecutorLostFailure (executor 1 exited) Reason: Command exited with code 137"


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (WORKER, "NoRoomError: no room"),
        (JAVA, "ConnectException: Connection"),
        (LOST, "executor 1 was lost (Command exited with code 137)"),
        (SILENT, "executor 0 on worker-7 was lost (Executor heartbeat timed out after 31000 ms)"),
        ("ExecutorLostFailure (it is gone)", "an executor was lost (it is gone)"),
        ("Python worker exited unexpectedly (crashed)", "a Python worker died"),
        ("just this", "just this"),
        ("", "RuntimeError"),
        ("x" * 9999, "x" * (LONGEST - 1) + "…"),
    ],
)
def test_the_root_cause_is_one_line(said: str, cause: str) -> None:
    assert root_cause(RuntimeError(said)) == cause


def test_a_java_that_has_gone() -> None:
    assert (
        root_cause(ConnectionRefusedError(111, "Connection refused"))
        == "Spark's Java process has ended"
    )


def test_the_rest_is_in_the_log_and_a_log_never_fails(tmp_path: Path) -> None:
    log = tmp_path / "log"
    (found,) = failure_of(RuntimeError(JAVA), log).diagnostics
    assert found.code == "E029"
    assert str(log) in found.message
    assert "scala:1" in log.read_text()
    failure_of(RuntimeError(JAVA), tmp_path / "no" / "log")
