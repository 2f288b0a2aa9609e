"""Memoises what is computed repeatedly in one use of the tool, and forgets it afterwards, so that a
process that checks one spec after the other does not grow."""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar, TypeVarTuple

from checker import kept
from checker.polling import poll

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")
Others = TypeVarTuple("Others")

MOST = 1 << 17
"""Results that one function keeps at most in an analysis."""

_forgetting: list[Callable[[], None]] = []
_tables: list[dict[Any, Any]] = []
_analyses: list[bool] = []
"""Those that are open, each with whether garbage was collected when it began."""


def in_a_run(most: int = 4096) -> Callable[[Callable[[K], R]], Callable[[K], R]]:
    """Returns a decorator that memoises up to ``most`` results until :func:`a_run` ends.

    An argument is looked for by its identity first: comparing large values takes long where they
    are equal.
    """

    def keeping(function: Callable[[K], R]) -> Callable[[K], R]:
        by_value = lru_cache(maxsize=most)(function)
        known: dict[int, tuple[K, R]] = {}

        def kept(value: K) -> R:
            found = known.get(id(value))
            if found is None:
                if len(known) >= most:
                    known.clear()
                found = known[id(value)] = (value, by_value(value))
            return found[1]

        _forgetting.extend((by_value.cache_clear, known.clear))
        return kept

    return keeping


@contextmanager
def a_run() -> Iterator[None]:
    """Discards what was memoised when the context ends, which costs only time; also what an
    analysis has left that was interrupted at its very end."""
    try:
        yield
    finally:
        for clear in _forgetting:
            clear()
        kept.forget()
        _close_analyses(0)


def by_identity(function: Callable[[Any], R]) -> Callable[[Any], R]:
    """Memoises ``function`` by the identity of its argument, which is kept as long as the result:
    until the returned function is discarded."""
    known: dict[int, tuple[Any, R]] = {}

    def kept(node: Any) -> R:
        found = known.get(id(node))
        if found is None:
            poll()
            found = known[id(node)] = (node, function(node))
        return found[1]

    return kept


class Keeping:
    """The base of objects that memoise results of their methods (:func:`in_its_object`)."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[int, tuple[Any, Any]]] = {}


Owner = TypeVar("Owner", bound=Keeping)


def in_its_object(method: Callable[[Owner, Any], R]) -> Callable[[Owner, Any], R]:
    """Memoises ``method`` by the identity of its argument, as long as its object lives.

    The object has no function that has the object: it is gone when nobody has it any more, and
    with it all that it knows, without being looked for as garbage.
    """
    name = method.__name__

    def kept(self: Owner, node: Any) -> R:
        known = self.kept.get(name)
        if known is None:
            known = self.kept[name] = {}
        found = known.get(id(node))
        if found is None:
            poll()
            found = known[id(node)] = (node, method(self, node))
        result: R = found[1]
        return result

    return kept


def in_an_analysis(function: Callable[[Any], R]) -> Callable[[Any], R]:
    """Memoises ``function`` by the identity of its argument inside :func:`an_analysis`; elsewhere
    each call computes its result."""
    known: dict[int, tuple[Any, R]] = analysis_table()

    def kept(node: Any) -> R:
        found = known.get(id(node))
        if found is None:
            poll()
            found = (node, function(node))
            if _analyses:
                if len(known) >= MOST:
                    known.clear()
                known[id(node)] = found
        return found[1]

    return kept


def in_an_analysis_with(function: Callable[[Any, *Others], R]) -> Callable[[Any, *Others], R]:
    """Does the same for a function of several arguments; the others are compared by value."""
    known: dict[tuple[int, Any], tuple[Any, R]] = analysis_table()

    def kept(node: Any, *others: *Others) -> R:
        found = known.get((id(node), others))
        if found is None:
            poll()
            found = (node, function(node, *others))
            if _analyses:
                if len(known) >= MOST:
                    known.clear()
                known[id(node), others] = found
        return found[1]

    return kept


def is_in_analysis() -> bool:
    """Tells whether results are kept: whether :func:`an_analysis` is open."""
    return bool(_analyses)


def analysis_table() -> dict[Any, Any]:
    """Returns a new table that is cleared where :func:`an_analysis` ends."""
    _tables.append({})
    return _tables[-1]


@contextmanager
def an_analysis() -> Iterator[None]:
    """Keeps what is memoised by identity until the outermost such context ends.

    Until then no garbage is collected: what is kept is none, and looking for it there takes time.
    """
    depth = len(_analyses)
    try:
        _analyses.append(gc.isenabled())
        gc.disable()
        yield
    finally:
        _close_analyses(depth)


def _close_analyses(depth: int) -> None:
    """Closes the analyses beyond the first ``depth``; empties the tables where none is left.

    Garbage is collected again where it was when the first that is closed began, but only after
    that: a collection would look at everything that is kept.
    """
    collected = any(_analyses[depth:])
    del _analyses[depth:]
    if not _analyses:
        for table in _tables:
            table.clear()
    if collected:
        gc.enable()
