"""A clock that can stand still.

It takes the place of the functions of :mod:`time` when this module is imported: a module that keeps
one of them, such as the default of an argument, must be imported later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Clock:
    still = False


def _stoppable(moving: Callable[[], float]) -> Callable[[], float]:
    return lambda: 1.0 if _Clock.still else moving()


time.monotonic = _stoppable(time.monotonic)
time.perf_counter = _stoppable(time.perf_counter)


@contextmanager
def still_clock() -> Iterator[None]:
    """No time passes: every duration is 0, and no budget of seconds is used up."""
    _Clock.still = True
    try:
        yield
    finally:
        _Clock.still = False
