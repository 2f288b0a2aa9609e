"""Access sets: the entries on which an expression depends, and which changes conflict with it.

Directions are those of monotone functions: how a set, a count or a truth value changes when its
arguments grow.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from checker.model import ir
from checker.model.ir import Apply, Const, Expr, Op
from checker.model.node import Hashed, value_class
from checker.model.types import BOOL, BagT, IntT, SetT, Type
from checker.records import replace
from checker.reductions.partial_order.logic import UNKNOWN, Binder, is_known, substitute


class AccessKind(Enum):
    """The kind of an access to an entry."""

    LOOK = "look"  # its value matters: for what is written, or for which way the body goes
    TEST = "test"  # it decides whether the step, or this way of it, exists
    ADD = "add"  # to a set or bag
    TAKE = "take"  # from a set or bag; without an element: anything from nothing to all
    SET = "set"  # to a constant
    SHIFT = "shift"  # an integer, by a constant
    WRITE = "write"  # anything


@value_class
class Access(Hashed):
    """``variable`` at ``keys`` (the first steps of the path; fewer: all that lies below).

    ``item``: the element that is added, taken or tested, the constant that is set, or the distance
    of the shift.  ``up``: of ``TEST`` and ``LOOK``, whether growth of the entry can only help
    (``True``) or hinder (``False``), ``None``: either.  ``path``: the access happens only under
    these conditions, for some values of ``binders``; ``sure``: it happens whenever they hold.
    """

    variable: str
    how: AccessKind
    keys: tuple[Expr, ...] = ()
    item: Expr | None = None
    up: bool | None = None
    path: tuple[Expr, ...] = ()
    binders: tuple[Binder, ...] = ()
    sure: bool = False

    def reached(self, path: tuple[Expr, ...], how: AccessKind) -> Access:
        """The same access, of a kind, under the conditions of ``path``."""
        return Access(
            self.variable, how, self.keys, self.item, self.up, path, self.binders, self.sure
        )

    @property
    def writes(self) -> bool:
        return self.how not in (AccessKind.LOOK, AccessKind.TEST)

    @property
    def grows(self) -> bool | None:
        """Whether a write makes the entry greater (``True``), smaller, or either (``None``)."""
        match self.how:
            case AccessKind.ADD:
                return True
            case AccessKind.TAKE:
                return False
            case AccessKind.SET:
                value = self.item.value if isinstance(self.item, Const) else None
                return value if isinstance(value, bool) else None
            case AccessKind.SHIFT:
                assert isinstance(self.item, Const) and isinstance(self.item.value, int)
                return self.item.value >= 0
            case AccessKind.WRITE | AccessKind.LOOK | AccessKind.TEST:
                return None
            case _:
                assert_never(self.how)


def _flip(up: bool | None) -> bool | None:
    return None if up is None else not up


def accesses_of(expr: Expr, up: bool | None, bound: tuple[Binder, ...] = ()) -> list[Access]:
    """The entries on which ``expr`` depends.

    ``up``: whether it is to become greater (for truth values: true), or neither; the accesses
    record which direction of change does not hinder that, see :class:`Access`.
    """
    match expr:
        case Const() | ir.Local():
            return []
        case ir.Read() | ir.Index():
            return _entry(expr, up, bound, None)
        case Apply(op=op, args=args):
            return _operation(op, args, up, bound)
        case ir.Item(base=base):
            return accesses_of(base, up, bound)
        case ir.CaseField(base=base) | ir.IsCase(base=base):
            return accesses_of(base, None, bound)
        case ir.Make(args=args):
            return [a for arg in args for a in accesses_of(arg, None, bound)]
        case ir.Let(_, name, value, body):
            inner = accesses_of(body, None, (*bound, (name, value.type)))
            return [*accesses_of(value, None, bound), *(_forget(a, name) for a in inner)]
        case ir.Quant(kind, name, domain, body):
            more = (*bound, (name, ir.domain_item(domain)))
            grows = _flip(up) if kind is ir.Quantifier.FORALL else up
            if isinstance(body.type, IntT) and body.type.lo < 0:
                grows = None
            return [*_domain(domain, grows, bound), *accesses_of(body, up, more)]
        case ir.Comprehension(type_, name, domain, where, item):
            more = (*bound, (name, ir.domain_item(domain)))
            up = up if isinstance(type_, SetT) else None
            found = [*_domain(domain, up, bound), *accesses_of(where, up, more)]
            return [*found, *accesses_of(item, None, more)]
        case ir.MapOf(type_, name, body):
            return accesses_of(body, up, (*bound, (name, getattr(type_, "key", BOOL))))
        case _:
            assert_never(expr)


def _forget(access: Access, name: str) -> Access:
    unknown = {name: ir.Local(BOOL, UNKNOWN)}
    item = None if access.item is None else substitute(access.item, unknown)
    item = item if item is None or is_known(item) else None
    return replace(access, keys=known_keys(substitute(access.keys, unknown)), item=item)


def known_keys(keys: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The leading ``keys``, up to the first unknown one."""
    found: list[Expr] = []
    for key in keys:
        if not is_known(key):
            break
        found.append(key)
    return tuple(found)


