"""Builds expressions of the transition system and simplifies them on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import assert_never

from checker.model import ir
from checker.model.evaluate import misfit
from checker.model.ir import FALSE, TRUE, Apply, Const, Expr, Op
from checker.model.types import (
    BOOL,
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
    sort_key,
)

_numbers = count(1)

ASIDE = 1_000_000
"""Numbers from here on are for names generated inside :func:`fresh_names`."""


def start_numbers() -> None:
    """Begins a new system: its names do not depend on what was generated before."""
    global _numbers
    _numbers = count(1)


@contextmanager
def fresh_names() -> Iterator[None]:
    """Keeps names generated inside from changing those that are generated afterwards."""
    global _numbers
    kept = _numbers
    _numbers = count(ASIDE)
    try:
        yield
    finally:
        _numbers = kept


def fresh(name: str) -> str:
    """Returns a local name new to this system; the part before the dot is shown to users."""
    return f"{name}.{next(_numbers)}"


def author_of(name: str) -> str:
    """Returns the part of a local name that is shown to users."""
    return name.partition(".")[0]


def integer(value: int) -> Const:
    return Const(IntT(value, value), value)


def conj(*parts: Expr) -> Expr:
    """Returns the conjunction, flattened, without constants."""
    return _connective(Op.AND, TRUE, FALSE, parts)


def disj(*parts: Expr) -> Expr:
    """Returns the disjunction, flattened, without constants."""
    return _connective(Op.OR, FALSE, TRUE, parts)


def _connective(op: Op, neutral: Expr, absorbing: Expr, parts: tuple[Expr, ...]) -> Expr:
    flat: list[Expr] = []
    for part in parts:
        if isinstance(part, Apply) and part.op is op:
            flat.extend(part.args)
        elif not isinstance(part, Const):
            flat.append(part)
        elif part == absorbing:
            return absorbing if not flat else Apply(BOOL, op, (*flat, absorbing))
        elif part != neutral:
            flat.append(part)
    if not flat:
        return neutral
    return flat[0] if len(flat) == 1 else Apply(BOOL, op, tuple(flat))


def negation(of: Expr) -> Expr:
    if isinstance(of, Apply):
        return of.args[0] if of.op is Op.NOT else Apply(BOOL, Op.NOT, (of,))
    if of == TRUE:
        return FALSE
    return TRUE if of == FALSE else Apply(BOOL, Op.NOT, (of,))


def equal(left: Expr, right: Expr) -> Expr:
    if isinstance(left, Const) and isinstance(right, Const):
        return TRUE if left.value == right.value else FALSE
    return Apply(BOOL, Op.EQ, (left, right))


def at_most(left: Expr, right: Expr) -> Expr:
    return Apply(BOOL, Op.LE, (left, right))


def below(left: Expr, right: Expr) -> Expr:
    return Apply(BOOL, Op.LT, (left, right))


def member(item: Expr, of: Expr) -> Expr:
    return Apply(BOOL, Op.IN, (item, of))


def belongs(value: Expr, domain: ir.Domain) -> Expr:
    """Returns whether ``value``, of the type of the members of ``domain``, is one of them."""
    match domain:
        case ir.Universe():
            return TRUE
        case ir.Members(of):
            return member(value, of)
        case ir.Subsets(of):
            return Apply(BOOL, Op.SUBSET, (value, of))
        case _:
            assert_never(domain)


def size(of: Expr) -> Expr:
    """Returns the number of members of a set, or of elements of a seq or bag."""
    match of.type:
        case SetT(item):
            return Apply(IntT(0, cardinality(item)), Op.CARD, (of,))
        case SeqT(_, cap) | BagT(_, cap):
            return Apply(IntT(0, cap), Op.LEN, (of,))
        case _:
            raise TypeError(f"{of.type} has no size")


def most_members(domain: ir.Domain) -> int:
    """Returns the largest number of members that ``domain`` may have, copies in a bag counted."""
    match domain:
        case ir.Universe(inner):
            return cardinality(inner)
        case ir.Members(of):
            return (
                of.type.cap if isinstance(of.type, SeqT | BagT) else cardinality(element(of.type))
            )
        case ir.Subsets(of):
            return 1 << cardinality(element(of.type))
        case _:
            assert_never(domain)


def total(name: str, domain: ir.Domain, where: Expr, value: Expr) -> Expr:
    """Returns the sum of ``value``, a number, over the members of ``domain`` where ``where``
    holds."""
    assert isinstance(value.type, IntT)
    if where != TRUE:
        value = Apply(hull(value.type, IntT(0, 0)), Op.ITE, (where, value, integer(0)))
    assert isinstance(value.type, IntT)
    most = most_members(domain)
    range_ = IntT(min(0, most * value.type.lo), max(0, most * value.type.hi))
    return ir.Quant(ir.Quantifier.SUM, name, domain, value, range_)


def entry(base: Expr, key: Expr, place: ir.SourceLocation | None = None) -> Expr:
    """Returns ``base[key]`` of a map."""
    assert isinstance(base.type, MapT)
    return ir.Index(base.type.value, base, key, place)


def target_of(place: Expr) -> ir.Target:
    """Returns the target of assignments to what ``place`` reads: a variable, a local, an entry."""
    match place:
        case ir.Read(type_, name):
            return ir.Target(type_, name, True)
        case ir.Local(type_, name):
            return ir.Target(type_, name, False)
        case ir.Index(type_, base, key):
            outer = target_of(base)
            assert isinstance(base.type, MapT)
            return ir.Target(
                type_, outer.name, outer.is_state, (*outer.path, ir.Key(key, base.type.key))
            )
        case _:
            raise AssertionError(f"nothing can be assigned to {place!r}")


def assign(to: Expr, value: Expr, place: ir.SourceLocation | None = None) -> ir.Assign:
    """Returns the assignment of ``value`` to what ``to`` reads, as in :func:`target_of`."""
    return ir.Assign(target_of(to), value, place)


def item(base: Expr, position: int) -> Expr:
    """Returns a component of a tuple."""
    assert isinstance(base.type, TupleT)
    if isinstance(base, Apply) and base.op is Op.TUPLE:
        return base.args[position]
    return ir.Item(base.type.items[position], base, position)


def only_if(condition: Expr, body: ir.Block) -> ir.Block:
    """Returns ``body`` under a condition, which is left out where it is always true."""
    return body if condition == ir.TRUE else (ir.If(condition, body),)


def one_more(count: Expr) -> ir.Stmt:
    """Returns the statement that adds 1 to a variable that counts from 0; a guard keeps it within
    its type."""
    assert isinstance(count, ir.Read) and isinstance(count.type, IntT)
    more = Apply(IntT(1, count.type.hi + 1), Op.ADD, (count, integer(1)))
    return assign(count, more)


def with_item(collection: Expr, value: Expr, place: ir.SourceLocation | None = None) -> Expr:
    """Returns ``collection`` with ``value`` in it: a dense set, or a bag that represents a large
    set."""
    value = coerce(value, element(collection.type))
    if isinstance(collection.type, SetT):
        return Apply(collection.type, Op.INSERT, (collection, value), place)
    added = Apply(collection.type, Op.BAG_ADD, (collection, value), place)
    return Apply(collection.type, Op.ITE, (member(value, collection), collection, added))


def without_item(collection: Expr, value: Expr) -> Expr:
    op = Op.REMOVE if isinstance(collection.type, SetT) else Op.BAG_REMOVE
    return Apply(collection.type, op, (collection, coerce(value, element(collection.type))))


def element(type_: Type) -> Type:
    """Returns the type of the elements of a set, seq or bag."""
    match type_:
        case SetT(inner) | SeqT(inner) | BagT(inner):
            return inner
        case _:
            raise TypeError(f"{type_} has no elements")


def hull(left: Type, right: Type) -> Type:
    """Returns the least type that holds the values of both."""
    match left, right:
        case IntT(a, b), IntT(c, d):
            return IntT(min(a, c), max(b, d))
        case TupleT(a, names), TupleT(b):
            return TupleT(tuple(hull(x, y) for x, y in zip(a, b, strict=True)), names)
        case OptionT(a), OptionT(b):
            return OptionT(hull(a, b))
        case SetT(a), SetT(b):
            return SetT(hull(a, b))
        case SeqT(a, n), SeqT(b, m):
            return SeqT(hull(a, b), max(n, m))
        case MapT(a, x), MapT(b, y) if a == b:
            return MapT(a, hull(x, y))
        case BagT(a, n), BagT(b, m):
            return BagT(hull(a, b), max(n, m))
        case (SetT(a), BagT(b, n)) | (BagT(b, n), SetT(a)):
            return BagT(hull(a, b), n)
        case _:
            return left


def is_within(left: Type, right: Type) -> bool:
    """Returns whether every value of type ``left`` is one of type ``right`` as it is, with nothing
    to convert."""
    match left, right:
        case IntT(a, b), IntT(c, d):
            return c <= a and b <= d
        case _:
            return left == right


def stored(
    name: str, type_: Type, value: Expr, place: ir.SourceLocation | None
) -> tuple[ir.Block, ir.Local]:
    """Returns a new local of ``type_``, and statements that store ``value`` in it, so that a value
    outside of its range is a fault."""
    local = ir.Local(type_, fresh(name))
    first = ir.Declare(local.name, type_, Const(type_, default(type_)))
    return (first, ir.Assign(ir.Target(type_, local.name, False), value, place)), local


def fits_in(left: Type, right: Type) -> bool:
    """Returns whether every value of type ``left`` is in the ranges of ``right``, a type of the
    same kind of values."""
    match left, right:
        case IntT(a, b), IntT(c, d):
            return c <= a and b <= d
        case TupleT(items), TupleT(others):
            return all(fits_in(x, y) for x, y in zip(items, others, strict=True))
        case (OptionT(a), OptionT(b)) | (SetT(a), SetT(b)):
            return fits_in(a, b)
        case (SeqT(a, n), SeqT(b, m)) | (BagT(a, n), BagT(b, m)):
            return n <= m and fits_in(a, b)
        case MapT(_, a), MapT(_, b):
            return fits_in(a, b)
        case _:
            return left == right or isinstance(right, AtomT)


def coerce(expr: Expr, type_: Type) -> Expr:
    """Returns ``expr`` as a value of ``type_``; only the ranges of nested integers may differ.

    An integer itself is unchanged, and so is a bag: what is in it is checked where it is stored.
    """
    if expr.type == type_ or isinstance(type_, IntT | AtomT):
        return expr
    if isinstance(expr, Const):
        value = expr.value
        if isinstance(type_, BagT) and isinstance(value, frozenset):
            value = tuple(sorted(value, key=sort_key))
        if misfit(type_, value, None) is None:
            return Const(type_, value)
    match type_:
        case TupleT(items):
            parts = tuple(coerce(item(expr, i), t) for i, t in enumerate(items))
            return Apply(type_, Op.TUPLE, parts)
        case OptionT(inner):
            return _coerce_option(expr, type_, inner)
        case SetT(inner) if isinstance(expr, Apply) and expr.op is Op.SET:
            return Apply(type_, Op.SET, tuple(coerce(a, inner) for a in expr.args))
        case SetT(inner) if isinstance(expr.type, SetT):
            name = fresh("_x")
            bound = ir.Local(expr.type.item, name)
            domain = ir.Members(expr, expr.type.item)
            return ir.Comprehension(type_, name, domain, TRUE, coerce(bound, inner))
        case SeqT(inner) if isinstance(expr, Apply) and expr.op is Op.SEQ:
            return Apply(type_, Op.SEQ, tuple(coerce(a, inner) for a in expr.args))
        case SeqT() if isinstance(expr.type, SeqT):
            return Apply(type_, Op.CONCAT, (Const(type_, ()), expr))
        case BagT(inner):
            return _coerce_bag(expr, type_, inner)
        case MapT(key, inner) if isinstance(expr.type, MapT) and expr.type.key == key:
            at = ir.Local(key, fresh("_k"))
            return ir.MapOf(type_, at.name, coerce(ir.Index(expr.type.value, expr, at), inner))
        case _:
            return expr


def _coerce_option(expr: Expr, type_: Type, inner: Type) -> Expr:
    if isinstance(expr, Apply) and expr.op is Op.SOME:
        return Apply(type_, Op.SOME, (coerce(expr.args[0], inner),))
    assert isinstance(expr.type, OptionT)
    value = coerce(Apply(expr.type.item, Op.GET, (expr,)), inner)
    present = Apply(BOOL, Op.IS_SOME, (expr,))
    some = Apply(type_, Op.SOME, (value,))
    return Apply(type_, Op.ITE, (present, some, Const(type_, None)))


def _coerce_bag(expr: Expr, type_: BagT, inner: Type) -> Expr:
    """Returns ``expr`` as a bag, or as the bag that represents a large set.

    The items of a display (a bag's is ``Op.SEQ``) are inserted one by one; a set becomes the bag of
    its members; a bag is returned as it is.
    """
    if isinstance(expr.type, SetT) and not (isinstance(expr, Apply) and expr.op is Op.SET):
        bound = ir.Local(expr.type.item, fresh("_x"))
        domain = ir.Members(expr, expr.type.item)
        return ir.Comprehension(type_, bound.name, domain, TRUE, coerce(bound, inner))
    if not (isinstance(expr, Apply) and expr.op in (Op.SET, Op.SEQ)):
        return expr
    result: Expr = Const(type_, ())
    for arg in expr.args:
        value = coerce(arg, inner)
        if expr.op is Op.SET:
            result = with_item(result, value)
        else:
            result = Apply(type_, Op.BAG_ADD, (result, value))
    return result


def constant(expr: Expr) -> Value:
    """Returns the value of a constant expression; raises ``TypeError`` for any other."""
    if not isinstance(expr, Const):
        raise TypeError("not a constant")
    return expr.value
