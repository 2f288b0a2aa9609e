"""Decides which expressions can fail with a runtime error.

Where the first of several members that decides ends an enumeration, it depends on the order whether
an error shows; and what is not evaluated meets none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import assert_never

from checker.model import ir
from checker.model import types as t
from checker.model.build import most_members
from checker.model.ir import Expr, Op
from checker.model.memo import in_an_analysis, in_an_analysis_with
from checker.model.names import locals_in
from checker.model.tree import placeless
from checker.model.types import Type

Known = frozenset[Expr]
"""Known facts, without source locations: options that hold a value, memberships in constant
sets, what is less than something else."""

_CALM = frozenset(
    {
        Op.NOT, Op.EQ, Op.LT, Op.LE, Op.ADD, Op.SUB, Op.MUL, Op.IS_SOME, Op.IN, Op.UNION,
        Op.INTERSECT, Op.MINUS, Op.SUBSET, Op.REMOVE, Op.CARD, Op.LEN, Op.BAG_REMOVE, Op.BAG_COUNT,
        Op.RANK, Op.PREFIX,
    }
)  # fmt: skip
_GROWING = frozenset({Op.APPEND, Op.CONCAT, Op.BAG_ADD, Op.SEQ})


def fits(have: Type, want: Type) -> bool:
    """Tells whether every value of ``have`` is one of ``want``."""
    match have, want:
        case (t.IntT(a, b), t.IntT(lo, hi)):
            return lo <= a and b <= hi
        case (t.AtomT(labels=labels, first=first), t.AtomT()):
            end = want.first + len(want.labels)
            return want.first <= first and first + len(labels) <= end
        case (t.TupleT(items), t.TupleT(others)):
            pairs = zip(items, others, strict=False)
            return len(items) == len(others) and all(fits(a, b) for a, b in pairs)
        case (t.OptionT(a), t.OptionT(b)) | (t.SetT(a), t.SetT(b)):
            return fits(a, b)
        case (t.SeqT(a, n), t.SeqT(b, m)) | (t.BagT(a, n), t.BagT(b, m)):
            return n <= m and fits(a, b)
        case (t.MapT(key, a), t.MapT(other, b)):
            return key == other and fits(a, b)
        case _:
            return have == want


@in_an_analysis_with
def known_from(expr: Expr, truth: bool) -> Known:
    """Returns what is known where ``expr`` has the value ``truth``."""
    match expr:
        case ir.Apply(op=Op.IN, args=(_, ir.Const())) | ir.Apply(op=Op.LT) if truth:
            return frozenset({placeless(expr)})
        case ir.Apply(op=Op.IS_SOME, args=(option,)) if truth:
            return frozenset({placeless(option)})
        case ir.Apply(op=Op.NOT, args=(inner,)):
            return known_from(inner, not truth)
        case ir.Apply(op=Op.AND, args=args) if truth:
            return frozenset().union(*(known_from(a, True) for a in args))
        case ir.Apply(op=Op.OR, args=args) if not truth:
            return frozenset().union(*(known_from(a, False) for a in args))
        case ir.Apply(op=Op.EQ | Op.LE | Op.LT):
            return _shorter_than(placeless(expr), truth)
        case _:
            return frozenset()


def _shorter_than(expr: ir.Apply, truth: bool) -> Known:
    """Returns ``k < #s`` if a comparison of the length of ``s`` with a number implies it."""
    match expr.op, expr.args, truth:
        case Op.EQ, (ir.Const(value=0), length) | (length, ir.Const(value=0)), False:
            least = 0
        case Op.LE, (ir.Const(value=int() as number), length), True:
            least = number - 1
        case Op.LT, (length, ir.Const(value=int() as number)), False:
            least = number - 1
        case _:
            return frozenset()
    if least < 0 or not (isinstance(length, ir.Apply) and length.op is Op.LEN):
        return frozenset()
    fact = ir.Apply(t.BOOL, Op.LT, (ir.Const(t.IntT(least, least), least), length))
    return frozenset({fact})


def known_of(name: str, domain: ir.Domain) -> Known:
    """Returns what is known of a name that is bound to a member of ``domain``."""
    match domain:
        case ir.Members(of=ir.Const() as of, item=item):
            return frozenset({placeless(ir.Apply(t.BOOL, Op.IN, (ir.Local(item, name), of)))})
        case _:
            return frozenset()


def forget(known: Known, names: Collection[str]) -> Known:
    """Returns ``known`` without facts about ``names``, which are bound again."""
    return frozenset(fact for fact in known if locals_in(fact).isdisjoint(names))


