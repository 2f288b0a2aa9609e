"""Values in registers: decomposition, construction, ranks and conversion.

A value in a register is one bit for ``BoolT``, the integer itself (signed, 64 bits) for ``IntT``,
and the code of :mod:`checker.engines.native.codegen.packing` for everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from checker.engines.native.codegen.emit import TRUE, Fn, Val, const
from checker.engines.native.codegen.layout import WORD
from checker.engines.native.codegen.packing import (
    case_width,
    encode,
    length_width,
    tag_width,
    tags,
    universe_size,
    width,
)
from checker.model import types as t
from checker.model.memo import in_a_run
from checker.model.types import Type, Value, cardinality
from checker.results.answer import Unsupported

_INTEGERS = 1 << 62


def check_integers(type_: Type) -> None:
    """Raises :class:`Unsupported` where an integer type does not fit into a register."""
    if isinstance(type_, t.IntT) and not -_INTEGERS <= type_.lo <= type_.hi < _INTEGERS:
        raise Unsupported(f"integers {type_.lo}..{type_.hi} do not fit into 64 bits")


def bits_of(type_: Type) -> int:
    """Bits of the register for a value of ``type_``."""
    return 64 if isinstance(type_, t.IntT) else width(type_)


def constant(type_: Type, value: Value) -> Val:
    """The register that holds ``value``."""
    if isinstance(type_, t.IntT):
        assert isinstance(value, int)
        return const(value)
    try:
        return const(encode(type_, value), width(type_))
    except ValueError as error:
        raise Unsupported(f"a constant does not fit its type: {error}") from error


def to_code(fn: Fn, type_: Type, value: Val) -> Val:
    """The code of a value in a register."""
    if isinstance(type_, t.IntT):
        return fn.resize(fn.sub(value, const(type_.lo)), width(type_))
    return value


def from_code(fn: Fn, type_: Type, code: Val) -> Val:
    """The register for a code."""
    if isinstance(type_, t.IntT):
        return fn.add(fn.resize(code, 64), const(type_.lo))
    return code


def bits_at(fn: Fn, code: Val, shift: int, bits: int) -> Val:
    """``bits`` bits of ``code`` from ``shift`` upwards."""
    return fn.resize(fn.lshr(code, const(shift, code.bits)), bits)


def concatenate(fn: Fn, parts: Sequence[Val], bits: int) -> Val:
    """The parts, the first one most significant, as one integer of ``bits`` bits."""
    total = const(0, bits)
    shift = sum(part.bits for part in parts)
    for part in parts:
        shift -= part.bits
        total = fn.or_(total, fn.shl(fn.resize(part, bits), const(shift, bits)))
    return total


def component(fn: Fn, items: Sequence[Type], code: Val, position: int) -> Val:
    """The register for one item of a product whose code is ``code``."""
    shift = sum(width(item) for item in items[position + 1 :])
    item = items[position]
    return from_code(fn, item, bits_at(fn, code, shift, width(item)))


def product(fn: Fn, items: Sequence[Type], values: Sequence[Val], bits: int) -> Val:
    """The code of a product from registers."""
    codes = [to_code(fn, item, value) for item, value in zip(items, values, strict=True)]
    return concatenate(fn, codes, bits)


def some(fn: Fn, type_: t.OptionT, value: Val) -> Val:
    """The option that holds ``value``."""
    code = to_code(fn, type_.item, value)
    return concatenate(fn, [TRUE, code], width(type_))


def is_some(fn: Fn, type_: t.OptionT, option: Val) -> Val:
    return bits_at(fn, option, width(type_.item), 1)


def option_item(fn: Fn, type_: t.OptionT, option: Val) -> Val:
    """What an option holds (some value of the item type where there is none)."""
    return from_code(fn, type_.item, bits_at(fn, option, 0, width(type_.item)))


def field_types(type_: t.VariantT, case: int) -> tuple[Type, ...]:
    """Types of the fields of one case."""
    return tuple(field for _, field in type_.cases[case].fields)


def make_variant(fn: Fn, type_: t.VariantT, case: int, values: Sequence[Val]) -> Val:
    """The value of a variant made by ``case``."""
    fields = field_types(type_, case)
    codes = [to_code(fn, f, value) for f, value in zip(fields, values, strict=True)]
    spare = width(type_) - tag_width(type_) - case_width(type_.cases[case])
    if tag_width(type_):
        codes.insert(0, const(tags(type_)[case], tag_width(type_)))
    whole = concatenate(fn, codes, width(type_))
    return fn.shl(whole, const(spare, whole.bits)) if codes else whole


def is_case(fn: Fn, type_: t.VariantT, value: Val, case: int) -> Val:
    if not tag_width(type_):
        return TRUE
    tag = bits_at(fn, value, width(type_) - tag_width(type_), tag_width(type_))
    return fn.eq(tag, const(tags(type_)[case], tag.bits))


def case_field(fn: Fn, type_: t.VariantT, value: Val, case: int, position: int) -> Val:
    fields = field_types(type_, case)
    low = width(type_) - tag_width(type_) - sum(width(f) for f in fields[: position + 1])
    field = fields[position]
    return from_code(fn, field, bits_at(fn, value, low, width(field)))


def items_width(type_: t.SeqT | t.BagT) -> int:
    """Bits of all slots together."""
    return type_.cap * width(type_.item)


def length(fn: Fn, type_: t.SeqT | t.BagT, seq: Val) -> Val:
    """The number of items, 64 bits."""
    return fn.resize(bits_at(fn, seq, items_width(type_), length_width(type_.cap)), 64)


def slot_shift(fn: Fn, type_: t.SeqT | t.BagT, index: Val) -> Val:
    """How far slot ``index`` is from the low end of the code."""
    return fn.mul(fn.sub(const(type_.cap - 1), index), const(width(type_.item)))


def slot_code(fn: Fn, type_: t.SeqT | t.BagT, seq: Val, index: Val) -> Val:
    """The code in slot ``index``, which has to be below the capacity."""
    if not type_.cap:
        return const(0, width(type_.item))
    return fn.resize(fn.lshr(seq, slot_shift(fn, type_, index)), width(type_.item))


class Slots:
    """The slots of ``seq``, which are asked for one by one: where they take many words they are
    stored once, and each is loaded, as a shift of all of them takes time for each word.
    """

    def __init__(self, fn: Fn, type_: t.SeqT | t.BagT, seq: Val) -> None:
        self.fn, self.type_, self.seq = fn, type_, seq
        self.words: Val | None = None
        if seq.const is None and seq.bits > 2 * WORD and width(type_.item) <= WORD:
            count = -(-seq.bits // WORD)
            self.words = fn.alloca(WORD, count + 1)
            for i in range(count):
                part = fn.resize(fn.lshr(seq, const(WORD * i)), WORD)
                fn.store(part, fn.at(self.words, i))
            fn.store(const(0), fn.at(self.words, count))

    def code(self, index: Val) -> Val:
        """The code in slot ``index``, which has to be below the capacity."""
        if self.words is None:
            return slot_code(self.fn, self.type_, self.seq, index)
        fn, shift = self.fn, slot_shift(self.fn, self.type_, index)
        word, bit = fn.lshr(shift, const(6)), fn.and_(shift, const(WORD - 1))
        low = fn.lshr(fn.load(fn.at(self.words, word), WORD), bit)
        above = fn.load(fn.at(self.words, fn.add(word, const(1))), WORD)
        high = fn.shl(fn.shl(above, const(1)), fn.sub(const(WORD - 1), bit))
        return fn.resize(fn.or_(low, high), width(self.type_.item))


def slot(fn: Fn, type_: t.SeqT | t.BagT, seq: Val, index: Val) -> Val:
    """The item in slot ``index``."""
    return from_code(fn, type_.item, slot_code(fn, type_, seq, index))


def entry_shift(fn: Fn, type_: t.MapT, index: Val) -> Val:
    """How far the entry of rank ``index`` is from the low end of a map's code."""
    last = universe_size(type_.key) - 1
    return fn.mul(fn.sub(const(last), index), const(width(type_.value)))


