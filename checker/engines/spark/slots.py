"""Determines how many tasks a session runs at a time, and whether all can run at once."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.cluster import Cluster
from checker.engines.spark import masters
from checker.engines.spark.cancellation import context_of

if TYPE_CHECKING:
    from checker.engines.spark.session import Session

QUIET = 1.5
"""Seconds without a new executor after which no further one is expected."""

LOOK = 0.1
"""Seconds between two polls."""

LACK, PATIENT_LACK = 30.0, 60.0
"""If all tasks run at once, a lost executor has to be replaced within so many seconds: if the run
can continue by shuffle, and at least if it would end otherwise."""


class TooFew(Exception):
    """There are too few slots for tasks that have to run at once."""


def is_dynamic(driver: Any) -> bool:
    """Returns whether Spark allocates executors dynamically."""
    return _setting(driver, "spark.dynamicAllocation.enabled", "false").lower() == "true"


def count_slots(driver: Any, cluster: Cluster, connect: bool, patience: float) -> int:
    """Returns the number of tasks that run at a time once the executors are there (with dynamic
    executors: some).

    Raises :class:`SpecError` (E024) where there is none within ``patience`` seconds.
    """
    if connect:
        return _over_connect(driver)
    context: Any = context_of(driver)
    if masters.is_local(cluster.master) and not cluster.master.startswith("local-cluster"):
        return int(context.defaultParallelism)
    if is_dynamic(driver):
        return max(int(context.defaultParallelism), 1)
    began = time.monotonic()
    slots = await_count(lambda: slots_now(driver), _requested_slots(driver), patience)
    if slots == 0:
        raise no_executor(cluster.master, time.monotonic() - began)
    return slots


def slots_now(driver: Any) -> int:
    """Returns the number of tasks for which the current executors have room; not under Connect."""
    context: Any = context_of(driver)
    java = context._jsc.sc()
    profile = java.resourceProfileManager().defaultResourceProfile()
    return int(java.maxNumConcurrentTasks(profile))


def no_executor(master: str, seconds: float) -> SpecError:
    """Returns the diagnostic (E024) for a cluster on which nothing runs after so many seconds."""
    message = (
        f"{masters.redact_master(master)} gave the session no executors within {seconds:.0f} s"
    )
    hint = (
        "check that it has workers with free cores and enough memory (--conf"
        " spark.executor.memory=…)"
    )
    return SpecError((Diagnostic("E024", message, hint=hint),))


def await_count(
    count: Callable[[], int],
    wanted: int,
    patience: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Returns ``count`` once it is ``wanted``, or has stayed above 0 for a moment (``wanted`` 0).

    Otherwise its value after ``patience`` seconds.
    """
    started = changed = clock()
    found = count()
    while clock() - started < patience:
        if wanted and found >= wanted:
            break
        if found and not wanted and clock() - changed >= QUIET:
            break
        sleep(LOOK)
        now = count()
        if now != found:
            found, changed = now, clock()
    return found


def _requested_slots(driver: Any) -> int:
    """Returns the number of tasks that the settings request room for; 0 where they don't."""

    def number(name: str) -> int:
        value = _setting(driver, name, "0")
        return int(value) if value.isdecimal() else 0

    most = number("spark.cores.max")
    each = number("spark.executor.cores")
    asked = most or number("spark.executor.instances") * each
    return asked // max(number("spark.task.cpus"), 1)


def _setting(driver: Any, name: str, default: str) -> str:
    context = context_of(driver)
    conf = driver.conf if context is None else context.getConf()
    return str(conf.get(name, default))


def _over_connect(spark: Any) -> int:
    """Returns the number of slots under Connect: Spark divides its own ranges by it."""
    from pyspark.sql import functions

    numbers = spark.range(1 << 16).select(functions.spark_partition_id().alias("part"))
    return int(numbers.agg(functions.max("part")).collect()[0][0]) + 1


def why_no_barrier(session: Session, shards: int) -> str | None:
    """Explains why ``shards`` tasks can't all run at once; ``None`` where they can."""
    if session.dynamic:
        return "executors come and go (spark.dynamicAllocation.enabled)"
    if session.slots < shards:
        return f"{shards} tasks must run at the same time, and there are only {session.slots} slots"
    return None


def require_barrier(session: Session, shards: int) -> None:
    """Raises :class:`SpecError` (E025) where ``shards`` tasks can't all run at once."""
    why = why_no_barrier(session, shards)
    if why is not None:
        message = f"--exchange barrier can't be used: {why}"
        hint = f"use --exchange shuffle, or --shards {session.slots}"
        if session.dynamic:
            hint = "use --exchange shuffle, or --conf spark.dynamicAllocation.enabled=false"
        raise SpecError((Diagnostic("E025", message, hint=hint),))


@contextlib.contextmanager
def enough(session: Session, shards: int, lack: float = LACK) -> Iterator[None]:
    """Within the block, ``shards`` tasks run at once: Spark would wait forever for an executor that
    was lost and is not replaced within ``lack`` seconds.  Raises :class:`TooFew`, and what the
    block raises.
    """
    over, few = threading.Event(), list[int]()

    def watch() -> None:
        since = None
        while not over.wait(lack / 30):
            try:
                slots = slots_now(session.driver)
            except Exception:  # Java has ended, which the block notices as well
                return
            now = time.monotonic()
            since = None if slots >= shards else since or now
            if since is not None and now - since > lack:
                few.append(slots)
                session.cancel_all()
                return

    if not session.connect and not masters.is_local(session.master):
        threading.Thread(target=watch, name="slots", daemon=True).start()
    try:
        yield
    except Exception:
        if few:
            message = (
                f"{shards} tasks must run at the same time, and for {lack:.0f} s there were"
                f" slots for only {few[0]}"
            )
            raise TooFew(message) from None
        raise
    finally:
        over.set()
