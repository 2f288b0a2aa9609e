"""Expressions taken apart: what is in them, what they mention, what may go wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from checker.system import ir, types
from checker.system.build import conj, disj, negation
from checker.system.evaluate import key_rank
from checker.system.ir import Apply, Expr, Op
from checker.system.types import AtomT, IntT, MapT, SeqT, Type

_known: dict[type, tuple[str, ...]] = {}


def _names(kind: type) -> tuple[str, ...]:
    """The fields of a node in which other nodes may be; none where it is no node."""
    found = _known.get(kind)
    if found is None:
        node = is_dataclass(kind) and kind is not ir.Place and kind.__module__ != types.__name__
        found = _known[kind] = tuple(f.name for f in fields(kind)) if node else ()
    return found


def parts(node: Any) -> Iterator[Any]:
    """What ``node`` is made of, one level down: expressions, domains, statements."""
    for name in _names(type(node)):
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            if _names(type(part)):
                yield part


def within(node: Any) -> Iterator[Any]:
    """``node`` and everything in it."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(parts(node))


def rewritten(node: Any, change: Callable[[Any], Any]) -> Any:
    """``node`` with ``change`` made wherever it gives something else than ``None``, top down."""
    changed = change(node)
    if changed is not None:
        return changed
    found: dict[str, Any] = {}
    for name in _names(type(node)):
        value = getattr(node, name)
        if isinstance(value, tuple):
            new: Any = tuple(rewritten(p, change) if _names(type(p)) else p for p in value)
            if any(one is not other for one, other in zip(new, value, strict=True)):
                found[name] = new
        elif _names(type(value)):
            new = rewritten(value, change)
            if new is not value:
                found[name] = new
    return replace(node, **found) if found else node


def put(expr: Expr, pattern: Expr, value: Expr) -> Expr:
    """``expr`` with ``value`` for every ``pattern``."""
    kind = type(pattern)

    def change(node: Any) -> Any:
        return value if type(node) is kind and node == pattern else None

    result: Expr = rewritten(expr, change)
    return result


def placeless(node: Any) -> Any:
    """``node`` without the places of what is in it, so that it can be compared."""

    def change(part: Any) -> Any:
        if getattr(part, "place", None) is None:
            return None
        return placeless(replace(part, place=None))

    return rewritten(node, change)


def same(left: Expr | None, right: Expr) -> bool:
    """Whether two expressions without places are written alike; none is like no other."""
    return left == right


def mentions(expr: Any) -> set[str]:
    """The state variables in it."""
    return {n.variable for n in within(expr) if isinstance(n, ir.Read)}


def free(expr: Any) -> set[str]:
    """The local names in it that it does not bind."""
    match expr:
        case ir.Local(name=name):
            return {name}
        case ir.Quant(name=name, domain=domain, body=body):
            return free(domain) | free(body) - {name}
        case ir.SetOf(name=name, domain=domain, where=where, item=item):
            return free(domain) | (free(where) | free(item)) - {name}
        case ir.MapOf(name=name, body=body):
            return free(body) - {name}
        case ir.Let(name=name, value=value, body=body):
            return free(value) | free(body) - {name}
        case _:
            return {name for part in parts(expr) for name in free(part)}


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """What a conjunction joins."""
    if isinstance(expr, Apply) and expr.op is Op.AND:
        return tuple(inner for part in expr.args for inner in conjuncts(part))
    return () if expr == ir.TRUE else (expr,)


_RISKY = frozenset(
    {
        Op.DIV,
        Op.MOD,
        Op.GET,
        Op.MIN,
        Op.MAX,
        Op.HEAD,
        Op.LAST,
        Op.TAIL,
        Op.APPEND,
        Op.CONCAT,
        Op.DELETE_AT,
        Op.BAG_ADD,
        Op.SEQ,
    }
)


def risky(node: Any, known: tuple[Expr, ...] = ()) -> bool:
    """Whether something in an expression or domain could be an error of the run.

    ``known``: conditions that hold where it is evaluated.
    """
    match node:
        case Apply(op=Op.AND, args=args):
            return any(risky(arg, (*known, *args[:i])) for i, arg in enumerate(args))
        case Apply(op=op) if op in _RISKY:
            return True
        case ir.Index(base=base, key=key):
            if not isinstance(base.type, MapT):
                return True
            if not fits(key.type, base.type.key) and not _in_keys(key, base.type.key, known):
                return True
        case Apply(type_, op, args) if op in (Op.TUPLE, Op.SOME, Op.SET, Op.INSERT, Op.FILL):
            if not _held(type_, op, args):
                return True
        case ir.Make() | ir.MapOf() | ir.SetOf():
            if _numbers(node.type):
                return True
        case _:
            pass
    return any(risky(part, known) for part in parts(node))


def _in_keys(key: Expr, keys: Type, known: tuple[Expr, ...]) -> bool:
    """Whether it has been tested that ``key`` is a key of a map."""
    for test in known:
        match test:
            case Apply(op=Op.IN, args=(item, ir.Const(value=frozenset() as values))):
                if same(item, key) and all(key_rank(keys, value) >= 0 for value in values):
                    return True
            case _:
                continue
    return False


def _held(type_: Type, op: Op, args: tuple[Expr, ...]) -> bool:
    """Whether no integer can be beyond where it is held."""
    if not _numbers(type_):
        return True
    items: tuple[Type, ...]
    match type_:
        case MapT(value=value):
            items = (value,)
        case _:
            items = getattr(type_, "items", None) or (getattr(type_, "item", type_),)
    given = args[1:] if op is Op.INSERT else args
    if op is not Op.TUPLE:
        items = items * len(given)
    return all(fits(arg.type, item) for arg, item in zip(given, items, strict=True))


def _numbers(type_: Any) -> bool:
    if isinstance(type_, IntT):
        return True
    inner = [getattr(type_, f.name) for f in fields(type_)]
    return _nested(inner)


def _nested(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_nested(v) for v in value)
    return is_dataclass(value) and not isinstance(value, type) and _numbers(value)


def fits(narrow: Type, wide: Type) -> bool:
    """Whether every value of ``narrow`` is one of ``wide``."""
    match narrow, wide:
        case IntT(), IntT():
            return wide.lo <= narrow.lo and narrow.hi <= wide.hi
        case AtomT(), AtomT():
            last, end = narrow.first + len(narrow.labels), wide.first + len(wide.labels)
            return wide.first <= narrow.first and last <= end
        case SeqT(), _:
            return False
        case _:
            return narrow == wide


def simple(expr: Expr) -> Expr:
    """``expr`` without comparisons of a thing with itself and without constants in connectives."""
    match expr:
        case Apply(op=Op.EQ, args=(left, right)) if same(left, right) and not risky(left):
            return ir.TRUE
        case Apply(op=Op.NOT, args=(part,)):
            return negation(simple(part))
        case Apply(op=Op.AND, args=args):
            found = [simple(arg) for arg in args]
            return ir.FALSE if ir.FALSE in found else conj(*dict.fromkeys(found))
        case Apply(op=Op.OR, args=args):
            found = [simple(arg) for arg in args]
            return ir.TRUE if ir.TRUE in found else disj(*dict.fromkeys(found))
        case _:
            return expr