def _is_key(key: Expr, want: Type, known: Known) -> bool:
    """Tells whether ``key`` certainly is a key of a map with keys ``want``."""
    if fits(key.type, want):
        return True
    if not isinstance(want, t.AtomT):
        return False
    for fact in known:
        match fact:
            case ir.Apply(op=Op.IN, args=(item, ir.Const(_, frozenset() as members))):
                inside = all(want.first <= m < want.first + len(want.labels) for m in members)
                if inside and same_place(item, placeless(key)):
                    return True
            case _:
                pass
    return False


def _is_below_length(key: Expr, base: Expr, known: Known) -> bool:
    """Tells whether ``key`` certainly is below the length of a sequence, or below something that
    is."""
    index, seq = placeless(key), placeless(base)
    below = [fact.args for fact in known if isinstance(fact, ir.Apply) and fact.op is Op.LT]
    match index:
        case ir.Apply(op=Op.SUB, args=(length, ir.Const(value=int() as back))) if back > 0:
            if isinstance(length, ir.Apply) and length.op is Op.LEN and length.args == (seq,):
                return any(_is_at_least(a, back - 1) for a, b in below if b == length)
        case _:
            pass
    if not (isinstance(key.type, t.IntT) and key.type.lo >= 0):
        return False
    short = [a for a, b in below if isinstance(b, ir.Apply) and b.op is Op.LEN and b.args == (seq,)]
    return index in short or any(a == index and b in short for a, b in below)


def _is_at_least(expr: Expr, number: int) -> bool:
    """Tells whether ``expr`` is a constant that is not below ``number``."""
    return isinstance(expr, ir.Const) and isinstance(expr.value, int) and expr.value >= number


def same_place(a: Expr, b: Expr) -> bool:
    """Tells whether two expressions are equal but for the type at which a local is read."""
    match a, b:
        case ir.Local(_, one), ir.Local(_, other):
            return one == other
        case ir.Item(_, one, i), ir.Item(_, other, j):
            return i == j and same_place(one, other)
        case _:
            return a == b


def can_fault(expr: Expr, known: Known = frozenset(), growing: bool = True) -> bool:
    """Tells whether evaluating ``expr`` may be a runtime error, as far as its types determine.

    ``growing``: whether exceeding a guessed capacity counts.
    """
    if growing:
        return _can_fault_at_all(expr) and (not known or _can_fault(expr, known, growing))
    return _can_fault(expr, known, growing)


@in_an_analysis
def _can_fault_at_all(expr: Expr) -> bool:
    """Tells whether evaluating ``expr`` may be a runtime error where nothing is known: more
    knowledge only excludes errors."""
    return _can_fault(expr, frozenset(), growing=True)


def _can_fault(expr: Expr, known: Known, growing: bool) -> bool:
    def any_of(parts: Iterable[Expr]) -> bool:
        return any(can_fault(part, known, growing) for part in parts)

    match expr:
        case ir.Const() | ir.Local() | ir.Read():
            return False
        case ir.Index(_, base, key):
            match base.type:
                case t.MapT(wanted):
                    inside = _is_key(key, wanted, known)
                case _:
                    inside = _is_below_length(key, base, known)
            return not inside or any_of((base, key))
        case ir.Item(base=base) | ir.IsCase(base=base) | ir.CaseField(base=base):
            return can_fault(base, known, growing)
        case ir.Apply():
            return _application(expr, known, growing)
        case ir.Make(type_, case, args):
            assert isinstance(type_, t.VariantT)
            places = [field for _, field in type_.cases[case].fields]
            return any_of(args) or not _all_fit(args, places)
        case ir.Let(_, name, value, body):
            inner = forget(known, (name,))
            inside = can_fault(value, known, growing) or can_fault(body, inner, growing)
            return inside or not fits(body.type, expr.type)
        case ir.Quant(_, name, domain, body):
            inner = forget(known, (name,)) | known_of(name, domain)
            return _source(domain, known, growing) or can_fault(body, inner, growing)
        case ir.Comprehension(type_, name, domain, where, item):
            assert isinstance(type_, t.SetT | t.SeqT | t.BagT)
            if _source(domain, known, growing) or not fits(item.type, type_.item):
                return True
            if isinstance(type_, t.SeqT | t.BagT) and (growing or type_.grows is None):
                if most_members(domain) > type_.cap:
                    return True
            inner = forget(known, (name,)) | known_of(name, domain)
            return can_fault(where, inner, growing) or can_fault(
                item, inner | known_from(where, True), growing
            )
        case ir.MapOf(type_, name, body):
            assert isinstance(type_, t.MapT)
            inner = forget(known, (name,))
            return can_fault(body, inner, growing) or not fits(body.type, type_.value)
        case _:
            assert_never(expr)


