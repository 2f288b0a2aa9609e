"""Conditions over a state, simplified as they are made: what :mod:`checker.reductions.order` needs.

A condition is a disjunction of :class:`Case`: some values of ``binders`` satisfy all of ``parts``.
Leaving parts out makes a condition weaker; that is always allowed here, since these conditions say
what may still happen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from checker.system import ir
from checker.system.build import conj, disj, negation
from checker.system.ir import FALSE, TRUE, Apply, Const, Expr, Op
from checker.system.types import BOOL, BagT, SeqT, SetT, TupleT, Type, VariantT, cardinality

MANY = 64
"""Values of a type are tried one by one where there are no more than these."""
UNKNOWN = "?"
"""The name of a local whose value is not known."""

Binder = tuple[str, Type]


@dataclass(frozen=True, slots=True)
class Case:
    """Some values of ``binders`` satisfy all of ``parts``, which are evaluated in this order."""

    binders: tuple[Binder, ...]
    parts: tuple[Expr, ...]


def nodes(node: Any) -> Iterator[Any]:
    """``node`` and everything below it."""
    if isinstance(node, tuple):
        for part in node:
            yield from nodes(part)
    elif is_dataclass(node) and not isinstance(node, type | ir.Place | ir.Const):
        yield node
        for one in fields(node):
            if one.name != "type":
                yield from nodes(getattr(node, one.name))


def locals_of(node: Any) -> frozenset[str]:
    """The names of locals that occur in ``node``."""
    return frozenset(n.name for n in nodes(node) if isinstance(n, ir.Local))


def reads_of(node: Any) -> frozenset[str]:
    """The variables that are read in ``node``."""
    return frozenset(n.variable for n in nodes(node) if isinstance(n, ir.Read))


def known(node: Any) -> bool:
    """Whether no value in ``node`` is unknown."""
    return UNKNOWN not in locals_of(node)


def replaced(node: Any, meaning: Mapping[str, Expr]) -> Any:
    """``node`` with locals replaced, and simplified."""
    if isinstance(node, ir.Local):
        return meaning.get(node.name, node)
    if isinstance(node, tuple):
        return tuple(replaced(part, meaning) for part in node)
    if not is_dataclass(node) or isinstance(node, type | ir.Place | ir.Const):
        return node
    inner = meaning
    if isinstance(node, ir.Quant | ir.SetOf | ir.MapOf | ir.Let) and node.name in meaning:
        inner = {name: value for name, value in meaning.items() if name != node.name}
    changes: dict[str, Any] = {}
    for one in fields(node):
        if one.name not in ("type", "place"):
            changes[one.name] = replaced(getattr(node, one.name), inner)
    return _simple(replace(node, **changes))


def _simple(node: Any) -> Any:
    match node:
        case ir.Item(_, Apply(op=Op.TUPLE, args=args), position):
            return args[position]
        case ir.Item(_, Const(TupleT(items=items), tuple() as value), position):
            return Const(items[position], value[position])
        case ir.CaseField(_, ir.Make(case=made, args=args), case, position) if made == case:
            return args[position]
        case ir.IsCase(ir.Make(case=made), case):
            return TRUE if made == case else FALSE
        case ir.IsCase(Const(_, tuple() as value), case):
            return TRUE if value[0] == case else FALSE
        case ir.IsCase(base, _) if isinstance(base.type, VariantT) and len(base.type.cases) == 1:
            return TRUE
        case Apply(op=Op.EQ, args=(left, right)):
            return same(left, right)
        case Apply(op=Op.NOT, args=(arg,)):
            return negation(arg)
        case Apply(op=Op.AND, args=args):
            return _folded(conj, args, FALSE)
        case Apply(op=Op.OR, args=args):
            return _folded(disj, args, TRUE)
        case Apply(op=Op.IN, args=(Const(_, item), Const(_, frozenset() as members))):
            return TRUE if item in members else FALSE
        case Apply(op=Op.LE, args=(Const(_, int() as low), Const(_, int() as high))):
            return TRUE if low <= high else FALSE
        case _:
            return node


def _folded(join: Any, args: tuple[Expr, ...], absorbing: Expr) -> Expr:
    return absorbing if absorbing in args else join(*args)


def same(left: Expr, right: Expr) -> Expr:
    """That two values are equal."""
    if left == right:
        return TRUE
    if isinstance(left, Const) and isinstance(right, Const):
        return TRUE if left.value == right.value else FALSE
    for one, other in ((left, right), (right, left)):
        match one:
            case Apply(op=Op.TUPLE, args=args):
                parts = (same(a, _item(other, i)) for i, a in enumerate(args))
                return _folded(conj, tuple(parts), FALSE)
            case ir.Make(VariantT(cases=cases), case, args):
                tests: list[Expr] = [_simple(ir.IsCase(other, case))]
                for i, (a, (_, type_)) in enumerate(zip(args, cases[case].fields, strict=True)):
                    tests.append(same(a, _simple(ir.CaseField(type_, other, case, i))))
                return _folded(conj, tuple(tests), FALSE)
    return Apply(BOOL, Op.EQ, (left, right))


def may_be_same(left: Expr, right: Expr) -> Expr:
    """That two values may be equal, as far as their types let it be said."""
    equal = same(left, right)
    parts = []
    for part in conjuncts(equal):
        match part:
            case Apply(op=Op.EQ, args=(one, other)) if one.type != other.type:
                pass
            case _:
                parts.append(part)
    return conj(*parts)


def _item(of: Expr, position: int) -> Expr:
    """A component."""
    assert isinstance(of.type, TupleT)
    item: Expr = _simple(ir.Item(of.type.items[position], of, position))
    return item


def conjuncts(expr: Expr) -> list[Expr]:
    """The parts of a conjunction."""
    match expr:
        case Apply(op=Op.AND, args=args):
            return [part for arg in args for part in conjuncts(arg)]
        case Apply(op=Op.NOT, args=(Apply(op=Op.OR, args=args),)):
            return [part for arg in args for part in conjuncts(negation(arg))]
        case _:
            return [] if expr == TRUE else [expr]


def some(cases: list[Case], facts: frozenset[Expr] = frozenset()) -> Expr:
    """The condition that one of the cases is there, where ``facts`` hold."""
    found: list[Expr] = []
    for case in cases:
        expr = closed(case, facts)
        if expr == TRUE:
            return TRUE
        if expr not in found and expr != FALSE:
            found.append(expr)
    return disj(*found)


def closed(case: Case, facts: frozenset[Expr] = frozenset()) -> Expr:
    """The condition of one case; weaker where it would take too long to evaluate."""
    binders, parts = dict(case.binders), [p for p in case.parts if known(p)]
    while True:
        parts = [part for whole in parts for part in conjuncts(whole)]
        parts = list(dict.fromkeys(parts))
        parts = [part for part in parts if part not in facts]
        if FALSE in parts or any(negation(p) in parts or negation(p) in facts for p in parts):
            return FALSE
        meaning = _next(binders, parts)
        if meaning is None:
            break
        parts = list(replaced(tuple(parts), meaning))
        if not all(known(part) for part in parts):
            parts = [part for part in parts if known(part)]
    return _quantified(binders, parts)


def _next(binders: dict[str, Type], parts: list[Expr]) -> dict[str, Expr] | None:
    """A binder that need not stay, and what takes its place."""
    for name, type_ in list(binders.items()):
        match type_:
            case TupleT(items=items):
                del binders[name]
                inner = [(f"{name}:{i}", item) for i, item in enumerate(items)]
                binders.update(inner)
                return {name: Apply(type_, Op.TUPLE, tuple(ir.Local(t, n) for n, t in inner))}
            case VariantT(cases=cases):
                case = _made(name, parts)
                if case is None and len(cases) == 1:
                    case = 0
                if case is not None:
                    del binders[name]
                    inner = [(f"{name}:{i}", t) for i, (_, t) in enumerate(cases[case].fields)]
                    binders.update(inner)
                    made = tuple(ir.Local(t, n) for n, t in inner)
                    return {name: ir.Make(type_, case, made)}
    for part in parts:
        match part:
            case Apply(op=Op.EQ, args=(left, right)):
                for one, other in ((left, right), (right, left)):
                    if not isinstance(one, ir.Local) or one.name not in binders:
                        continue
                    if one.name not in locals_of(other) and one.type == other.type:
                        del binders[one.name]
                        return {one.name: other}
    return None


def _made(name: str, parts: list[Expr]) -> int | None:
    for part in parts:
        match part:
            case ir.IsCase(ir.Local(name=found), case) if found == name:
                return case
    return None


def _quantified(binders: dict[str, Type], parts: list[Expr]) -> Expr:
    """Quantifiers for what is left, those over few values outside."""
    used = {name: type_ for name, type_ in binders.items() if name in locals_of(tuple(parts))}
    domains: dict[str, ir.Domain] = {}
    for name, type_ in used.items():
        if _small(type_):
            domains[name] = ir.Universe(type_)
    for name in sorted(set(used) - set(domains)):
        parts = [part for part in parts if name not in locals_of(part)]
    ordered = sorted(domains, key=lambda name: (cardinality(used[name]), name))
    return _nested(ordered, domains, parts)


def _nested(names: list[str], domains: dict[str, ir.Domain], parts: list[Expr]) -> Expr:
    """Each part is evaluated as far outside as it can be, in the order given."""
    if not names:
        return conj(*parts)
    free = set(names)
    outside = [part for part in parts if not locals_of(part) & free]
    inside = [part for part in parts if locals_of(part) & free]
    if not inside:
        return conj(*outside)
    name, domain = names[0], domains[names[0]]
    body = _nested(names[1:], domains, inside)
    if name in locals_of(body):
        body = ir.Quant(ir.Quantifier.EXISTS, name, domain, body, BOOL)
    return conj(*outside, body)


def _small(type_: Type) -> bool:
    return not isinstance(type_, BagT | SeqT | SetT) and cardinality(type_) <= MANY


def size(node: Any) -> int:
    """How large an expression is."""
    return sum(1 for _ in nodes(node))
