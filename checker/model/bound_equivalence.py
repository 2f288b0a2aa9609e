"""Compares two systems of one check up to the bounds of their types.

Where a guessed capacity was too small the check is instantiated again.  If that changes nothing but
bounds of types, every step of one system is a step of the other as long as neither meets a runtime
error: bounds matter where a value does not fit, and where all values of a type are enumerated.  So
types that are enumerated have to be equal.
"""

from __future__ import annotations

from typing import Any

from checker.model import ir
from checker.model.types import BagT, IntT, MapT, SeqT
from checker.records import fields, is_record

Pairs = dict[tuple[int, int], bool]
"""What is known of pairs of objects, by their identities."""


def same_up_to_bounds(one: Any, other: Any) -> bool:
    """Tells whether two systems, or parts, are equal but for the bounds of integers and the lengths
    of sequences and bags, none of which determines the domain of a choice."""
    return _same_up_to_bounds(one, other, {})


def _same_up_to_bounds(one: Any, other: Any, known: Pairs) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_same_up_to_bounds(a, b, known) for a, b in pairs)
    if not is_record(one):
        return bool(one == other)
    key = id(one), id(other)
    if key not in known:
        known[key] = _alike_records(one, other, known)
    return known[key]


def _alike_records(one: Any, other: Any, known: Pairs) -> bool:
    match one:
        case IntT():
            return True
        case SeqT() | BagT():
            return _same_up_to_bounds(one.item, other.item, known)
        case MapT():
            return bool(one.key == other.key) and _same_up_to_bounds(one.value, other.value, known)
        case ir.Universe():
            return bool(one == other)
        case ir.Const():
            return bool(one.value == other.value) and _same_up_to_bounds(
                one.type, other.type, known
            )
        case _:
            names = (f.name for f in fields(one) if f.compare)
            return all(_same_up_to_bounds(getattr(one, n), getattr(other, n), known) for n in names)
