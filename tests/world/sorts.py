"""The types of what messages carry and variables hold, as plain data: their text and their values.

Values are what Python has for them: a pair is a tuple; a record and a (total) map are tuples of
pairs, a record's in the order of its fields and a map's in that of its keys; a sequence is a tuple,
a bag a sorted one, a set a frozenset; ``none`` is the empty tuple and ``some(x)`` a tuple of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, product
from typing import Any

Basic = Callable[[str], tuple[Any, ...]]
"""The values of ``Proc`` and of ``Msg``."""


@dataclass(frozen=True)
class Sort:
    """A type: how it is written, and which values it has."""

    text: str
    values: Callable[[Basic], tuple[Any, ...]] = field(compare=False, repr=False)


PROC = Sort("Proc", lambda basic: basic("Proc"))
MSG = Sort("Msg", lambda basic: basic("Msg"))
BOOL = Sort("bool", lambda basic: (False, True))


def pair_of(a: Sort, b: Sort) -> Sort:
    return Sort(
        f"({a.text}, {b.text})", lambda basic: tuple(product(a.values(basic), b.values(basic)))
    )


def option_of(of: Sort) -> Sort:
    return Sort(f"option<{of.text}>", lambda basic: ((), *((x,) for x in of.values(basic))))


def set_of(of: Sort) -> Sort:
    def values(basic: Basic) -> tuple[Any, ...]:
        members = of.values(basic)
        sizes = range(len(members) + 1)
        return tuple(frozenset(some) for k in sizes for some in combinations(members, k))

    return Sort(f"set<{of.text}>", values)


def seq_of(of: Sort, most: int) -> Sort:
    def values(basic: Basic) -> tuple[Any, ...]:
        members = of.values(basic)
        return tuple(some for k in range(most + 1) for some in product(members, repeat=k))

    return Sort(f"seq<{of.text}, max {most}>", values)


def bag_of(of: Sort, most: int) -> Sort:
    def values(basic: Basic) -> tuple[Any, ...]:
        members = sorted(of.values(basic), key=order)
        sizes = range(most + 1)
        return tuple(b for k in sizes for b in combinations_with_replacement(members, k))

    return Sort(f"bag<{of.text}, max {most}>", values)


def map_of(key: Sort, value: Sort) -> Sort:
    def values(basic: Basic) -> tuple[Any, ...]:
        keys, each = sorted(key.values(basic), key=order), value.values(basic)
        return tuple(
            tuple(zip(keys, some, strict=True)) for some in product(each, repeat=len(keys))
        )

    return Sort(f"map<{key.text}, {value.text}>", values)


def record_of(**fields: Sort) -> Sort:
    def values(basic: Basic) -> tuple[Any, ...]:
        each = product(*(f.values(basic) for f in fields.values()))
        return tuple(tuple(zip(fields, some, strict=True)) for some in each)

    return Sort(f"record {{ {', '.join(f'{n}: {f.text}' for n, f in fields.items())} }}", values)


def order(value: Any) -> str:
    """A word by which values are put in some order, the same one for equal values."""
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(order, value)))}}}"
    if isinstance(value, tuple):
        return f"({','.join(map(order, value))})"
    return repr(value)


def in_order(values: Iterable[Any]) -> list[Any]:
    """Numbers from the smallest to the largest, everything else in some order."""
    listed = list(values)
    return sorted(listed, key=None if all(type(v) is int for v in listed) else order)


def with_one(bag: tuple[Any, ...], member: Any) -> tuple[Any, ...]:
    return tuple(in_order((*bag, member)))


def without_one(bag: tuple[Any, ...], member: Any) -> tuple[Any, ...]:
    """One less of ``member``, if there is one."""
    at = bag.index(member) if member in bag else len(bag)
    return bag[:at] + bag[at + 1 :]
