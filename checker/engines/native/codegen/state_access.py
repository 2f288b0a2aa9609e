"""Access to parts of the state in memory: reads and writes that leave the rest alone."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.layout import WORD, Leaf, Node, Record, Row, Table, Wide
from checker.engines.native.codegen.packing import universe_size, width
from checker.model import types as t
from checker.model.types import Type


class Bits(Struct, frozen=True):
    """``width(type)`` bits of one word: its index and the shift are 64-bit values."""

    type: Type
    word: Val
    shift: Val


class Words(Struct, frozen=True):
    """Whole words, from the index ``word`` on."""

    type: Type
    word: Val
    words: int


class Inner(Struct, frozen=True):
    """A map or tuple laid out over several words, ``base`` words into the state."""

    type: Type
    base: Val
    node: Row | Table | Record


Spot = Bits | Words | Inner


def spot(fn: Fn, node: Node, base: Val) -> Spot:
    """The place of ``node``, ``base`` words into the state."""
    match node:
        case Leaf(type_, word, shift):
            return Bits(type_, fn.add(base, const(word)), const(shift))
        case Wide(type_, word, words):
            return Words(type_, fn.add(base, const(word)), words)
        case Row(type_) | Table(type_) | Record(type_):
            return Inner(type_, base, node)
        case _:
            assert_never(node)


def entry(fn: Fn, place: Spot, index: Val) -> Spot | None:
    """The entry of rank ``index`` of a map, or ``None`` where it has no place of its own."""
    match place:
        case Bits(t.MapT() as type_, word, shift):
            return Bits(type_.value, word, fn.add(shift, c.entry_shift(fn, type_, index)))
        case Inner(_, base, Row(type_, word, log, bits)):
            where = fn.add(base, fn.add(const(word), fn.lshr(index, const(log))))
            low = fn.and_(index, const((1 << log) - 1))
            return Bits(type_.value, where, fn.mul(low, const(bits)))
        case Inner(_, base, Table(type_, word, stride, element)):
            inner = fn.add(fn.add(base, const(word)), fn.mul(index, const(stride)))
            return spot(fn, element, inner)
        case _:
            return None


def item(fn: Fn, place: Spot, position: int) -> Spot | None:
    """One item of a tuple, or ``None`` where it has no place of its own."""
    match place:
        case Bits(t.TupleT(items), word, shift):
            low = sum(width(i) for i in items[position + 1 :])
            return Bits(items[position], word, fn.add(shift, const(low)))
        case Inner(_, base, Record(_, parts)):
            return spot(fn, parts[position], base)
        case _:
            return None


def load(fn: Fn, state: Val, place: Spot) -> Val:
    """The code of the value at ``place``."""
    match place:
        case Bits(type_, word, shift):
            whole = fn.load(fn.at(state, word), WORD)
            return fn.resize(fn.lshr(whole, shift), width(type_))
        case Words(type_, word, words):
            bits = max(WORD, width(type_))
            total = const(0, bits)
            for i in range(words):
                part = fn.load(fn.at(state, fn.add(word, const(i))), WORD)
                moved = fn.shl(fn.resize(part, bits), const(WORD * i, bits))
                total = fn.or_(total, moved)
            return fn.resize(total, width(type_))
        case Inner(type_, _, Record(_, parts)):
            found = [item(fn, place, i) for i in range(len(parts))]
            return c.concatenate(fn, [load(fn, state, p) for p in found if p], width(type_))
        case Inner(type_):
            assert isinstance(type_, t.MapT)
            total_bits = width(type_)
            entries = [entry(fn, place, const(i)) for i in range(universe_size(type_.key))]
            return c.concatenate(fn, [load(fn, state, p) for p in entries if p], total_bits)
        case _:
            assert_never(place)


def store(fn: Fn, state: Val, place: Spot, code: Val) -> None:
    """Makes ``code`` the value at ``place``."""
    match place:
        case Bits(_, word, shift):
            ptr = fn.at(state, word)
            fn.store(c.replace_bits(fn, fn.load(ptr, WORD), shift, code), ptr)
        case Words(_, word, words):
            if code.bits < words * WORD:
                rest = (words - 1) * WORD
                spare = _upper(fn, state, fn.add(word, const(words - 1)), code.bits - rest)
                whole = fn.or_(
                    fn.resize(code, words * WORD),
                    fn.shl(fn.resize(spare, words * WORD), const(rest, words * WORD)),
                )
            else:
                whole = code
            for i in range(words):
                part = fn.resize(fn.lshr(whole, const(WORD * i, whole.bits)), WORD)
                fn.store(part, fn.at(state, fn.add(word, const(i))))
        case Inner(type_, _, Record(t.TupleT(items), parts)):
            low = width(type_)
            for i in range(len(parts)):
                low -= width(items[i])
                part = c.bits_at(fn, code, low, width(items[i]))
                found = item(fn, place, i)
                assert found is not None
                store(fn, state, found, part)
        case Inner(type_):
            assert isinstance(type_, t.MapT)
            for i in range(universe_size(type_.key)):
                shift = c.entry_shift(fn, type_, const(i))
                part = fn.resize(fn.lshr(code, shift), width(type_.value))
                where = entry(fn, place, const(i))
                assert where is not None
                store(fn, state, where, part)
        case _:
            assert_never(place)


def _upper(fn: Fn, state: Val, word: Val, taken: int) -> Val:
    """The last word of a wide value without the bits that are its own."""
    old = fn.load(fn.at(state, word), WORD)
    return fn.and_(old, const(-1 << taken))


def bit(fn: Fn, place: Words, index: Val) -> tuple[Val, Val]:
    """Word and shift of one bit of a wide value."""
    word = fn.add(place.word, fn.lshr(index, const(6)))
    return word, fn.and_(index, const(WORD - 1))
