"""Ctrl-C in the midst of z3: the work is done by a thread of its own, and the main thread waits.

Python tells of a signal, and of a budget that is used up, between two of its instructions in the
main thread.  There it would come late (z3 is one instruction), or inside the conversion of an
argument, where ``ctypes`` makes another error of it.  A thread that waits is told at once, and can
tell z3.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import z3

from checker.budgets import BudgetExhausted, WorkerThread

WAIT = 0.05
"""Seconds between two attempts to end what z3 does."""

RAISED_AGAIN = 20
"""After so many of them what z3 is asked by is told again: the end of an object ignores that."""

STACK = 256 << 20
"""Bytes of the thread's stack: formulas are deep."""

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """What ``work`` returns; raises what it raises.

    Where the main thread is told to end meanwhile (``KeyboardInterrupt``, by whatever signal or
    budget), ``work`` ends first, with an error that nobody sees.
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
    """Waits for the end of ``apart``, whether it is in z3 or not; a second Ctrl-C leaves it to
    itself, and a budget does not: somebody may ask z3 again."""
    tries = 0
    while not apart.is_done:
        try:
            if tries % RAISED_AGAIN == 0:
                apart.tell()
            tries += 1
            z3.main_ctx().interrupt()
            apart.wait(WAIT)
        except BudgetExhausted:
            continue
    z3.Solver().check()  # until the next query z3 remembers that it was to end, and refuses
