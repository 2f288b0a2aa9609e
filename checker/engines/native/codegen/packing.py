"""Values as bit strings: every type has a width, every value of it one non-negative integer.

The first component is the most significant one everywhere, so that the order of the codes is the
canonical order of values (``types.sort_key``) for all types without sets inside.

=============  =====================================================================
type           code, from the most significant bit
=============  =====================================================================
``BoolT``      one bit
``IntT``       ``value - lo``
``AtomT``      ``value - first``
``TupleT``     the items
``OptionT``    presence bit, item (zero if there is none)
``SetT``       one bit for each rank of the item's universe, rank 0 the least significant
``MapT``       the values, key of rank 0 first
``SeqT``       length, ``cap`` slots (unused ones zero)
``BagT``       like ``SeqT``, the slots ascending by code
``VariantT``   tag, fields, zeros; tags ascend by (number of fields, case)
=============  =====================================================================

Two values of a type are equal exactly when their codes are.  Every width is at least one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, assert_never

from checker.model import types as t
from checker.model.memo import in_a_run
from checker.model.types import Type, Value, cardinality, parts_of
from checker.results.answer import Unsupported

MAX_WIDTH = 4096
"""The widest value that the native engine takes, in bits."""


class TooWide(Unsupported):
    """A value has too many bits; the message says how many."""


def int_width(count: int) -> int:
    """Bits that tell ``count`` things apart, at least one."""
    return max(1, (count - 1).bit_length())


@in_a_run()
def width(type_: Type) -> int:
    """Bits of a code of ``type_``; raises :class:`TooWide` where they are too many."""
    bits = max(1, _width(type_))
    if bits > MAX_WIDTH:
        raise TooWide(f"takes {bits:,} bits, and the native engine has room for {MAX_WIDTH:,}")
    return bits


def _width(type_: Type) -> int:
    match type_:
        case t.BoolT():
            return 1
        case t.IntT() | t.AtomT():
            return int_width(cardinality(type_))
        case t.TupleT(items):
            return sum(width(item) for item in items)
        case t.OptionT(item):
            return 1 + width(item)
        case t.SetT(item):
            return universe_size(item)
        case t.MapT(key, value):
            return universe_size(key) * width(value)
        case t.SeqT(item, cap) | t.BagT(item, cap):
            return length_width(cap) + cap * width(item)
        case t.VariantT(cases=cases):
            return tag_width(type_) + max((case_width(case) for case in cases), default=0)
        case _:
            assert_never(type_)


def universe_size(type_: Type) -> int:
    """How many values ``type_`` has; raises :class:`Unsupported` where they can't be numbered."""
    if _has_bag(type_):
        raise Unsupported("sets of bags and maps over bags have no universe")
    count = cardinality(type_)
    if count >= 1 << 62:
        raise Unsupported(f"a universe of about 2^{count.bit_length()} values is too large")
    return count


def _has_bag(type_: Type) -> bool:
    return any(isinstance(part, t.BagT) for part in parts_of(type_))


def has_set(type_: Type) -> bool:
    """Whether sets occur in ``type_``: then the order of codes is not the canonical one."""
    return any(isinstance(part, t.SetT) for part in parts_of(type_))


def length_width(cap: int) -> int:
    """Bits of the length field of a sequence or bag."""
    return int_width(cap + 1)


def case_width(case: t.Case) -> int:
    """Bits of the fields of one case."""
    return sum(width(field) for _, field in case.fields)


def tag_width(type_: t.VariantT) -> int:
    """Bits of the tag: none for a single case."""
    return (len(type_.cases) - 1).bit_length()


@in_a_run(1024)
def tags(type_: t.VariantT) -> tuple[int, ...]:
    """The tag of each case, in the order of the cases."""
    order = sorted(range(len(type_.cases)), key=lambda i: (len(type_.cases[i].fields), i))
    return tuple(order.index(i) for i in range(len(type_.cases)))


@in_a_run(256)
def _ranks(type_: Type) -> dict[Value, int]:
    return {value: rank for rank, value in enumerate(t.universe(type_))}


@in_a_run(256)
def _members(type_: Type) -> tuple[Value, ...]:
    return tuple(t.universe(type_))


