"""A call that is being recorded, until its answer is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

NOTHING: Final = object()
"""Stands for no result."""


class Call:
    """An operation that was called: record its answer once, by :meth:`ok`, :meth:`fail` or
    :meth:`info`; without one it may or may not take effect.

    >>> h = log.call("cas", [1, 2])
    >>> h.ok(True)
    """

    def __init__(self, name: str, answer: Callable[[dict[str, Any]], int]) -> None:
        self.name, self._answer = name, answer
        self._lock, self._is_answered = threading.Lock(), False

    def ok(self, value: Any = NOTHING) -> int:
        """It took effect, and returned ``value``, if it returns one."""
        return self._answered({} if value is NOTHING else {"arguments": [value]})

    def fail(self) -> int:
        """It did not take effect, and never will."""
        return self._answered({"status": "fail"})

    def info(self) -> int:
        """It may or may not take effect, now or later, such as after a timeout."""
        return self._answered({"status": "maybe"})

    def _answered(self, fields: dict[str, Any]) -> int:
        with self._lock:
            if self._is_answered:
                raise ValueError(f"this call of {self.name} has an answer already")
            position = self._answer({"name": self.name, **fields})
            self._is_answered = True
            return position
