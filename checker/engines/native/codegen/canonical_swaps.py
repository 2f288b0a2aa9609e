"""Swaps of atoms in rows.

A renaming moves the entries of maps and the bits of sets, which is a permutation of the bits of the
row: bits that move equally far within the same words move together.  The remaining atoms are
values, which are renamed in place.  Bags are sorted again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import assert_never

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.layout import (
    MASK,
    WORD,
    Layout,
    Leaf,
    Node,
    Record,
    Row,
    Table,
    Wide,
)
from checker.engines.native.codegen.packing import case_width, rank, tag_width, universe_size, width
from checker.model import types as t
from checker.model.types import Type, universe
from checker.reductions.symmetry.renaming import Renaming


def emit_swap(layout: Layout, name: str, renaming: Renaming) -> Fn:
    """``name(row)``: renames the atoms of a row, in place."""
    fn = Fn(name, [("row", 0)], None)
    (row,) = fn.args
    found = _Moves(renaming)
    for node in layout.nodes:
        found.node(node.type, node, 0, node, 0)
    _move_bits(fn, row, found.bits)
    for place, type_ in found.values:
        _rename_at(fn, row, renaming, place, type_)
    fn.ret()
    return fn


class _Moves:
    """``bits``: where each bit goes that moves; ``values``: where values are that hold atoms, after
    the bits have been moved."""

    def __init__(self, renaming: Renaming) -> None:
        self.renaming = renaming
        self.bits: dict[int, int] = {}
        self.values: list[tuple[int, Type]] = []

    def node(self, type_: Type, source: Node, base: int, target: Node, there: int) -> None:
        """The value at ``source``, ``base`` words into the row, goes to ``target``."""
        if not self.renaming.moves(type_) and (source, base) == (target, there):
            return
        match source, target:
            case (Leaf(_, word, shift), Leaf(_, other, low)):
                self.code(type_, (base + word) * WORD + shift, (there + other) * WORD + low)
            case (Wide(_, word, _), Wide(_, other, _)):
                self.code(type_, (base + word) * WORD, (there + other) * WORD)
            case (Row(map_type, word, log, bits), Row()):
                for i, j in self.keys(map_type.key):
                    places = [
                        (start + word + (k >> log)) * WORD + (k & (1 << log) - 1) * bits
                        for start, k in ((base, i), (there, j))
                    ]
                    self.code(map_type.value, *places)
            case (Table(map_type, word, stride, element), Table()):
                for i, j in self.keys(map_type.key):
                    first, second = base + word + i * stride, there + word + j * stride
                    self.node(map_type.value, element, first, element, second)
            case (Record(tuple_type, parts), Record(_, others)):
                for item, a, b in zip(tuple_type.items, parts, others, strict=True):
                    self.node(item, a, base, b, there)
            case _:
                raise AssertionError("a value moves to a place that is laid out as its own")

    def keys(self, key: Type) -> list[tuple[int, int]]:
        """The rank of each key, and of the one it becomes."""
        members = list(universe(key))
        if not self.renaming.moves(key):
            return [(i, i) for i in range(len(members))]
        return [(i, rank(key, self.renaming.value(key, k))) for i, k in enumerate(members)]

    def code(self, type_: Type, source: int, target: int) -> None:
        """Moves the code that begins at bit ``source`` to where ``target`` is."""
        if not self.renaming.moves(type_):
            self._copy(source, target, width(type_))
            return
        match type_:
            case t.TupleT(items):
                low = width(type_)
                for item in items:
                    low -= width(item)
                    self.code(item, source + low, target + low)
            case t.MapT(key, value):
                last, bits = universe_size(key) - 1, width(value)
                for i, j in self.keys(key):
                    self.code(value, source + (last - i) * bits, target + (last - j) * bits)
            case t.SetT(item):
                for i, j in self.keys(item):
                    self._copy(source + i, target + j, 1)
            case t.AtomT() | t.OptionT() | t.SeqT() | t.BagT() | t.VariantT():
                self._copy(source, target, width(type_))
                self.values.append((target, type_))
            case t.BoolT() | t.IntT():
                raise AssertionError("no atoms in there")
            case _:
                assert_never(type_)

    def _copy(self, source: int, target: int, bits: int) -> None:
        if source != target:
            self.bits |= {source + i: target + i for i in range(bits)}


def _move_bits(fn: Fn, row: Val, bits: dict[int, int]) -> None:
    """Moves single bits; every bit that is a target is a source, too, or the other way round."""
    shifts: dict[tuple[int, int, int], int] = defaultdict(int)
    taken: dict[int, int] = defaultdict(int)
    for source, target in bits.items():
        key = (target // WORD, source // WORD, target % WORD - source % WORD)
        shifts[key] |= 1 << source % WORD
        taken[target // WORD] |= 1 << target % WORD
    words = {word for there, here, _ in shifts for word in (there, here)}
    old = {word: fn.load(fn.at(row, word), WORD) for word in sorted(words)}
    new = {word: fn.and_(old[word], const(MASK & ~mask)) for word, mask in taken.items()}
    for (target, source, distance), mask in sorted(shifts.items()):
        part = fn.and_(old[source], const(mask))
        move = fn.shl if distance >= 0 else fn.lshr
        new[target] = fn.or_(new[target], move(part, const(abs(distance))))
    for word, value in new.items():
        fn.store(value, fn.at(row, word))


# -- values in the row ----------------------------------------------------------------------------


def bits_from(fn: Fn, row: Val, place: Val, bits: int) -> Val:
    """``bits`` bits, at most 64, of the row from bit ``place`` upwards."""
    word, shift = fn.lshr(place, const(6)), fn.and_(place, const(WORD - 1))
    low = fn.lshr(fn.load(fn.at(row, word), WORD), shift)
    if shift.const is not None and shift.const + bits <= WORD:
        return fn.resize(low, bits)
    crosses = fn.lt(const(WORD - bits), shift)
    following = fn.add(word, fn.resize(crosses, WORD))
    left = fn.and_(fn.sub(const(WORD), shift), const(WORD - 1))
    high = fn.shl(fn.load(fn.at(row, following), WORD), left)
    return fn.resize(fn.or_(low, fn.select(crosses, high, const(0))), bits)


def bits_into(fn: Fn, row: Val, place: Val, value: Val) -> None:
    """Puts ``value`` (at most 64 bits) where :func:`bits_from` finds it."""
    word, shift = fn.lshr(place, const(6)), fn.and_(place, const(WORD - 1))
    ptr, wide = fn.at(row, word), fn.resize(value, WORD)
    mask = const((1 << value.bits) - 1)
    kept = fn.and_(fn.load(ptr, WORD), fn.not_(fn.shl(mask, shift)))
    fn.store(fn.or_(kept, fn.shl(wide, shift)), ptr)
    if shift.const is not None and shift.const + value.bits <= WORD:
        return
    with fn.if_(fn.lt(const(WORD - value.bits), shift)):
        ptr, left = fn.at(row, fn.add(word, const(1))), fn.sub(const(WORD), shift)
        kept = fn.and_(fn.load(ptr, WORD), fn.not_(fn.lshr(mask, left)))
        fn.store(fn.or_(kept, fn.lshr(wide, left)), ptr)


def _code_at(fn: Fn, row: Val, place: int, bits: int) -> Val:
    total, done = const(0, bits), 0
    while done < bits:
        part = min(bits - done, WORD - (place + done) % WORD)
        here = bits_from(fn, row, const(place + done), part)
        total = fn.or_(total, fn.shl(fn.resize(here, bits), const(done, bits)))
        done += part
    return total


def _put_code(fn: Fn, row: Val, place: int, code: Val) -> None:
    done = 0
    while done < code.bits:
        part = min(code.bits - done, WORD - (place + done) % WORD)
        here = fn.resize(fn.lshr(code, const(done, code.bits)), part)
        bits_into(fn, row, const(place + done), here)
        done += part


def _rename_at(fn: Fn, row: Val, renaming: Renaming, place: int, type_: Type) -> None:
    match type_:
        case t.SeqT(item, cap) | t.BagT(item, cap) if cap and width(item) <= WORD:
            _rename_items(fn, row, renaming, place, type_)
        case _:
            code = _code_at(fn, row, place, width(type_))
            _put_code(fn, row, place, rename_code(fn, renaming, type_, code))


def _rename_items(fn: Fn, row: Val, renaming: Renaming, place: int, type_: t.SeqT | t.BagT) -> None:
    """Renames what is in a sequence or bag, item by item; keeps a bag sorted."""
    bits, cap = width(type_.item), type_.cap
    high = place + c.items_width(type_)
    count = fn.resize(_code_at(fn, row, high, width(type_) - c.items_width(type_)), WORD)
    items, changed = fn.alloca(WORD, cap), fn.var(const(0))

    def slot(i: Val) -> Val:
        return fn.add(const(place), fn.mul(fn.sub(const(cap - 1), i), const(bits)))

    with fn.count(count) as i:
        old = bits_from(fn, row, slot(i), bits)
        new = rename_code(fn, renaming, type_.item, old)
        changed.set(fn.or_(changed.get(), fn.resize(fn.ne(old, new), WORD)))
        value, at = fn.resize(new, WORD), fn.var(i)
        if isinstance(type_, t.BagT):
            with fn.forever() as done:
                now = at.get()
                fn.leave_if(fn.eq(now, const(0)), done)
                before = fn.load(fn.at(items, fn.sub(now, const(1))), WORD)
                fn.leave_if(fn.le(before, value), done)
                fn.store(before, fn.at(items, now))
                at.set(fn.sub(now, const(1)))
        fn.store(value, fn.at(items, at.get()))
    with fn.if_(fn.ne(changed.get(), const(0))), fn.count(count) as i:
        item = fn.resize(fn.load(fn.at(items, i), WORD), bits)
        bits_into(fn, row, slot(i), item)


# -- values in registers --------------------------------------------------------------------------


def rename_code(fn: Fn, renaming: Renaming, type_: Type, code: Val) -> Val:
    """The code of the renamed value."""
    if not renaming.moves(type_):
        return code
    match type_:
        case t.AtomT(labels=labels, first=first):
            sort = renaming.sorts.of(type_)
            assert sort is not None
            result = code
            for i in range(len(labels)):
                image = renaming.images[sort][first + i] - first
                if image != i:
                    same = fn.eq(code, const(i, code.bits))
                    result = fn.select(same, const(image, code.bits), result)
            return result
        case t.TupleT(items):
            return _rename_parts(fn, renaming, items, code, 0)
        case t.OptionT(item):
            inner = rename_code(fn, renaming, item, c.bits_at(fn, code, 0, width(item)))
            there = c.concatenate(fn, [const(1, 1), inner], code.bits)
            return fn.select(c.is_some(fn, type_, code), there, code)
        case t.SetT(item):
            return _rename_entries(fn, renaming, item, 1, code, lambda i: i)
        case t.MapT(key, item):
            last, bits = universe_size(key) - 1, width(item)
            inside = const(0, code.bits)
            for i in range(last + 1):
                low = (last - i) * bits
                part = rename_code(fn, renaming, item, c.bits_at(fn, code, low, bits))
                moved = fn.shl(fn.resize(part, code.bits), const(low, code.bits))
                inside = fn.or_(inside, moved)
            return _rename_entries(fn, renaming, key, bits, inside, lambda i: (last - i) * bits)
        case t.VariantT(cases=cases):
            result = code
            for case in range(len(cases)):
                fields = c.field_types(type_, case)
                spare = width(type_) - tag_width(type_) - case_width(cases[case])
                if any(renaming.moves(field) for field in fields):
                    here = _rename_parts(fn, renaming, fields, code, spare)
                    result = fn.select(c.is_case(fn, type_, code, case), here, result)
            return result
        case t.SeqT() | t.BagT():
            return _rename_slots(fn, renaming, type_, code)
        case t.BoolT() | t.IntT():
            raise AssertionError("no atoms in there")
        case _:
            assert_never(type_)


def _rename_parts(fn: Fn, renaming: Renaming, items: tuple[Type, ...], code: Val, low: int) -> Val:
    """The code with its components renamed, the last of which begins at bit ``low``."""
    result = code
    for item in reversed(items):
        if renaming.moves(item):
            part = rename_code(fn, renaming, item, c.bits_at(fn, code, low, width(item)))
            result = c.replace_bits(fn, result, const(low), part)
        low += width(item)
    return result


def _rename_entries(
    fn: Fn, renaming: Renaming, key: Type, bits: int, code: Val, low: Callable[[int], int]
) -> Val:
    """The code with the entry of each key, ``bits`` bits from ``low`` upwards, in its new place."""
    moves = _Moves(renaming).keys(key)
    groups: dict[int, int] = defaultdict(int)
    for i, j in moves:
        groups[low(j) - low(i)] |= (1 << bits) - 1 << low(i)
    total = const(0, code.bits)
    for distance, mask in sorted(groups.items()):
        part = fn.and_(code, const(mask, code.bits))
        move = fn.shl if distance >= 0 else fn.lshr
        total = fn.or_(total, move(part, const(abs(distance), code.bits)))
    return total


def _rename_slots(fn: Fn, renaming: Renaming, type_: t.SeqT | t.BagT, code: Val) -> Val:
    """The items of a sequence or bag renamed; those of a bag are sorted by a network of swaps."""
    count, bits = c.length(fn, type_, code), width(type_.item)
    keys = []
    for i in range(type_.cap):
        old = c.slot_code(fn, type_, code, const(i))
        used = fn.lt(const(i), count)
        new = fn.select(used, rename_code(fn, renaming, type_.item, old), old)
        keys.append(c.concatenate(fn, [fn.not_(used), new], bits + 1))
    if isinstance(type_, t.BagT):
        for end in range(type_.cap - 1, 0, -1):
            for i in range(end):
                ordered = fn.le(keys[i], keys[i + 1])
                small = fn.select(ordered, keys[i], keys[i + 1])
                large = fn.select(ordered, keys[i + 1], keys[i])
                keys[i], keys[i + 1] = small, large
    size = c.bits_at(fn, code, c.items_width(type_), code.bits - c.items_width(type_))
    return c.concatenate(fn, [size, *(fn.resize(key, bits) for key in keys)], code.bits)
