"""Operations on sequences and bags: shifts within one wide integer."""

from __future__ import annotations

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.convert import convert, unify
from checker.engines.native.codegen.emit import TRUE, Fn, Val, const
from checker.engines.native.codegen.frame import Frame
from checker.engines.native.codegen.packing import length_width, width
from checker.model import types as t
from checker.model.ir import Apply

Listed = t.SeqT | t.BagT


def _as_listed(type_: t.Type) -> Listed:
    assert isinstance(type_, t.SeqT | t.BagT)
    return type_


def _slots(fn: Fn, type_: Listed, seq: Val) -> Val:
    """The slots alone: the code without its length, with the bits of the code."""
    return fn.and_(seq, const((1 << c.items_width(type_)) - 1, seq.bits))


def _build(fn: Fn, type_: Listed, count: Val, slots: Val) -> Val:
    """A code from its length (64 bits) and slots."""
    size = fn.resize(fn.resize(count, length_width(type_.cap)), width(type_))
    if not type_.cap:
        return size
    return fn.or_(fn.shl(size, const(c.items_width(type_), size.bits)), slots)


def _empty(fn: Fn, type_: Listed, seq: Val) -> Val:
    return fn.eq(c.length(fn, type_, seq), const(0))


def _without(fn: Fn, type_: Listed, seq: Val, index: Val) -> Val:
    """``seq`` without slot ``index``, which is in use."""
    if not type_.cap:
        return seq
    slots, bits = _slots(fn, type_, seq), seq.bits
    low_mask = fn.sub(fn.shl(const(1, bits), c.slot_shift(fn, type_, index)), const(1, bits))
    low = fn.shl(fn.and_(slots, low_mask), const(width(type_.item), bits))
    above = fn.shl(const(1, bits), fn.add(c.slot_shift(fn, type_, index), const(width(type_.item))))
    high = fn.and_(slots, fn.not_(fn.sub(above, const(1, bits))))
    return _build(fn, type_, fn.sub(c.length(fn, type_, seq), const(1)), fn.or_(high, low))


def seq(frame: Frame, e: Apply, v: list[Val]) -> Val:
    """The sequence, or bag, of the operands."""
    fn, type_ = frame.fn, _as_listed(e.type)
    if len(v) > type_.cap:
        frame.fault_if(TRUE)
        return const(0, width(type_))
    parts = [frame.adapt(x, a.type, type_.item) for x, a in zip(v, e.args, strict=True)]
    codes = [c.to_code(fn, type_.item, part) for part in parts]
    codes += [const(0, width(type_.item))] * (type_.cap - len(codes))
    return c.concatenate(fn, [const(len(v), length_width(type_.cap)), *codes], width(type_))


def length_of(frame: Frame, e: Apply, v: list[Val]) -> Val:
    return c.length(frame.fn, _as_listed(e.args[0].type), v[0])


def head(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.args[0].type)
    frame.fault_if(_empty(fn, type_, v[0]))
    return frame.adapt(c.slot(fn, type_, v[0], const(0)), type_.item, e.type)


def last(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.args[0].type)
    frame.fault_if(_empty(fn, type_, v[0]))
    index = fn.sub(c.length(fn, type_, v[0]), const(1))
    return frame.adapt(c.slot(fn, type_, v[0], index), type_.item, e.type)


def tail(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.args[0].type)
    frame.fault_if(_empty(fn, type_, v[0]))
    return frame.adapt(_without(fn, type_, v[0], const(0)), type_, e.type)


def append(frame: Frame, e: Apply, v: list[Val]) -> Val:
    type_ = _as_listed(e.type)
    code = frame.adapt(v[0], e.args[0].type, type_)
    return with_item(frame, type_, code, frame.adapt(v[1], e.args[1].type, type_.item))


def with_item(frame: Frame, type_: Listed, code: Val, item: Val) -> Val:
    """The sequence ``code`` with one more ``item``; one that has no room is a runtime error."""
    fn = frame.fn
    count = c.length(fn, type_, code)
    frame.fault_if(fn.not_(fn.lt(count, const(type_.cap))))
    if not type_.cap:
        return code
    packed = fn.resize(c.to_code(fn, type_.item, item), code.bits)
    slots = fn.or_(_slots(fn, type_, code), fn.shl(packed, c.slot_shift(fn, type_, count)))
    return _build(fn, type_, fn.add(count, const(1)), slots)


def concat(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.type)
    left, right = (frame.adapt(x, a.type, type_) for x, a in zip(v, e.args, strict=True))
    count = c.length(fn, type_, left)
    total = fn.add(count, c.length(fn, type_, right))
    frame.fault_if(fn.lt(const(type_.cap), total))
    if not type_.cap:
        return left
    moved = fn.lshr(_slots(fn, type_, right), fn.mul(count, const(width(type_.item))))
    return _build(fn, type_, total, fn.or_(_slots(fn, type_, left), moved))


def delete_at(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.args[0].type)
    frame.fault_if(fn.not_(fn.lt(v[1], c.length(fn, type_, v[0]))))
    return frame.adapt(_without(fn, type_, v[0], v[1]), type_, e.type)


def take(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.args[0].type)
    code, count = v
    frame.fault_if(fn.lt(c.length(fn, type_, code), count))
    kept = _build(fn, type_, count, _first(fn, type_, code, count))
    return frame.adapt(kept, type_, e.type)


