"""Spark jobs that can be cancelled: by Ctrl-C, at a deadline, or on request."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import uuid
import warnings
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

from checker.engines import budgets
from checker.polling import poll

if TYPE_CHECKING:
    from pyspark import SparkContext

T = TypeVar("T")

CLOSING = 15.0
"""Seconds in which a session has to end before its Java process is killed."""
AGAIN = 0.2
"""Seconds until a request to end is repeated."""
LOOK = 0.2
"""Seconds between two calls of ``watch`` while a job runs."""
SETTLING = 10.0
"""Seconds in which cancelled tasks have to end."""


def context_of(driver: Any) -> SparkContext | None:
    """Returns the context of a ``driver`` of our own, which may be a context or have one; ``None``
    under Connect."""
    return driver if hasattr(driver, "cancelJobsWithTag") else getattr(driver, "_sc", None)


def run_cancellable(
    driver: Any,
    job: Callable[[], T],
    patience: float | None = None,
    watch: Callable[[], object] = lambda: None,
) -> T:
    """Runs ``job`` as :meth:`Session.run` does: in a thread of its own, so that an interrupt is
    handled at once and leaves PySpark's connection intact.
    """
    silence_warnings()
    tag = f"bivalence-{uuid.uuid4().hex}"
    done: Future[T] = Future()

    def work() -> None:
        try:
            mark(driver, tag)
            done.set_result(job())
        except BaseException as problem:
            done.set_exception(problem)

    threading.Thread(target=work, name="spark job", daemon=True).start()
    began = time.monotonic()
    try:
        while True:
            poll()
            if wait([done], LOOK).done:
                if done.exception() is not None:
                    budgets.raise_if_interrupted()  # a signal to all processes ends Java, too
                return done.result()
            watch()
            if patience is not None and time.monotonic() - began > patience:
                raise TimeoutError(f"no end within {patience:g} s")
    except BaseException:
        if not done.done():
            cancel(driver, tag, done.done)
        raise


def mark(driver: Any, tag: str) -> None:
    """Tags everything that this thread starts with ``tag``, including the Python part, so that it
    can be cancelled.
    """
    context = context_of(driver)
    if context is None:
        driver.addTag(tag)
        return
    context.addJobTag(tag)
    context.setInterruptOnCancel(True)


def silence_warnings() -> None:
    """Silences PySpark's warnings of versions of pandas, which it prints wherever Arrow is used
    although pandas is not, and its log messages when Java has ended, which is reported otherwise.
    """
    if not logging.root.handlers:
        logging.root.addHandler(logging.NullHandler())
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


def cancel(driver: Any, tag: str, over: Callable[[], bool]) -> None:
    """Cancels what runs under ``tag``, and what is about to, until it is ``over``; waits for that,
    but not long.
    """
    context = context_of(driver)
    end = driver.interruptTag if context is None else context.cancelJobsWithTag
    last = time.monotonic() + CLOSING
    while not over() and time.monotonic() < last:
        run_in_thread(lambda: end(tag), CLOSING)
        time.sleep(AGAIN)
    await_cancelled(driver)


def await_cancelled(driver: Any) -> None:
    """Waits until cancelled tasks have ended, but not long.

    Spark kills the Python process of a task that does not end by itself after some seconds, if
    Spark is still there: the end of a session would leave a process behind that was stopped
    (SIGSTOP).
    """
    context = context_of(driver)
    if context is None:  # the session may end before Spark does
        return

    def running() -> int:
        infos = context._jsc.sc().statusTracker().getExecutorInfos()
        return sum(int(info.numRunningTasks()) for info in infos)

    def wait() -> None:
        while not over.is_set() and running():
            time.sleep(AGAIN)

    over = threading.Event()
    run_in_thread(wait, SETTLING)
    over.set()


def run_in_thread(work: Callable[[], Any], patience: float) -> None:
    """Runs ``work`` in another thread, with a connection of its own; its errors are ignored."""

    def quietly() -> None:
        with contextlib.suppress(Exception):
            work()

    thread = threading.Thread(target=quietly, daemon=True)
    thread.start()
    thread.join(patience)