def entry(fn: Fn, type_: t.MapT, code: Val, index: Val) -> Val:
    """The entry of rank ``index``."""
    part = fn.resize(fn.lshr(code, entry_shift(fn, type_, index)), width(type_.value))
    return from_code(fn, type_.value, part)


def replace_bits(fn: Fn, code: Val, shift: Val, part: Val) -> Val:
    """``code`` with the bits from ``shift`` upwards replaced by ``part``."""
    mask = fn.shl(const((1 << part.bits) - 1, code.bits), shift)
    cleared = fn.and_(code, fn.not_(mask))
    return fn.or_(cleared, fn.shl(fn.resize(part, code.bits), shift))


# -- ranks --------------------------------------------------------------------------------------


def rank(fn: Fn, type_: Type, value: Val) -> Val:
    """The rank of a value in its universe, 64 bits."""
    match type_:
        case t.IntT(lo):
            return fn.sub(value, const(lo))
        case t.BoolT() | t.AtomT() | t.SetT():
            return fn.resize(value, 64)
        case t.TupleT(items):
            return _mixed_radix(
                fn, items, [component(fn, items, value, i) for i in range(len(items))]
            )
        case t.OptionT(item):
            inside = fn.add(const(1), rank(fn, item, option_item(fn, type_, value)))
            return fn.select(is_some(fn, type_, value), inside, const(0))
        case t.MapT(key, item):
            count = universe_size(key)
            entries = [entry(fn, type_, value, const(i)) for i in range(count)]
            return _mixed_radix(fn, (item,) * count, entries)
        case t.SeqT():
            return _seq_rank(fn, type_, value)
        case t.VariantT(cases=cases):
            total, offset = const(0), 0
            for case in range(len(cases)):
                fields = field_types(type_, case)
                parts = [case_field(fn, type_, value, case, i) for i in range(len(fields))]
                here = fn.add(const(offset), _mixed_radix(fn, fields, parts))
                total = fn.select(is_case(fn, type_, value, case), here, total)
                offset += cardinality(t.TupleT(fields))
            return total
        case t.BagT():
            raise Unsupported("bags have no universe")
        case _:
            assert_never(type_)


