"""Symbolic values of the transition system.

=============  =====================================================================
type           value
=============  =====================================================================
``BoolT``      :data:`~checker.engines.symbolic.terms.Truth`
``IntT``       :data:`~checker.engines.symbolic.terms.Number`
``AtomT``      the same
``TupleT``     ``tuple`` of the items' values
``MapT``       ``tuple`` of values in the order of the keys' ranks
``OptionT``    :class:`SymbolicOption`
``SetT``       :class:`SymbolicSet`
``BagT``       :class:`SymbolicBag`
``SeqT``       :class:`SymbolicSeq`
``VariantT``   :class:`SymbolicVariant`
=============  =====================================================================

Members of sets and bags are plain values (:mod:`checker.model.types`), each with the condition of
its membership.  Irrelevant parts (the value of an absent option, slots beyond the length) are
arbitrary, and no operation here depends on them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, assert_never

import z3
from msgspec import Struct

from checker.engines.symbolic.terms import (
    Num,
    Number,
    Truth,
    at_most,
    both,
    bounds,
    conjunction,
    disjunction,
    either,
    equal_numbers,
    equivalent,
    if_then_else,
    less,
    negation,
    number_if,
)
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
    Value,
    VariantT,
    sort_key,
)
from checker.results.answer import Unsupported

MOST = 20_000
"""The largest number of alternatives of one value."""


class SymbolicOption(Struct, frozen=True, eq=False):
    """An option: ``value`` where ``present``; ``None`` where it is certainly absent."""

    present: Truth
    value: Any


class SymbolicSet(Struct, frozen=True, eq=False):
    """A set: the possible elements, each with the condition of its membership."""

    when: Mapping[Value, Truth]


class SymbolicBag(Struct, frozen=True, eq=False):
    """A bag: the number of copies of each possible element (never negative).

    ``length``: their sum.  It is kept beside the numbers, because that a sum of many stays below a
    bound is hard to derive for a solver.
    """

    of: Mapping[Value, Number]
    length: Number


class SymbolicSeq(Struct, frozen=True, eq=False):
    """A sequence: the first ``length`` of ``slots``."""

    length: Number
    slots: tuple[Any, ...]


class SymbolicVariant(Struct, frozen=True, eq=False):
    """A variant: the condition and the fields of each possible case."""

    of: Mapping[int, tuple[Truth, tuple[Any, ...]]]


def lift(type_: Type, value: Any) -> Any:
    """Returns the known ``value`` of ``type_`` as a symbolic value."""
    match type_:
        case BoolT():
            return bool(value)
        case IntT() | AtomT():
            return int(value)
        case TupleT(items):
            return tuple(lift(t, v) for t, v in zip(items, value, strict=True))
        case MapT(_, item):
            return tuple(lift(item, v) for v in value)
        case OptionT(item):
            return (
                SymbolicOption(False, None)
                if value is None
                else SymbolicOption(True, lift(item, value[0]))
            )
        case SetT():
            return SymbolicSet(dict.fromkeys(value, True))
        case BagT():
            return SymbolicBag({v: value.count(v) for v in value}, len(value))
        case SeqT(item):
            return SymbolicSeq(len(value), tuple(lift(item, v) for v in value))
        case VariantT(cases=cases):
            types = (t for _, t in cases[value[0]].fields)
            fields = tuple(lift(t, v) for t, v in zip(types, value[1:], strict=True))
            return SymbolicVariant({value[0]: (True, fields)})
        case _:
            assert_never(type_)


def merge(condition: Truth, a: Any, b: Any) -> Any:
    """Returns ``a`` where ``condition``, else ``b``: their types differ in integers at most."""
    if a is b:
        return a
    if isinstance(condition, bool):
        return a if condition else b
    match a, b:
        case (bool() | z3.BoolRef(), _):
            return if_then_else(condition, a, b)
        case (int() | Num(), _):
            return number_if(condition, a, b)
        case (tuple(), tuple()):
            return _merge_parts(condition, a, b)
        case (SymbolicOption(), SymbolicOption()):
            if a.value is None or b.value is None:
                value = b.value if a.value is None else a.value
            else:
                value = merge(condition, a.value, b.value)
            return SymbolicOption(if_then_else(condition, a.present, b.present), value)
        case (SymbolicSet(), SymbolicSet()):
            keys = dict.fromkeys((*a.when, *b.when))
            return SymbolicSet(
                {
                    k: if_then_else(condition, a.when.get(k, False), b.when.get(k, False))
                    for k in keys
                }
            )
        case (SymbolicBag(), SymbolicBag()):
            keys = dict.fromkeys((*a.of, *b.of))
            counts = {k: number_if(condition, a.of.get(k, 0), b.of.get(k, 0)) for k in keys}
            return SymbolicBag(counts, number_if(condition, a.length, b.length))
        case (SymbolicSeq(), SymbolicSeq()):
            shared = min(len(a.slots), len(b.slots))
            slots = _merge_parts(condition, a.slots[:shared], b.slots[:shared])
            rest = a.slots[shared:] or b.slots[shared:]
            return SymbolicSeq(number_if(condition, a.length, b.length), (*slots, *rest))
        case (SymbolicVariant(), SymbolicVariant()):
            return _merge_cases(condition, a, b)
        case _:
            raise AssertionError(f"these are of different types: {a!r}, {b!r}")


def _merge_parts(condition: z3.BoolRef, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    parts = tuple(merge(condition, x, y) for x, y in zip(a, b, strict=True))
    if all(x is y for x, y in zip(parts, a, strict=True)):
        return a
    return b if all(x is y for x, y in zip(parts, b, strict=True)) else parts


def _merge_cases(condition: z3.BoolRef, a: SymbolicVariant, b: SymbolicVariant) -> SymbolicVariant:
    found: dict[int, tuple[Truth, tuple[Any, ...]]] = {}
    for case in dict.fromkeys((*a.of, *b.of)):
        in_a, in_b = a.of.get(case), b.of.get(case)
        if in_a is not None and in_b is not None:
            fields = _merge_parts(condition, in_a[1], in_b[1])
            found[case] = if_then_else(condition, in_a[0], in_b[0]), fields
        else:
            there = in_a or in_b
            assert there is not None
            when = both(condition if in_a is not None else negation(condition), there[0])
            found[case] = when, there[1]
    return SymbolicVariant(found)


def equal(a: Any, b: Any) -> Truth:
    """Returns whether two values of types that differ in integers at most are equal."""
    if a is b:
        return True
    match a, b:
        case (bool() | z3.BoolRef(), _):
            return equivalent(a, b)
        case (int() | Num(), _):
            return equal_numbers(a, b)
        case (tuple(), tuple()):
            return len(a) == len(b) and _all(equal, a, b)
        case (SymbolicOption(), SymbolicOption()):
            inner = True if a.value is None or b.value is None else equal(a.value, b.value)
            return both(equivalent(a.present, b.present), either(negation(a.present), inner))
        case (SymbolicSet(), SymbolicSet()):
            keys = dict.fromkeys((*a.when, *b.when))
            return conjunction(equivalent(a.when.get(k, False), b.when.get(k, False)) for k in keys)
        case (SymbolicBag(), SymbolicBag()):
            keys = dict.fromkeys((*a.of, *b.of))
            return conjunction(equal_numbers(a.of.get(k, 0), b.of.get(k, 0)) for k in keys)
        case (SymbolicSeq(), SymbolicSeq()):
            slots = enumerate(zip(a.slots, b.slots, strict=False))
            parts = (either(at_most(a.length, i), equal(x, y)) for i, (x, y) in slots)
            return conjunction((equal_numbers(a.length, b.length), *parts))
        case (SymbolicVariant(), SymbolicVariant()):
            shared = [case for case in a.of if case in b.of]
            return disjunction(
                conjunction((a.of[c][0], b.of[c][0], _all(equal, a.of[c][1], b.of[c][1])))
                for c in shared
            )
        case _:
            raise AssertionError(f"these are of different types: {a!r}, {b!r}")


def _all(compare: Callable[[Any, Any], Truth], a: Iterable[Any], b: Iterable[Any]) -> Truth:
    parts = []
    for x, y in zip(a, b, strict=True):
        part = compare(x, y)
        if part is False:
            return False
        parts.append(part)
    return conjunction(parts)


def equals(a: Any, value: Any) -> Truth:
    """Returns whether ``a`` is the known ``value`` (a plain one)."""
    match a:
        case bool() | z3.BoolRef():
            return equivalent(a, value)
        case int() | Num():
            return equal_numbers(a, value)
        case tuple():
            return len(a) == len(value) and _all(equals, a, value)
        case SymbolicOption():
            if value is None:
                return negation(a.present)
            return False if a.value is None else both(a.present, equals(a.value, value[0]))
        case SymbolicSet():
            if any(member not in a.when for member in value):
                return False
            return conjunction(equivalent(when, key in value) for key, when in a.when.items())
        case SymbolicBag():
            if any(item not in a.of for item in value):
                return False
            return conjunction(equal_numbers(n, value.count(key)) for key, n in a.of.items())
        case SymbolicSeq():
            if len(value) > len(a.slots):
                return False
            length = equal_numbers(a.length, len(value))
            return both(length, _all(equals, a.slots[: len(value)], value))
        case SymbolicVariant():
            if value[0] not in a.of:
                return False
            when, fields = a.of[value[0]]
            return both(when, _all(equals, fields, value[1:]))
        case _:
            raise AssertionError(f"no value: {a!r}")


# ---- possible values --------------------------------------------------------------------------


def candidates(a: Any) -> list[tuple[Value, Truth]]:
    """Returns every plain value that ``a`` can be, with its condition; these exclude one another.

    Raises :class:`Unsupported` where they are too many.
    """
    possible = (way for way in _candidates(a) if way[1] is not False)
    found = list(itertools.islice(possible, MOST + 1))
    if len(found) > MOST:
        raise Unsupported(f"a value can be more than {MOST:,} things")
    return found


def _candidates(a: Any) -> Iterator[tuple[Value, Truth]]:
    match a:
        case bool() | int():
            yield a, True
        case z3.BoolRef():
            yield False, negation(a)
            yield True, a
        case Num():
            yield from ((value, equal_numbers(a, value)) for value in range(a.lo, a.hi + 1))
        case tuple():
            yield from _products(a)
        case SymbolicOption():
            if a.present is not True:
                yield None, negation(a.present)
            if a.value is not None and a.present is not False:
                yield from (((v,), both(a.present, g)) for v, g in _candidates(a.value))
        case SymbolicSet():
            keys = tuple(a.when)
            for there, when in _products(tuple(a.when.values())):
                yield frozenset(k for k, t in zip(keys, there, strict=True) if t), when
        case SymbolicBag():
            yield from _bags(a)
        case SymbolicSeq():
            low, high = bounds(a.length)
            for length in range(low, min(high, len(a.slots)) + 1):
                right = equal_numbers(a.length, length)
                for values, when in _products(a.slots[:length]):
                    yield values, both(right, when)
        case SymbolicVariant():
            for case, (when, fields) in a.of.items():
                if when is not False:
                    for values, guard in _products(fields):
                        yield (case, *values), both(when, guard)
        case _:
            raise AssertionError(f"no value: {a!r}")


def _products(parts: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Truth]]:
    if not parts:
        yield (), True
        return
    rest = list(itertools.islice(_products(parts[1:]), MOST + 1))
    for value, when in _candidates(parts[0]):
        for values, also in rest:
            yield (value, *values), both(when, also)


def _bags(a: SymbolicBag) -> Iterator[tuple[Value, Truth]]:
    keys = tuple(a.of)
    for counts, when in _products(tuple(a.of.values())):
        items = [k for k, n in zip(keys, counts, strict=True) for _ in range(n)]
        yield tuple(sorted(items, key=sort_key)), when


def is_index(a: SymbolicSeq, index: Number) -> Truth:
    """Returns whether ``index`` is one of ``a``."""
    return both(at_most(0, index), less(index, a.length))
