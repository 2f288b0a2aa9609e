"""Bounds the sizes of types."""

from __future__ import annotations

from checker.diagnostics import Span
from checker.instantiate.protocol.sizes import refuse
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
)

DENSE = 1024
"""Sets over at most so many possible members are bit masks; larger ones are sorted lists."""

LARGEST = 1 << 16
"""The largest number of parts of a value: entries of maps, items of sequences and bags."""


def fitting(type_: Type, span: Span | None) -> Type:
    """Returns ``type_``; raises :class:`SpecError` (C202) where a value of it has too many
    parts."""
    if _parts(type_) <= LARGEST:
        return type_
    if isinstance(type_, MapT):
        message = f"a map with more than {LARGEST:,} entries: every key has a value"
        hint = "use a set of tuples, or fewer keys"
    else:
        message = f"a capacity of more than {LARGEST:,} items"
        hint = "set a smaller `max`, or none: the tool then finds a sufficient capacity"
    raise refuse("C202", message, span, hint)


def _parts(type_: Type) -> int:
    """Returns the largest number of parts of a value; beyond ``LARGEST`` any larger number."""
    match type_:
        case TupleT(items):
            return sum(_parts(item) for item in items)
        case OptionT(item):
            return _parts(item)
        case MapT(key, value):
            return cardinality_up_to(key, LARGEST + 1) * _parts(value)
        case SeqT(item, cap) | BagT(item, cap):
            return cap * _parts(item)
        case VariantT(_, cases):
            return max((sum(_parts(t) for _, t in case.fields) for case in cases), default=1)
        case _:
            return 1


def enumerable(type_: Type) -> bool:
    """Tells whether all values of ``type_`` can be enumerated."""
    match type_:
        case BoolT() | IntT() | AtomT():
            return True
        case OptionT(item):
            return enumerable(item)
        case TupleT(items):
            return all(enumerable(t) for t in items) and cardinality(type_) <= DENSE * DENSE
        case _:
            return not has_bag(type_) and small(type_)


def is_bounded(type_: Type) -> bool:
    """Tells whether the values of ``type_`` do not depend on a guessed capacity."""
    match type_:
        case IntT(grows=grows):
            return grows is None
        case SeqT(item, grows=grows):
            return grows is None and is_bounded(item)
        case BagT():
            return False
        case TupleT(items):
            return all(is_bounded(t) for t in items)
        case OptionT(item) | SetT(item):
            return is_bounded(item)
        case MapT(key, value):
            return is_bounded(key) and is_bounded(value)
        case VariantT(_, cases):
            return all(is_bounded(t) for case in cases for _, t in case.fields)
        case _:
            return True


def as_written(type_: Type, other: Type) -> Type:
    """Returns ``type_`` with the bounds of ``other``, a type of the same values, where its own are
    guessed."""
    match type_, other:
        case IntT(lo, _, str() as grows), IntT(_, most):
            return IntT(lo, max(lo, most), grows)  # its errors speak of the lower end only
        case SeqT(item, cap, grows), SeqT(inner, most):
            return SeqT(as_written(item, inner), cap if grows is None else most)
        case BagT(item, cap, grows), BagT(inner, most):
            return BagT(as_written(item, inner), cap if grows is None else most)
        case SetT(item), SetT(inner):
            return SetT(as_written(item, inner))
        case OptionT(item), OptionT(inner):
            return OptionT(as_written(item, inner))
        case MapT(key, item), MapT(_, inner):
            return MapT(key, as_written(item, inner))
        case TupleT(items, names), TupleT(others):
            parts = (as_written(t, o) for t, o in zip(items, others, strict=True))
            return TupleT(tuple(parts), names)
        case _:
            return type_


def has_bag(type_: Type) -> bool:
    match type_:
        case BagT():
            return True
        case TupleT(items):
            return any(has_bag(t) for t in items)
        case OptionT(item) | SetT(item) | SeqT(item):
            return has_bag(item)
        case MapT(_, value):
            return has_bag(value)
        case VariantT(_, cases):
            return any(has_bag(t) for case in cases for _, t in case.fields)
        case _:
            return False


def small(type_: Type) -> bool:
    """Tells whether ``type_`` has at most ``DENSE`` values, without computing huge numbers."""
    match type_:
        case SetT(item):
            return small(item) and cardinality(item) <= 10
        case MapT(key, value):
            if not (small(key) and small(value)):
                return False
            entries, values = cardinality(key), cardinality(value)
            return values == 1 or (entries <= 10 and values**entries <= DENSE)
        case SeqT(item, cap):
            return small(item) and cap <= 10 and cardinality(type_) <= DENSE
        case TupleT(items):
            return all(small(t) for t in items) and cardinality(type_) <= DENSE
        case OptionT(item):
            return small(item) and cardinality(type_) <= DENSE
        case VariantT(_, cases):
            fields = [t for case in cases for _, t in case.fields]
            return all(small(t) for t in fields) and cardinality(type_) <= DENSE
        case BagT():
            return False
        case BoolT() | IntT() | AtomT():
            return cardinality(type_) <= DENSE
