"""Histories of a recorded run as they are after some of its events.

All of a history is known from the log, so nothing is copied as it grows: a value of the language is
the whole history and a length.  An index of the whole history answers membership, positions
and repetition at each length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from typing import Any, Self

import numpy as np

from checker.model.types import (
    AtomT,
    BagT,
    BoolT,
    IntT,
    SeqT,
    SetT,
    TupleT,
    Type,
    cardinality,
    sort_key,
)


class WholeHistory:
    """All that one process requested, or indicated, by one name: the items in order.

    ``type_``: that of the items; ``times``: from which occurrence on an item is a member (1 or 2).
    """

    def __init__(self, items: Iterable[Any], type_: Type, times: int = 1) -> None:
        self.items = tuple(items)
        self.type = type_
        self.first: dict[Any, int] = {}
        seen: dict[Any, int] = {}
        for at, item in enumerate(self.items):
            seen[item] = seen.get(item, 0) + 1
            if seen[item] == times:
                self.first[item] = at
        self.positions = list(self.first.values())

    @cached_property
    def columns(self) -> Any:
        """The items as numbers: an array, or a tuple of them for tuples."""
        return columns_of(self.items, self.type)

    @cached_property
    def members(self) -> Any:
        """The members in the order in which they came, as numbers."""
        return columns_of(tuple(self.first), self.type)

    def first_at(self, items: Any) -> np.ndarray:
        """Returns from which length on each of ``items`` (in columns) is a member, less one."""
        codes = _codes(items, self.type)
        if cardinality(self.type) <= MOST_ENTRIES:
            inside = (codes >= 0) & (codes < len(self._table))
            return np.where(inside, self._table[np.where(inside, codes, 0)], NEVER)
        known, at = self._sorted
        where = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        return np.where(known[where] == codes, at[where], NEVER)

    @cached_property
    def _table(self) -> np.ndarray:
        table = np.full(cardinality(self.type), NEVER, dtype=np.int64)
        table[_codes(self.members, self.type)] = self.positions
        return table

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        codes = np.append(_codes(self.members, self.type), -2)
        order = np.argsort(codes)
        return codes[order], np.append(np.asarray(self.positions, dtype=np.int64), NEVER)[order]


NEVER = 1 << 60
"""The position of an item that is in no history."""
MOST_ENTRIES = 1 << 16
"""The largest number of values of a type for which a table has an entry for each."""
MOST_CODES = 1 << 62


def is_flat(type_: Type) -> bool:
    """Returns whether values of ``type_`` are numbers, or tuples of them that fit into one."""
    match type_:
        case AtomT() | BoolT() | IntT():
            return cardinality(type_) < MOST_CODES
        case TupleT(items):
            return all(is_flat(item) for item in items) and cardinality(type_) < MOST_CODES
        case _:
            return False


def columns_of(values: Sequence[Any], type_: Type) -> Any:
    """Returns values of a flat type as numbers, by component."""
    if isinstance(type_, TupleT):
        parts = zip(*values, strict=True) if values else ((),) * len(type_.items)
        return tuple(columns_of(part, of) for part, of in zip(parts, type_.items, strict=True))
    return np.asarray(values, dtype=np.int64)


def _codes(columns: Any, type_: Type) -> Any:
    """Returns a number for each value, another one for each other value; -1 for none of
    ``type_``."""
    match type_:
        case TupleT(items):
            code, valid = np.int64(0), np.bool_(True)
            for part, of in zip(columns, items, strict=True):
                one = _codes(part, of)
                code, valid = code * cardinality(of) + one, valid & (one >= 0)
            return np.where(valid, code, -1)
        case IntT(lo, hi):
            values = np.asarray(columns)
            return np.where((values >= lo) & (values <= hi), values - lo, -1)
        case AtomT(first=first):
            return np.asarray(columns) - first
        case _:
            return np.asarray(columns).astype(np.int64)


def cut(columns: Any, length: int) -> Any:
    """Returns the first ``length`` of values in columns."""
    if isinstance(columns, tuple):
        return tuple(cut(part, length) for part in columns)
    return columns[:length]


class Grown(ABC):
    """The first ``length`` items of a history, as a value of the language."""

    __slots__ = ("length", "whole")

    def __init__(self, whole: WholeHistory, length: int = 0) -> None:
        self.whole, self.length = whole, length

    def longer(self) -> Self:
        """Returns the value after the next item."""
        return type(self)(self.whole, self.length + 1)

    def __contains__(self, item: Any) -> bool:
        return bool(self.whole.first.get(item, self.length) < self.length)

    def __repr__(self) -> str:
        return repr(self.plain())

    @abstractmethod
    def plain(self) -> Any:
        """Returns the same value in the interpreter's representation."""

    def columns(self) -> Any:
        """Returns the elements over which a quantifier goes, as numbers."""
        return cut(self.whole.members, self._members())

    def _members(self) -> int:
        return bisect_left(self.whole.positions, self.length)

    def __len__(self) -> int:
        return self._members()


class GrownSet(Grown, Set[Any]):
    """A set of all items."""

    __slots__ = ()
    __len__ = Grown.__len__
    __contains__ = Grown.__contains__

    def __iter__(self) -> Iterator[Any]:
        for item, at in self.whole.first.items():
            if at >= self.length:
                return
            yield item

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return frozenset(it)

    def __hash__(self) -> int:
        return hash(self.plain())

    def plain(self) -> frozenset[Any]:
        return frozenset(self)


class GrownSequence(Grown, Sequence[Any]):
    """A sequence of all items."""

    __slots__ = ()
    __contains__ = Grown.__contains__

    def plain(self) -> tuple[Any, ...]:
        return self.whole.items[: self.length]

    def columns(self) -> Any:
        return cut(self.whole.columns, self.length)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Returns where ``value`` is first; raises :class:`ValueError` where it is not."""
        if start or stop is not None or value not in self:
            return self.plain().index(value, start, *(() if stop is None else (stop,)))
        return self.whole.first[value]

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Any]:
        return iter(self.plain())

    def __getitem__(self, at: Any) -> Any:
        return self.plain()[at] if isinstance(at, slice) or at < 0 else self._item(at)

    def _item(self, at: int) -> Any:
        if at >= self.length:
            raise IndexError(at)
        return self.whole.items[at]

    def __eq__(self, other: object) -> bool:
        return self.plain() == (other.plain() if isinstance(other, Grown) else other)

    def __hash__(self) -> int:
        return hash(self.plain())

    def __add__(self, other: Any) -> tuple[Any, ...]:
        return (*self, *other)

    def __radd__(self, other: Any) -> tuple[Any, ...]:
        return (*other, *self)


class GrownBag(GrownSequence):
    """A set that the language keeps as a sorted sequence, since its type is large."""

    __slots__ = ()
    __len__ = Grown.__len__

    def plain(self) -> tuple[Any, ...]:
        members = list(self.whole.first)[: self._members()]
        return tuple(sorted(members, key=sort_key))

    def columns(self) -> Any:
        return Grown.columns(self)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Returns where ``value`` is; raises :class:`ValueError` where it is not."""
        return self.plain().index(value, start, *(() if stop is None else (stop,)))

    def _item(self, at: int) -> Any:
        return self.plain()[at]


def grown(whole: WholeHistory, type_: Type, length: int = 0) -> Grown:
    """Returns the first ``length`` items of ``whole`` as a value of ``type_``."""
    kinds: dict[type[Type], Callable[[WholeHistory, int], Grown]]
    kinds = {SetT: GrownSet, SeqT: GrownSequence, BagT: GrownBag}
    return kinds[type(type_)](whole, length)
