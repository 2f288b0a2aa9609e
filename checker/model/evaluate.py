"""Evaluates expressions and domains: the definition of their semantics."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, assert_never

from checker.model import ir
from checker.model.ir import Expr, Op, Quantifier, SourceLocation
from checker.model.types import (
    AtomT,
    BagT,
    BoolT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
    cardinality,
    sort_key,
    universe,
)
from checker.polling import poll


class RunFault(Exception):
    """A runtime error: ``code`` is a diagnostic's code, ``grows`` a capacity to enlarge.

    ``states``: those of an execution to the state in which a property can't be evaluated; empty
    where only the state is known, ``None`` where there is no execution yet.
    """

    def __init__(
        self, code: str, message: str, place: SourceLocation | None = None, grows: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.place = place
        self.grows = grows
        self.states: tuple[tuple[Value, ...], ...] | None = None


class Scope:
    """The environment of an evaluation: state variables by name, and local names.

    ``state`` is shared and may be assigned between evaluations; ``names`` are the locals.
    """

    __slots__ = ("names", "state")

    def __init__(self, state: dict[str, Any], names: dict[str, Any]) -> None:
        self.state = state
        self.names = names

    def bind(self, name: str, value: Value) -> Scope:
        """Returns a scope over the same state with one more local name."""
        return self.__class__(self.state, {**self.names, name: value})

    def copy(self) -> Scope:
        """Returns an independent scope: assignments to either do not affect the other."""
        return self.__class__(dict(self.state), dict(self.names))

    def valuation(self, names: Iterable[tuple[str, Value]]) -> object:
        """Returns what is equal for two scopes only if their states are, and these ``names``."""
        return tuple(self.state.items()), tuple(names)


def key_rank(type_: Type, value: Any) -> int:
    """Returns the rank of ``value`` in ``universe(type_)``; ``-1`` where it is no member."""
    match type_:
        case BoolT():
            return int(value)
        case IntT(lo, hi):
            return int(value) - lo if lo <= value <= hi else -1
        case AtomT(labels=labels, first=first):
            rank = int(value) - first
            return rank if 0 <= rank < len(labels) else -1
        case TupleT(items=items):
            total = 0
            for item, part in zip(items, value, strict=True):
                rank = key_rank(item, part)
                if rank < 0:
                    return -1
                total = total * cardinality(item) + rank
            return total
        case _:
            for rank, member in enumerate(universe(type_)):
                if member == value:
                    return rank
            return -1


def misfit(type_: Type, value: Any, place: SourceLocation | None) -> RunFault | None:
    """Returns the error of storing ``value`` where ``type_`` is held; ``None`` where it fits."""
    parts: Iterator[tuple[Type, Any]]
    match type_:
        case BoolT():
            return None
        case IntT(lo, hi, grows):
            if lo <= value <= hi:
                return None
            if grows is not None and value < lo:
                return RunFault("R001", f"{value} is below {lo}", place)
            return RunFault("R001", f"{value} is outside {lo}..{hi}", place, grows)
        case AtomT(name, labels, first):
            if 0 <= value - first < len(labels):
                return None
            return RunFault("R001", f"this is not a {name}", place)
        case TupleT(items=items):
            parts = iter(zip(items, value, strict=True))
        case OptionT(item):
            parts = iter(() if value is None else ((item, value[0]),))
        case SetT(item):
            parts = iter([(item, v) for v in value])
        case MapT(_, item):
            parts = iter([(item, v) for v in value])
        case SeqT(item, cap, grows) | BagT(item, cap, grows):
            if len(value) > cap:
                return RunFault(
                    "R002", f"{len(value)} items exceed the capacity of {cap}", place, grows
                )
            parts = iter([(item, v) for v in value])
        case VariantT(cases=cases):
            fields = cases[value[0]].fields
            parts = iter(zip((t for _, t in fields), value[1:], strict=True))
        case _:
            assert_never(type_)
    for part_type, part in parts:
        fault = misfit(part_type, part, place)
        if fault is not None:
            return fault
    return None


def check_stored(
    type_: Type, value: Any, place: SourceLocation | None, known: Type | None = None
) -> Any:
    """Returns ``value``, checked against ``type_``; raises :class:`RunFault` where it does not fit.

    ``known``: a type that the value is known to have; where it equals ``type_`` nothing is checked.
    """
    if known is not type_ and known != type_:
        fault = misfit(type_, value, place)
        if fault is not None:
            raise fault
    return value


def members(domain: ir.Domain, scope: Scope) -> Iterator[Any]:
    """Returns the members of ``domain`` in canonical order (see
    :func:`checker.model.types.universe`)."""
    poll()
    match domain:
        case ir.Universe(item):
            for value in universe(item):
                poll()
                yield value
        case ir.Members(of, item):
            value = evaluate(of, scope)
            if isinstance(of.type, SeqT):
                yield from value
            elif isinstance(of.type, BagT):
                yield from sorted(set(value), key=sort_key)
            else:
                yield from sorted(value, key=lambda v: key_rank(item, v))
        case ir.Subsets(of, item):
            assert isinstance(item, SetT)
            inner = item.item
            ordered = sorted(evaluate(of, scope), key=lambda v: key_rank(inner, v))
            for mask in range(1 << len(ordered)):
                poll()
                yield frozenset(v for i, v in enumerate(ordered) if mask >> i & 1)
        case _:
            assert_never(domain)


def elements(domain: ir.Domain, scope: Scope) -> Iterator[Any]:
    """Returns the same as :func:`members`, but each copy in a bag (what ``Quant`` counts over)."""
    if isinstance(domain, ir.Members) and isinstance(domain.of.type, BagT):
        yield from evaluate(domain.of, scope)
    else:
        yield from members(domain, scope)


def evaluate(expr: Expr, scope: Scope) -> Any:
    """Returns the value of ``expr``; raises :class:`RunFault` for a runtime error."""
    match expr:
        case ir.Const(_, value):
            return value
        case ir.Local(_, name):
            return scope.names[name]
        case ir.Read(_, variable):
            return scope.state[variable]
        case ir.Index():
            return _index(expr, scope)
        case ir.Item(_, base, position):
            return evaluate(base, scope)[position]
        case ir.Apply():
            return _apply(expr, scope)
        case ir.Make(_, case, args):
            return check_stored(expr.type, (case, *(evaluate(a, scope) for a in args)), None)
        case ir.IsCase(base, case):
            return evaluate(base, scope)[0] == case
        case ir.CaseField(_, base, _, position):
            return evaluate(base, scope)[1 + position]
        case ir.Let(_, name, value, body):
            return evaluate(body, scope.bind(name, evaluate(value, scope)))
        case ir.Quant(kind, name, domain, body):
            holds = (evaluate(body, scope.bind(name, v)) for v in elements(domain, scope))
            match kind:
                case Quantifier.FORALL:
                    return all(holds)
                case Quantifier.EXISTS:
                    return any(holds)
                case Quantifier.COUNT | Quantifier.SUM:
                    return sum(holds)
                case _:
                    assert_never(kind)
        case ir.Comprehension():
            return _comprehension(expr, scope)
        case ir.MapOf(type_, name, body):
            assert isinstance(type_, MapT)
            entries = tuple(evaluate(body, scope.bind(name, k)) for k in universe(type_.key))
            return check_stored(type_, entries, None)
        case _:
            assert_never(expr)


def _comprehension(expr: ir.Comprehension, scope: Scope) -> Any:
    assert isinstance(expr.type, SetT | SeqT | BagT)
    inner, known = expr.type.item, expr.item.type
    bound = (scope.bind(expr.name, v) for v in members(expr.domain, scope))
    values = (evaluate(expr.item, s) for s in bound if evaluate(expr.where, s))
    found = [check_stored(inner, v, expr.place, known) for v in values]
    if isinstance(expr.type, SetT):
        return frozenset(found)
    if isinstance(expr.type, BagT):
        found = sorted(set(found), key=sort_key)
    _require_room(expr.type, len(found), expr.place)
    return tuple(found)


def _require_room(type_: SeqT | BagT, count: int, place: SourceLocation | None) -> None:
    if count > type_.cap:
        raise RunFault(
            "R002", f"{count} items exceed the capacity of {type_.cap}", place, type_.grows
        )


def _index(expr: ir.Index, scope: Scope) -> Any:
    base, key = evaluate(expr.base, scope), evaluate(expr.key, scope)
    key_type = expr.base.type.key if isinstance(expr.base.type, MapT) else None
    rank = key if key_type is None else key_rank(key_type, key)
    if not 0 <= rank < len(base):
        raise no_entry(key_type, key, len(base), expr.place)
    return base[rank]


def no_entry(
    key_type: Type | None, key: Any, length: int, place: SourceLocation | None
) -> RunFault:
    """Returns the fault of reading or writing an entry that a map with these keys, or a sequence
    of this length (``key_type`` is ``None``), does not have."""
    if isinstance(key_type, IntT):
        keys = f"the keys are {key_type.lo}..{key_type.hi}"
        return RunFault("R003", f"there is no entry for {key}: {keys}", place)
    if key_type is not None:
        return RunFault("R003", "there is no entry for this key", place)
    has = f"it has {length}, numbered from 0" if length else "it is empty"
    return RunFault("R003", f"there is no entry {key} in this sequence: {has}", place)


def _apply(expr: ir.Apply, scope: Scope) -> Any:
    match expr.op:
        case Op.AND:
            return all(evaluate(a, scope) for a in expr.args)
        case Op.OR:
            return any(evaluate(a, scope) for a in expr.args)
        case Op.ITE:
            condition, then, otherwise = expr.args
            return evaluate(then if evaluate(condition, scope) else otherwise, scope)
        case _:
            values = [evaluate(a, scope) for a in expr.args]
            result = _OPERATIONS[expr.op](expr, *values)
            if expr.op in _HOLDING:
                _check_held(expr, values, result)
            return result


_HOLDING = frozenset(
    {
        Op.TUPLE, Op.SOME, Op.SET, Op.INSERT, Op.SEQ, Op.APPEND, Op.CONCAT, Op.BAG_ADD, Op.FILL,
    }
)  # fmt: skip
"""Operations whose result contains their arguments: each must fit the type of its place."""


def _check_held(expr: ir.Apply, values: list[Any], result: Any) -> None:
    """Checks the length of ``result``, and the arguments whose type differs from that of their
    place.

    (An argument of the same type was checked where it was built.)
    """
    match expr.type:
        case (SeqT(item) | BagT(item)) as type_:
            _require_room(type_, len(result), expr.place)
            places = (item,) * len(values)
        case TupleT(items):
            places = items
        case MapT(_, item) | OptionT(item) | SetT(item):
            places = (item,) * len(values)
        case other:
            raise AssertionError(f"{expr.op} does not build {other}")
    collections = {Op.INSERT: 1, Op.APPEND: 1, Op.BAG_ADD: 1, Op.CONCAT: 2}.get(expr.op, 0)
    for position, (arg, value) in enumerate(zip(expr.args, values, strict=True)):
        place = expr.type if position < collections else places[position]
        if arg.type != expr.type:
            check_stored(place, value, expr.place, arg.type)


def _need(expr: ir.Apply, present: bool, message: str) -> None:
    if not present:
        raise RunFault("R004", message, expr.place)


def _get(expr: ir.Apply, option: Any) -> Any:
    _need(expr, option is not None, "this option is empty")
    return option[0]


def _head(expr: ir.Apply, seq: Any) -> Any:
    _need(expr, bool(seq), "this sequence is empty")
    return seq[0]


def _last(expr: ir.Apply, seq: Any) -> Any:
    _need(expr, bool(seq), "this sequence is empty")
    return seq[-1]


def _tail(expr: ir.Apply, seq: Any) -> Any:
    _need(expr, bool(seq), "this sequence is empty")
    return seq[1:]


def _extreme(expr: ir.Apply, values: Any) -> Any:
    _need(expr, bool(values), "this set is empty")
    return min(values) if expr.op is Op.MIN else max(values)


def _divide(expr: ir.Apply, a: Any, b: Any) -> Any:
    _need(expr, b != 0, "division by zero")
    return a // b if expr.op is Op.DIV else a % b


def _delete_at(expr: ir.Apply, seq: Any, index: Any) -> Any:
    if not 0 <= index < len(seq):
        raise no_entry(None, index, len(seq), expr.place)
    return seq[:index] + seq[index + 1 :]


def _check_part(expr: ir.Apply, seq: Any, count: Any) -> None:
    """Raises :class:`RunFault` where ``seq`` has no ``count`` first items."""
    if not 0 <= count <= len(seq):
        has = f"{len(seq)} item" + "s" * (len(seq) != 1)
        part = f"the first {count} items" if count != 1 else "the first item"
        raise RunFault("R003", f"{part} of a sequence that has {has}", expr.place)


def _take(expr: ir.Apply, seq: Any, count: Any) -> Any:
    _check_part(expr, seq, count)
    return seq[:count]


def _drop(expr: ir.Apply, seq: Any, count: Any) -> Any:
    _check_part(expr, seq, count)
    return seq[count:]


def _index_of(expr: ir.Apply, seq: Any, item: Any) -> Any:
    _need(expr, item in seq, "this sequence has no such item")
    return seq.index(item)


def _bag_add(_: ir.Apply, bag: Any, item: Any) -> Any:
    at = bisect_right(bag, sort_key(item), key=sort_key)
    return (*bag[:at], item, *bag[at:])


def _bag_remove(_: ir.Apply, bag: Any, item: Any) -> Any:
    if item not in bag:
        return bag
    at = bag.index(item)
    return bag[:at] + bag[at + 1 :]


def _rank(expr: ir.Apply, atom: Any) -> int:
    type_ = expr.args[0].type
    assert isinstance(type_, AtomT)
    return int(atom) - type_.first + 1


def _fill(expr: ir.Apply, value: Any) -> Any:
    assert isinstance(expr.type, MapT)
    return (value,) * cardinality(expr.type.key)


_OPERATIONS: Mapping[Op, Any] = {
    Op.NOT: lambda _, a: not a,
    Op.EQ: lambda _, a, b: a == b,
    Op.LT: lambda _, a, b: a < b,
    Op.LE: lambda _, a, b: a <= b,
    Op.ADD: lambda _, a, b: a + b,
    Op.SUB: lambda _, a, b: a - b,
    Op.MUL: lambda _, a, b: a * b,
    Op.DIV: _divide,
    Op.MOD: _divide,
    Op.TUPLE: lambda _, *items: items,
    Op.SOME: lambda _, a: (a,),
    Op.IS_SOME: lambda _, a: bool(a),
    Op.GET: _get,
    Op.SET: lambda _, *items: frozenset(items),
    Op.IN: lambda _, item, of: item in of,
    Op.UNION: lambda _, a, b: a | b,
    Op.INTERSECT: lambda _, a, b: a & b,
    Op.MINUS: lambda _, a, b: a - b,
    Op.SUBSET: lambda _, a, b: a <= b,
    Op.INSERT: lambda _, a, item: a | {item},
    Op.REMOVE: lambda _, a, item: a - {item},
    Op.CARD: lambda _, a: len(a),
    Op.MIN: _extreme,
    Op.MAX: _extreme,
    Op.SEQ: lambda _, *items: items,
    Op.LEN: lambda _, a: len(a),
    Op.HEAD: _head,
    Op.LAST: _last,
    Op.TAIL: _tail,
    Op.APPEND: lambda _, a, item: (*a, item),
    Op.CONCAT: lambda _, a, b: a + b,
    Op.DELETE_AT: _delete_at,
    Op.TAKE: _take,
    Op.DROP: _drop,
    Op.INDEX_OF: _index_of,
    Op.PREFIX: lambda _, a, b: a == b[: len(a)],
    Op.BAG_ADD: _bag_add,
    Op.BAG_REMOVE: _bag_remove,
    Op.BAG_COUNT: lambda _, bag, item: bag.count(item),
    Op.RANK: _rank,
    Op.FILL: _fill,
}
