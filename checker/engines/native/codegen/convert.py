"""Converts values between types: wider, narrower, or with other names.

The same value may be described by different types (an integer of a wider interval, a process of one
role among all processes).  Conversion preserves the value; a value that does not fit is reported as
a bit.
"""

from __future__ import annotations

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.emit import TRUE, Fn, Val, const
from checker.engines.native.codegen.packing import has_set, length_width, universe_size, width
from checker.model import types as t
from checker.model.types import Type
from checker.results.answer import Unsupported

Converted = tuple[Val, Val]
"""The value, and one bit: whether it fits (the value means nothing where it does not)."""


def convert(fn: Fn, value: Val, have: Type, want: Type, drop: bool = False) -> Converted:
    """``value`` of type ``have`` as a value of ``want``.

    ``drop``: members of a set that do not fit are left out instead.
    """
    if c.same_shape(have, want):
        return value, TRUE
    match have, want:
        case (t.IntT(), t.IntT(lo, hi)):
            low = TRUE if lo <= have.lo else fn.sle(const(lo), value)
            high = TRUE if have.hi <= hi else fn.sle(value, const(hi))
            return value, fn.and_(low, high)
        case (t.AtomT(), t.AtomT()):
            return _atom(fn, value, have, want)
        case (t.TupleT(items), t.TupleT(others)) if len(items) == len(others):
            parts = [c.component(fn, items, value, i) for i in range(len(items))]
            return _product(fn, parts, items, others, width(want))
        case (t.OptionT(item), t.OptionT(other)):
            inner, fits = convert(fn, c.option_item(fn, have, value), item, other)
            present = c.is_some(fn, have, value)
            packed = c.some(fn, want, inner)
            result = fn.select(present, packed, const(0, packed.bits))
            return result, fn.or_(fn.not_(present), fits)
        case (t.SetT(), t.SetT()):
            return _set(fn, value, have, want, drop)
        case (t.MapT(key, item), t.MapT(_, other)) if universe_size(key) == universe_size(want.key):
            count = universe_size(key)
            parts = [c.entry(fn, have, value, const(i)) for i in range(count)]
            return _product(fn, parts, (item,) * count, (other,) * count, width(want))
        case (t.SeqT(), t.SeqT()):
            return _seq(fn, value, have, want)
        case (t.BagT(), t.BagT()):
            if has_set(have.item):
                raise Unsupported("bags of items with sets, described by two different types")
            return _seq(fn, value, have, want)
        case (t.VariantT(), t.VariantT()) if len(have.cases) == len(want.cases):
            return _variant(fn, value, have, want)
        case _:
            raise Unsupported(f"a value of {have} where one of {want} is needed")


def _atom(fn: Fn, value: Val, have: t.AtomT, want: t.AtomT) -> Converted:
    wide = fn.sub(fn.resize(value, 64), const(want.first - have.first))
    last = have.first + len(have.labels) - want.first
    inside = have.first >= want.first and last <= len(want.labels)
    fits = TRUE if inside else fn.lt(wide, const(len(want.labels)))
    return fn.resize(wide, width(want)), fits


def _product(
    fn: Fn, parts: list[Val], items: tuple[Type, ...], others: tuple[Type, ...], bits: int
) -> Converted:
    fits, values = TRUE, []
    for part, item, other in zip(parts, items, others, strict=True):
        inner, ok = convert(fn, part, item, other)
        values.append(inner)
        fits = fn.and_(fits, ok)
    return c.product(fn, others, values, bits), fits


