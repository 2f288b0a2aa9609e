"""Tells of executors that are lost while Spark repeats their tasks by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from checker.engines.spark import masters
from checker.engines.spark.cancellation import context_of
from checker.engines.spark.session import Session

EVERY = 2.0
"""Seconds between two looks at the list of executors."""


@contextmanager
def telling_lost_executors(session: Session, tell: Callable[[str], object]) -> Iterator[None]:
    """Within the block, calls ``tell`` in another thread with HOST:PORT of each executor that is
    lost.

    Not under Connect, which has no list of them; not where executors are allocated dynamically,
    since those that are idle go, too; not where the only one is the driver.
    """
    over = threading.Event()

    def watch() -> None:
        before = set[str]()
        while not over.wait(EVERY):
            try:
                now = executors_of(session)
            except Exception:  # Java has ended, which the block notices as well
                return
            for place in sorted(before - now):
                tell(place)
            before = now

    if not (session.connect or session.dynamic or masters.is_local(session.master)):
        threading.Thread(target=watch, name="executors", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def executors_of(session: Session) -> set[str]:
    """Returns where executors are, as HOST:PORT; the driver is one of them."""
    context = context_of(session.driver)
    assert context is not None, "not under Connect"
    status = context._jsc.sc().getExecutorMemoryStatus()
    return set(str(status.keys().mkString(",")).split(","))
