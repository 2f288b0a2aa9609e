"""Combines what lines record with values that are unknown or known in part."""

from __future__ import annotations

from typing import Any, assert_never

from checker.conform.patterns import Anything, Exactly, OneCase, Parts, Pattern, Present
from checker.conform.unknown import Unknown, Unread, fresh, substituted
from checker.model import types as t
from checker.model.types import Type


def value_of(pattern: Pattern, type_: Type) -> Any:
    """Returns the value of ``type_`` that ``pattern`` describes; what it leaves open is unknown."""
    match pattern, type_:
        case Anything(), _:
            return fresh(type_)
        case Exactly(value), _:
            return value
        case Parts(parts), t.TupleT(items):
            return tuple(map(value_of, parts, items))
        case Parts(parts), t.MapT(_, item):
            return tuple([value_of(part, item) for part in parts])
        case OneCase(case, fields), t.VariantT(cases=cases):
            types = [kind for _, kind in cases[case].fields]
            return (case, *map(value_of, fields, types))
        case Present(inner), t.OptionT(item):
            return (value_of(inner, item),)
        case _:
            raise AssertionError(f"no pattern of {type_}: {pattern}")


def met(pattern: Pattern, state: tuple[Any, ...], number: int) -> tuple[Any, ...] | None:
    """Returns ``state`` where its part ``number`` matches ``pattern``: what was not known of it is
    what the pattern says; ``None`` where it does not match."""
    while True:
        found: list[tuple[Unknown, Any]] = []
        if not _agree(pattern, state[number], found):
            return None
        if not found:
            return state
        state = substituted(state, *found[0])


def _agree(pattern: Pattern, value: Any, found: list[tuple[Unknown, Any]]) -> bool:
    """Returns whether ``value`` may match ``pattern``, and notes what it would be for unknown
    parts."""
    if isinstance(pattern, Anything):
        return True
    if isinstance(value, Unknown):
        found.append((value, value_of(pattern, value.type)))
        return True
    match pattern:
        case Exactly(wanted):
            try:
                return bool(wanted == value)
            except Unread:
                assert isinstance(value, tuple)
            if not isinstance(wanted, tuple) or len(wanted) != len(value):
                return False
            parts = zip(wanted, value, strict=True)
            return all(_agree(Exactly(part), each, found) for part, each in parts)
        case Parts(inner):
            return all(_agree(p, v, found) for p, v in zip(inner, value, strict=True))
        case OneCase(case, fields):
            same = bool(value[0] == case)
            return same and all(_agree(p, v, found) for p, v in zip(fields, value[1:], strict=True))
        case Present(item):
            return value is not None and _agree(item, value[0], found)
        case _:
            assert_never(pattern)
