"""Tests whether a symbolic value is a member of a type, and converts it to that type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from checker.engines.symbolic.symbolic_values import (
    SymbolicBag,
    SymbolicOption,
    SymbolicSeq,
    SymbolicSet,
    SymbolicVariant,
    lift,
)
from checker.engines.symbolic.terms import (
    Truth,
    at_most,
    clip,
    conjunction,
    either,
    inside,
    negation,
)
from checker.model.types import (
    AtomT,
    BagT,
    BoolT,
    Case,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
)


def fits(type_: Type, a: Any) -> Truth:
    """Returns whether ``a`` is a value of ``type_``; their types differ in integers at most."""
    match type_:
        case BoolT():
            return True
        case IntT(lo, hi):
            return inside(a, lo, hi)
        case AtomT(labels=labels, first=first):
            return inside(a, first, first + len(labels) - 1)
        case TupleT(items):
            return conjunction(fits(t, v) for t, v in zip(items, a, strict=True))
        case MapT(_, item):
            return conjunction(fits(item, v) for v in a)
        case OptionT(item):
            return True if a.value is None else either(negation(a.present), fits(item, a.value))
        case SetT(item):
            return conjunction(negation(w) for k, w in a.when.items() if not _is_of(item, k))
        case SeqT(item, cap):
            slots = enumerate(a.slots)
            parts = (either(at_most(a.length, i), fits(item, v)) for i, v in slots)
            return conjunction((at_most(a.length, cap), *parts))
        case BagT(item, cap):
            strange = (at_most(n, 0) for k, n in a.of.items() if not _is_of(item, k))
            return conjunction((at_most(a.length, cap), *strange))
        case VariantT(cases=cases):
            return conjunction(
                either(negation(when), fits(t, v))
                for case, (when, fields) in a.of.items()
                for (_, t), v in zip(cases[case].fields, fields, strict=True)
            )
        case _:
            assert_never(type_)


def _is_of(type_: Type, value: Value) -> bool:
    return fits(type_, lift(type_, value)) is True


def narrow(type_: Type, a: Any) -> Any:
    """Returns ``a``, which is known to fit ``type_``, as a value of that type."""
    match type_:
        case BoolT():
            return a
        case IntT(lo, hi):
            return clip(a, lo, hi)
        case AtomT(labels=labels, first=first):
            return clip(a, first, first + len(labels) - 1)
        case TupleT(items):
            return _unless_changed(a, tuple(narrow(t, v) for t, v in zip(items, a, strict=True)))
        case MapT(_, item):
            return _unless_changed(a, tuple(narrow(item, v) for v in a))
        case OptionT(item):
            return a if a.value is None else SymbolicOption(a.present, narrow(item, a.value))
        case SetT(item):
            return SymbolicSet({k: w for k, w in a.when.items() if _is_of(item, k)})
        case SeqT(item, cap):
            slots = tuple(narrow(item, v) for v in a.slots[:cap])
            return SymbolicSeq(clip(a.length, 0, cap), slots)
        case BagT(item, cap):
            there = a.of.items()
            counts = {k: clip(n, 0, cap) for k, n in there if _is_of(item, k)}
            return SymbolicBag(counts, clip(a.length, 0, cap))
        case VariantT(cases=cases):
            return SymbolicVariant(
                {
                    case: (when, tuple(narrow(t, v) for t, v in _typed_fields(cases[case], fields)))
                    for case, (when, fields) in a.of.items()
                }
            )
        case _:
            assert_never(type_)


def _typed_fields(case: Case, fields: tuple[Any, ...]) -> Iterator[tuple[Type, Any]]:
    return ((t, v) for (_, t), v in zip(case.fields, fields, strict=True))


def _unless_changed(a: tuple[Any, ...], parts: tuple[Any, ...]) -> tuple[Any, ...]:
    return a if all(x is y for x, y in zip(a, parts, strict=True)) else parts
