"""Lets work that is to end notice that: loops that may be long call :func:`poll`.

This module imports nothing of the tool, so that every package can poll.  Who asks work to end, and
what is raised then, is decided in :mod:`checker.engines.budgets`; until then a call does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

due: list[Callable[[float, str], None]] = []
"""What is called with the time, by ``time.monotonic``, at which the main thread reaches its next
limit, and with that limit in words; with 0 if it has none.  At most one function."""
_asked: list[Callable[[], None]] = []
_waits: list[bool] = [False]


def poll() -> None:
    """Raises ``KeyboardInterrupt`` where the work of this thread is to end."""
    if _asked:
        _asked[0]()


def ask(what: Callable[[], None]) -> None:
    """Has ``what`` called at each poll from now on, in whichever thread that is."""
    _asked[:] = [what]


def ask_no_more() -> None:
    """Has nothing called any more."""
    _asked.clear()


@contextmanager
def waiting() -> Iterator[None]:
    """Within the block the main thread does nothing but wait, for input, a process or time, and an
    interrupt ends that at once."""
    before = is_waiting()
    try:
        _waits[0] = True
        poll()
        yield
    finally:
        _waits[0] = before


def is_waiting() -> bool:
    """Returns whether the main thread is :func:`waiting`."""
    return _waits[0]
