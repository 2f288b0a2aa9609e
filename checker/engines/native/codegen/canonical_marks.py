"""Marks of interchangeable atoms: a number for each that does not depend on names.

The mark of an atom is computed from the state in which all atoms that may be renamed are called
*itself* or *another*. So it is carried along with the atom when the state is renamed; no other
property is required of it.  Atoms with equal marks may still differ.
"""

from __future__ import annotations

from collections import defaultdict
from typing import assert_never

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.canonical_swaps import bits_from
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.layout import WORD, Layout, Leaf, Node, Record, Row, Table, Wide
from checker.engines.native.codegen.packing import rank, tag_width, universe_size, width
from checker.model import types as t
from checker.model.types import Type, Value, universe
from checker.reductions.reduction_plan import Atom, Sorts
from checker.reductions.symmetry.renaming import atoms_of

GROUPS = 12
"""The maximum number of groups in which members of a set are counted."""

SUMMED = 64
"""Maps of at most so many entries are read entry by entry."""

_MULTIPLIER = 0x9E3779B97F4A7C15


class Marks:
    """Emits marks of atoms of ``moving``, the ones that may be renamed."""

    def __init__(self, fn: Fn, row: Val, layout: Layout, sorts: Sorts, moving: frozenset[Atom]):
        self.fn, self.row, self.layout, self.sorts, self.moving = fn, row, layout, sorts, moving

    def of(self, block: tuple[Atom, ...]) -> Val:
        """The mark of a block of atoms."""
        self.packed: list[Val] = []
        self.totals: list[Val] = []
        for self.atom in block:
            for node in self.layout.nodes:
                self._node(node.type, node, 0)
        self._pack()
        total = self.totals[0]
        for more in self.totals[1:]:
            total = _mix(self.fn, total, more)
        return total

    def _moves(self, type_: Type) -> bool:
        return bool(atoms_of(self.sorts, type_) & self.moving)

    def _mix(self, value: Val) -> None:
        """Mixes in one more number: as many as fit share a word."""
        if sum(part.bits for part in self.packed) + value.bits > WORD:
            self._pack()
        self.packed.append(value)

    def _pack(self) -> None:
        """Closes the word that numbers are being put into."""
        self.totals.append(c.concatenate(self.fn, self.packed, WORD))
        self.packed = []

    def _is(self, type_: t.AtomT, code: Val) -> Val:
        """Whether a code of an atom is the atom itself; its code where it is never renamed."""
        sort = self.sorts.of(type_)
        if not self._moves(type_):
            return code
        if sort != self.atom[0]:
            return const(0, 1)
        position = self.atom[1] - type_.first
        if not 0 <= position < len(type_.labels):
            return const(0, 1)
        return self.fn.eq(code, const(position, code.bits))

    def _abstract(self, type_: Type, value: Value) -> object:
        """A value in which atoms are called itself or another: the same for all of a class."""
        match type_, value:
            case (t.AtomT(), int()):
                sort = self.sorts.of(type_)
                if sort is None or (sort, value) not in self.moving:
                    return value
                return "itself" if (sort, value) == self.atom else f"another {sort}"
            case (t.TupleT(items), tuple()):
                return tuple(self._abstract(i, v) for i, v in zip(items, value, strict=True))
            case (t.OptionT(item), tuple()):
                return (self._abstract(item, value[0]),)
            case (t.VariantT(cases=cases), tuple()):
                index = value[0]
                assert isinstance(index, int)
                fields = [field for _, field in cases[index].fields]
                pairs = zip(fields, value[1:], strict=True)
                return (index, *(self._abstract(f, v) for f, v in pairs))
            case _:
                return None if self._moves(type_) else rank(type_, value)

    # -- places -----------------------------------------------------------------------------------

    def _node(self, type_: Type, node: Node, base: int) -> None:
        match node:
            case Leaf(_, word, shift):
                self._code(type_, (base + word) * WORD + shift)
            case Wide(_, word, _):
                self._code(type_, (base + word) * WORD)
            case Row(map_type, word, log, bits):
                for i in self._keys(map_type.key):
                    place = (base + word + (i >> log)) * WORD + (i & (1 << log) - 1) * bits
                    self._code(map_type.value, place)
            case Table(map_type, word, stride, element):
                for i in self._keys(map_type.key):
                    self._node(map_type.value, element, base + word + i * stride)
            case Record(tuple_type, parts):
                for item, part in zip(tuple_type.items, parts, strict=True):
                    self._node(item, part, base)
            case _:
                assert_never(node)

    def _keys(self, key: Type) -> list[int]:
        """The ranks of the keys that are the only ones of their kind."""
        if universe_size(key) > SUMMED:
            return []
        kinds: dict[object, list[int]] = defaultdict(list)
        for i, member in enumerate(universe(key)):
            kinds[self._abstract(key, member)].append(i)
        return [kinds[kind][0] for kind in sorted(kinds, key=repr) if len(kinds[kind]) == 1]

    def _code(self, type_: Type, place: int) -> None:
        """The contribution of the value at bit ``place`` to the atom's mark."""
        if not self._moves(type_):
            self._raw(place, width(type_))
            return
        match type_:
            case t.AtomT():
                self._mix(self._is(type_, self._bits(place, width(type_))))
            case t.TupleT(items):
                low = width(type_)
                for item in items:
                    low -= width(item)
                    self._code(item, place + low)
            case t.MapT(key, value):
                last, bits = universe_size(key) - 1, width(value)
                for i in self._keys(key):
                    self._code(value, place + (last - i) * bits)
            case t.OptionT(item):
                self._raw(place + width(item), 1)
                if not isinstance(item, t.AtomT):
                    return
                there = self._bits(place + width(item), 1)
                same = self._is(item, self._bits(place, width(item)))
                self._mix(self.fn.and_(there, same) if same.bits == 1 else there)
            case t.VariantT():
                if tag_width(type_):
                    self._raw(place + width(type_) - tag_width(type_), tag_width(type_))
            case t.SetT(item):
                self._set(item, place)
            case t.SeqT() | t.BagT():
                self._mark_items(type_, place)
            case t.BoolT() | t.IntT():
                raise AssertionError("no atoms in there")
            case _:
                assert_never(type_)

    def _bits(self, place: int, bits: int) -> Val:
        return bits_from(self.fn, self.row, const(place), bits)

    def _raw(self, place: int, bits: int) -> None:
        while bits > 0:
            part = min(bits, WORD - place % WORD)
            self._mix(self._bits(place, part))
            place, bits = place + part, bits - part

    def _set(self, item: Type, place: int) -> None:
        """The number of members of each kind."""
        kinds: dict[object, list[int]] = defaultdict(list)
        if universe_size(item) > 4 * WORD:
            return
        for i, member in enumerate(universe(item)):
            kinds[self._abstract(item, member)].append(i)
        groups = [kinds[kind] for kind in sorted(kinds, key=repr)]
        if len(groups) > GROUPS:
            groups = [[i for ranks in groups for i in ranks]]
        for ranks in groups:
            masks: dict[int, int] = defaultdict(int)
            for i in ranks:
                masks[(place + i) // WORD] |= 1 << (place + i) % WORD
            count = const(0)
            for word, mask in masks.items():
                inside = self.fn.and_(self._bits(word * WORD, WORD), const(mask))
                count = self.fn.add(count, self.fn.intrinsic("ctpop", inside))
            self._mix(self.fn.resize(count, len(ranks).bit_length()))

    def _mark_items(self, type_: t.SeqT | t.BagT, place: int) -> None:
        """The sum of the contributions of the items, in any order."""
        fn, bits = self.fn, width(type_.item)
        size = width(type_) - c.items_width(type_)
        length = self._bits(place + c.items_width(type_), size)
        self._mix(length)
        count = fn.resize(length, WORD)
        if not type_.cap or bits > WORD:
            return
        total = fn.var(const(0))
        with fn.count(count) as i:
            shift = fn.mul(fn.sub(const(type_.cap - 1), i), const(bits))
            code = bits_from(fn, self.row, fn.add(const(place), shift), bits)
            total.set(fn.add(total.get(), self._item(type_.item, code)))
        self._mix(total.get())

    def _item(self, item: Type, code: Val) -> Val:
        """The contribution of one item to the atom's mark."""
        items = item.items if isinstance(item, t.TupleT) else (item,)
        low, total = width(item), const(1)
        for part in items:
            low -= width(part)
            value = c.bits_at(self.fn, code, low, width(part))
            if self._moves(part):
                value = self._sketch(part, value)
            total = _mix(self.fn, total, self.fn.resize(value, WORD))
        return total

    def _sketch(self, type_: Type, code: Val) -> Val:
        match type_:
            case t.AtomT():
                return self._is(type_, code)
            case t.VariantT() if tag_width(type_):
                bits = tag_width(type_)
                return c.bits_at(self.fn, code, width(type_) - bits, bits)
            case _:
                return const(0, 1)


def _mix(fn: Fn, total: Val, value: Val) -> Val:
    moved = fn.xor(total, fn.lshr(total, const(29)))
    return fn.add(fn.mul(moved, const(_MULTIPLIER)), value)