def _set(fn: Fn, value: Val, have: t.SetT, want: t.SetT, drop: bool) -> Converted:
    left, fits = fn.var(value), fn.var(TRUE)
    result = fn.var(const(0, width(want)))
    with fn.forever() as done:
        mask = left.get()
        fn.leave_if(fn.eq(mask, const(0, mask.bits)), done)
        index = fn.resize(fn.intrinsic("cttz", mask, "i1 true"), 64)
        left.set(fn.and_(mask, fn.sub(mask, const(1, mask.bits))))
        item, ok = convert(fn, c.unrank(fn, have.item, index), have.item, want.item)
        if not drop:
            fits.set(fn.and_(fits.get(), ok))
        with fn.if_(ok):
            bit = fn.shl(const(1, width(want)), c.rank(fn, want.item, item))
            result.set(fn.or_(result.get(), bit))
    return result.get(), fits.get()


def _seq(fn: Fn, value: Val, have: t.SeqT | t.BagT, want: t.SeqT | t.BagT) -> Converted:
    count = c.length(fn, have, value)
    fits = fn.var(TRUE if have.cap <= want.cap else fn.le(count, const(want.cap)))
    size = fn.resize(count, length_width(want.cap))
    head = (
        c.concatenate(fn, [size, const(0, c.items_width(want))], width(want)) if want.cap else size
    )
    result = fn.var(head)
    if min(have.cap, want.cap):
        with fn.if_(fits.get()), fn.count(count) as i:
            item, ok = convert(fn, c.slot(fn, have, value, i), have.item, want.item)
            fits.set(fn.and_(fits.get(), ok))
            code = fn.resize(c.to_code(fn, want.item, item), width(want))
            result.set(fn.or_(result.get(), fn.shl(code, c.slot_shift(fn, want, i))))
    return result.get(), fits.get()


def _variant(fn: Fn, value: Val, have: t.VariantT, want: t.VariantT) -> Converted:
    fits, result = TRUE, const(0, width(want))
    for case in range(len(have.cases)):
        fields, others = c.field_types(have, case), c.field_types(want, case)
        values, good = [], TRUE
        for i, (item, other) in enumerate(zip(fields, others, strict=True)):
            inner, ok = convert(fn, c.case_field(fn, have, value, case, i), item, other)
            values.append(inner)
            good = fn.and_(good, ok)
        here = c.is_case(fn, have, value, case)
        result = fn.select(here, c.make_variant(fn, want, case, values), result)
        fits = fn.and_(fits, fn.or_(fn.not_(here), good))
    return result, fits


def unify(a: Type, b: Type) -> Type:
    """A type that holds the values of both."""
    if c.same_shape(a, b):
        return a
    match a, b:
        case (t.IntT(), t.IntT()):
            return t.IntT(min(a.lo, b.lo), max(a.hi, b.hi))
        case (t.AtomT(), t.AtomT()):
            first = min(a.first, b.first)
            last = max(a.first + len(a.labels), b.first + len(b.labels))
            return t.AtomT(a.name, ("",) * (last - first), first)
        case (t.TupleT(items), t.TupleT(others)) if len(items) == len(others):
            return t.TupleT(tuple(unify(x, y) for x, y in zip(items, others, strict=True)))
        case (t.OptionT(item), t.OptionT(other)):
            return t.OptionT(unify(item, other))
        case (t.SetT(item), t.SetT(other)):
            return t.SetT(unify(item, other))
        case (t.MapT(key, item), t.MapT(_, other)):
            return t.MapT(key, unify(item, other))
        case (t.SeqT(item, cap), t.SeqT(other, more)):
            return t.SeqT(unify(item, other), max(cap, more))
        case (t.BagT(item, cap), t.BagT(other, more)):
            return t.BagT(unify(item, other), max(cap, more))
        case (t.VariantT(), t.VariantT()) if len(a.cases) == len(b.cases):
            return t.VariantT(a.name, tuple(map(_unify_cases, a.cases, b.cases)))
        case _:
            raise Unsupported(f"values of {a} and of {b} can't be compared")


def _unify_cases(a: t.Case, b: t.Case) -> t.Case:
    pairs = zip(a.fields, b.fields, strict=True)
    return t.Case(a.name, tuple((name, unify(x, y)) for (name, x), (_, y) in pairs))
