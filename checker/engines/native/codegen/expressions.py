"""Lowers expressions to code: one register for the value of each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import assert_never

from checker.engines.native.codegen import state_access
from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.constant_tables import entry_of_table
from checker.engines.native.codegen.convert import convert
from checker.engines.native.codegen.domains import each, member_type
from checker.engines.native.codegen.emit import FALSE, TRUE, Val, const
from checker.engines.native.codegen.frame import Frame
from checker.engines.native.codegen.operations import OPERATIONS
from checker.engines.native.codegen.packing import universe_size, width
from checker.engines.native.codegen.sequences import with_item, with_member
from checker.engines.native.codegen.state_access import Spot
from checker.model import ir
from checker.model import types as t
from checker.model.ir import Expr, Op, Quantifier
from checker.polling import poll

WORD = 64
"""Bits up to which a constant map is computed with as a number."""

EAGER = 24
"""Operands of ``and`` and ``or`` of at most so many instructions are computed without branching."""


def lower_as(frame: Frame, expr: Expr, want: t.Type) -> Val:
    """The value of ``expr`` as one of ``want``; a runtime error where it does not fit."""
    return frame.adapt(lower(frame, expr), expr.type, want)


def lower(frame: Frame, expr: Expr) -> Val:
    """The value of ``expr``, in a register for ``expr.type``."""
    poll()
    fn = frame.fn
    c.check_integers(expr.type)
    match expr:
        case ir.Const(type_, value):
            return c.constant(type_, value)
        case ir.Local(type_, name):
            return frame.get(name, type_)
        case ir.Read() | ir.Index() | ir.Item():
            place = locate(frame, expr)
            if place is not None:
                value = c.from_code(fn, place.type, state_access.load(fn, frame.state, place))
                return frame.adapt(value, place.type, expr.type)
            assert not isinstance(expr, ir.Read)
            return _part(frame, expr)
        case ir.Apply():
            return _apply(frame, expr)
        case ir.Make(type_, case, args):
            assert isinstance(type_, t.VariantT)
            fields = c.field_types(type_, case)
            values = [lower_as(frame, a, f) for a, f in zip(args, fields, strict=True)]
            return c.make_variant(fn, type_, case, values)
        case ir.IsCase(base, case):
            assert isinstance(base.type, t.VariantT)
            return c.is_case(fn, base.type, lower(frame, base), case)
        case ir.CaseField(type_, base, case, position):
            assert isinstance(base.type, t.VariantT)
            value = c.case_field(fn, base.type, lower(frame, base), case, position)
            return frame.adapt(value, c.field_types(base.type, case)[position], type_)
        case ir.Let(type_, name, value_expr, body):
            value = lower(frame, value_expr)
            with frame.bound(name, value_expr.type, value):
                return lower_as(frame, body, type_)
        case ir.Quant():
            return _quant(frame, expr)
        case ir.Comprehension():
            return _comprehension(frame, expr)
        case ir.MapOf():
            return _map_of(frame, expr)
        case _:
            assert_never(expr)


def locate(frame: Frame, expr: Expr) -> Spot | None:
    """The place of ``expr``'s value in the state, or ``None`` where it has to be computed."""
    fn = frame.fn
    match expr:
        case ir.Read(_, variable):
            return state_access.spot(fn, frame.layout.node(variable), const(0))
        case ir.Index(_, base, key):
            place = locate(frame, base)
            if place is None or not isinstance(place.type, t.MapT):
                return None
            if not isinstance(place, state_access.Words):
                return state_access.entry(fn, place, key_index(frame, key, place.type.key))
            return None
        case ir.Item(_, base, position):
            place = locate(frame, base)
            return None if place is None else state_access.item(fn, place, position)
        case _:
            return None


def key_index(frame: Frame, key: Expr, key_type: t.Type) -> Val:
    """The rank of a map's key; a value that is no key is a runtime error."""
    return c.rank(frame.fn, key_type, lower_as(frame, key, key_type))


