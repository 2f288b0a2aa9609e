"""Expressions as functions of a scope: a quantifier over many values decides all of them at once.

The values of the quantified name are arrays of numbers, and an operation is one of arrays.  The
interpreter (:mod:`checker.model.evaluate`), which defines the values, evaluates all other
expressions, and those with a run-time error.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from checker.audit.growing import Grown, GrownSequence, is_flat
from checker.model import ir
from checker.model.evaluate import RunFault, Scope, elements, evaluate
from checker.model.ir import Op, Quantifier
from checker.model.tree import nodes
from checker.model.types import AtomT, BagT, MapT, SetT, TupleT, cardinality, universe
from checker.polling import poll

One = Callable[[Scope], Any]
"""The value of an expression."""
Many = Callable[[Scope, Any, Any], Any]
"""The values of an expression for many values of a name (the second argument).  Only values at the
places where the third argument is true are used."""

MANY = 17
"""From how many values on a quantifier decides all of them at once."""
FEW = 16
"""The largest number of values of a quantifier inside of such a one."""


class NoArraysError(Exception):
    """An expression has no form for arrays."""


def compiled(expr: ir.Expr) -> One:
    """Returns ``expr`` as a function of a scope, with the values and errors of ``evaluate``."""
    expr = _counted(expr)
    match expr:
        case ir.Const(_, value):
            return lambda scope: value
        case ir.Local(_, name):
            return lambda scope: scope.names[name]
        case ir.Read(_, variable):
            return lambda scope: scope.state[variable]
        case ir.Item(_, base, position):
            of = compiled(base)
            return lambda scope: of(scope)[position]
        case ir.Index(_, base, key) if _is_by_atom(base):
            return _entry(expr, compiled(base), compiled(key))
        case ir.Apply():
            return _applied(expr)
        case ir.Quant(Quantifier.EXISTS | Quantifier.FORALL | Quantifier.COUNT):
            return _quantified(expr)
        case _:
            return lambda scope: evaluate(expr, scope)


def _counted(expr: ir.Expr) -> ir.Expr:
    """Returns the size of a set of chosen members as their number; any other ``expr`` as it is."""
    match expr:
        case ir.Apply(type_, Op.CARD | Op.LEN, (ir.Comprehension(type=SetT() | BagT()) as chosen,)):
            same = isinstance(chosen.item, ir.Local) and chosen.item.name == chosen.name
            if same and not _may_repeat(chosen.domain):
                domain, where = chosen.domain, chosen.where
                return ir.Quant(Quantifier.COUNT, chosen.name, domain, where, type_)
    return expr


def _may_repeat(domain: ir.Domain) -> bool:
    return isinstance(domain, ir.Members) and not isinstance(domain.of.type, SetT)


def _is_by_atom(base: ir.Expr) -> bool:
    return isinstance(base.type, MapT) and isinstance(base.type.key, AtomT)


def _entry(expr: ir.Index, base: One, key: One) -> One:
    assert isinstance(expr.base.type, MapT) and isinstance(expr.base.type.key, AtomT)
    first = expr.base.type.key.first

    def value(scope: Scope) -> Any:
        entries, at = base(scope), key(scope) - first
        return entries[at] if 0 <= at < len(entries) else evaluate(expr, scope)

    return value


_BINARY: dict[Op, Callable[[Any, Any], Any]] = {
    Op.EQ: operator.eq,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.IN: lambda item, of: item in of,
}


def _applied(expr: ir.Apply) -> One:
    parts = [compiled(each) for each in expr.args]
    match expr.op, parts:
        case Op.AND, _:
            return lambda scope: all(part(scope) for part in parts)
        case Op.OR, _:
            return lambda scope: any(part(scope) for part in parts)
        case Op.ITE, [condition, then, otherwise]:
            return lambda scope: (then if condition(scope) else otherwise)(scope)
        case Op.NOT, [part]:
            return lambda scope: not part(scope)
        case Op.CARD | Op.LEN, [part]:
            return lambda scope: len(part(scope))
        case _, [left, right] if expr.op in _BINARY:
            function = _BINARY[expr.op]
            return lambda scope: function(left(scope), right(scope))
        case Op.TUPLE, _ if tuple(each.type for each in expr.args) == expr.type.items:  # type: ignore[union-attr]
            return lambda scope: tuple([part(scope) for part in parts])
        case Op.INDEX_OF, [of, item]:
            return lambda scope: _position(expr, of(scope), item(scope), scope)
        case _:
            return lambda scope: evaluate(expr, scope)


def _position(expr: ir.Expr, of: Any, item: Any, scope: Scope) -> Any:
    return of.index(item) if item in of else evaluate(expr, scope)


# ---- quantifiers ------------------------------------------------------------------------------


_DECIDE: dict[Quantifier, Callable[[Iterable[Any]], Any]] = {
    Quantifier.EXISTS: any,
    Quantifier.FORALL: all,
    Quantifier.COUNT: sum,
}


def _quantified(expr: ir.Quant) -> One:
    body = compiled(expr.body)
    decide = _DECIDE[expr.kind]
    values, many = _values(expr), _many_or_none(expr.body, expr.name)

    def one(scope: Scope) -> Any:
        poll()
        inner = scope.bind(expr.name, None)
        columns = None if many is None else values(scope)
        if many is not None and columns is not None:
            live = np.ones(np.shape(_any_column(columns)), dtype=bool)
            try:
                return _decided(expr.kind, many(inner, columns, live), live)
            except (NoArraysError, RunFault):
                pass  # the interpreter's order decides whether there is an error
        return decide(_each(body, inner, expr.name, elements(expr.domain, scope)))

    return one


def _each(body: One, inner: Scope, name: str, values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        inner.names[name] = value
        yield body(inner)


def _decided(kind: Quantifier, found: Any, live: Any) -> Any:
    match kind:
        case Quantifier.EXISTS:
            return bool(np.any(live & found))
        case Quantifier.FORALL:
            return bool(np.all(found))
        case _:
            return int(np.sum(live & found))


def _any_column(columns: Any) -> Any:
    return _any_column(columns[0]) if isinstance(columns, tuple) else columns


def _values(expr: ir.Quant) -> One:
    """Returns the function that gives the elements of a domain in columns; ``None`` for few."""
    match expr.domain:
        case ir.Universe(AtomT() as item) if cardinality(item) >= MANY:
            every = np.asarray([*universe(item)], dtype=np.int64)
            return lambda scope: every
        case ir.Members(of, item) if is_flat(item) and item != TupleT(()):
            value_of = compiled(of)

            def columns(scope: Scope) -> Any:
                value = value_of(scope)
                is_large = isinstance(value, Grown) and len(value) >= MANY
                return value.columns() if is_large else None

            return columns
        case _:
            return lambda scope: None


# ---- arrays -----------------------------------------------------------------------------------


def _many_or_none(expr: ir.Expr, name: str) -> Many | None:
    try:
        return _many(expr, name)
    except NoArraysError:
        return None


def _depends(expr: ir.Expr, name: str) -> bool:
    return any(isinstance(node, ir.Local) and node.name == name for node in nodes(expr))


def _many(expr: ir.Expr, name: str) -> Many:
    """Returns ``expr`` as a function of all values of the local ``name``; raises
    :class:`NoArraysError`."""
    if not _depends(expr, name):
        one = compiled(expr)
        return lambda scope, values, live: one(scope)
    expr = _counted(expr)
    match expr:
        case ir.Local():
            return lambda scope, values, live: values
        case ir.Item(_, base, position):
            of = _many(base, name)
            return lambda scope, values, live: of(scope, values, live)[position]
        case ir.Quant(kind, inner, domain, body) if kind in _COMBINED:
            return _nested(kind, inner, domain, _many(body, name), name)
        case ir.Apply(_, Op.IN, (item, of)):
            return _by_history(of, _many(item, name), _inside, name)
        case ir.Apply(_, Op.INDEX_OF, (of, item)):
            return _by_history(of, _many(item, name), _positions, name)
        case ir.Apply(_, Op.CARD | Op.LEN, (of,)):
            return _by_history(of, lambda scope, values, live: None, _length, name)
        case ir.Apply():
            return _operation(expr, [_many(each, name) for each in expr.args])
        case _:
            raise NoArraysError


def _operation(expr: ir.Apply, parts: list[Many]) -> Many:
    match expr.op, parts:
        case Op.AND, _:
            return lambda scope, values, live: _all_of(parts, scope, values, live)
        case Op.OR, _:
            return lambda scope, values, live: _any_of(parts, scope, values, live)
        case Op.NOT, [part]:
            return lambda scope, values, live: np.logical_not(part(scope, values, live))
        case Op.EQ, [left, right] if all(is_flat(each.type) for each in expr.args):
            return lambda scope, values, live: _equal(
                left(scope, values, live), right(scope, values, live)
            )
        case Op.LT | Op.LE | Op.ADD | Op.SUB, [left, right]:
            function = _BINARY[expr.op]
            return lambda scope, values, live: function(
                left(scope, values, live), right(scope, values, live)
            )
        case Op.TUPLE, _ if tuple(each.type for each in expr.args) == expr.type.items:  # type: ignore[union-attr]
            return lambda scope, values, live: tuple([p(scope, values, live) for p in parts])
        case _:
            raise NoArraysError


def _all_of(parts: Iterable[Many], scope: Scope, values: Any, live: Any) -> Any:
    for part in parts:
        live = live & part(scope, values, live)
        if not live.any():
            break
    return live


def _any_of(parts: Iterable[Many], scope: Scope, values: Any, live: Any) -> Any:
    rest = live
    for part in parts:
        rest = rest & np.logical_not(part(scope, values, rest))
        if not rest.any():
            break
    return live & ~rest


def _how_many(parts: Iterable[Many], scope: Scope, values: Any, live: Any) -> Any:
    found = np.zeros(live.shape, dtype=np.int64)
    for part in parts:
        found += live & part(scope, values, live)
    return found


_COMBINED = {
    Quantifier.FORALL: _all_of,
    Quantifier.EXISTS: _any_of,
    Quantifier.COUNT: _how_many,
}


def _equal(left: Any, right: Any) -> Any:
    if not isinstance(left, tuple):
        return np.equal(left, right)
    same = np.bool_(True)
    for one, other in zip(left, right, strict=True):
        same = same & _equal(one, other)
    return same


def _nested(kind: Quantifier, inner: str, domain: ir.Domain, body: Many, name: str) -> Many:
    """Returns a quantifier over few values, inside of one over many."""
    match domain:
        case ir.Universe(item) if cardinality(item) <= FEW:
            pass
        case ir.Members(ir.Const()):
            pass
        case ir.Members(ir.Local(_, of)) if of != name:
            pass
        case _:
            raise NoArraysError
    combine = _COMBINED[kind]

    def many(scope: Scope, values: Any, live: Any) -> Any:
        scopes = (scope.bind(inner, value) for value in elements(domain, scope))
        parts = (_in_scope(body, each) for each in scopes)
        return combine(parts, scope, values, live)

    return many


def _in_scope(body: Many, scope: Scope) -> Many:
    return lambda _, values, live: body(scope, values, live)


Asked = Callable[[Any, Any, Any], Any]
"""A question about a collection and each of many items, for example whether it contains them."""


def _by_history(of: ir.Expr, item: Many, asked: Asked, name: str) -> Many:
    """Returns ``asked`` of the collection ``of``; if ``of`` depends on ``name``, it is an entry of
    a map by process, and each process's history is asked about the items of this process."""
    if not _depends(of, name):
        whole = compiled(of)
        return lambda scope, values, live: asked(whole(scope), item(scope, values, live), live)
    if not isinstance(of, ir.Index) or not _is_by_atom(of.base) or _depends(of.base, name):
        raise NoArraysError
    assert isinstance(of.base.type, MapT) and isinstance(of.base.type.key, AtomT)
    first, base, key = of.base.type.key.first, compiled(of.base), _many(of.key, name)

    def many(scope: Scope, values: Any, live: Any) -> Any:
        owners, items = key(scope, values, live), item(scope, values, live)
        found: Any = np.zeros(live.shape, dtype=bool if asked is _inside else np.int64)
        for rank, history in enumerate(base(scope)):
            here = live & (owners == first + rank)
            if here.any():
                found = np.where(here, asked(history, items, here), found)
        return found

    return many


def _inside(of: Any, items: Any, live: Any) -> Any:
    if isinstance(of, Grown) and is_flat(of.whole.type):
        return of.whole.first_at(items) < of.length
    if isinstance(of, frozenset) and not isinstance(items, tuple):
        return np.isin(items, [*of])
    raise NoArraysError


def _positions(of: Any, items: Any, live: Any) -> Any:
    if type(of) is not GrownSequence or not is_flat(of.whole.type):
        raise NoArraysError
    found = of.whole.first_at(items)
    if np.any(live & (found >= of.length)):
        raise NoArraysError
    return found


def _length(of: Any, items: Any, live: Any) -> Any:
    return len(of)
