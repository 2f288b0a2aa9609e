"""Notices executors that are lost while Spark would repeat their tasks by itself.

During a shuffle, other tasks would try to fetch data from the lost executor for a while, and Spark
would then repeat stages one after the other, without a word.  A job is short, so the run goes on
from the last commit instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from checker.engines.spark import masters
from checker.engines.spark.cancellation import context_of
from checker.engines.spark.session import Session

EVERY = 2.0
"""Seconds between two looks at the list of executors."""


class LostExecutor(Exception):
    """An executor is lost; the message says where it was."""


@contextmanager
def lost_executors(session: Session) -> Iterator[Callable[[], None]]:
    """Yields a function that raises :class:`LostExecutor` if one was lost within the block.

    It never does so under Connect, which has no list of executors; with dynamic allocation, which
    removes idle ones; or if the driver is the only one.
    """
    over, lost = threading.Event(), list[str]()

    def watch() -> None:
        before = set[str]()
        while not over.wait(EVERY):
            try:
                now = _executors(session)
            except Exception:  # Java has ended, which the block notices as well
                return
            lost.extend(sorted(before - now))
            before = now

    def check() -> None:
        if lost:
            raise LostExecutor(f"the executor at {lost[0]} was lost")

    if not (session.connect or session.dynamic or masters.is_local(session.master)):
        threading.Thread(target=watch, name="executors", daemon=True).start()
    try:
        yield check
    finally:
        over.set()


def _executors(session: Session) -> set[str]:
    """Returns the address of each executor, as HOST:PORT, and that of the driver."""
    context = context_of(session.driver)
    assert context is not None, "not under Connect"
    status = context._jsc.sc().getExecutorMemoryStatus()
    return set(str(status.keys().mkString(",")).split(","))
