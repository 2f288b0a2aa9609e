"""The pure operations (:class:`checker.system.ir.Op`) on values that are not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from checker.engines.symbolic.fitting import narrowed
from checker.engines.symbolic.terms import (
    Number,
    Truth,
    added,
    at_most,
    both,
    bounds,
    chosen_number,
    clipped,
    conjunction,
    counted,
    disjunction,
    divided,
    either,
    equal_numbers,
    implied,
    less,
    multiplied,
    negation,
    subtracted,
    total,
)
from checker.engines.symbolic.values import (
    Copies,
    Maybe,
    Members,
    Row,
    candidates,
    equal,
    equals,
    filled,
    lifted,
    merged,
)
from checker.system import ir
from checker.system.ir import Op
from checker.system.types import (
    AtomT,
    BagT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    cardinality,
    default,
)


class Run(Protocol):
    """What operations need of an evaluation."""

    def fail(self, when: Truth, guard: Truth) -> None:
        """An error of the run ``when``, if ``guard`` holds."""

    def held(self, type_: Type, value: Any, guard: Truth, known: Type | None = None) -> Any:
        """``value`` where ``type_`` is held; an error where it does not fit."""


def anything(type_: Type) -> Any:
    """A value of ``type_`` where there is none: nobody looks."""
    return lifted(type_, default(type_))


_HOLDING = frozenset(
    {
        Op.TUPLE, Op.SOME, Op.SET, Op.INSERT, Op.SEQ, Op.APPEND, Op.CONCAT, Op.BAG_ADD, Op.FILL,
    }
)  # fmt: skip
"""As in :mod:`checker.system.evaluate`."""


def applied(run: Run, expr: ir.Apply, args: list[Any], guard: Truth) -> Any:
    """The value of an operation that is not lazy."""
    if expr.op in _HOLDING:
        args = _held(run, expr, args, guard)
    if expr.op in _PLAIN:
        return _PLAIN[expr.op](*args)
    result, wrong = _CAREFUL[expr.op](expr, *args)
    run.fail(wrong, guard)
    if expr.op in _HOLDING and wrong is not False:
        return narrowed(expr.type, result)
    return result


def _held(run: Run, expr: ir.Apply, args: list[Any], guard: Truth) -> list[Any]:
    """The arguments, each as it is held in the result."""
    match expr.type:
        case SeqT(item) | BagT(item) | MapT(_, item) | OptionT(item) | SetT(item):
            places: tuple[Type, ...] = (item,) * len(args)
        case TupleT(items):
            places = items
        case other:
            raise AssertionError(f"{expr.op} does not build {other}")
    collections = {Op.INSERT: 1, Op.APPEND: 1, Op.BAG_ADD: 1, Op.CONCAT: 2}.get(expr.op, 0)
    found = []
    for position, (arg, value) in enumerate(zip(expr.args, args, strict=True)):
        place = expr.type if position < collections else places[position]
        found.append(run.held(place, value, guard, place if arg.type == expr.type else arg.type))
    return found


# ---- sets -------------------------------------------------------------------------------------


def is_member(item: Any, of: Any) -> Truth:
    """Whether ``item`` is in ``of``, a set, bag or sequence."""
    match of:
        case Members():
            found = ((equals(item, k), when) for k, when in of.when.items())
            return disjunction(both(is_it, when) for is_it, when in found if is_it is not False)
        case Copies():
            kinds = ((equals(item, k), copies) for k, copies in of.of.items())
            return disjunction(both(i, less(0, n)) for i, n in kinds if i is not False)
        case Row():
            slots = enumerate(of.slots)
            return disjunction(both(less(i, of.length), equal(item, v)) for i, v in slots)
        case _:
            raise AssertionError(f"no collection: {of!r}")


def _set(*items: Any) -> Members:
    found = Members({})
    for item in items:
        found = _insert(found, item)
    return found


def _insert(of: Members, item: Any) -> Members:
    found = dict(of.when)
    for value, when in candidates(item):
        found[value] = either(found.get(value, False), when)
    return Members(found)


def _remove(of: Members, item: Any) -> Members:
    return Members({k: both(w, negation(equals(item, k))) for k, w in of.when.items()})


def _union(a: Members, b: Members) -> Members:
    keys = dict.fromkeys((*a.when, *b.when))
    return Members({k: either(a.when.get(k, False), b.when.get(k, False)) for k in keys})


def _intersection(a: Members, b: Members) -> Members:
    return Members({k: both(w, b.when[k]) for k, w in a.when.items() if k in b.when})


def _difference(a: Members, b: Members) -> Members:
    return Members({k: both(w, negation(b.when.get(k, False))) for k, w in a.when.items()})


def _subset(a: Members, b: Members) -> Truth:
    return conjunction(implied(w, b.when.get(k, False)) for k, w in a.when.items())


def _cardinality(of: Members) -> Number:
    return total([counted(w) for w in of.when.values()])


def _extreme(expr: ir.Apply, of: Members) -> tuple[Any, Truth]:
    there: list[Any] = [k for k, w in of.when.items() if w is not False]
    keys = sorted(there, reverse=expr.op is Op.MIN)
    if not keys:
        return anything(expr.type), True
    found: Any = keys[0]
    for key in keys[1:]:
        found = merged(of.when[key], key, found)
    return found, negation(disjunction(of.when.values()))


# ---- sequences --------------------------------------------------------------------------------


def _at(of: Row, index: Number) -> Any:
    """Slot number ``index``, which there is."""
    low, high = bounds(index)
    found = of.slots[max(low, 0)] if low >= 0 else of.slots[0]
    for position in range(max(low, 0) + 1, min(high + 1, len(of.slots))):
        found = merged(equal_numbers(index, position), of.slots[position], found)
    return found


def _no_item(of: Row) -> Truth:
    return at_most(of.length, 0)


def _end(expr: ir.Apply, of: Row) -> tuple[Any, Truth]:
    if not of.slots:
        return anything(expr.type), True
    if expr.op is Op.HEAD:
        return of.slots[0], _no_item(of)
    last = clipped(subtracted(of.length, 1), 0, len(of.slots) - 1)
    return _at(of, last), _no_item(of)


def _tail(_: ir.Apply, of: Row) -> tuple[Any, Truth]:
    shorter = clipped(subtracted(of.length, 1), 0, max(len(of.slots) - 1, 0))
    return Row(shorter, of.slots[1:]), _no_item(of)


def _seq(expr: ir.Apply, *items: Any) -> tuple[Any, Truth]:
    assert isinstance(expr.type, SeqT)
    return Row(len(items), items), len(items) > expr.type.cap


def _append(expr: ir.Apply, of: Row, item: Any) -> tuple[Any, Truth]:
    return _concat(expr, of, Row(1, (item,)))


def _concat(expr: ir.Apply, a: Row, b: Row) -> tuple[Any, Truth]:
    """Slot by slot: of ``a`` as far as it goes, then of ``b``, wherever that begins."""
    assert isinstance(expr.type, SeqT)
    low, high = bounds(a.length)
    high = min(high, len(a.slots))
    slots: list[Any] = list(a.slots[:low])
    for position in range(low, min(high + len(b.slots), expr.type.cap)):
        found = a.slots[position] if position < high else None
        for start in range(max(low, position - len(b.slots) + 1), min(high, position) + 1):
            other = b.slots[position - start]
            begins = equal_numbers(a.length, start)
            found = other if found is None else merged(begins, other, found)
        if found is None:
            break
        slots.append(found)
    length = added(a.length, b.length)
    return Row(length, tuple(slots)), less(expr.type.cap, length)


def _delete_at(_: ir.Apply, of: Row, index: Number) -> tuple[Any, Truth]:
    slots = tuple(
        merged(less(position, index), of.slots[position], of.slots[position + 1])
        for position in range(len(of.slots) - 1)
    )
    shorter = clipped(subtracted(of.length, 1), 0, len(slots))
    return Row(shorter, slots), negation(filled(of, index))


def _length(of: Row | Copies) -> Number:
    return of.length


# ---- bags -------------------------------------------------------------------------------------


def _bag_add(expr: ir.Apply, of: Copies, item: Any) -> tuple[Any, Truth]:
    assert isinstance(expr.type, BagT)
    found: dict[Value, Number] = dict(of.of)
    for value, when in candidates(item):
        found[value] = added(found.get(value, 0), counted(when))
    return Copies(found, added(of.length, 1)), at_most(expr.type.cap, of.length)


def _bag_remove(of: Copies, item: Any) -> Copies:
    found: dict[Value, Number] = dict(of.of)
    removed: list[Truth] = []
    for key, copies in of.of.items():
        gone = equals(item, key)
        if gone is False or copies == 0:
            continue
        most = bounds(copies)[1]
        fewer = clipped(subtracted(copies, 1), 0, most)
        less_one = merged(less(0, copies), fewer, 0)
        found[key] = merged(gone, clipped(less_one, 0, most - 1), copies)
        removed.append(both(gone, less(0, copies)))
    left = subtracted(of.length, counted(disjunction(removed)))
    return Copies(found, clipped(left, 0, bounds(of.length)[1]))


def without(of: Copies, item: Any) -> Copies:
    """``of`` without any copy of ``item``."""
    left = clipped(subtracted(of.length, _bag_count(of, item)), 0, bounds(of.length)[1])
    return Copies({k: merged(equals(item, k), 0, copies) for k, copies in of.of.items()}, left)


def _bag_count(of: Copies, item: Any) -> Number:
    found: Number = 0
    for key, copies in of.of.items():
        when = equals(item, key)
        if isinstance(when, bool):
            found = copies if when else found
        else:
            found = chosen_number(when, copies, found)
    return found


# ---- the rest ---------------------------------------------------------------------------------


def _get(expr: ir.Apply, of: Maybe) -> tuple[Any, Truth]:
    found = anything(expr.type) if of.value is None else of.value
    return found, negation(of.present)


def _divided(expr: ir.Apply, a: Number, b: Number) -> tuple[Any, Truth]:
    quotient, rest = divided(a, b)
    found = quotient if expr.op is Op.DIV else rest
    assert isinstance(expr.type, IntT)
    return found, equal_numbers(b, 0)


def _rank(expr: ir.Apply, atom: Number) -> tuple[Any, Truth]:
    type_ = expr.args[0].type
    assert isinstance(type_, AtomT)
    return subtracted(atom, type_.first - 1), False


def _fill(expr: ir.Apply, value: Any) -> tuple[Any, Truth]:
    assert isinstance(expr.type, MapT)
    return (value,) * cardinality(expr.type.key), False


_PLAIN: dict[Op, Callable[..., Any]] = {
    Op.NOT: negation,
    Op.EQ: equal,
    Op.LT: less,
    Op.LE: at_most,
    Op.ADD: added,
    Op.SUB: subtracted,
    Op.MUL: multiplied,
    Op.TUPLE: lambda *items: items,
    Op.SOME: lambda a: Maybe(True, a),
    Op.IS_SOME: lambda a: a.present,
    Op.SET: _set,
    Op.IN: is_member,
    Op.UNION: _union,
    Op.INTERSECT: _intersection,
    Op.MINUS: _difference,
    Op.SUBSET: _subset,
    Op.INSERT: _insert,
    Op.REMOVE: _remove,
    Op.CARD: _cardinality,
    Op.LEN: _length,
    Op.BAG_REMOVE: _bag_remove,
    Op.BAG_COUNT: _bag_count,
}
"""Operations that meet no error of their own."""

_CAREFUL: dict[Op, Callable[..., tuple[Any, Truth]]] = {
    Op.DIV: _divided,
    Op.MOD: _divided,
    Op.GET: _get,
    Op.MIN: _extreme,
    Op.MAX: _extreme,
    Op.SEQ: _seq,
    Op.HEAD: _end,
    Op.LAST: _end,
    Op.TAIL: _tail,
    Op.APPEND: _append,
    Op.CONCAT: _concat,
    Op.DELETE_AT: _delete_at,
    Op.BAG_ADD: _bag_add,
    Op.RANK: _rank,
    Op.FILL: _fill,
}
"""Operations that give their value with when they meet an error."""