def _part(frame: Frame, expr: ir.Index | ir.Item) -> Val:
    """An entry or item of a value that is not in the state."""
    fn = frame.fn
    if isinstance(expr, ir.Index) and _is_table(expr.base):
        return _entry_of_table(frame, expr)
    base = lower(frame, expr.base)
    match expr, expr.base.type:
        case (ir.Item(_, _, position), t.TupleT(items)):
            return frame.adapt(c.component(fn, items, base, position), items[position], expr.type)
        case (ir.Index(_, _, key), t.MapT() as type_):
            index = key_index(frame, key, type_.key)
            if not universe_size(type_.key):
                return const(0, c.bits_of(expr.type))
            return frame.adapt(c.entry(fn, type_, base, index), type_.value, expr.type)
        case (ir.Index(_, _, key), t.SeqT() as type_):
            index = lower(frame, key)
            frame.fault_if(fn.not_(fn.lt(index, c.length(fn, type_, base))))
            return frame.adapt(c.slot(fn, type_, base, index), type_.item, expr.type)
        case _:
            raise AssertionError(f"{expr.base.type} has no parts")


def _is_table(base: Expr) -> bool:
    """Whether ``base`` is a constant map from numbers to numbers too wide for a register."""
    if not isinstance(base, ir.Const) or not isinstance(base.type, t.MapT):
        return False
    numbers = isinstance(base.type.key, t.IntT) and isinstance(base.type.value, t.IntT)
    return numbers and universe_size(base.type.key) * width(base.type.value) > WORD


def _entry_of_table(frame: Frame, expr: ir.Index) -> Val:
    type_, base = expr.base.type, expr.base
    assert isinstance(base, ir.Const) and isinstance(type_, t.MapT)
    assert isinstance(type_.value, t.IntT) and isinstance(base.value, tuple)
    least = type_.value.lo
    index = key_index(frame, expr.key, type_.key)
    codes = [value - least for value in base.value]
    found = frame.fn.add(entry_of_table(frame.fn, codes, index), const(least))
    return frame.adapt(found, type_.value, expr.type)


def _apply(frame: Frame, expr: ir.Apply) -> Val:
    fn = frame.fn
    match expr.op:
        case Op.AND:
            return _lazy(frame, expr.args, TRUE)
        case Op.OR:
            return _lazy(frame, expr.args, FALSE)
        case Op.ITE:
            condition, then, otherwise = expr.args
            bit = lower(frame, condition)
            return _choice(
                frame,
                bit,
                [
                    lambda: lower_as(frame, then, expr.type),
                    lambda: lower_as(frame, otherwise, expr.type),
                ],
            )
        case Op.IN:
            found = _bit_in_state(frame, expr)
            if found is not None:
                return found
        case _:
            pass
    values = [lower(frame, a) for a in expr.args]
    result = OPERATIONS[expr.op](frame, expr, values)
    assert result.bits == c.bits_of(expr.type), (expr.op, expr.type, result, fn.name)
    return result


def _lazy(frame: Frame, args: tuple[Expr, ...], neutral: Val) -> Val:
    """Evaluates left to right; the first operand that is not ``neutral`` decides."""
    fn, decided = frame.fn, const(1 - (neutral.const or 0), 1)
    total = neutral
    for i, arg in enumerate(args):
        captured = fn.capture(functools.partial(lower, frame, arg))
        value = captured.value
        if i == 0:
            total = fn.append(captured)
        elif captured.harmless() and len(captured.lines) <= EAGER:
            fn.append(captured)
            if neutral.const:
                total = fn.select(total, value, decided)
            else:
                total = fn.select(total, decided, value)
        else:
            result = fn.var(total)
            with fn.if_(total if neutral.const else fn.not_(total)):
                result.set(fn.append(captured))
            total = result.get()
    return total


