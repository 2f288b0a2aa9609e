"""Memoises what is computed repeatedly in one use of the tool, and forgets it afterwards, so that a
process that checks one spec after the other does not grow."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")

_forgetting: list[Callable[[], None]] = []


def in_a_run(most: int = 4096) -> Callable[[Callable[[K], R]], Callable[[K], R]]:
    """Returns a decorator that memoises up to ``most`` results until :func:`a_run` ends."""

    def keeping(function: Callable[[K], R]) -> Callable[[K], R]:
        kept = lru_cache(maxsize=most)(function)
        _forgetting.append(kept.cache_clear)
        return kept

    return keeping


@contextmanager
def a_run() -> Iterator[None]:
    """Discards what was memoised when the context ends, which costs only time."""
    try:
        yield
    finally:
        for clear in _forgetting:
            clear()
