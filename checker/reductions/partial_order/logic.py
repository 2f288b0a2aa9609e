"""Conditions over a state, simplified as they are built, for
:mod:`checker.reductions.partial_order.ample_sets`.

A condition is a disjunction of :class:`Case`: some values of ``binders`` satisfy all of ``parts``.
Leaving parts out makes a condition weaker; that is always allowed here, since these conditions
over-approximate what may still happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from checker.model import ir
from checker.model.build import conj, disj, negation
from checker.model.ir import FALSE, TRUE, Apply, Const, Expr, Op
from checker.model.memo import analysis_table, in_an_analysis, in_an_analysis_with
from checker.model.names import BINDERS, bound_in, locals_in
from checker.model.node import Hashed, value_class
from checker.model.tree import branches, fold, mapped
from checker.model.types import (
    BOOL,
    SeqT,
    SetT,
    TupleT,
    Type,
    VariantT,
    cardinality,
    cardinality_up_to,
    universe,
)
from checker.records import fields

MANY = 64
"""The maximum number of values of a type that are tried one by one."""
UNKNOWN = "?"
"""The name of a local whose value is not known."""

Binder = tuple[str, Type]


@value_class
class Case(Hashed):
    """Some values of ``binders`` satisfy all of ``parts``, which are evaluated in this order."""

    binders: tuple[Binder, ...]
    parts: tuple[Expr, ...]


_numbers = analysis_table()
_against = analysis_table()
_substituted = analysis_table()


@in_an_analysis
def key_of(node: Any) -> int:
    """A number that equal expressions share, and only they, within one analysis; places are not
    compared, nor are types, which follow."""
    kind = type(node)
    if kind is Const:
        return int(_numbers.setdefault((kind, type(node.type).__name__, node.value), len(_numbers)))
    said = tuple([_said(getattr(node, name)) for name in _compared(kind)])
    return int(_numbers.setdefault((kind, said), len(_numbers)))


def _said(value: Any) -> object:
    """What a field says, with keys for nodes."""
    kind = type(value)
    if kind is tuple:
        return tuple([_said(part) for part in value])
    return value if branches(kind) is None else key_of(value)


_compared_fields: dict[type, tuple[str, ...]] = {}


def _compared(kind: Any) -> tuple[str, ...]:
    if kind not in _compared_fields:
        names = (one.name for one in fields(kind))
        _compared_fields[kind] = tuple(name for name in names if name not in ("type", "place"))
    return _compared_fields[kind]


def _key_against(node: Expr) -> int:
    """The key of the negation."""
    key = key_of(node)
    if key not in _against:
        _against[key] = key_of(negation(node))
    return int(_against[key])


def is_known(node: Any) -> bool:
    """Whether no value in ``node`` is unknown."""
    return UNKNOWN not in locals_in(node)


def substitute(node: Any, meaning: Mapping[str, Expr]) -> Any:
    """``node`` with locals replaced, and simplified where that changes something."""
    kind = type(node)
    if kind is tuple:
        return tuple([substitute(part, meaning) for part in node])
    if kind is ir.Local:
        return meaning.get(node.name, node)
    if locals_in(node).isdisjoint(meaning):
        return node
    if kind in BINDERS and node.name in meaning:
        meaning = {name: value for name, value in meaning.items() if name != node.name}
    return _simple(mapped(node, lambda part: substitute(part, meaning)))


def _substitute_once(node: Expr, meaning: Mapping[str, Expr]) -> Expr:
    """Does the same as :func:`substitute`, once for each node with the same values of its locals:
    the cases of a condition have most of their parts in common."""
    names = locals_in(node)
    values = [(name, value) for name, value in meaning.items() if name in names]
    at = id(node), *[(name, id(value)) for name, value in values]
    if at not in _substituted:
        _substituted[at] = node, values, substitute(node, dict(values))
    found: Expr = _substituted[at][2]
    return found


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
            return _fold(conj, args, FALSE)
        case Apply(op=Op.OR, args=args):
            return _fold(disj, args, TRUE)
        case Apply(op=Op.IN, args=(Const(_, item), Const(_, frozenset() as members))):
            return TRUE if item in members else FALSE
        case Apply(op=Op.IN, args=(item, Const(_, frozenset() as members))):
            return TRUE if _all_are_in(item.type, members) else node
        case Apply(op=Op.LE, args=(Const(_, int() as low), Const(_, int() as high))):
            return TRUE if low <= high else FALSE
        case _:
            return node


def _all_are_in(type_: Type, members: frozenset[Any]) -> bool:
    return _small(type_) and all(value in members for value in universe(type_))


def _fold(join: Any, args: tuple[Expr, ...], absorbing: Expr) -> Expr:
    return absorbing if absorbing in args else join(*args)


def same(left: Expr, right: Expr) -> Expr:
    """The condition that two values are equal."""
    if left == right:
        return TRUE
    if isinstance(left, Const) and isinstance(right, Const):
        return TRUE if left.value == right.value else FALSE
    for one, other in ((left, right), (right, left)):
        match one:
            case Apply(op=Op.TUPLE, args=args):
                parts = (same(a, _item(other, i)) for i, a in enumerate(args))
                return _fold(conj, tuple(parts), FALSE)
            case ir.Make(VariantT(cases=cases), case, args):
                tests: list[Expr] = [_simple(ir.IsCase(other, case))]
                for i, (a, (_, type_)) in enumerate(zip(args, cases[case].fields, strict=True)):
                    tests.append(same(a, _simple(ir.CaseField(type_, other, case, i))))
                return _fold(conj, tuple(tests), FALSE)
    return Apply(BOOL, Op.EQ, (left, right))


def may_be_same(left: Expr, right: Expr) -> Expr:
    """The condition that two values may be equal, as far as their types tell."""
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
        case Const():
            return [] if expr == TRUE else [expr]
        case _:
            return [expr]


def some(cases: list[Case], facts: frozenset[int] = frozenset()) -> Expr:
    """The condition that one of the cases holds, given ``facts`` (keys)."""
    found: dict[frozenset[int], Expr] = {}
    for case in cases:
        expr = normalize_binders(close_case(case, facts))
        if expr == TRUE:
            return TRUE
        parts = frozenset(key_of(part) for part in conjuncts(expr))
        if expr == FALSE or any(weaker <= parts for weaker in found):
            continue
        found = {more: there for more, there in found.items() if not parts <= more}
        found[parts] = expr
    return disj(*found.values())


def normalize_binders(expr: Expr) -> Expr:
    """``expr`` with canonical bound names, which do not depend on its construction.

    Each name contains the number of names nested below it, so that there is no capture.
    """
    made: Expr = _normalize(expr)[0]
    return made


@in_an_analysis
def _normalize(node: Expr) -> tuple[Expr, int]:
    height = 0

    def below(part: Expr) -> Expr:
        nonlocal height
        found, inner = _normalize(part)
        height = max(height, inner)
        return found

    if not bound_in(node):
        return node, 0
    node = mapped(node, below)
    if not isinstance(node, ir.Quant):
        return node, height
    height += 1
    new = f"_b:{height}"
    meaning: dict[str, Expr] = {node.name: ir.Local(ir.domain_item(node.domain), new)}
    body = substitute(node.body, meaning)
    return ir.Quant(node.kind, new, node.domain, body, node.type), height


def close_case(case: Case, facts: frozenset[int] = frozenset()) -> Expr:
    """Returns the condition of ``case`` under ``facts``: variables that its parts determine are
    eliminated, the others quantified.  Weaker where an exact one would take too long to evaluate.
    """
    binders = dict(case.binders)
    parts: dict[int, Expr] = {}
    if not _add_parts(case.parts, parts, facts):
        return FALSE
    while (meaning := _next(binders, list(parts.values()))) is not None:
        touched = [key for key, part in parts.items() if not locals_in(part).isdisjoint(meaning)]
        changed = [_substitute_once(parts.pop(key), meaning) for key in touched]
        if not _add_parts(changed, parts, facts):
            return FALSE
    return _quantify(binders, list(parts.values()))


def _add_parts(more: Iterable[Expr], parts: dict[int, Expr], facts: frozenset[int]) -> bool:
    """Adds what is known of ``more`` to the other ``parts``; returns whether they are
    consistent.
    """
    for whole in more:
        literals = _literals(whole)
        if literals is None:
            return False
        for key, against, part in literals:
            if against in facts or against in parts:
                return False
            if part is not None and key not in facts:
                parts[key] = part
    return True


@in_an_analysis
def _literals(whole: Expr) -> tuple[tuple[int, int, Expr | None], ...] | None:
    """The parts of a conjunction, each with its key and that of its negation before it, those that
    are not known left out; ``None`` where one is false."""
    parts = conjuncts(whole)
    if FALSE in parts:
        return None
    return tuple([(key_of(p), _key_against(p), p if is_known(p) else None) for p in parts])


def _next(binders: dict[str, Type], parts: list[Expr]) -> dict[str, Expr] | None:
    """Replacements for binders that can be eliminated or decomposed."""
    found: dict[str, Expr] = {}
    for name, type_ in list(binders.items()):
        match type_:
            case TupleT(items=items):
                del binders[name]
                inner = [(f"{name}:{i}", item) for i, item in enumerate(items)]
                binders.update(inner)
                found[name] = _parts_of_tuple(type_, name)
            case VariantT(cases=cases):
                case = _required_case(name, parts)
                if case is None and len(cases) == 1:
                    case = 0
                if case is not None:
                    del binders[name]
                    inner = [(f"{name}:{i}", t) for i, (_, t) in enumerate(cases[case].fields)]
                    binders.update(inner)
                    found[name] = _fields_of_case(type_, name, case)
    return found or _equalities(binders, parts)


@in_an_analysis_with
def _parts_of_tuple(type_: TupleT, name: str) -> Expr:
    """The value of a tuple's binder, from those of its components."""
    inner = (ir.Local(item, f"{name}:{i}") for i, item in enumerate(type_.items))
    return Apply(type_, Op.TUPLE, tuple(inner))


