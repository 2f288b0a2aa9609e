"""Uses of the parts of variables, and when a use does not depend on the value.

A part is an entry of a map, or one item of a set or bag in an entry.  What an assignment copies
from its own target is no use: if the new value is never read, neither is the old one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import count
from typing import assert_never

from checker.model import ir
from checker.model.build import equal, integer, member, negation
from checker.model.ir import Apply, Expr, Op
from checker.model.names import reads_in
from checker.model.node import Hashed, value_class
from checker.model.run_errors import risky
from checker.model.tree import parts
from checker.model.types import BagT, BoolT, MapT, SeqT, SetT
from checker.reductions.dead_variables.program_points import ProgramPoint
from checker.reductions.dead_variables.terms import conjuncts, replace_all, same

_numbers = count()


@value_class
class VariableUse(Hashed):
    """A use of ``variable``, at the entry that ``keys`` lead to (or at all below it).

    ``item``: only its membership matters; ``None``: all of the entry does.  ``path``: conditions
    that hold whenever it matters.  ``around``: the value read is part of these conditions and makes
    no difference once their value is decided.  ``among``: it is the domain of this parameter of the
    action of ``site``.
    """

    variable: str
    keys: tuple[Expr, ...]
    path: tuple[Expr, ...]
    around: tuple[Expr, ...]
    site: ProgramPoint
    item: ir.Local | None = None
    among: str | None = None


@value_class
class _At(Hashed):
    """The position in an expression: see :class:`VariableUse`."""

    site: ProgramPoint
    path: tuple[Expr, ...]
    around: tuple[Expr, ...] = ()

    def assuming(self, *conditions: Expr) -> _At:
        more = tuple(c for condition in conditions for c in conjuncts(condition))
        return _At(self.site, (*self.path, *more), self.around)

    def inside(self, expr: Expr) -> _At:
        if isinstance(expr.type, BoolT) and not risky(expr, self.path):
            return _At(self.site, self.path, (*self.around, expr))
        return self


def uses_in(site: ProgramPoint) -> Iterator[VariableUse]:
    """All uses at a program point."""
    at = _At(site, (*site.path, *(b for b in site.beside if b != site.node)), ())
    node = site.node
    match node:
        case ir.Universe():
            return
        case ir.Members() if site.param is not None:
            yield from _members(node, at, site.param)
        case ir.Members(of=of) | ir.Subsets(of=of):
            yield from _expr(of, at)
        case ir.Assign():
            yield from _assign(node, at)
        case ir.Declare(value=value):
            yield from _expr(value, at)
        case ir.For(domain=domain):
            if isinstance(domain, ir.Members | ir.Subsets) and not purges(node):
                yield from _expr(domain.of, at)
        case ir.While(condition=condition):
            if not purges(node):
                yield from _expr(condition, at)
        case ir.Choose(domain=domain, where=where):
            if isinstance(domain, ir.Members | ir.Subsets):
                yield from _expr(domain.of, at)
            yield from _expr(where, at)
        case ir.Assume(condition=condition):
            yield from _expr(condition, at)
        case ir.Mark(args=args) | ir.Emit(args=args):
            for arg in args:
                yield from _expr(arg, at)
        case ir.Fault() | ir.If():
            return
        case _:
            yield from _expr(node, at)


def purges(stmt: ir.Stmt) -> bool:
    """Whether a loop does nothing but remove some items of a collection, each independently."""
    match stmt:
        case ir.For(name=name, domain=ir.Members(of=of, item=item), body=body):
            return place(of) is not None and _takes(body, of, ir.Local(item, name))
        case ir.While(condition=Apply(op=Op.IN, args=(item, of)), body=body):
            return place(of) is not None and not reads_in(item) and _takes(body, of, item)
        case _:
            return False


def _takes(body: ir.Block, of: Expr, item: Expr) -> bool:
    found = place(of)
    assert found is not None
    for stmt in body:
        match stmt:
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                looked = {
                    r.variable for r in _expr(condition, _At(ProgramPoint(condition, ()), ()))
                }
                if found[0] in looked or risky(condition):
                    return False
                if not (_takes(then, of, item) and _takes(otherwise, of, item)):
                    return False
            case ir.While(condition=condition):
                test = isinstance(condition, Apply) and condition.op is Op.IN
                if not (test and same(condition, member(item, of)) and purges(stmt)):
                    return False
            case ir.Assign(value=Apply(op=Op.REMOVE | Op.BAG_REMOVE, args=(base, what))):
                if not (same(base, of) and same(now(stmt.target), of) and same(what, item)):
                    return False
            case _:
                return False
    return True


def place(expr: Expr) -> tuple[str, tuple[Expr, ...]] | None:
    """The variable and the keys, where ``expr`` is an entry of a variable's maps."""
    keys: list[Expr] = []
    while isinstance(expr, ir.Index) and isinstance(expr.base.type, MapT):
        keys.append(expr.key)
        expr = expr.base
    return (expr.variable, tuple(reversed(keys))) if isinstance(expr, ir.Read) else None


