"""Treats SIGTERM like Ctrl-C, and loses neither."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from checker.engines.asynchronous import may_raise_in

AGAIN = 0.02
"""Seconds after which a signal that could not be handled is raised again."""


@contextmanager
def interrupting_on_signals() -> Iterator[None]:
    """Within the block, SIGTERM raises ``KeyboardInterrupt``, so that results so far are reported
    and kept.

    So does SIGINT, as usual; where an exception would have no effect (:func:`may_raise_in`), both
    do so a little later.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, _interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if may_raise_in(frame):
        raise KeyboardInterrupt
    main = threading.main_thread().ident
    later = threading.Timer(AGAIN, signal.pthread_kill, (main, number))
    later.daemon = True
    later.start()
