"""Lets work that is to end notice that: loops that may be long call :func:`poll`.

This module imports nothing, so that every package can poll.  Who asks work to end, and what is
raised then, is decided in :mod:`checker.engines.budgets`; until then a call does nothing.
"""

from __future__ import annotations

from collections.abc import Callable

_asked: list[Callable[[], None]] = []


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