def _mixed_radix(fn: Fn, items: Sequence[Type], values: Sequence[Val]) -> Val:
    total = const(0)
    for item, value in zip(items, values, strict=True):
        total = fn.add(fn.mul(total, const(cardinality(item))), rank(fn, item, value))
    return total


def _seq_rank(fn: Fn, type_: t.SeqT, value: Val) -> Val:
    count, many = length(fn, type_, value), cardinality(type_.item)
    total, offset, offsets = const(0), const(0), _offsets(type_)
    for i in range(type_.cap):
        inside = fn.lt(const(i), count)
        digit = rank(fn, type_.item, slot(fn, type_, value, const(i)))
        total = fn.select(inside, fn.add(fn.mul(total, const(many)), digit), total)
        offset = fn.select(inside, const(offsets[i + 1]), offset)
    return fn.add(offset, total)


def _offsets(type_: t.SeqT) -> list[int]:
    many = cardinality(type_.item)
    return [sum(many**k for k in range(n)) for n in range(type_.cap + 1)]


def unrank(fn: Fn, type_: Type, index: Val) -> Val:
    """The value of rank ``index`` (64 bits, below the cardinality)."""
    match type_:
        case t.IntT(lo):
            return fn.add(index, const(lo))
        case t.BoolT() | t.AtomT() | t.SetT():
            return fn.resize(index, width(type_))
        case t.TupleT(items):
            return product(fn, items, _digits(fn, items, index), width(type_))
        case t.OptionT(item):
            inside = some(fn, type_, unrank(fn, item, fn.sub(index, const(1))))
            return fn.select(fn.eq(index, const(0)), const(0, inside.bits), inside)
        case t.MapT(key, item):
            items = (item,) * universe_size(key)
            return product(fn, items, _digits(fn, items, index), width(type_))
        case t.SeqT():
            return _seq_unrank(fn, type_, index)
        case t.VariantT(cases=cases):
            total, offset = const(0, width(type_)), 0
            for case in range(len(cases)):
                fields = field_types(type_, case)
                count = cardinality(t.TupleT(fields))
                if count:
                    inside = fn.sub(index, const(offset))
                    here = make_variant(fn, type_, case, _digits(fn, fields, inside))
                    total = fn.select(fn.le(const(offset), index), here, total)
                offset += count
            return total
        case t.BagT():
            raise Unsupported("bags have no universe")
        case _:
            assert_never(type_)


