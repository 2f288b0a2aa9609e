"""Pure operations into code: integers, options and sets; sequences are in their own module.

Every function takes the frame, the expression and its operands in registers for their types, and
returns a register for the expression's type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.engines.native.codegen import sequences as s
from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.convert import convert, unify
from checker.engines.native.codegen.emit import FALSE, Val, const
from checker.engines.native.codegen.frame import Frame
from checker.engines.native.codegen.packing import universe_size, width
from checker.model import types as t
from checker.model.ir import Apply, Op

Operation = Callable[[Frame, Apply, list[Val]], Val]


def _pair(frame: Frame, e: Apply, v: list[Val]) -> tuple[Val, Val, t.Type]:
    """Both operands as values of one type."""
    a, b = e.args
    joint = unify(a.type, b.type)
    left, _ = convert(frame.fn, v[0], a.type, joint)
    right, _ = convert(frame.fn, v[1], b.type, joint)
    return left, right, joint


def _eq(frame: Frame, e: Apply, v: list[Val]) -> Val:
    left, right, _ = _pair(frame, e, v)
    return frame.fn.eq(left, right)


def _less(frame: Frame, e: Apply, v: list[Val]) -> Val:
    left, right, joint = _pair(frame, e, v)
    relation = "lt" if e.op is Op.LT else "le"
    return frame.fn.compare(relation, left, right, signed=isinstance(joint, t.IntT))


def _divide(frame: Frame, e: Apply, v: list[Val]) -> Val:
    """Floor division and its remainder: LLVM's round towards zero."""
    fn, (a, b) = frame.fn, v
    frame.fault_if(fn.eq(b, const(0)))
    quotient, rest = fn.sdiv(a, b), fn.srem(a, b)
    differs = fn.slt(fn.xor(rest, b), const(0))
    adjust = fn.and_(differs, fn.ne(rest, const(0)))
    if e.op is Op.DIV:
        return fn.sub(quotient, fn.resize(adjust, 64))
    return fn.add(rest, fn.select(adjust, b, const(0)))


def _tuple(frame: Frame, e: Apply, v: list[Val]) -> Val:
    assert isinstance(e.type, t.TupleT)
    parts = [
        frame.adapt(x, a.type, item) for x, a, item in zip(v, e.args, e.type.items, strict=True)
    ]
    return c.product(frame.fn, e.type.items, parts, width(e.type))


def _some(frame: Frame, e: Apply, v: list[Val]) -> Val:
    assert isinstance(e.type, t.OptionT)
    return c.some(frame.fn, e.type, frame.adapt(v[0], e.args[0].type, e.type.item))


def _is_some(frame: Frame, e: Apply, v: list[Val]) -> Val:
    type_ = e.args[0].type
    assert isinstance(type_, t.OptionT)
    return c.is_some(frame.fn, type_, v[0])


def _get(frame: Frame, e: Apply, v: list[Val]) -> Val:
    type_ = e.args[0].type
    assert isinstance(type_, t.OptionT)
    frame.fault_if(frame.fn.not_(c.is_some(frame.fn, type_, v[0])))
    return frame.adapt(c.option_item(frame.fn, type_, v[0]), type_.item, e.type)


def _bit(frame: Frame, type_: t.SetT, item: Val) -> Val:
    return frame.fn.shl(const(1, width(type_)), c.rank(frame.fn, type_.item, item))


def _set(frame: Frame, e: Apply, v: list[Val]) -> Val:
    assert isinstance(e.type, t.SetT)
    total = const(0, width(e.type))
    for value, arg in zip(v, e.args, strict=True):
        item = frame.adapt(value, arg.type, e.type.item)
        total = frame.fn.or_(total, _bit(frame, e.type, item))
    return total


