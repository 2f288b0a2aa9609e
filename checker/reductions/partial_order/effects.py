"""The reads and writes of an action, entry by entry, with their conditions.

A path through a body is a list of literals over the state *before* the step; a condition that can't
be expressed over that state (one on what the body itself has written, say) is left out of the path,
so that a path is implied by the conditions of the body, never stronger.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from checker.model import ir
from checker.model.build import negation
from checker.model.ir import Apply, Const, Expr, Op
from checker.model.names import assigned_in, reads_in, stored_in
from checker.model.node import Hashed, value_class
from checker.model.run_errors import can_fault
from checker.model.types import BOOL, BagT, SetT
from checker.reductions.partial_order.access_sets import Access, AccessKind, accesses_of, known_keys
from checker.reductions.partial_order.logic import (
    UNKNOWN,
    Binder,
    conjuncts,
    is_known,
    substitute,
)


@value_class
class Effects(Hashed):
    """All effects of an action.  ``binders``: its parameters; ``enabling``: its enabling
    conditions.

    ``single``: there is one way to take an instance; ``clear``: everything was understood.
    """

    action: ir.Action
    binders: tuple[Binder, ...]
    enabling: tuple[Expr, ...]
    accesses: tuple[Access, ...]
    single: bool
    clear: bool


class EffectWalk:
    """A walk over the statements of one action's body."""

    def __init__(self) -> None:
        self.meaning: dict[str, Expr] = {}
        self.dirty: set[str] = set()
        self.found: list[Access] = []
        self.single, self.clear = True, True

    def tests(
        self, exprs: Iterable[Expr], path: tuple[Expr, ...], bound: tuple[Binder, ...]
    ) -> None:
        """Records conditions for the existence of the step, or of this way of it."""
        for expr in exprs:
            for part in conjuncts(expr):
                faulty = can_fault(part)
                for access in accesses_of(part, None if faulty else True, bound):
                    how = AccessKind.LOOK if faulty else AccessKind.TEST
                    self.found.append(access.reached(path, how))

    def look(self, expr: Expr, path: tuple[Expr, ...], bound: tuple[Binder, ...]) -> None:
        for access in accesses_of(expr, None, bound):
            self.found.append(access.reached(path, access.how))

    def before_step(self, node: Expr) -> Expr:
        """``node`` over the state before the step, where that is known."""
        found: Expr = substitute(node, self.meaning)
        return ir.Local(found.type, UNKNOWN) if reads_in(found) & self.dirty else found

    def membership(self, name: str, domain: ir.Domain) -> tuple[Expr, ...]:
        """The conditions known of a member of a domain."""
        match domain:
            case ir.Members(of, item) if isinstance(of.type, SetT | BagT):
                inside = Apply(BOOL, Op.IN, (ir.Local(item, name), self.before_step(of)))
                return (inside,) if is_known(inside) else ()
            case _:
                return ()

    def block(
        self, block: ir.Block, path: tuple[Expr, ...], bound: tuple[Binder, ...], sure: bool
    ) -> None:
        """Walks a block; ``sure``: each statement is run, once, whenever the conditions in ``path``
        hold.
        """
        for stmt in block:
            match stmt:
                case ir.Assign():
                    self.assign(stmt, path, bound, sure)
                case ir.Declare(name, _, value):
                    self.look(substitute(value, self.meaning), path, bound)
                    self.meaning[name] = self.before_step(value)
                case ir.If():
                    self.branch(stmt, path, bound, sure)
                case ir.For(name, domain, body):
                    self.loop(name, domain, body, path, bound)
                case ir.While(condition, body):
                    self.forget(body)
                    self.look(substitute(condition, self.meaning), path, bound)
                    self.block(body, path, bound, False)
                    self.forget(body)
                case ir.Choose(name, domain, where):
                    self.single = False
                    bound = (*bound, (name, ir.domain_item(domain)))
                    of = ir.domain_source(domain)
                    whole = [] if of is None else [of]
                    for expr in whole:
                        way = None if can_fault(expr) else True
                        for access in accesses_of(substitute(expr, self.meaning), way, bound):
                            how = AccessKind.LOOK if way is None else AccessKind.TEST
                            self.found.append(access.reached(path, how))
                    self.tests([substitute(where, self.meaning)], path, bound)
                    more = (*self.membership(name, domain), self.before_step(where))
                    path = (*path, *(part for part in more if is_known(part)))
                case ir.Assume(condition):
                    self.single = False
                    self.tests([substitute(condition, self.meaning)], path, bound)
                    path = (*path, *(p for p in [self.before_step(condition)] if is_known(p)))
                case ir.Fault() | ir.Mark():
                    pass
                case ir.Emit():
                    self.clear = False
                case _:
                    assert_never(stmt)

    def branch(
        self, stmt: ir.If, path: tuple[Expr, ...], bound: tuple[Binder, ...], sure: bool
    ) -> None:
        condition, then, otherwise = stmt.condition, stmt.then, stmt.otherwise
        self.look(substitute(condition, self.meaning), path, bound)
        now = self.before_step(condition)
        dirty, meaning = set(self.dirty), dict(self.meaning)
        for block, holds in ((then, now), (otherwise, negation(now))):
            self.dirty, self.meaning = set(dirty), dict(meaning)
            more = tuple(conjuncts(holds)) if is_known(holds) else ()
            if ir.FALSE not in more:
                self.block(block, (*path, *more), bound, sure and is_known(holds))
        self.dirty, self.meaning = dirty, meaning
        self.forget((*then, *otherwise))

    def loop(
        self,
        name: str,
        domain: ir.Domain,
        body: ir.Block,
        path: tuple[Expr, ...],
        bound: tuple[Binder, ...],
    ) -> None:
        of = ir.domain_source(domain)
        if of is not None:
            self.look(substitute(of, self.meaning), path, bound)
        more = self.membership(name, domain)
        self.forget(body)
        inner = (*bound, (name, ir.domain_item(domain)))
        self.meaning.pop(name, None)
        self.block(body, (*path, *more), inner, False)
        self.forget(body)

    def forget(self, block: ir.Block) -> None:
        """Drops what is known of all that ``block`` may write."""
        self.dirty |= assigned_in(block)
        self.meaning.update(dict.fromkeys(stored_in(block), ir.Local(BOOL, UNKNOWN)))

    def assign(
        self, stmt: ir.Assign, path: tuple[Expr, ...], bound: tuple[Binder, ...], sure: bool
    ) -> None:
        target = stmt.target
        keys = [step.key for step in target.path if isinstance(step, ir.Key)]
        for key in keys:
            self.look(substitute(key, self.meaning), path, bound)
        if not target.is_state:
            self.look(substitute(stmt.value, self.meaning), path, bound)
            value, unknown = self.before_step(stmt.value), ir.Local(BOOL, UNKNOWN)
            self.meaning[target.name] = unknown if target.path else value
            return
        how, item, others = _change(target, stmt.value)
        for other in others:
            self.look(substitute(other, self.meaning), path, bound)
        keyed = all(isinstance(s, ir.Key) and s.key_type is not None for s in target.path)
        if not keyed or (how is AccessKind.SHIFT and not isinstance(item, Const)):
            how, item = AccessKind.WRITE, None
        place: list[Expr] = []
        for step in target.path:
            if not isinstance(step, ir.Key) or step.key_type is None:
                break
            place.append(self.before_step(step.key))
        exact = None if item is None else _exact(self.before_step(item))
        at = known_keys(tuple(place))
        self.found.append(Access(target.name, how, at, exact, None, path, bound, sure))
        self.dirty.add(target.name)


