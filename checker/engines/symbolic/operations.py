"""The pure operations (:class:`checker.model.ir.Op`) on symbolic values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from checker.engines.symbolic.symbolic_values import (
    SymbolicBag,
    SymbolicOption,
    SymbolicSeq,
    SymbolicSet,
    candidates,
    equal,
    equals,
    is_index,
    lift,
    merge,
)
from checker.engines.symbolic.terms import (
    Number,
    Truth,
    add,
    at_most,
    both,
    bounds,
    clip,
    conjunction,
    disjunction,
    either,
    equal_numbers,
    floor_divide,
    implication,
    less,
    multiply,
    negation,
    number_if,
    subtract,
    to_number,
    total,
)
from checker.engines.symbolic.type_membership import narrow
from checker.model import ir
from checker.model.ir import Op
from checker.model.types import (
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


class EvaluationContext(Protocol):
    """The interface of an evaluation that operations need."""

    def fail(self, when: Truth, guard: Truth) -> None:
        """Adds a runtime error under the condition ``when``, if ``guard`` holds."""

    def require_fit(self, type_: Type, value: Any, guard: Truth, known: Type | None = None) -> Any:
        """Returns ``value`` for a place of type ``type_``; adds an error where it does not fit."""


def arbitrary_value(type_: Type) -> Any:
    """Returns an arbitrary value of ``type_`` where there is none: it is never read."""
    return lift(type_, default(type_))


_HOLDING = frozenset(
    {
        Op.TUPLE, Op.SOME, Op.SET, Op.INSERT, Op.SEQ, Op.APPEND, Op.CONCAT, Op.BAG_ADD, Op.FILL,
    }
)  # fmt: skip
"""As in :mod:`checker.model.evaluate`."""


def apply_operation(run: EvaluationContext, expr: ir.Apply, args: list[Any], guard: Truth) -> Any:
    """Returns the value of an operation that is not lazy."""
    if expr.op in _HOLDING:
        args = _require_fits(run, expr, args, guard)
    if expr.op in _PLAIN:
        return _PLAIN[expr.op](*args)
    result, wrong = _CAREFUL[expr.op](expr, *args)
    run.fail(wrong, guard)
    if expr.op in _HOLDING and wrong is not False:
        return narrow(expr.type, result)
    return result


def _require_fits(
    run: EvaluationContext, expr: ir.Apply, args: list[Any], guard: Truth
) -> list[Any]:
    """Returns the arguments, each converted to its type in the result."""
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
        found.append(
            run.require_fit(place, value, guard, place if arg.type == expr.type else arg.type)
        )
    return found


# ---- sets -------------------------------------------------------------------------------------


def is_member(item: Any, of: Any) -> Truth:
    """Returns whether ``item`` is in ``of``, a set, bag or sequence."""
    match of:
        case SymbolicSet():
            found = ((equals(item, k), when) for k, when in of.when.items())
            return disjunction(both(is_it, when) for is_it, when in found if is_it is not False)
        case SymbolicBag():
            kinds = ((equals(item, k), copies) for k, copies in of.of.items())
            return disjunction(both(i, less(0, n)) for i, n in kinds if i is not False)
        case SymbolicSeq():
            slots = enumerate(of.slots)
            return disjunction(both(less(i, of.length), equal(item, v)) for i, v in slots)
        case _:
            raise AssertionError(f"no collection: {of!r}")


def set_of(items: Iterable[tuple[Any, Truth]]) -> SymbolicSet:
    """Returns the set of ``items``, each of which is there under its condition."""
    found: dict[Value, Truth] = {}
    for item, there in items:
        for value, is_it in candidates(item):
            found[value] = either(found.get(value, False), both(there, is_it))
    return SymbolicSet(found)


def _set(*items: Any) -> SymbolicSet:
    return set_of((item, True) for item in items)


def _insert(of: SymbolicSet, item: Any) -> SymbolicSet:
    found = dict(of.when)
    for value, when in candidates(item):
        found[value] = either(found.get(value, False), when)
    return SymbolicSet(found)


def _remove(of: SymbolicSet, item: Any) -> SymbolicSet:
    return SymbolicSet({k: both(w, negation(equals(item, k))) for k, w in of.when.items()})


def _union(a: SymbolicSet, b: SymbolicSet) -> SymbolicSet:
    keys = dict.fromkeys((*a.when, *b.when))
    return SymbolicSet({k: either(a.when.get(k, False), b.when.get(k, False)) for k in keys})


def _intersection(a: SymbolicSet, b: SymbolicSet) -> SymbolicSet:
    return SymbolicSet({k: both(w, b.when[k]) for k, w in a.when.items() if k in b.when})


def _difference(a: SymbolicSet, b: SymbolicSet) -> SymbolicSet:
    return SymbolicSet({k: both(w, negation(b.when.get(k, False))) for k, w in a.when.items()})


def _subset(a: SymbolicSet, b: SymbolicSet) -> Truth:
    return conjunction(implication(w, b.when.get(k, False)) for k, w in a.when.items())


def _cardinality(of: SymbolicSet) -> Number:
    return total([to_number(w) for w in of.when.values()])


def _extreme(expr: ir.Apply, of: SymbolicSet) -> tuple[Any, Truth]:
    there: list[Any] = [k for k, w in of.when.items() if w is not False]
    keys = sorted(there, reverse=expr.op is Op.MIN)
    if not keys:
        return arbitrary_value(expr.type), True
    found: Any = keys[0]
    for key in keys[1:]:
        found = merge(of.when[key], key, found)
    return found, negation(disjunction(of.when.values()))


def bag_of(type_: BagT, items: Iterable[tuple[Any, Truth]]) -> tuple[SymbolicBag, Truth]:
    """Returns the bag with one copy of each of ``items``, each of which is there under its
    condition, and whether ``type_`` has no room for it.
    """
    found = {item: to_number(there) for item, there in set_of(items).when.items()}
    length = total(list(found.values()))
    return SymbolicBag(found, clip(length, 0, type_.cap)), less(type_.cap, length)


# ---- sequences --------------------------------------------------------------------------------


def _at(of: SymbolicSeq, index: Number) -> Any:
    """Returns slot number ``index``, which exists."""
    low, high = bounds(index)
    found = of.slots[max(low, 0)] if low >= 0 else of.slots[0]
    for position in range(max(low, 0) + 1, min(high + 1, len(of.slots))):
        found = merge(equal_numbers(index, position), of.slots[position], found)
    return found


def _no_item(of: SymbolicSeq) -> Truth:
    return at_most(of.length, 0)


def _end(expr: ir.Apply, of: SymbolicSeq) -> tuple[Any, Truth]:
    if not of.slots:
        return arbitrary_value(expr.type), True
    if expr.op is Op.HEAD:
        return of.slots[0], _no_item(of)
    last = clip(subtract(of.length, 1), 0, len(of.slots) - 1)
    return _at(of, last), _no_item(of)


def _tail(_: ir.Apply, of: SymbolicSeq) -> tuple[Any, Truth]:
    shorter = clip(subtract(of.length, 1), 0, max(len(of.slots) - 1, 0))
    return SymbolicSeq(shorter, of.slots[1:]), _no_item(of)


def _seq(expr: ir.Apply, *items: Any) -> tuple[Any, Truth]:
    assert isinstance(expr.type, SeqT)
    return SymbolicSeq(len(items), items), len(items) > expr.type.cap


def _append(expr: ir.Apply, of: SymbolicSeq, item: Any) -> tuple[Any, Truth]:
    return _concat(expr, of, SymbolicSeq(1, (item,)))


def _concat(expr: ir.Apply, a: SymbolicSeq, b: SymbolicSeq) -> tuple[Any, Truth]:
    """Concatenates slot by slot: ``a`` up to its length, then ``b``, from wherever that begins."""
    assert isinstance(expr.type, SeqT)
    low, high = bounds(a.length)
    high = min(high, len(a.slots))
    slots: list[Any] = list(a.slots[:low])
    for position in range(low, min(high + len(b.slots), expr.type.cap)):
        found = a.slots[position] if position < high else None
        for start in range(max(low, position - len(b.slots) + 1), min(high, position) + 1):
            other = b.slots[position - start]
            begins = equal_numbers(a.length, start)
            found = other if found is None else merge(begins, other, found)
        if found is None:
            break
        slots.append(found)
    length = add(a.length, b.length)
    return SymbolicSeq(length, tuple(slots)), less(expr.type.cap, length)


def seq_of(type_: SeqT, items: Iterable[tuple[Any, Truth]]) -> tuple[SymbolicSeq, Truth]:
    """Returns the sequence of ``items``, each of which is there under its condition, and whether
    ``type_`` has no room for it.
    """
    slots: list[Any] = []
    length: Number = 0
    for item, there in items:
        low, high = bounds(length)
        for position in range(low, min(high + 1, type_.cap)):
            if position == len(slots):
                slots.append(item)
            else:
                here = both(there, equal_numbers(length, position))
                slots[position] = merge(here, item, slots[position])
        length = add(length, to_number(there))
    wrong = less(type_.cap, length)
    return SymbolicSeq(clip(length, 0, len(slots)), tuple(slots)), wrong


def _delete_at(_: ir.Apply, of: SymbolicSeq, index: Number) -> tuple[Any, Truth]:
    slots = tuple(
        merge(less(position, index), of.slots[position], of.slots[position + 1])
        for position in range(len(of.slots) - 1)
    )
    shorter = clip(subtract(of.length, 1), 0, len(slots))
    return SymbolicSeq(shorter, slots), negation(is_index(of, index))


def _is_part(of: SymbolicSeq, count: Number) -> Truth:
    """Returns whether ``of`` has ``count`` first items."""
    return both(at_most(0, count), at_most(count, of.length))


def _take(_: ir.Apply, of: SymbolicSeq, count: Number) -> tuple[Any, Truth]:
    length = clip(count, 0, len(of.slots))
    return SymbolicSeq(length, of.slots[: bounds(length)[1]]), negation(_is_part(of, count))


def _drop(_: ir.Apply, of: SymbolicSeq, count: Number) -> tuple[Any, Truth]:
    """Moves each slot by ``count``, which has a few values."""
    less_by = clip(count, 0, len(of.slots))
    low, high = bounds(less_by)
    slots = list(of.slots[low:])
    for moved in range(low + 1, high + 1):
        here = equal_numbers(less_by, moved)
        for position, slot in enumerate(of.slots[moved:]):
            slots[position] = merge(here, slot, slots[position])
    length = clip(subtract(of.length, less_by), 0, len(slots))
    return SymbolicSeq(length, tuple(slots)), negation(_is_part(of, count))


def _index_of(_: ir.Apply, of: SymbolicSeq, item: Any) -> tuple[Any, Truth]:
    found: Number = 0
    there = [both(less(i, of.length), equal(item, v)) for i, v in enumerate(of.slots)]
    for position in reversed(range(len(there))):
        found = merge(there[position], position, found)
    return found, negation(disjunction(there))


def _prefix(a: SymbolicSeq, b: SymbolicSeq) -> Truth:
    shared = zip(a.slots, b.slots, strict=False)
    same = (either(at_most(a.length, i), equal(x, y)) for i, (x, y) in enumerate(shared))
    return both(at_most(a.length, b.length), conjunction(same))


def _length(of: SymbolicSeq | SymbolicBag) -> Number:
    return of.length


# ---- bags -------------------------------------------------------------------------------------


def _bag_add(expr: ir.Apply, of: SymbolicBag, item: Any) -> tuple[Any, Truth]:
    assert isinstance(expr.type, BagT)
    found: dict[Value, Number] = dict(of.of)
    for value, when in candidates(item):
        found[value] = add(found.get(value, 0), to_number(when))
    return SymbolicBag(found, add(of.length, 1)), at_most(expr.type.cap, of.length)


def _bag_remove(of: SymbolicBag, item: Any) -> SymbolicBag:
    found: dict[Value, Number] = dict(of.of)
    removed: list[Truth] = []
    for key, copies in of.of.items():
        gone = equals(item, key)
        if gone is False or copies == 0:
            continue
        most = bounds(copies)[1]
        fewer = clip(subtract(copies, 1), 0, most)
        less_one = merge(less(0, copies), fewer, 0)
        found[key] = merge(gone, clip(less_one, 0, most - 1), copies)
        removed.append(both(gone, less(0, copies)))
    left = subtract(of.length, to_number(disjunction(removed)))
    return SymbolicBag(found, clip(left, 0, bounds(of.length)[1]))


def without(of: SymbolicBag, item: Any) -> SymbolicBag:
    """Returns ``of`` without any copy of ``item``."""
    left = clip(subtract(of.length, _bag_count(of, item)), 0, bounds(of.length)[1])
    return SymbolicBag({k: merge(equals(item, k), 0, copies) for k, copies in of.of.items()}, left)


def _bag_count(of: SymbolicBag, item: Any) -> Number:
    found: Number = 0
    for key, copies in of.of.items():
        when = equals(item, key)
        if isinstance(when, bool):
            found = copies if when else found
        else:
            found = number_if(when, copies, found)
    return found


# ---- the rest ---------------------------------------------------------------------------------


def _get(expr: ir.Apply, of: SymbolicOption) -> tuple[Any, Truth]:
    found = arbitrary_value(expr.type) if of.value is None else of.value
    return found, negation(of.present)


def _divide(expr: ir.Apply, a: Number, b: Number) -> tuple[Any, Truth]:
    quotient, rest = floor_divide(a, b)
    found = quotient if expr.op is Op.DIV else rest
    assert isinstance(expr.type, IntT)
    return found, equal_numbers(b, 0)


def _rank(expr: ir.Apply, atom: Number) -> tuple[Any, Truth]:
    type_ = expr.args[0].type
    assert isinstance(type_, AtomT)
    return subtract(atom, type_.first - 1), False


def _fill(expr: ir.Apply, value: Any) -> tuple[Any, Truth]:
    assert isinstance(expr.type, MapT)
    return (value,) * cardinality(expr.type.key), False


_PLAIN: dict[Op, Callable[..., Any]] = {
    Op.NOT: negation,
    Op.EQ: equal,
    Op.LT: less,
    Op.LE: at_most,
    Op.ADD: add,
    Op.SUB: subtract,
    Op.MUL: multiply,
    Op.TUPLE: lambda *items: items,
    Op.SOME: lambda a: SymbolicOption(True, a),
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
    Op.PREFIX: _prefix,
    Op.BAG_REMOVE: _bag_remove,
    Op.BAG_COUNT: _bag_count,
}
"""Operations that never fail."""

_CAREFUL: dict[Op, Callable[..., tuple[Any, Truth]]] = {
    Op.DIV: _divide,
    Op.MOD: _divide,
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
    Op.TAKE: _take,
    Op.DROP: _drop,
    Op.INDEX_OF: _index_of,
    Op.BAG_ADD: _bag_add,
    Op.RANK: _rank,
    Op.FILL: _fill,
}
"""Operations that return their value with the condition under which they fail."""
