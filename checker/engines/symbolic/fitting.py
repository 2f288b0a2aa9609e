"""Whether a value of which parts are not known fits a type, and what it is where it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from checker.engines.symbolic.terms import (
    Truth,
    at_most,
    clipped,
    conjunction,
    either,
    inside,
    negation,
)
from checker.engines.symbolic.values import Cases, Copies, Maybe, Members, Row, lifted
from checker.system.types import (
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
    """Whether ``a`` is a value of ``type_`` (from which its type differs in integers at most)."""
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
    return fits(type_, lifted(type_, value)) is True


def narrowed(type_: Type, a: Any) -> Any:
    """``a``, of which it is known by now that it fits ``type_``."""
    match type_:
        case BoolT():
            return a
        case IntT(lo, hi):
            return clipped(a, lo, hi)
        case AtomT(labels=labels, first=first):
            return clipped(a, first, first + len(labels) - 1)
        case TupleT(items):
            return _kept(a, tuple(narrowed(t, v) for t, v in zip(items, a, strict=True)))
        case MapT(_, item):
            return _kept(a, tuple(narrowed(item, v) for v in a))
        case OptionT(item):
            return a if a.value is None else Maybe(a.present, narrowed(item, a.value))
        case SetT(item):
            return Members({k: w for k, w in a.when.items() if _is_of(item, k)})
        case SeqT(item, cap):
            slots = tuple(narrowed(item, v) for v in a.slots[:cap])
            return Row(clipped(a.length, 0, cap), slots)
        case BagT(item, cap):
            there = a.of.items()
            counts = {k: clipped(n, 0, cap) for k, n in there if _is_of(item, k)}
            return Copies(counts, clipped(a.length, 0, cap))
        case VariantT(cases=cases):
            return Cases(
                {
                    case: (when, tuple(narrowed(t, v) for t, v in _typed(cases[case], fields)))
                    for case, (when, fields) in a.of.items()
                }
            )
        case _:
            assert_never(type_)


def _typed(case: Case, fields: tuple[Any, ...]) -> Iterator[tuple[Type, Any]]:
    return ((t, v) for (_, t), v in zip(case.fields, fields, strict=True))


def _kept(a: tuple[Any, ...], parts: tuple[Any, ...]) -> tuple[Any, ...]:
    return a if all(x is y for x, y in zip(a, parts, strict=True)) else parts
