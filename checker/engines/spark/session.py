"""A Spark session: opened with the right Java and settings, and closed in any case.

The output of Spark and its Java goes to a log file, never to the terminal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.engines.cluster import Cluster
from checker.engines.spark import masters
from checker.engines.spark.cancellation import (
    CLOSING,
    await_cancelled,
    context_of,
    run_cancellable,
    run_in_thread,
    silence_warnings,
)
from checker.engines.spark.failures import failure_of
from checker.engines.spark.heartbeat import SILENCE, SILENCE_KEY
from checker.engines.spark.java import find_java, install_command
from checker.engines.spark.java_process import (
    RUNTIME,
    JavaProcess,
    environment,
    python_for,
    settings,
    spark_home,
    start,
    surroundings,
)
from checker.engines.spark.slots import count_slots, is_dynamic, no_executor
from checker.records import replace
from checker.resources import temporary_prefix

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

T = TypeVar("T")
Work = Callable[[Iterable[Any]], Iterable[bytes]]
"""The function that a task executes on its items; it yields pickled results."""

PATIENCE = 45.0
"""Seconds in which a cluster has to accept a session; ``--conf spark.bivalence.patience=S``."""

LEAST = 10.0
"""The least seconds for executors to start, however long the rest took."""

SHORTEST = 0.1
"""The least seconds for any operation."""

PATIENCE_KEY = "spark.bivalence.patience"

ANSWER = "answer binary"
"""The schema of a DataFrame with what tasks return to the driver: one column of bytes."""


class Session(Struct, frozen=True):
    """A session.  ``driver``: PySpark's context, under Connect its session; ``slots``: how many
    tasks run at a time; ``dynamic``: executors are allocated dynamically; ``connect``: the driver
    is elsewhere; ``local``: no machine but this one; ``log``: the log of Spark's output;
    ``master``: its master; ``own_python``: executors use the Python of this process; ``patience``:
    seconds in which a cluster has to complete trivial work; ``silence``: seconds after which a task
    that is not heard from is suspected.
    """

    driver: Any
    slots: int
    dynamic: bool
    connect: bool
    local: bool
    log: Path
    master: str = ""
    own_python: bool = False
    patience: float = PATIENCE
    silence: float = SILENCE

    @property
    def spark(self) -> SparkSession:
        """PySpark's session for SQL; in a driver of our own its first use takes a second."""
        context = context_of(self.driver)
        return self.driver if context is None else _with_sql(context)

    def run(
        self,
        job: Callable[[], T],
        patience: float | None = None,
        watch: Callable[[], object] = lambda: None,
    ) -> T:
        """Returns what ``job`` (which waits for Spark) returns; when interrupted, its work there is
        cancelled.

        ``watch`` is called repeatedly meanwhile; what it raises cancels the work as well.  Raises
        what ``job`` and ``watch`` raise, and ``TimeoutError`` after ``patience`` seconds.
        """
        return run_cancellable(self.driver, job, patience, watch)

    def in_tasks(self, work: Work, tasks: int, *, barrier: bool = False) -> list[bytes]:
        """Returns what ``work`` yields in each of ``tasks`` tasks, which get some items to read;
        ``barrier``: they run at the same time.  Waits for Spark.

        A driver of our own needs no SQL for this, nor Arrow and pandas in its tasks, each of which
        takes a second to start; Connect has nothing else.
        """
        context = context_of(self.driver)
        if context is not None:
            numbers = context.parallelize(range(tasks), tasks)
            return (numbers.barrier() if barrier else numbers).mapPartitions(work).collect()
        frame = self.driver.range(0, tasks, 1, tasks)
        frame = frame.mapInArrow(in_arrow(work), ANSWER, barrier=barrier)
        return [row[0] for row in frame.collect()]

    @property
    def has_ended(self) -> bool:
        """Returns whether the Java started for it has ended: no attempt on it can succeed."""
        gateway = getattr(context_of(self.driver), "_gateway", None)
        java = getattr(gateway, "proc", None)
        return java is not None and java.poll() is not None

    def cancel_all(self) -> None:
        """Cancels everything that runs on it."""
        context = context_of(self.driver)
        run_in_thread(
            self.driver.interruptAll if context is None else context.cancelAllJobs, CLOSING
        )
        await_cancelled(self.driver)