def now(target: ir.Target) -> Expr | None:
    """The current value of an assignment's target; ``None`` where that could be an error."""
    if not target.is_state or not all(isinstance(k, ir.Key) and k.key_type for k in target.path):
        return None
    types = [target.type]
    for step in reversed(target.path):
        assert isinstance(step, ir.Key) and step.key_type is not None
        types.append(MapT(step.key_type, types[-1]))
    expr: Expr = ir.Read(types.pop(), target.name)
    for step in target.path:
        assert isinstance(step, ir.Key)
        expr = ir.Index(types.pop(), expr, step.key)
    return expr


def _assign(stmt: ir.Assign, at: _At) -> Iterator[VariableUse]:
    target = stmt.target
    keys: list[Expr] = []
    for step in target.path:
        if isinstance(step, ir.Pos):
            break
        if step.key_type is None:
            if target.is_state:
                yield VariableUse(target.name, tuple(keys), at.path, (), at.site)
            break
        keys.append(step.key)
    for step in target.path:
        if isinstance(step, ir.Key):
            yield from _expr(step.key, at)
    here = now(target)
    if here is None:
        yield from _expr(stmt.value, at)
    else:
        yield from _flow(stmt.value, here, at)


def _flow(value: Expr, here: Expr, at: _At) -> Iterator[VariableUse]:
    """The uses in an assignment of ``value`` besides what it copies from ``here``."""
    if same(value, here):
        return
    match value:
        case Apply(op=Op.INSERT | Op.REMOVE | Op.BAG_REMOVE, args=(base, what)):
            yield from _flow(base, here, at)
            yield from _expr(what, at)
        case Apply(op=Op.BAG_ADD, args=(base, what)) if _has_guessed_capacity(value):
            yield from _flow(base, here, at)
            yield from _expr(what, at)
        case Apply(op=Op.UNION | Op.MINUS | Op.INTERSECT, args=(base, other)):
            yield from _flow(base, here, at)
            yield from _expr(other, at)
        case Apply(op=Op.ITE, args=(Apply(op=Op.IN, args=(what, of)), yes, Apply() as no)) if same(
            of, here
        ) and same(yes, here):
            adds = no.op is Op.BAG_ADD and same(no.args[1], what) and same(no.args[0], here)
            if adds and _has_guessed_capacity(no):
                yield from _expr(what, at)
            else:
                yield from _expr(value, at)
        case Apply(op=Op.ITE, args=(test, yes, no)):
            yield from _expr(test, at)
            yield from _flow(yes, here, at.assuming(test))
            yield from _flow(no, here, at.assuming(negation(test)))
        case _:
            yield from _expr(value, at)


def _has_guessed_capacity(value: Apply) -> bool:
    return isinstance(value.type, BagT) and value.type.grows is not None


