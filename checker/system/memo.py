"""What is worked out again and again in a run, worked out once: and forgotten when the run is over,
so that a process that checks one spec after the other does not grow."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")

_forgetting: list[Callable[[], None]] = []


def in_a_run(most: int = 4096) -> Callable[[Callable[[K], R]], Callable[[K], R]]:
    """A function whose results are kept, ``most`` of them, until :func:`a_run` is over."""

    def keeping(function: Callable[[K], R]) -> Callable[[K], R]:
        kept = lru_cache(maxsize=most)(function)
        _forgetting.append(kept.cache_clear)
        return kept

    return keeping


@contextmanager
def a_run() -> Iterator[None]:
    """What is kept is forgotten behind it, which costs time and nothing else."""
    try:
        yield
    finally:
        for clear in _forgetting:
            clear()