def _domain(domain: ir.Domain, up: bool | None, bound: tuple[Binder, ...]) -> list[Access]:
    of = ir.domain_source(domain)
    return [] if of is None else accesses_of(of, up, bound)


def _entry(
    expr: Expr, up: bool | None, bound: tuple[Binder, ...], item: Expr | None
) -> list[Access]:
    """The entry at the end of a chain of indices, and the accesses of its keys."""
    keys: list[Expr] = []
    found: list[Access] = []
    while isinstance(expr, ir.Index):
        keys.append(expr.key)
        found += accesses_of(expr.key, None, bound)
        expr = expr.base
    if not isinstance(expr, ir.Read):
        return [*found, *accesses_of(expr, None, bound)]
    place = tuple(reversed(keys))
    return [Access(expr.variable, AccessKind.LOOK, place, item, up, (), bound), *found]


def _operation(
    op: Op, args: tuple[Expr, ...], up: bool | None, bound: tuple[Binder, ...]
) -> list[Access]:
    def each(*ways: bool | None) -> list[Access]:
        return [
            a for arg, way in zip(args, ways, strict=True) for a in accesses_of(arg, way, bound)
        ]

    match op:
        case Op.NOT:
            return each(_flip(up))
        case Op.AND | Op.OR | Op.ADD | Op.UNION | Op.INTERSECT | Op.CARD | Op.LEN:
            return each(*(up for _ in args))
        case Op.LT | Op.LE | Op.SUBSET:
            return each(_flip(up), up)
        case Op.SUB | Op.MINUS:
            return each(up, _flip(up))
        case Op.ITE:
            return each(None, up, up)
        case Op.IN:
            of = args[1]
            if isinstance(of, ir.Read | ir.Index) and isinstance(of.type, SetT | BagT):
                return [*accesses_of(args[0], None, bound), *_entry(of, up, bound, args[0])]
            return each(None, up)
        case Op.INSERT | Op.BAG_ADD | Op.REMOVE | Op.BAG_REMOVE | Op.BAG_COUNT:
            return each(up, None)
        case Op.EQ:
            for one, other in (args, args[::-1]):
                if isinstance(other, Const) and isinstance(one, ir.Read | ir.Index):
                    return _entry(one, _equal(one.type, other, up), bound, None)
            return each(None, None)
        case _:
            return each(*(None for _ in args))


def _equal(type_: Type, value: Const, up: bool | None) -> bool | None:
    """The direction of an equality with a constant; at both ends of a range it is like a
    comparison.
    """
    if up is None:
        return None
    match type_:
        case IntT(lo, hi) if value.value == lo or value.value == hi:
            return (value.value == hi) is up
        case _ if type_ == BOOL:
            return (value.value is True) is up
        case _:
            return None