def _expr(expr: Expr, at: _At) -> Iterator[VariableUse]:
    found = place(expr)
    if found is not None:
        variable, keys = found
        inner = at.inside(expr)
        yield VariableUse(variable, keys, inner.path, inner.around, at.site)
        for key in keys:
            yield from _expr(key, at)
        return
    at = at.inside(expr)
    match expr:
        case Apply(op=Op.AND | Op.OR as op, args=args):
            for i, arg in enumerate(args):
                before = args[:i] if op is Op.AND else tuple(negation(a) for a in args[:i])
                yield from _expr(arg, at.assuming(*before))
        case Apply(op=Op.ITE, args=(test, yes, no)):
            yield from _expr(test, at)
            yield from _expr(yes, at.assuming(test))
            yield from _expr(no, at.assuming(negation(test)))
        case Apply(op=Op.IN, args=(what, of)) if _collection(of):
            name = ir.Local(what.type, f"@in.{next(_numbers)}")
            same_item = Apply(ir.TRUE.type, Op.EQ, (name, what))
            yield from _items(of, name, at.assuming(same_item), at)
            yield from _expr(what, at)
        case ir.Quant(kind=kind, domain=domain, body=body):
            matters = _matters(kind, body)
            inner = yield from _bound(expr.name, domain, (matters,), at)
            yield from _expr(body, inner)
        case ir.Comprehension(domain=domain, where=where, item=item):
            inner = yield from _bound(expr.name, domain, (where,), at)
            yield from _expr(where, inner)
            yield from _expr(item, inner.assuming(where))
        case _:
            for part in parts(expr):
                yield from _expr(part, at)


def _matters(kind: ir.Quantifier, body: Expr) -> Expr:
    """The condition under which a member makes a difference."""
    match kind:
        case ir.Quantifier.FORALL:
            return negation(body)
        case ir.Quantifier.EXISTS | ir.Quantifier.COUNT:
            return body
        case ir.Quantifier.SUM:
            return negation(equal(body, integer(0)))
        case _:
            assert_never(kind)


def _bound(
    name: str, domain: ir.Domain, matters: tuple[Expr, ...], at: _At
) -> Generator[VariableUse, None, _At]:
    """Yields the uses of a domain; returns where the bound value is used."""
    match domain:
        case ir.Members(of=of, item=item) if _collection(of):
            local = ir.Local(item, name)
            one = ir.Local(item, f"@of.{next(_numbers)}")
            sure = () if any(risky(m, at.path) for m in matters) else matters
            mine = at.assuming(*(replace_all(m, local, one) for m in sure))
            yield from _items(of, one, mine, at)
            return at.assuming(member(local, of))
        case ir.Members(of=of, item=item):
            yield from _expr(of, at)
            return at.assuming(member(ir.Local(item, name), of))
        case ir.Subsets(of=of):
            yield from _expr(of, at)
            return at
        case ir.Universe():
            return at
        case _:
            assert_never(domain)


def _collection(of: Expr) -> bool:
    return isinstance(of.type, SetT | BagT) and place(of) is not None


def _items(of: Expr, item: ir.Local, matters: _At, at: _At) -> Iterator[VariableUse]:
    """The uses of the items of an entry; each matters where ``matters`` holds."""
    found = place(of)
    assert found is not None
    yield VariableUse(found[0], found[1], matters.path, at.around, at.site, item)
    for key in found[1]:
        yield from _expr(key, at)


def _members(domain: ir.Members, at: _At, param: str) -> Iterator[VariableUse]:
    found = place(domain.of)
    if found is None or isinstance(domain.of.type, SeqT):
        yield from _expr(domain.of, at)
        return
    item = ir.Local(domain.item, param)
    yield VariableUse(found[0], found[1], at.path, (), at.site, item, param)
    for key in found[1]:
        yield from _expr(key, at)
