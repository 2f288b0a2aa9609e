"""Makes z3 interruptible by Ctrl-C: the work is done by a thread of its own, and the main thread
waits.

Python handles a signal, and an exhausted budget, between two of its instructions in the main
thread.  There it would come late (z3 is one instruction), or inside the conversion of an argument,
where ``ctypes`` turns it into another error.  A waiting thread handles it at once, and can
interrupt z3.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import z3

from checker.engines.budgets import WorkerThread

WAIT = 0.05
"""Seconds between two attempts to interrupt z3."""

RAISED_AGAIN = 20
"""After so many attempts the thread's exception is raised again: finalisers ignore one."""

STACK = 256 << 20
"""The size of the thread's stack in bytes: formulas are deep."""

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """Returns what ``work`` returns; raises what it raises.

    Where the main thread is interrupted meanwhile (``KeyboardInterrupt``, by any signal or budget),
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
    tries = due = 0
    while not apart.is_done:
        try:
            if tries >= due and apart.tell():
                due = tries + RAISED_AGAIN
            tries += 1
            z3.main_ctx().interrupt()
            apart.wait(WAIT)
        except KeyboardInterrupt:  # raised again, until this part is left
            continue
    z3.Solver().check()  # until the next query z3 remembers that it was interrupted, and refuses
