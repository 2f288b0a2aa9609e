"""Program points: the positions of statements, and the conditions under which they are reached.

A *site* is an expression or an assignment together with its *path*: conditions all of which hold
when it is evaluated, each as it was at some moment of the step (so that a condition that is false
forever blocks the site, whenever it is evaluated), and its *facts*, those that still hold there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any, assert_never

from msgspec import Struct, field

from checker.model import ir
from checker.model.build import member, negation
from checker.model.ir import Action, Block, Expr, Stmt, TransitionSystem
from checker.model.names import (
    Names,
    assigned_in,
    free_in,
    introduced_in,
    locals_in,
    reads_in,
    stored_in,
)
from checker.model.node import Hashed, value_class
from checker.model.run_errors import risky
from checker.model.tree import mapped, statements
from checker.model.types import BOOL
from checker.records import replace
from checker.reductions.dead_variables.terms import conjuncts


@value_class
class EnteredBlock(Hashed):
    """A branch, or the body of a loop; it is entered where ``conditions`` hold (``None``: of a
    loop, or not known).
    """

    number: int
    conditions: tuple[Expr, ...] | None


@value_class
class ProgramPoint(Hashed):
    """A statement or an expression; ``action``: its number, ``None`` outside of actions.

    ``beside``: conditions tested together with it, none of which can cause an error: where one is
    false, the values of the others make no difference.  ``param``: it is this parameter's domain.
    ``body``: it is reached after the guard.  ``mutable``: local names with more than one value.
    ``blocks``: the blocks that it is in, the outermost first.  ``ways``: where there are any, all
    conditions of one of them have held at some moment of the step.
    """

    node: Stmt | Expr | ir.Domain
    path: tuple[Expr, ...]
    facts: tuple[Expr, ...] = ()
    action: int | None = None
    order: int = 0
    beside: tuple[Expr, ...] = ()
    param: str | None = None
    body: bool = False
    mutable: frozenset[str] = frozenset()
    blocks: tuple[EnteredBlock, ...] = ()
    ways: tuple[tuple[Expr, ...], ...] = ()


class PointWalk(Struct):
    """The walk down a body, with what is known so far.

    ``parameters``: those of the action.  ``raised``: of each flag, a local that begins false and is
    only ever set, the paths to where it is set.
    """

    action: int | None
    numbers: Iterator[int]
    sites: list[ProgramPoint]
    path: tuple[Expr, ...] = ()
    facts: tuple[Expr, ...] = ()
    meaning: dict[str, Expr] = field(default_factory=dict)
    mutable: frozenset[str] = frozenset()
    body: bool = False
    blocks: tuple[EnteredBlock, ...] = ()
    ways: tuple[tuple[Expr, ...], ...] = ()
    parameters: frozenset[str] = frozenset()
    raised: dict[str, list[tuple[Expr, ...]]] = field(default_factory=dict)

    def note(self, node: Any) -> None:
        self.sites.append(
            ProgramPoint(node, self.path, self.facts, self.action, next(self.numbers), (), None,
                 self.body, self.mutable, self.blocks, self.ways)
        )  # fmt: skip

    def assuming(self, *conditions: Expr) -> PointWalk:
        """The walk with more conditions known."""
        more = tuple(c for condition in conditions for c in conjuncts(condition))
        sure = tuple(c for c in more if not free_in(c) & self.mutable)
        return self._below((*self.path, *sure), (*self.facts, *more), self.blocks)

    def inside(self, *conditions: Expr, repeated: bool = False) -> PointWalk:
        """The walk into a block that is entered where ``conditions`` hold."""
        known = self.assuming(*conditions)
        unclear = repeated or any(free_in(c) & self.mutable for c in conditions)
        block = EnteredBlock(next(self.numbers), None if unclear else conditions)
        known.blocks = (*self.blocks, block)
        return known

    def _below(
        self, path: tuple[Expr, ...], facts: tuple[Expr, ...], blocks: tuple[EnteredBlock, ...]
    ) -> PointWalk:
        """A walk that goes on from here, with what it knows of its own."""
        return PointWalk(
            self.action, self.numbers, self.sites, path, facts, dict(self.meaning),
            self.mutable, self.body, blocks, self.ways, self.parameters, self.raised,
        )  # fmt: skip

    def forget(self, variables: Names, names: Names) -> None:
        """Drops what is known of variables and names that change."""
        self.facts = tuple(
            f for f in self.facts if not (reads_in(f) & variables or free_in(f) & names)
        )

    def inline(self, node: Any) -> Any:
        """``node`` with the values of those locals that stand for one expression."""
        if isinstance(node, ir.Local):
            return self.meaning.get(node.name, node)
        return node if locals_in(node).isdisjoint(self.meaning) else mapped(node, self.inline)

    def block(self, block: Block) -> None:
        """Every program point of ``block``, in order."""
        for stmt in block:
            self.statement(stmt)

    def statement(self, raw: Stmt) -> None:
        match raw:
            case ir.Declare(name, _, value):
                value = self.inline(value)
                self.note(ir.Declare(name, raw.type, value))
                self.forget(frozenset(), frozenset({name}))
                if name not in self.mutable and not reads_in(value) and value.type == raw.type:
                    if not free_in(value) & self.mutable and not risky(value, self.path):
                        self.meaning[name] = value
                if name not in self.mutable and name not in self.meaning:
                    self.facts += (ir.Apply(BOOL, ir.Op.EQ, (ir.Local(raw.type, name), value)),)
            case ir.Assign():
                stmt = self.inline(raw)
                self.note(stmt)
                if stmt.target.name in self.raised and not stmt.target.is_state:
                    self.raised[stmt.target.name].append(self.path)
                self.forget(assigned_in(stmt), stored_in(stmt))
            case ir.If(condition, then, otherwise):
                condition = self.inline(condition)
                self.note(condition)
                for test, branch in ((condition, then), (negation(condition), otherwise)):
                    if branch and test != ir.FALSE:
                        self.inside(test).block(branch)
                self.forget(*_assigned_names(raw))
            case ir.For(name, domain, body):
                domain = self.inline(domain)
                self.note(self.inline(raw))
                self.forget(*_assigned_names(raw))
                self.inside(*within_domain(name, domain), repeated=True).block(body)
            case ir.While(condition, body):
                self.note(self.inline(raw))
                self.forget(*_assigned_names(raw))
                self.inside(self.inline(condition), repeated=True).block(body)
            case ir.Choose(name):
                stmt = self.inline(raw)
                self.note(stmt)
                known = self.assuming(*within_domain(name, stmt.domain), stmt.where)
                self.path, self.facts = known.path, known.facts
            case ir.Assume(condition):
                stmt = self.inline(raw)
                self.note(stmt)
                known = self.assuming(stmt.condition)
                self.path, self.facts = known.path, known.facts
                self.ways = self._raised(stmt.condition) or self.ways
            case ir.Fault() | ir.Emit() | ir.Mark():
                self.note(self.inline(raw))
            case _:
                assert_never(raw)

    def _raised(self, condition: Expr) -> tuple[tuple[Expr, ...], ...]:
        """What is known at each of the places where a flag is set, of the action's parameters and
        the state, if ``condition`` is that it is.
        """
        if not (isinstance(condition, ir.Local) and condition.name in self.raised):
            return ()
        if any(block.conditions is None for block in self.blocks):
            return ()  # in a loop it may have been set further down
        ways = [tuple(c for c in path if free_in(c) <= self.parameters)
                for path in self.raised[condition.name]]  # fmt: skip
        known = {frozenset(way): way for way in ways}
        return tuple(way for one, way in known.items() if not any(other < one for other in known))


def within_domain(name: str, domain: ir.Domain) -> tuple[Expr, ...]:
    """The condition that ``name`` is a member of ``domain``."""
    if isinstance(domain, ir.Members):
        return (member(ir.Local(domain.item, name), domain.of),)
    return ()


def _assigned_names(node: Any) -> tuple[Names, Names]:
    """The state variables, and the locals, to which ``node`` gives values."""
    return assigned_in(node), stored_in(node) | introduced_in(node)


def program_points(system: TransitionSystem) -> list[ProgramPoint]:
    """All program points of the actions, the monitor, the properties and justice; not of
    ``init``.
    """
    found: list[ProgramPoint] = []
    numbers = count()
    for number, action in enumerate(system.actions):
        _action(number, action, numbers, found)
    watch = PointWalk(None, numbers, found, mutable=_mutable(_stores(system.monitor)))
    watch.block(system.monitor)
    for prop in system.properties:
        asked = PointWalk(None, numbers, found)
        asked.note(prop.bad)
        asked.note(prop.premise)
        for param in prop.params:
            asked.note(param.domain)
            asked = asked.assuming(*within_domain(param.name, param.domain))
            asked.note(param.where)
            asked = asked.assuming(param.where)
        for proposition in prop.propositions:
            asked.note(proposition)
    for justice in system.justice:
        PointWalk(None, numbers, found).note(justice.holds)
    return found


def _stores(block: Block) -> list[ir.Assign | ir.Declare]:
    return [stmt for stmt in statements(block) if isinstance(stmt, ir.Assign | ir.Declare)]


def _mutable(stores: list[ir.Assign | ir.Declare]) -> frozenset[str]:
    """The local names that are given more than one value."""
    names = Counter(
        one.name if isinstance(one, ir.Declare) else one.target.name
        for one in stores
        if isinstance(one, ir.Declare) or not one.target.is_state
    )
    return frozenset(name for name, times in names.items() if times > 1)


def _flags(stores: list[ir.Assign | ir.Declare]) -> Iterator[str]:
    """The locals that are declared once, as false, and are only ever assigned true."""
    declared = [one for one in stores if isinstance(one, ir.Declare)]
    names = [one.name for one in declared]
    lowered = {
        one.target.name
        for one in stores
        if isinstance(one, ir.Assign) and not one.target.is_state
        if one.target.path or one.value != ir.TRUE
    }
    for one in declared:
        if one.value == ir.FALSE and names.count(one.name) == 1 and one.name not in lowered:
            yield one.name


def _action(number: int, action: Action, numbers: Iterator[int], found: list[ProgramPoint]) -> None:
    stores = _stores(action.body)
    walk = PointWalk(number, numbers, found, mutable=_mutable(stores),
                     parameters=frozenset(p.name for p in action.params),
                     raised={name: [] for name in _flags(stores)})  # fmt: skip
    tests = [
        condition
        for param in action.params
        for condition in (*within_domain(param.name, param.domain), *conjuncts(param.where))
    ]
    tests += conjuncts(action.guard)
    parts: list[Any] = [p.domain for p in action.params]
    safe = not any(risky(part) for part in parts)
    safe = safe and not any(risky(test, tuple(tests[:i])) for i, test in enumerate(tests))
    beside = tuple(c for test in tests for c in conjuncts(test)) if safe else ()
    for param in action.params:
        at = ProgramPoint(param.domain, walk.path, walk.facts, number, next(numbers), beside,
                  param.name)  # fmt: skip
        found.append(at)
        walk = walk.assuming(*within_domain(param.name, param.domain))
        found.append(replace(at, node=param.where, path=walk.path, param=None))
        walk = walk.assuming(param.where)
    found.append(
        ProgramPoint(action.guard, walk.path, walk.facts, number, next(numbers), beside, None)
    )
    walk = walk.assuming(action.guard)
    walk.note(action.promised)
    for key in ir.fairness_of(action).key:
        walk.note(key)
    walk.body = True
    walk.block(action.body)
