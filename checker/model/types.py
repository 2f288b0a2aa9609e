"""Defines finite types of the transition system, and the Python values that inhabit them.

=============  =====================================================================
type           Python value (always hashable)
=============  =====================================================================
``BoolT``      ``bool``
``IntT``       ``int`` in ``lo..hi``
``AtomT``      ``int`` in ``first..first+len(labels)-1`` (enum members, processes, payloads)
``TupleT``     ``tuple`` of the items' values (records are tuples with ``names``)
``OptionT``    ``None`` or a 1-tuple ``(value,)``
``SetT``       ``frozenset`` of item values
``MapT``       ``tuple`` of values in the order of the keys' ranks (maps are total)
``SeqT``       ``tuple`` of at most ``cap`` item values
``BagT``       ``tuple`` of at most ``cap`` item values, sorted by ``sort_key``
``VariantT``   ``(case index, field value, ...)``
=============  =====================================================================

``grows`` names a guessed capacity: exceeding it leads to a new instantiation with twice the
capacity, never to a verdict.  Where it is ``None`` the author fixed the bound and exceeding it is a
runtime error.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import assert_never

from checker.model.memo import in_a_run
from checker.model.node import Hashed, value_class

Value = object


@value_class
class BoolT(Hashed):
    """Truth values."""


@value_class
class IntT(Hashed):
    """Integers ``lo..hi``, both ends included."""

    lo: int
    hi: int
    grows: str | None = None


@value_class
class AtomT(Hashed):
    """A named finite type without arithmetic; values are ``first`` upwards, one for each label."""

    name: str
    labels: tuple[str, ...]
    first: int = 0


@value_class
class TupleT(Hashed):
    """A product; ``names`` is empty for plain tuples and parallel to ``items`` for records."""

    items: tuple[Type, ...]
    names: tuple[str, ...] = ()


@value_class
class OptionT(Hashed):
    """Nothing, or one value of ``item``."""

    item: Type


@value_class
class SetT(Hashed):
    """Subsets of the universe of ``item`` (dense: one bit for each possible item)."""

    item: Type


@value_class
class MapT(Hashed):
    """Total functions from ``key`` to ``value``."""

    key: Type
    value: Type


@value_class
class SeqT(Hashed):
    """Sequences of at most ``cap`` items."""

    item: Type
    cap: int
    grows: str | None = None


@value_class
class BagT(Hashed):
    """Multisets of at most ``cap`` items (also used, without duplicates, for very large sets)."""

    item: Type
    cap: int
    grows: str | None = None


@value_class
class Case(Hashed):
    """One constructor of a variant with its named fields."""

    name: str
    fields: tuple[tuple[str, Type], ...] = ()


@value_class
class VariantT(Hashed):
    """A tagged union: messages."""

    name: str
    cases: tuple[Case, ...]


Type = BoolT | IntT | AtomT | TupleT | OptionT | SetT | MapT | SeqT | BagT | VariantT

BOOL = BoolT()


def cardinality(type_: Type) -> int:
    """Returns the number of values of ``type_`` (exact, possibly astronomically large)."""
    match type_:
        case BoolT():
            return 2
        case IntT(lo, hi):
            return hi - lo + 1
        case AtomT(labels=labels):
            return len(labels)
        case TupleT(items=items):
            return _product(items)
        case OptionT(item):
            return 1 + cardinality(item)
        case SetT(item):
            return int(1 << cardinality(item))
        case MapT(key, value):
            return int(cardinality(value) ** cardinality(key))
        case SeqT(item, cap):
            return sum(cardinality(item) ** k for k in range(cap + 1))
        case BagT(item, cap):
            raise TypeError("bags have no universe")
        case VariantT(cases=cases):
            return sum(_product(tuple(t for _, t in case.fields)) for case in cases)
        case _:
            assert_never(type_)


def _product(items: tuple[Type, ...]) -> int:
    total = 1
    for item in items:
        total *= cardinality(item)
    return total


def cardinality_up_to(type_: Type, limit: int) -> int:
    """Returns the number of values of ``type_``, or ``limit`` where there are more; no intermediate
    number is much larger.  Bags count as ``limit``."""
    match type_:
        case TupleT(items):
            return _product_up_to([cardinality_up_to(t, limit) for t in items], limit)
        case OptionT(item):
            return min(1 + cardinality_up_to(item, limit), limit)
        case SetT(item):
            return min(1 << cardinality_up_to(item, limit.bit_length()), limit)
        case MapT(key, value):
            values = cardinality_up_to(value, limit)
            entries = cardinality_up_to(key, limit.bit_length())
            return 1 if values == 1 else min(int(values**entries), limit)
        case SeqT(item, cap):
            one = cardinality_up_to(item, limit)
            if one == 1:
                return min(cap + 1, limit)
            return min(sum(int(one**k) for k in range(min(cap, limit.bit_length()) + 1)), limit)
        case VariantT(_, cases):
            sizes = (_product_up_to([cardinality_up_to(t, limit) for _, t in case.fields], limit)
                     for case in cases)  # fmt: skip
            return min(sum(sizes), limit)
        case BagT():
            return limit
        case _:
            return min(cardinality(type_), limit)


def _product_up_to(sizes: list[int], limit: int) -> int:
    total = 1
    for size in sizes:
        total = min(total * size, limit)
    return total


def universe(type_: Type) -> Iterator[Value]:
    """Yields all values of ``type_`` in ascending rank: the canonical order of every enumeration.

    Rank is lexicographic with the LAST component varying fastest; sets are ordered by their bit
    mask (the item of rank ``i`` is bit ``i``); sequences by length first; options put ``None``
    first; variants go case by case.
    """
    match type_:
        case BoolT():
            yield from (False, True)
        case IntT(lo, hi):
            yield from range(lo, hi + 1)
        case AtomT(labels=labels, first=first):
            yield from range(first, first + len(labels))
        case TupleT(items=items):
            yield from itertools.product(*(tuple(universe(t)) for t in items))
        case OptionT(item):
            yield None
            yield from ((value,) for value in universe(item))
        case SetT(item):
            members = tuple(universe(item))
            for mask in range(1 << len(members)):
                yield frozenset(m for i, m in enumerate(members) if mask >> i & 1)
        case MapT(key, value):
            yield from itertools.product(tuple(universe(value)), repeat=cardinality(key))
        case SeqT(item, cap):
            members = tuple(universe(item))
            for length in range(cap + 1):
                yield from itertools.product(members, repeat=length)
        case BagT():
            raise TypeError("bags have no universe")
        case VariantT(cases=cases):
            for index, case in enumerate(cases):
                for fields in itertools.product(*(tuple(universe(t)) for _, t in case.fields)):
                    yield (index, *fields)
        case _:
            assert_never(type_)


@in_a_run()
def parts_of(type_: Type) -> tuple[Type, ...]:
    """Returns ``type_`` and all types that it is made of."""
    inner: tuple[Type, ...]
    match type_:
        case BoolT() | IntT() | AtomT():
            inner = ()
        case TupleT(items):
            inner = items
        case OptionT(item) | SetT(item) | SeqT(item) | BagT(item):
            inner = (item,)
        case MapT(key, value):
            inner = (key, value)
        case VariantT(cases=cases):
            inner = tuple(field for case in cases for _, field in case.fields)
        case _:
            assert_never(type_)
    return (type_, *(part for item in inner for part in parts_of(item)))


def default(type_: Type) -> Value:
    """Returns the default value of a variable of ``type_`` (rank 0, or empty)."""
    match type_:
        case BoolT():
            return False
        case IntT(lo, hi):
            return min(max(lo, 0), hi)
        case AtomT(first=first):
            return first
        case TupleT(items=items):
            return tuple(default(t) for t in items)
        case OptionT():
            return None
        case SetT():
            return frozenset()
        case MapT(key, value):
            return (default(value),) * cardinality(key)
        case SeqT() | BagT():
            return ()
        case VariantT(cases=cases):
            return (0, *(default(t) for _, t in cases[0].fields))
        case _:
            assert_never(type_)


def sort_key(value: Value) -> tuple[object, ...]:
    """Returns the key of a total order on the values of one type, used to keep bags canonical."""
    match value:
        case None:
            return (0,)
        case bool() | int():
            return (int(value),)
        case frozenset():
            return (len(value), *sorted(sort_key(v) for v in value))
        case tuple():
            return (1, len(value), *(sort_key(v) for v in value))
        case _:
            raise TypeError(f"not a value of the transition system: {value!r}")
