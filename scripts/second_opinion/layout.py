"""Represents values of the transition system in C: each type has a fixed number of cells (``int``).

Unused cells are zero, so that equal values have equal cells.  A set has a bit for each value of its
item type, 31 in a cell; a sequence or bag begins with its length, an option with whether it is
there, a variant with its case; a map has its entries in the order of its keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checker.model.types import (
    AtomT,
    BagT,
    BoolT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    VariantT,
    cardinality,
    cardinality_up_to,
    universe,
)

BITS = 31
"""Members of a set in one cell."""
MOST_MEMBERS = 1 << 12
"""The largest number of possible members of a set."""


class Untranslatable(Exception):
    """There is no C for something; the message says for what."""


def is_scalar(type_: Type) -> bool:
    """Returns whether a value is one number."""
    return isinstance(type_, BoolT | IntT | AtomT)


def bounds(type_: Type) -> tuple[int, int]:
    """Returns the least and the greatest value of a scalar type."""
    match type_:
        case BoolT():
            return 0, 1
        case IntT(lo, hi):
            return lo, hi
        case AtomT(labels=labels, first=first):
            return first, first + len(labels) - 1
    raise AssertionError(type_)


def size(type_: Type) -> int:
    """Returns the number of values of ``type_``; raises :class:`Untranslatable` for 2^60 and
    more."""
    if cardinality_up_to(type_, 1 << 60) >= 1 << 60:
        raise Untranslatable("a key or member of a type with too many values")
    return cardinality(type_)


def cells(type_: Type) -> list[tuple[int, int]]:
    """Returns the least and greatest content of each cell, zero included."""
    match type_:
        case BoolT() | IntT() | AtomT():
            lo, hi = bounds(type_)
            if lo < -(1 << 30) or hi > 1 << 30:
                raise Untranslatable("integers of more than 31 bits")
            return [(min(lo, 0), max(hi, 0))]
        case TupleT(items):
            return [cell for item in items for cell in cells(item)] or [(0, 0)]
        case OptionT(item):
            return [(0, 1), *cells(item)]
        case SetT(item):
            if cardinality_up_to(item, MOST_MEMBERS + 1) > MOST_MEMBERS:
                raise Untranslatable(f"a set with more than {MOST_MEMBERS} possible members")
            left = cardinality(item)
            return [(0, (1 << min(BITS, left - i)) - 1) for i in range(0, left, BITS)] or [(0, 0)]
        case MapT(key, value):
            return cells(value) * size(key) or [(0, 0)]
        case SeqT(item, cap) | BagT(item, cap):
            return [(0, cap), *(cells(item) * cap)]
        case VariantT(cases=cases):
            rows = [[cell for _, field in case.fields for cell in cells(field)] for case in cases]
            wide = max(map(len, rows))
            columns = [[row[i] for row in rows if i < len(row)] for i in range(wide)]
            return [(0, len(cases) - 1), *((min(map(min, c)), max(map(max, c))) for c in columns)]
    raise AssertionError(type_)


def width(type_: Type) -> int:
    """Returns the number of cells of a value."""
    return len(cells(type_))


def offsets(types: Sequence[Type]) -> list[int]:
    """Returns where each of several values begins that follow one another."""
    found = [0]
    for each in types:
        found.append(found[-1] + width(each))
    return found


def shape(type_: Type) -> object:
    """Returns what two types have in common whose values have the same cells."""
    match type_:
        case TupleT(items):
            return ("tuple", *map(shape, items))
        case OptionT(item):
            return ("option", shape(item))
        case SetT(item):
            return ("set", str(item))
        case MapT(key, value):
            return ("map", size(key), shape(value))
        case SeqT(item, cap) | BagT(item, cap):
            return (type(type_).__name__, cap, shape(item))
        case VariantT(cases=cases):
            return ("variant", *(tuple(shape(f) for _, f in case.fields) for case in cases))
    return "number"


def flat(type_: Type, value: Any) -> list[int]:
    """Returns the cells of ``value``."""
    found: list[int] = []
    match type_:
        case BoolT() | IntT() | AtomT():
            found = [int(value)]
        case TupleT(items):
            found = [cell for t, v in zip(items, value, strict=True) for cell in flat(t, v)]
        case OptionT(item):
            found = [0] if value is None else [1, *flat(item, value[0])]
        case SetT(item):
            members = [*universe(item)]
            found = [
                sum(1 << j for j, m in enumerate(members[i : i + BITS]) if m in value)
                for i in range(0, len(members), BITS)
            ]
        case MapT(_, item):
            found = [cell for v in value for cell in flat(item, v)]
        case SeqT(item):
            found = [len(value), *(cell for v in value for cell in flat(item, v))]
        case BagT(item):
            found = [
                len(value),
                *(cell for v in sorted(flat(item, v) for v in value) for cell in v),
            ]
        case VariantT(cases=cases):
            fields = zip(cases[value[0]].fields, value[1:], strict=True)
            found = [value[0], *(cell for (_, t), v in fields for cell in flat(t, v))]
    return found + [0] * (width(type_) - len(found))
