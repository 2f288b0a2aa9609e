"""Treats SIGTERM like Ctrl-C, and loses neither."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from checker.engines.asynchronous import interrupt


@contextmanager
def interrupting_on_signals() -> Iterator[None]:
    """Within the block, SIGTERM raises ``KeyboardInterrupt``, so that results so far are reported
    and kept.

    So does SIGINT, as usual; where an exception would have no effect, both do so a little later.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
