"""Raises exceptions in threads, by other threads, where they have their effect."""

from __future__ import annotations

import _weakrefset
import contextlib
import ctypes
import gc
import weakref
from sys import _current_frames
from types import CodeType, FrameType

AGAIN = 0.02
"""Seconds until the next attempt, where an exception would have no effect."""

NOT_IN = {__file__, contextlib.__file__, weakref.__file__, _weakrefset.__file__}
"""The files whose functions enter and leave blocks, or are called by the garbage collector."""


def raise_in(thread: int, kind: type[KeyboardInterrupt] | None) -> bool:
    """Raises an exception in a thread, or, where ``kind`` is ``None``, cancels it.

    Returns whether it could: see :func:`may_raise_in`.
    """
    if kind is not None and not may_raise_in(_current_frames().get(thread)):
        return False
    error = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
    return True


OWNING = "llvmlite."
"""How the names of modules begin that keep track of what C++ owns."""

FINALISED = "z3."
"""How the names of modules begin whose objects have finalisers that need all of their fields."""


def may_raise_in(frame: FrameType | None) -> bool:
    """Returns whether an exception has its effect in ``frame``, which is where a thread is now.

    It has none in the finaliser of an object and in callbacks of the garbage collector and of weak
    references, where Python ignores it: while a large heap is collected a thread is nearly always
    there.  Where a block is being entered or left it would leave the block half entered, and in
    llvmlite, between a call that takes ownership of an object and the note of it, the object would
    be freed twice.  In z3 it would leave an object half made, which its finaliser reports.
    """
    if frame is not None and frame.f_code.co_filename in NOT_IN:
        return False
    collecting = {_code_of(callback) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code in collecting:
            return False
        module = str(frame.f_globals.get("__name__"))
        if module.startswith(OWNING):
            return False
        if frame.f_code.co_name == "__init__" and module.startswith(FINALISED):
            return False
        frame = frame.f_back
    return True


def _code_of(callback: object) -> CodeType | None:
    call = callback if hasattr(callback, "__code__") else type(callback).__call__
    return getattr(call, "__code__", None)
