"""Patterns of values as bits of a state in machine code: a mask, and what the bits under it are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from checker.conform.patterns import Anything, Exactly, OneCase, Parts, Pattern, Present
from checker.engines.native.codegen import layout as places
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.packing import case_width, encode, tag_width, tags, width
from checker.model import types as t
from checker.model.types import Type

Bits = tuple[int, int]
"""A mask, and the bits under it."""

FREE: Bits = (0, 0)


def bits_of(type_: Type, pattern: Pattern) -> Bits:
    """Returns the bits of a value of ``type_`` that matches ``pattern``."""
    match pattern, type_:
        case Anything(), _:
            return FREE
        case Exactly(value), _:
            return (1 << width(type_)) - 1, encode(type_, value)
        case Parts(parts), t.TupleT(items):
            return _joined(items, parts)
        case Parts(parts), t.MapT(_, item):
            return _joined((item,) * len(parts), parts)
        case Present(inner), t.OptionT(item):
            mask, value = bits_of(item, inner)
            return 1 << width(item) | mask, 1 << width(item) | value
        case OneCase(number, fields), t.VariantT(cases=cases):
            case = cases[number]
            inner_mask, inner_value = _joined([kind for _, kind in case.fields], fields)
            size, rest = case_width(case), width(type_) - tag_width(type_)
            tag = tags(type_)[number]
            mask = ((1 << tag_width(type_)) - 1 << size | inner_mask) << rest - size
            return mask, (tag << size | inner_value) << rest - size
        case _:
            raise AssertionError(f"no pattern of {type_}: {pattern}")


def _joined(types: Sequence[Type], parts: Sequence[Pattern]) -> Bits:
    mask = value = 0
    for type_, part in zip(types, parts, strict=True):
        inner_mask, inner_value = bits_of(type_, part)
        mask = mask << width(type_) | inner_mask
        value = value << width(type_) | inner_value
    return mask, value


def bits_in_state(layout: Layout, variable: int, pattern: Pattern) -> Bits:
    """Returns the bits of a state whose variable number ``variable`` matches ``pattern``."""
    return _placed(layout.nodes[variable], 0, layout.types[variable], pattern)


def _placed(node: places.Node, base: int, type_: Type, pattern: Pattern) -> Bits:
    match node:
        case places.Leaf(_, word, shift):
            return _shifted(bits_of(type_, pattern), 64 * (base + word) + shift)
        case places.Wide(_, word):
            return _shifted(bits_of(type_, pattern), 64 * (base + word))
        case places.Row(of, word, log, each):
            found = FREE
            for i, part in enumerate(_parts(pattern, t.cardinality(of.key))):
                at = 64 * (base + word + (i >> log)) + (i & (1 << log) - 1) * each
                found = _both(found, _shifted(bits_of(of.value, part), at))
            return found
        case places.Table(of, word, stride, element):
            found = FREE
            for i, part in enumerate(_parts(pattern, t.cardinality(of.key))):
                at = base + word + i * stride
                found = _both(found, _placed(element, at, of.value, part))
            return found
        case places.Record(of, nodes):
            found = FREE
            for inner, item, part in zip(nodes, of.items, _parts(pattern, len(nodes)), strict=True):
                found = _both(found, _placed(inner, base, item, part))
            return found
        case _:
            assert_never(node)


def _parts(pattern: Pattern, count: int) -> Sequence[Pattern]:
    match pattern:
        case Parts(parts):
            return parts
        case Exactly(value):
            assert isinstance(value, tuple)
            return [Exactly(part) for part in value]
        case _:
            return [pattern] * count


def _shifted(bits: Bits, by: int) -> Bits:
    return bits[0] << by, bits[1] << by


def _both(one: Bits, other: Bits) -> Bits:
    return one[0] | other[0], one[1] | other[1]
