"""Ctrl-C in the midst of z3: the work is done by a thread of its own, and the main thread waits.

Python tells of a signal between two of its instructions in the main thread.  There it would come
late (z3 is one instruction), or inside the conversion of an argument, where ``ctypes`` makes
another error of it.  A thread that waits is told at once, and can tell z3.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

import z3

WAIT = 0.05
"""Seconds between two looks at the thread."""

STACK = 256 << 20
"""Bytes of the thread's stack: formulas are deep."""

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """What ``work`` returns; raises what it raises.

    Where the main thread is told to end meanwhile (``KeyboardInterrupt``, by whatever signal),
    ``work`` ends first, with an error that nobody sees.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # it is raised where the result is wanted
            errors.append(error)

    before = threading.stack_size(STACK)
    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
    try:
        while thread.is_alive():
            thread.join(WAIT)
    except KeyboardInterrupt:
        _end(thread)
        raise
    if errors:
        raise errors[0]
    return results[0]


def _end(thread: threading.Thread) -> None:
    """Makes ``thread`` end, whether it is in z3 or not."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(KeyboardInterrupt))
    while thread.is_alive():
        z3.main_ctx().interrupt()
        thread.join(WAIT)