def rank(type_: Type, value: Value) -> int:
    """Position of ``value`` in ``universe(type_)``; raises ``ValueError`` where it is no member."""
    match type_, value:
        case (t.BoolT(), bool()):
            return int(value)
        case (t.IntT() | t.AtomT(), int()):
            return encode(type_, value)
    found = _ranks(type_).get(value)
    if found is None:
        raise ValueError(f"{value!r} is no value of {type_}")
    return found


def encode(type_: Type, value: Any) -> int:
    """The code of ``value``; raises ``ValueError`` where ``type_`` does not hold it."""
    match type_:
        case t.BoolT():
            return int(value)
        case t.IntT(lo, hi):
            return _check_range(type_, value, int(value) - lo, hi - lo + 1)
        case t.AtomT(labels=labels, first=first):
            return _check_range(type_, value, int(value) - first, len(labels))
        case t.TupleT(items):
            return _encode_items(items, value)
        case t.OptionT(item):
            return 0 if value is None else 1 << width(item) | encode(item, value[0])
        case t.SetT(item):
            return sum(1 << rank(item, member) for member in value)
        case t.MapT(key, item):
            return _encode_items((item,) * universe_size(key), value)
        case t.SeqT(item, cap):
            return _slots(item, cap, [encode(item, v) for v in value])
        case t.BagT(item, cap):
            return _slots(item, cap, sorted(encode(item, v) for v in value))
        case t.VariantT(cases=cases):
            fields = tuple(field for _, field in cases[value[0]].fields)
            spare = width(type_) - tag_width(type_) - case_width(cases[value[0]])
            tag = tags(type_)[value[0]]
            code: int = tag << case_width(cases[value[0]]) | _encode_items(fields, value[1:])
            return code << spare
        case _:
            assert_never(type_)


def _check_range(type_: Type, value: Value, code: int, count: int) -> int:
    if not 0 <= code < count:
        raise ValueError(f"{value!r} is no value of {type_}")
    return code


def _encode_items(items: tuple[Type, ...], values: Any) -> int:
    code = 0
    for item, value in zip(items, values, strict=True):
        code = code << width(item) | encode(item, value)
    return code


def _slots(item: Type, cap: int, codes: list[int]) -> int:
    if len(codes) > cap:
        raise ValueError(f"{len(codes)} items where {cap} fit")
    total = len(codes)
    for code in codes + [0] * (cap - len(codes)):
        total = total << width(item) | code
    return total


def decode(type_: Type, code: int) -> Value:
    """The value that ``code`` stands for: the inverse of :func:`encode`."""
    match type_:
        case t.BoolT():
            return bool(code)
        case t.IntT(lo):
            return lo + code
        case t.AtomT(first=first):
            return first + code
        case t.TupleT(items):
            return _parts(items, code)
        case t.OptionT(item):
            mask = (1 << width(item)) - 1
            return (decode(item, code & mask),) if code >> width(item) else None
        case t.SetT(item):
            members = _members(item)
            return frozenset(members[i] for i in range(code.bit_length()) if code >> i & 1)
        case t.MapT(key, item):
            return _parts((item,) * universe_size(key), code)
        case t.SeqT(item, cap):
            return _filled(item, cap, code)
        case t.BagT(item, cap):
            return tuple(sorted(_filled(item, cap, code), key=t.sort_key))
        case t.VariantT(cases=cases):
            rest = width(type_) - tag_width(type_)
            case = tags(type_).index(code >> rest)
            fields = tuple(field for _, field in cases[case].fields)
            return (case, *_parts(fields, code >> (rest - case_width(cases[case]))))
        case _:
            assert_never(type_)


def _filled(item: Type, cap: int, code: int) -> tuple[Value, ...]:
    """Returns the values in the slots that are used: the first ones, in the highest bits."""
    length = code >> cap * width(item)
    return _parts((item,) * length, code >> (cap - length) * width(item))


def _parts(items: tuple[Type, ...], code: int) -> tuple[Value, ...]:
    ends = [0]
    for item in reversed(items):
        ends.append(ends[-1] + width(item))
    codes = [code >> low & (1 << high - low) - 1 for low, high in pairwise(ends)]
    return tuple(decode(item, part) for item, part in zip(items, reversed(codes), strict=True))