def _digits(fn: Fn, items: Sequence[Type], index: Val) -> list[Val]:
    values: list[Val] = []
    for i, item in enumerate(reversed(items)):
        many = cardinality(item)
        if not many:
            return [const(0, bits_of(item)) for item in items]
        digit = index if i == len(items) - 1 else fn.urem(index, const(many))
        values.append(unrank(fn, item, digit))
        index = fn.udiv(index, const(many)) if i < len(items) - 1 else index
    return values[::-1]


def _seq_unrank(fn: Fn, type_: t.SeqT, index: Val) -> Val:
    many, offsets = cardinality(type_.item), _offsets(type_)
    count, offset = const(0), const(0)
    for n in range(1, type_.cap + 1 if many else 1):
        reached = fn.le(const(offsets[n]), index)
        count = fn.select(reached, const(n), count)
        offset = fn.select(reached, const(offsets[n]), offset)
    left, codes = fn.sub(index, offset), []
    for i in reversed(range(type_.cap)):
        inside = fn.lt(const(i), count)
        digit = fn.urem(left, const(many or 1))
        code = to_code(fn, type_.item, unrank(fn, type_.item, digit))
        codes.append(fn.select(inside, code, const(0, code.bits)))
        left = fn.select(inside, fn.udiv(left, const(many or 1)), left)
    size = fn.resize(count, length_width(type_.cap))
    return concatenate(fn, [size, *reversed(codes)], width(type_))


# -- shapes -------------------------------------------------------------------------------------


@in_a_run()
def shape(type_: Type) -> Type:
    """``type_`` without names: types of one shape have the same codes."""
    match type_:
        case t.BoolT():
            return type_
        case t.IntT(lo, hi):
            return t.IntT(lo, hi)
        case t.AtomT(labels=labels, first=first):
            return t.AtomT("", ("",) * len(labels), first)
        case t.TupleT(items):
            return t.TupleT(tuple(shape(item) for item in items))
        case t.OptionT(item):
            return t.OptionT(shape(item))
        case t.SetT(item):
            return t.SetT(shape(item))
        case t.MapT(key, value):
            return t.MapT(shape(key), shape(value))
        case t.SeqT(item, cap):
            return t.SeqT(shape(item), cap)
        case t.BagT(item, cap):
            return t.BagT(shape(item), cap)
        case t.VariantT(cases=cases):
            fields = tuple(tuple(("", shape(f)) for _, f in case.fields) for case in cases)
            return t.VariantT("", tuple(t.Case("", f) for f in fields))
        case _:
            assert_never(type_)


def same_shape(a: Type, b: Type) -> bool:
    """Whether codes of ``a`` are codes of ``b`` and stand for the same values."""
    return a is b or shape(a) == shape(b)