def _choice(frame: Frame, bit: Val, arms: list[Callable[[], Val]]) -> Val:
    fn = frame.fn
    then, otherwise = fn.capture(arms[0]), fn.capture(arms[1])
    calm = then.harmless() and otherwise.harmless()
    if calm and len(then.lines) + len(otherwise.lines) <= EAGER:
        return fn.select(bit, fn.append(then), fn.append(otherwise))
    result = fn.var(const(0, then.value.bits))
    fn.if_else(
        bit,
        lambda: result.set(fn.append(then)),
        lambda: result.set(fn.append(otherwise)),
    )
    return result.get()


def _bit_in_state(frame: Frame, expr: ir.Apply) -> Val | None:
    """Membership in a set of several words: one load."""
    fn = frame.fn
    item, of = expr.args
    if not isinstance(of, ir.Read) or not isinstance(of.type, t.SetT):
        return None
    place = locate(frame, of)
    if not isinstance(place, state_access.Words) or not c.same_shape(place.type, of.type):
        return None
    value, fits = convert(fn, lower(frame, item), item.type, of.type.item)
    index = c.rank(fn, of.type.item, value)
    word, shift = state_access.bit(fn, place, fn.select(fits, index, const(0)))
    found = fn.resize(fn.lshr(fn.load(fn.at(frame.state, word), 64), shift), 1)
    return fn.and_(found, fits)


def lower_source(frame: Frame, domain: ir.Domain) -> Val | None:
    """The value of a domain's expression, if it has one."""
    source = ir.domain_source(domain)
    return None if source is None else lower(frame, source)


def _quant(frame: Frame, expr: ir.Quant) -> Val:
    fn, member = frame.fn, member_type(expr.domain)
    source = lower_source(frame, expr.domain)
    end = fn.label()
    match expr.kind:
        case Quantifier.COUNT | Quantifier.SUM:
            total = fn.var(const(0))
            with each(fn, expr.domain, source, copies=True) as (value, _):
                with frame.bound(expr.name, member, value):
                    holds = lower(frame, expr.body)
                total.set(fn.add(total.get(), fn.resize(holds, 64)))
            return total.get()
        case Quantifier.FORALL | Quantifier.EXISTS:
            forall = expr.kind is Quantifier.FORALL
            result = fn.var(TRUE if forall else FALSE)
            with each(fn, expr.domain, source, copies=True) as (value, _):
                with frame.bound(expr.name, member, value):
                    holds = lower(frame, expr.body)
                result.set(holds)
                fn.leave_if(fn.not_(holds) if forall else holds, end)
            fn.place(end)
            return result.get()
        case _:
            assert_never(expr.kind)


def _comprehension(frame: Frame, expr: ir.Comprehension) -> Val:
    fn, type_ = frame.fn, expr.type
    assert isinstance(type_, t.SetT | t.SeqT | t.BagT)
    source = lower_source(frame, expr.domain)
    result = fn.var(const(0, width(type_)))
    with each(fn, expr.domain, source) as (value, following):
        with frame.bound(expr.name, member_type(expr.domain), value):
            fn.leave_if(fn.not_(lower(frame, expr.where)), following)
            item = lower_as(frame, expr.item, type_.item)
        if isinstance(type_, t.SeqT):
            result.set(with_item(frame, type_, result.get(), item))
        elif isinstance(type_, t.BagT):
            result.set(with_member(frame, type_, result.get(), item))
        else:
            bit = fn.shl(const(1, width(type_)), c.rank(fn, type_.item, item))
            result.set(fn.or_(result.get(), bit))
    return result.get()


def _map_of(frame: Frame, expr: ir.MapOf) -> Val:
    fn, type_ = frame.fn, expr.type
    assert isinstance(type_, t.MapT)
    result = fn.var(const(0, width(type_)))
    size = universe_size(type_.key)
    with fn.count(const(size)) as i, fn.rounds(size):
        with frame.bound(expr.name, type_.key, c.unrank(fn, type_.key, i)):
            value = lower_as(frame, expr.body, type_.value)
        code = fn.resize(c.to_code(fn, type_.value, value), width(type_))
        moved = fn.shl(code, c.entry_shift(fn, type_, i))
        result.set(fn.or_(result.get(), moved))
    return result.get()