@in_an_analysis_with
def _fields_of_case(type_: VariantT, name: str, case: int) -> Expr:
    """The value of a variant's binder, from those of its fields."""
    inner = (ir.Local(t, f"{name}:{i}") for i, (_, t) in enumerate(type_.cases[case].fields))
    return ir.Make(type_, case, tuple(inner))


def _equalities(binders: dict[str, Type], parts: list[Expr]) -> dict[str, Expr] | None:
    """The values that equations give for binders; no binder of these is left in a replacement."""
    found: dict[str, Expr] = {}
    used: set[str] = set()
    for part in parts:
        match part:
            case Apply(op=Op.EQ, args=(left, right)):
                for one, other in ((left, right), (right, left)):
                    if not isinstance(one, ir.Local) or one.name not in binders:
                        continue
                    within = locals_in(other)
                    if one.name in within or one.name in used or one.type != other.type:
                        continue
                    if within.isdisjoint(found):
                        del binders[one.name]
                        found[one.name] = other
                        used |= within
                        break
    return found or None


def _required_case(name: str, parts: list[Expr]) -> int | None:
    for part in parts:
        match part:
            case ir.IsCase(ir.Local(name=found), case) if found == name:
                return case
    return None


def _quantify(binders: dict[str, Type], parts: list[Expr]) -> Expr:
    """Quantifiers for the remaining binders, those over few values outside."""
    mentioned = locals_in(tuple(parts))
    used = {name: type_ for name, type_ in binders.items() if name in mentioned}
    domains: dict[str, ir.Domain] = {}
    for name, type_ in used.items():
        if _small(type_):
            domains[name] = ir.Universe(type_)
    for name in sorted(set(used) - set(domains)):
        parts = [part for part in parts if name not in locals_in(part)]
    ordered = sorted(domains, key=lambda name: (cardinality(used[name]), name))
    return _nest_quantifiers(ordered, domains, parts)


def _nest_quantifiers(names: list[str], domains: dict[str, ir.Domain], parts: list[Expr]) -> Expr:
    """Puts each part as far outside as it can be evaluated, in the order given."""
    if not names:
        return conj(*parts)
    free = set(names)
    outside = [part for part in parts if not locals_in(part) & free]
    inside = [part for part in parts if locals_in(part) & free]
    if not inside:
        return conj(*outside)
    name, domain = names[0], domains[names[0]]
    body = _nest_quantifiers(names[1:], domains, inside)
    if name in locals_in(body):
        body = ir.Quant(ir.Quantifier.EXISTS, name, domain, body, BOOL)
    return conj(*outside, body)


def _small(type_: Type) -> bool:
    if isinstance(type_, SeqT | SetT):
        return False
    return cardinality_up_to(type_, MANY + 1) <= MANY


size = fold(lambda node, below: sum(below, start=type(node) not in (Const, tuple)))
"""Gives the number of nodes of an expression that are no constants."""