def drop(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.args[0].type)
    code, count = v
    size = c.length(fn, type_, code)
    frame.fault_if(fn.lt(size, count))
    moved = fn.shl(_slots(fn, type_, code), fn.mul(count, const(width(type_.item))))
    kept = _build(fn, type_, fn.sub(size, count), _slots(fn, type_, moved))
    return frame.adapt(kept, type_, e.type)


def index_of(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.args[0].type)
    unify(e.args[1].type, type_.item)  # comparable at all
    wanted, fits = convert(fn, v[1], e.args[1].type, type_.item)
    frame.fault_if(fn.not_(fits))
    code, found, done = c.to_code(fn, type_.item, wanted), fn.var(const(0)), fn.label()
    slots = c.Slots(fn, type_, v[0])
    with fn.count(c.length(fn, type_, v[0])) as i:
        found.set(i)
        fn.leave_if(fn.eq(slots.code(i), code), done)
    frame.fault_if(TRUE)
    fn.place(done)
    return found.get()


def prefix(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, (a, b) = frame.fn, e.args
    type_ = _as_listed(unify(a.type, b.type))
    left, right = (convert(fn, x, arg.type, type_)[0] for x, arg in zip(v, e.args, strict=True))
    count = c.length(fn, type_, left)
    fits = fn.le(count, c.length(fn, type_, right))
    same = fn.eq(_slots(fn, type_, left), _first(fn, type_, right, count))
    return fn.and_(fits, same)


def _first(fn: Fn, type_: Listed, seq: Val, count: Val) -> Val:
    """The first ``count`` slots, at most ``cap``; the others are zero."""
    rest = fn.mul(fn.sub(const(type_.cap), count), const(width(type_.item)))
    low_mask = fn.sub(fn.shl(const(1, seq.bits), rest), const(1, seq.bits))
    return fn.and_(_slots(fn, type_, seq), fn.not_(low_mask))


def bag_add(frame: Frame, e: Apply, v: list[Val]) -> Val:
    type_ = _as_listed(e.type)
    bag = frame.adapt(v[0], e.args[0].type, type_)
    return _with_copy(frame, type_, bag, frame.adapt(v[1], e.args[1].type, type_.item))


def with_member(frame: Frame, type_: t.BagT, bag: Val, item: Val) -> Val:
    """The ``bag`` with one copy of ``item``; one that has no room is a runtime error."""
    fn, result = frame.fn, frame.fn.var(bag)
    copies = occurrences(frame, type_.item, item, type_, bag)
    with fn.if_(fn.eq(copies, const(0))):
        result.set(_with_copy(frame, type_, bag, item))
    return result.get()


def _with_copy(frame: Frame, type_: Listed, bag: Val, value: Val) -> Val:
    """Puts the new item behind all items that are not larger."""
    fn = frame.fn
    item = c.to_code(fn, type_.item, value)
    count = c.length(fn, type_, bag)
    frame.fault_if(fn.not_(fn.lt(count, const(type_.cap))))
    if not type_.cap:
        return bag
    where, held = fn.var(const(0)), c.Slots(fn, type_, bag)
    with fn.count(count) as i:
        smaller = fn.le(held.code(i), item)
        where.set(fn.add(where.get(), fn.resize(smaller, 64)))
    shift, slots = c.slot_shift(fn, type_, where.get()), _slots(fn, type_, bag)
    above = fn.shl(const(1, bag.bits), fn.add(shift, const(width(type_.item))))
    low_mask = fn.sub(above, const(1, bag.bits))
    high = fn.and_(slots, fn.not_(low_mask))
    low = fn.lshr(fn.and_(slots, low_mask), const(width(type_.item), bag.bits))
    new = fn.shl(fn.resize(item, bag.bits), shift)
    return _build(fn, type_, fn.add(count, const(1)), fn.or_(high, fn.or_(new, low)))


def bag_remove(frame: Frame, e: Apply, v: list[Val]) -> Val:
    fn, type_ = frame.fn, _as_listed(e.args[0].type)
    wanted, fits = convert(fn, v[1], e.args[1].type, type_.item)
    code, result = c.to_code(fn, type_.item, wanted), fn.var(v[0])
    done = fn.label()
    fn.leave_if(fn.not_(fits), done)
    slots = c.Slots(fn, type_, v[0])
    with fn.count(c.length(fn, type_, v[0])) as i:
        here = fn.eq(slots.code(i), code)
        with fn.if_(here):
            result.set(_without(fn, type_, v[0], i))
            fn.jump(done)
    fn.place(done)
    return frame.adapt(result.get(), type_, e.type)


def bag_count(frame: Frame, e: Apply, v: list[Val]) -> Val:
    return occurrences(frame, e.args[1].type, v[1], e.args[0].type, v[0])


def occurrences(frame: Frame, item_type: t.Type, item: Val, of_type: t.Type, of: Val) -> Val:
    """How many items of a sequence or bag are equal to ``item``, 64 bits."""
    fn, type_ = frame.fn, _as_listed(of_type)
    unify(item_type, type_.item)  # comparable at all
    wanted, fits = convert(fn, item, item_type, type_.item)
    code, total = c.to_code(fn, type_.item, wanted), fn.var(const(0))
    slots = c.Slots(fn, type_, of)
    with fn.if_(fits), fn.count(c.length(fn, type_, of)) as i:
        same = fn.eq(slots.code(i), code)
        total.set(fn.add(total.get(), fn.resize(same, 64)))
    return total.get()