def _change(target: ir.Target, value: Expr) -> tuple[AccessKind, Expr | None, list[Expr]]:
    """The kind of change of an assignment to its entry, its argument, and its other reads."""
    match value:
        case Const(SetT() | BagT(), frozenset() | tuple() as members) if not members:
            return AccessKind.TAKE, None, []
        case Const():
            return AccessKind.SET, value, []
        case Apply(op=Op.INSERT | Op.BAG_ADD, args=(old, item)) if _itself(target, old):
            return AccessKind.ADD, item, [item]
        case Apply(op=Op.REMOVE | Op.BAG_REMOVE, args=(old, item)) if _itself(target, old):
            return AccessKind.TAKE, item, [item]
        case Apply(op=Op.UNION, args=(old, other)) if _itself(target, old):
            return AccessKind.ADD, None, [other]
        case Apply(op=Op.MINUS, args=(old, other)) if _itself(target, old):
            return AccessKind.TAKE, None, [other]
        case Apply(op=Op.ADD, args=(old, Const() as by)) if _itself(target, old):
            return AccessKind.SHIFT, by, []
        case _:
            return AccessKind.WRITE, None, [value]


def _itself(target: ir.Target, value: Expr) -> bool:
    """Whether ``value`` is the current value of ``target``."""
    for step in reversed(target.path):
        match value:
            case ir.Index(base=base, key=key) if isinstance(step, ir.Key) and step.key == key:
                value = base
            case _:
                return False
    return isinstance(value, ir.Read) and value.variable == target.name


def effects(system: ir.TransitionSystem, action: ir.Action) -> Effects:
    """The reads and writes of ``action``, the monitor after it included."""
    walk = EffectWalk()
    binders = tuple((p.name, ir.domain_item(p.domain)) for p in action.params)
    enabling: list[Expr] = []
    for param in action.params:
        of = ir.domain_source(param.domain)
        inside = walk.membership(param.name, param.domain)
        if inside:
            walk.tests(inside, (), binders)
        elif of is not None:
            walk.look(of, (), binders)
        enabling += [*inside, *conjuncts(param.where)]
        walk.tests([param.where], (), binders)
    walk.tests([action.guard], (), binders)
    enabling += conjuncts(action.guard)
    there = tuple(enabling)
    walk.found = [
        access.reached(there, access.how) if access.how is AccessKind.TEST else access
        for access in walk.found
    ]
    walk.block(action.body + system.monitor, there, binders, True)
    return Effects(action, binders, there, tuple(walk.found), walk.single, walk.clear)


def _exact(item: Expr) -> Expr | None:
    return item if is_known(item) else None
