"""Makes z3 interruptible: a separate thread does the work, and the main thread waits.

A query is one call, in which Python neither polls nor handles signals.  The thread that waits
polls, and interrupts z3.  The thread that works has a large stack, as formulas are deep.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import z3

from checker.engines.budgets import WorkerThread

WAIT = 0.05
"""Seconds between two attempts to interrupt z3, which ignores one outside of a query."""

STACK = 256 << 20
"""The size of the thread's stack in bytes."""

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """Returns what ``work`` returns; raises what it raises.

    Where the main thread is to end meanwhile (``KeyboardInterrupt``, by any signal or budget),
    ``work`` is ended first, and its error is discarded.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    before = threading.stack_size(STACK)
    try:
        apart = WorkerThread(work)
    finally:
        threading.stack_size(before)
    try:
        return apart.result()
    except KeyboardInterrupt:
        _end(apart)
        raise


def _end(apart: WorkerThread[T]) -> None:
    """Waits for the end of ``apart``, whether it is in z3 or not: z3 may be used again."""
    apart.tell()
    while not apart.wait(WAIT):
        z3.main_ctx().interrupt()
    z3.Solver().check()  # until the next query z3 remembers that it was interrupted, and refuses