def in_arrow(work: Work) -> Work:
    """Returns ``work`` as a task on DataFrames, which yields rows of :data:`ANSWER`."""

    def with_rows(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for done in work(batches):
            yield pa.record_batch([pa.array([done], pa.binary())], names=[ANSWER.split()[0]])

    return with_rows


@lru_cache(maxsize=1)
def _with_sql(context: SparkContext) -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession(context)


@contextlib.contextmanager
def open_session(
    cluster: Cluster,
    log: Path | None = None,
    seconds: float | None = None,
    java: JavaProcess | None = None,
) -> Iterator[Session]:
    """Opens a session on ``cluster``, which ends with the block; ``seconds``: the time that is left
    for it; ``java``: one that was started for it (:func:`start_java`).

    A session on the same master that is open in this process is used, and left open.  Without
    ``log`` the log is a temporary file, kept only after a failure.  Raises :class:`SpecError` (E020
    to E029) where there can be no session, after a minute at most unless configured otherwise.
    """
    for name in (PATIENCE_KEY, SILENCE_KEY):
        _seconds(cluster, name, 1.0)
    if seconds is not None:
        seconds = max(min(seconds, _patience(cluster)), SHORTEST)
        cluster = replace(cluster, conf={**cluster.conf, PATIENCE_KEY: str(seconds)})
    require(cluster)
    silence_warnings()
    started = time.monotonic()
    with _log_file(log if java is None else java.log, temporary=log is None) as path:
        if masters.is_connect(cluster.master):
            opened: AbstractContextManager[Any] = _connect_session(cluster, path)
        else:
            opened = _classic_session(cluster, path, java)
        with opened as driver:
            patience = _patience(cluster)
            left = patience - (time.monotonic() - started)
            yield _session(cluster, driver, path, max(left, min(LEAST, patience)))


def require(cluster: Cluster) -> None:
    """Raises :class:`SpecError` where a quick test shows that there can be no session: no PySpark
    (E020), no Java (E021, E022), a master that does not answer (E023).
    """
    require_pyspark()
    masters.require_reachable(cluster.master)
    if not masters.is_connect(cluster.master):
        find_java()


def require_pyspark() -> None:
    """Raises :class:`SpecError` (E020) where PySpark is missing."""
    import importlib.util

    if importlib.util.find_spec("pyspark") is None:
        message = "the spark engine needs PySpark, which is not installed"
        raise SpecError((Diagnostic("E020", message, hint=install_command()),))


def _session(cluster: Cluster, driver: Any, log: Path, patience: float) -> Session:
    connect = masters.is_connect(cluster.master)

    def look() -> tuple[int, bool]:
        return count_slots(driver, cluster, connect, patience), is_dynamic(driver)

    began = time.monotonic()
    try:
        slots, dynamic = run_cancellable(driver, look, patience + LEAST)
    except TimeoutError:
        raise no_executor(cluster.master, time.monotonic() - began) from None
    local = not connect and masters.on_loopback(cluster.master)
    own = not connect and python_for(cluster) == sys.executable
    limits = _patience(cluster), _seconds(cluster, SILENCE_KEY, SILENCE)
    return Session(driver, slots, dynamic, connect, local, log, cluster.master, own, *limits)


def _patience(cluster: Cluster) -> float:
    return _seconds(cluster, PATIENCE_KEY, PATIENCE)


def _seconds(cluster: Cluster, name: str, default: float) -> float:
    """Returns the value of a setting of our own; raises :class:`SpecError` (E029)."""
    try:
        seconds = float(cluster.conf.get(name, default))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        message = f"{name} is a number of seconds, not {cluster.conf[name]!r}"
        raise SpecError((Diagnostic("E029", message),))
    return seconds


def _new_log() -> Path:
    handle, name = tempfile.mkstemp(prefix=temporary_prefix("bivalence-spark-"), suffix=".log")
    os.close(handle)
    return Path(name)


@contextlib.contextmanager
def _log_file(log: Path | None, *, temporary: bool) -> Iterator[Path]:
    path = log or _new_log()
    keep = not temporary
    try:
        yield path
    except Exception:
        keep = keep or (path.exists() and path.stat().st_size > 0)
        raise
    finally:
        if not keep:
            path.unlink(missing_ok=True)


def start_java(cluster: Cluster) -> JavaProcess | None:
    """Starts the Java of a session on ``cluster`` that is to be opened later; ``None`` where that
    has a driver elsewhere, or can't be opened."""
    if masters.is_connect(cluster.master) or "pyspark" in sys.modules:
        return None
    log = None
    try:
        require_pyspark()
        log = _new_log()
        return start(cluster, log)
    except (SpecError, OSError):  # reported where it is opened
        if log is not None:
            log.unlink(missing_ok=True)
        return None


def discard_java(java: JavaProcess) -> None:
    """Ends a Java that no session has ended."""
    if java.process.returncode is None:
        java.kill()
        java.log.unlink(missing_ok=True)


# ---- a driver of our own ----------------------------------------------------------------------


@contextlib.contextmanager
def _classic_session(
    cluster: Cluster, log: Path, java: JavaProcess | None
) -> Iterator[SparkContext]:
    """Runs the driver in a Java that was started here."""
    from pyspark import SparkContext

    there = SparkContext._active_spark_context
    if there is not None:
        if there.master != cluster.master:
            message = f"this process already has a Spark session, on {there.master}"
            raise SpecError((Diagnostic("E029", message, hint="stop that session first"),))
        yield there
        return
    java = java or start(cluster, log)
    context: Any = None
    try:
        with environment(surroundings(cluster)):
            context = _driver(cluster, java)
        yield context
    except BaseException:
        _close(context, java, at_once=True)
        raise
    else:
        _close(context, java, at_once=not java.is_archiving)


def _driver(cluster: Cluster, java: JavaProcess) -> Any:
    """Returns a context in ``java``."""
    from pyspark import SparkConf, SparkContext

    conf = SparkConf(loadDefaults=False)
    for name, value in settings(cluster, java.folder, java.archive).items():
        conf.set(name, value)
    patience = _patience(cluster)
    late = threading.Event()

    def give_up() -> None:
        late.set()
        java.process.kill()

    watch = threading.Timer(patience, give_up)
    watch.daemon = True
    try:
        gateway = java.gateway()
        watch.start()
        with _own_interrupt(), contextlib.redirect_stderr(None):
            context: Any = SparkContext(conf=conf, gateway=gateway)
        context._accumulatorServer.handle_error = _nothing  # Java has ended: that is noticed
        return context
    except Exception as problem:
        budgets.raise_if_interrupted()  # a signal to all processes ends Java, too
        said = failure_of(problem, java.log, "Spark did not start")  # while Java still answers
        raise (_refusal(cluster.master, patience, java.log) if late.is_set() else said) from None
    finally:
        watch.cancel()


def _close(context: Any, java: JavaProcess, *, at_once: bool) -> None:
    """Ends the session and its Java; ``at_once``: Java is killed where nothing depends on it."""
    from pyspark import SparkContext

    kill = at_once and java.ours_alone
    if not kill:
        run_in_thread(lambda: _stop(context), CLOSING)
        java.end()
    else:
        java.kill()
        if context is not None:
            context._jsc = None  # there is nothing to be stopped in Java
            run_in_thread(lambda: _stop(context), 0.0)
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None


def _stop(context: Any) -> None:
    """Stops a context and its connection to Java."""
    if context is None:
        return
    gateway, listener = context._gateway, context._accumulatorServer
    if context._jsc is not None:
        context._jsc.stop()
    gateway.shutdown()
    listener.shutdown()  # half a second


def _nothing(*_: object) -> None:
    """Replaces the traceback on the terminal."""


def _refusal(master: str, patience: float, log: Path) -> SpecError:
    from pyspark import __version__

    who = masters.redact_master(master)
    message = f"{who} did not open a session within {patience:g} s; Spark's log is {log}"
    hint = (
        f"check that it runs Spark {__version__.rsplit('.', 1)[0]} and has free resources."
        f" To wait longer: --conf {PATIENCE_KEY}=600"
    )
    return SpecError((Diagnostic("E023", message, hint=hint),))


@contextlib.contextmanager
def _own_interrupt() -> Iterator[None]:
    """Within the block, keeps our SIGINT handler: PySpark's would use a busy connection."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


# ---- a driver elsewhere -----------------------------------------------------------------------


@contextlib.contextmanager
def _connect_session(cluster: Cluster, log: Path) -> Iterator[SparkSession]:
    """Opens a session behind Spark Connect: no Java here.

    Where the main module is no file (``python -c``), PySpark prepares for its doctests when it is
    imported.  They need a ``SPARK_HOME``, without which PySpark ends the process.
    """
    home = {"SPARK_HOME": str(spark_home())}
    with environment(home, ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE")):
        try:
            from pyspark.sql.connect.session import SparkSession as Remote
        except (ImportError, SystemExit) as problem:
            message = f"Spark Connect needs a package that is missing here: {problem}"
            raise SpecError((Diagnostic("E020", message, hint=install_command()),)) from None
        os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
        try:
            spark: Any = Remote.builder.remote(cluster.master).create()
        except Exception as problem:
            raise failure_of(
                problem, log, f"can't open a session on {masters.redact_master(cluster.master)}"
            ) from None
        try:
            run_cancellable(spark, lambda: _configure(spark, cluster), _patience(cluster))
            yield spark
        except TimeoutError:
            raise _refusal(cluster.master, _patience(cluster), log) from None
        finally:
            run_in_thread(spark.stop, CLOSING)


def _configure(spark: Any, cluster: Cluster) -> None:
    """Applies our settings, and the user's; raises :class:`SpecError` for those of a start only."""
    for name, value in {**RUNTIME, **cluster.conf}.items():
        if name in (PATIENCE_KEY, SILENCE_KEY):
            continue
        if name in cluster.conf and not spark.conf.isModifiable(name):
            message = f"{name} can't be set over Spark Connect"
            hint = "set it where the server is started"
            raise SpecError((Diagnostic("E029", message, hint=hint),))
        spark.conf.set(name, value)