def _in(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, of = frame.fn, e.args[1].type
    if isinstance(of, t.SeqT | t.BagT):
        return fn.ne(s.occurrences(frame, e.args[0].type, v[0], of, v[1]), const(0))
    assert isinstance(of, t.SetT)
    item, fits = convert(fn, v[0], e.args[0].type, of.item)
    if not universe_size(of.item):
        return FALSE
    found = fn.resize(fn.lshr(v[1], c.rank(fn, of.item, item)), 1)
    return fn.select(fits, found, FALSE)


def _member(frame: Frame, e: Apply, v: list[Val]) -> Val:
    """``INSERT`` and ``REMOVE``."""
    fn, type_ = frame.fn, e.type
    assert isinstance(type_, t.SetT)
    have = e.args[0].type
    if e.op is Op.INSERT:
        old = frame.adapt(v[0], have, type_)
        return fn.or_(old, _bit(frame, type_, frame.adapt(v[1], e.args[1].type, type_.item)))
    assert isinstance(have, t.SetT)
    item, fits = convert(fn, v[1], e.args[1].type, have.item)
    bit = fn.select(fits, _bit(frame, have, item), const(0, width(have)))
    return frame.adapt(fn.and_(v[0], fn.not_(bit)), have, type_)


def _combine(frame: Frame, e: Apply, v: list[Val]) -> Val:
    """``UNION``, ``INTERSECT`` and ``MINUS``."""
    fn, (a, b) = frame.fn, e.args
    if e.op is Op.UNION:
        left, right = (frame.adapt(x, arg.type, e.type) for x, arg in zip(v, e.args, strict=True))
        return fn.or_(left, right)
    joint = unify(a.type, b.type)
    left, _ = convert(fn, v[0], a.type, joint)
    right, _ = convert(fn, v[1], b.type, joint)
    result = fn.and_(left, right if e.op is Op.INTERSECT else fn.not_(right))
    return frame.adapt(result, joint, e.type)


def _subset(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn = frame.fn
    left, right, _ = _pair(frame, e, v)
    outside = fn.and_(left, fn.not_(right))
    return fn.eq(outside, const(0, outside.bits))


def _card(frame: Frame, e: Apply, v: list[Val]) -> Val:
    return frame.fn.resize(frame.fn.intrinsic("ctpop", v[0]), 64)


def _extreme(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, e.args[0].type
    assert isinstance(type_, t.SetT) and isinstance(type_.item, t.IntT)
    mask = fn.resize(v[0], max(64, v[0].bits))
    frame.fault_if(fn.eq(mask, const(0, mask.bits)))
    name = "cttz" if e.op is Op.MIN else "ctlz"
    found = fn.resize(fn.intrinsic(name, mask, "i1 true"), 64)
    if e.op is Op.MAX:
        found = fn.sub(const(mask.bits - 1), found)
    return fn.add(found, const(type_.item.lo))


def _rank(frame: Frame, e: Apply, v: list[Val]) -> Val:
    return frame.fn.add(frame.fn.resize(v[0], 64), const(1))


def _fill(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, e.type
    assert isinstance(type_, t.MapT)
    bits, many = width(type_.value), universe_size(type_.key)
    code = c.to_code(fn, type_.value, frame.adapt(v[0], e.args[0].type, type_.value))
    ones = sum(1 << i * bits for i in range(many))
    return fn.mul(fn.resize(code, width(type_)), const(ones, width(type_)))


def _plain(compute: Callable[[Any, list[Val]], Val]) -> Operation:
    return lambda frame, _, v: compute(frame.fn, v)


OPERATIONS: dict[Op, Operation] = {
    Op.NOT: _plain(lambda fn, v: fn.not_(v[0])),
    Op.EQ: _eq,
    Op.LT: _less,
    Op.LE: _less,
    Op.ADD: _plain(lambda fn, v: fn.add(*v)),
    Op.SUB: _plain(lambda fn, v: fn.sub(*v)),
    Op.MUL: _plain(lambda fn, v: fn.mul(*v)),
    Op.DIV: _divide,
    Op.MOD: _divide,
    Op.TUPLE: _tuple,
    Op.SOME: _some,
    Op.IS_SOME: _is_some,
    Op.GET: _get,
    Op.SET: _set,
    Op.IN: _in,
    Op.UNION: _combine,
    Op.INTERSECT: _combine,
    Op.MINUS: _combine,
    Op.SUBSET: _subset,
    Op.INSERT: _member,
    Op.REMOVE: _member,
    Op.CARD: _card,
    Op.MIN: _extreme,
    Op.MAX: _extreme,
    Op.SEQ: s.seq,
    Op.LEN: s.length_of,
    Op.HEAD: s.head,
    Op.LAST: s.last,
    Op.TAIL: s.tail,
    Op.APPEND: s.append,
    Op.CONCAT: s.concat,
    Op.DELETE_AT: s.delete_at,
    Op.TAKE: s.take,
    Op.DROP: s.drop,
    Op.INDEX_OF: s.index_of,
    Op.PREFIX: s.prefix,
    Op.BAG_ADD: s.bag_add,
    Op.BAG_REMOVE: s.bag_remove,
    Op.BAG_COUNT: s.bag_count,
    Op.RANK: _rank,
    Op.FILL: _fill,
}