def risky(node: Expr | ir.Domain, conditions: Iterable[Expr] = ()) -> bool:
    """Tells whether evaluating an expression, or a domain, may be a runtime error where
    ``conditions`` hold."""
    fallible = node.of if isinstance(node, ir.Members | ir.Subsets) else node
    if isinstance(fallible, ir.Universe) or not _can_fault_at_all(fallible):
        return False
    known = _known_along(tuple(conditions))
    if isinstance(node, ir.Universe | ir.Members | ir.Subsets):
        return _source(node, known, True)
    return can_fault(node, known)


@in_an_analysis
def _known_along(conditions: tuple[Expr, ...]) -> Known:
    """Returns what is known where all ``conditions`` hold."""
    return frozenset().union(*[known_from(each, True) for each in conditions])


def _source(domain: ir.Domain, known: Known, growing: bool) -> bool:
    return not isinstance(domain, ir.Universe) and can_fault(domain.of, known, growing)


def _all_fit(args: Iterable[Expr], places: Iterable[Type]) -> bool:
    return all(fits(a.type, place) for a, place in zip(args, places, strict=True))


def _application(expr: ir.Apply, known: Known, growing: bool) -> bool:
    args = expr.args
    if expr.op in (Op.AND, Op.OR):
        for arg in args:
            if can_fault(arg, known, growing):
                return True
            known |= known_from(arg, expr.op is Op.AND)
        return False
    if expr.op is Op.ITE:
        condition, then, otherwise = args
        return (
            can_fault(condition, known, growing)
            or can_fault(then, known | known_from(condition, True), growing)
            or can_fault(otherwise, known | known_from(condition, False), growing)
            or not _all_fit((then, otherwise), (expr.type, expr.type))
        )
    if any(can_fault(arg, known, growing) for arg in args):
        return True
    if expr.op in _CALM:
        return False
    match expr.op, expr.type:
        case (Op.GET, _):
            return placeless(args[0]) not in known
        case (Op.DIV | Op.MOD, _):
            divisor = args[1].type
            return not (isinstance(divisor, t.IntT) and (divisor.lo > 0 or divisor.hi < 0))
        case (Op.TUPLE, t.TupleT(items)):
            return not _all_fit(args, items)
        case (Op.SOME, t.OptionT(item)) | (Op.SET, t.SetT(item)) | (Op.FILL, t.MapT(_, item)):
            return not _all_fit(args, [item] * len(args))
        case (Op.INSERT, t.SetT(item)):
            return not _all_fit(args, (expr.type, item))
        case (op, t.SeqT(item, _, grows) | t.BagT(item, _, grows)) if op in _GROWING:
            if growing or grows is None:
                return True
            holders = {Op.APPEND: 1, Op.BAG_ADD: 1, Op.CONCAT: 2}.get(op, 0)
            return not all(
                _holds(a.type, expr.type) if i < holders else fits(a.type, item)
                for i, a in enumerate(args)
            )
        case _:
            return True


def _holds(have: Type, want: Type) -> bool:
    """Tells whether the items of one collection fit into another, whatever their number."""
    match have, want:
        case (t.SeqT(a), t.SeqT(b)) | (t.BagT(a), t.BagT(b)):
            return fits(a, b)
        case _:
            return False


def block_can_fault(block: ir.Block, growing: bool) -> bool:
    """Tells whether executing ``block`` may be a runtime error."""
    return any(_statement_can_fault(stmt, growing) for stmt in block)


def _statement_can_fault(stmt: ir.Stmt, growing: bool) -> bool:
    """Returns whether ``stmt`` can raise an error at run time, in some state."""
    match stmt:
        case ir.Assign(target, value):
            if can_fault(value, growing=growing) or not fits(value.type, target.type):
                return True
            keys = [step for step in target.path if isinstance(step, ir.Key)]
            return any(
                step.key_type is None
                or can_fault(step.key, growing=growing)
                or not fits(step.key.type, step.key_type)
                for step in keys
            )
        case ir.Declare(_, type_, value):
            return can_fault(value, growing=growing) or not fits(value.type, type_)
        case ir.If(condition, then, otherwise):
            inside = block_can_fault(then, growing) or block_can_fault(otherwise, growing)
            return inside or can_fault(condition, growing=growing)
        case ir.For(_, domain, body):
            return _source(domain, frozenset(), growing) or block_can_fault(body, growing)
        case ir.Choose(_, domain, where):
            return _source(domain, frozenset(), growing) or can_fault(where, growing=growing)
        case ir.Assume(condition):
            return can_fault(condition, growing=growing)
        case ir.Mark(_, args):
            return any(can_fault(a, growing=growing) for a in args)
        case ir.While() | ir.Fault() | ir.Emit():
            return True
        case _:
            assert_never(stmt)
