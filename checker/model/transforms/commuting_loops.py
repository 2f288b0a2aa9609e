"""Detects loops whose iterations commute.

The iterations of a loop over distinct members commute where none reads what another one writes, and
where two iterations that write the same variable give the same result in either order.  That holds
for a variable ``v`` (of the state, or a local declared outside of the loop) in one of these cases,
``x`` being the name that the loop binds:

* *own*: every access to ``v`` in the body is to an entry whose key is ``x``, or a tuple with ``x``,
  or all of its components, always at the same depth of the path and in the same places of the
  tuple: different members have different entries.  Membership in a set counts as an entry of it;
* *gathered*: ``v`` (or entries of it) are only inserted into, or only removed from, or only added
  to with amounts of one sign, and not read otherwise (a bag that represents a large set: but for
  whether the item is in it already).  A capacity or a range is exceeded in every
  order or in none, because the value only grows (or shrinks);
* *set*: only one and the same constant is assigned, always at the same depth, and ``v`` is not
  read.

An iteration that is removed (by ``Assume``, or a choice from an empty domain) hides the error of a
later one; a body with choices therefore must not meet any error, but for guessed capacities: where
such an error is hidden, the system is the one with the larger capacity.

This is the commutativity condition for updates of scalarset-indexed variables of Ip and Dill
(*Better Verification Through Symmetry*, Formal Methods in System Design 9, 1996), for sets and bags
as well.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct, field

from checker.model import ir
from checker.model import types as t
from checker.model.ir import Expr, Op
from checker.model.large_sets import inserted
from checker.model.names import scoped_parts
from checker.model.run_errors import block_can_fault, can_fault
from checker.model.tree import placeless

Path = tuple[ir.Key | ir.Pos, ...]
Own = tuple[int, frozenset[tuple[int, int]]]
"""The depth of the key that is an iteration's own, and which component of the bound value (-1: the
whole) is where in a tuple (-1: the whole key)."""

_GATHERING = {
    Op.INSERT: "in",
    Op.UNION: "in",
    Op.REMOVE: "out",
    Op.MINUS: "out",
    Op.BAG_ADD: "bag in",
    Op.BAG_REMOVE: "bag out",
}


class _Access(Struct):
    """The accesses of a body to one variable."""

    own: set[Own | None] = field(default_factory=set)
    looked: bool = False
    written: bool = False
    ways: set[object] = field(default_factory=set)


class _Body:
    """All accesses of a body to what outlives an iteration."""

    def __init__(self, loop: ir.For) -> None:
        self.name = loop.name
        self.private: set[str] = {loop.name}
        self.parts = {loop.name: -1}
        self.alone: dict[str, int] = {}
        self.components = _components(loop.domain)
        self.bound: set[str] = set()
        self.shadowed = False
        self.found: dict[tuple[bool, str], _Access] = {}
        self.forks = False
        self.block(loop.body)

    def commutes(self) -> bool:
        """Tells whether every written variable is in one of the cases."""
        if self.shadowed:
            return False
        for (is_state, name), access in self.found.items():
            if not is_state and name in self.bound:
                return False  # a value that an earlier iteration has left
            own = len(access.own) == 1 and None not in access.own
            alike = len(access.ways) == 1 and None not in access.ways and not access.looked
            if access.written and not own and not alike:
                return False
        return True

    def block(self, block: ir.Block) -> None:
        before = set(self.private)
        for stmt in block:
            self.statement(stmt)
        self.private = before

    def bind(self, name: str) -> None:
        """Records that a statement binds ``name`` until the end of its block."""
        self.shadowed |= name in self.parts or name in self.alone
        self.bound.add(name)
        self.private.add(name)

    def statement(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Assign(target, value):
                self.assign(target, value)
            case ir.Declare(name, _, value):
                self.expr(value)
                self.shadowed |= name in self.parts
                part, only = self.part(value), self.only(value)
                self.bind(name)
                if part is not None:
                    self.parts[name] = part
                if only is not None:
                    self.alone[name] = only
            case ir.If(condition, then, otherwise):
                self.expr(condition)
                self.block(then)
                self.block(otherwise)
            case ir.For(name, domain, body):
                self.domain(domain)
                self.bind(name)
                only = self.only(domain.of) if isinstance(domain, ir.Members) else None
                if only is not None:
                    self.parts[name] = only
                self.block(body)
                if only is not None:
                    del self.parts[name]
            case ir.While(condition, body):
                purged = _match_purge(condition, body)
                if purged is not None:
                    self.assign(*purged)
                    return
                self.expr(condition)
                self.block(body)
            case ir.Choose(name, domain, where):
                self.forks = True
                self.domain(domain)
                self.bind(name)
                self.expr(where)
            case ir.Assume(condition):
                self.forks = True
                self.expr(condition)
            case ir.Mark(_, args):
                for arg in args:
                    if can_fault(arg):
                        self.expr(arg)
            case ir.Fault():
                pass
            case ir.Emit():
                raise AssertionError("an effect that is not lowered")
            case _:
                assert_never(stmt)

    def assign(self, target: ir.Target, value: Expr) -> None:
        for step in target.path:
            if isinstance(step, ir.Key):
                self.expr(step.key)
        if not target.is_state and target.name in self.private:
            self.shadowed |= target.name in self.parts or target.name in self.alone
            self.expr(value)
            return
        access = self.access(target.is_state, target.name)
        access.written = True
        shape = tuple(type(step).__name__ for step in target.path)
        gathered = _match_accumulation(target, value)
        if gathered is not None:
            way, rest = gathered
            access.ways.add((way, shape))
            member = isinstance(value.type, t.SetT) and way in ("in", "out")
            single = isinstance(value, ir.Apply) and value.op in (Op.INSERT, Op.REMOVE)
            entry = (ir.Key(rest, rest.type),) if member and single else ()
            access.own.add(self.own((*target.path, *entry)))
            self.expr(rest)
            return
        access.own.add(self.own(target.path))
        access.ways.add(("set", shape, value.value) if isinstance(value, ir.Const) else None)
        self.expr(value)

    def access(self, is_state: bool, name: str) -> _Access:
        return self.found.setdefault((is_state, name), _Access())

    def own(self, path: Path) -> Own | None:
        """Returns the key of ``path`` that is the iteration's own."""
        for depth, step in enumerate(path):
            if isinstance(step, ir.Key) and step.key_type is not None:
                places = self.places(step.key)
                parts = {part for _, part in places}
                if -1 in parts or (self.components and parts >= set(range(self.components))):
                    return depth, places
        return None

    def places(self, key: Expr) -> frozenset[tuple[int, int]]:
        """Returns which components of the bound value are where in a key."""
        whole = self.part(key)
        if whole is not None:
            return frozenset({(-1, whole)})
        match key:
            case ir.Apply(op=Op.TUPLE, args=args):
                found = ((i, self.part(arg)) for i, arg in enumerate(args))
                return frozenset((i, part) for i, part in found if part is not None)
            case _:
                return frozenset()

    def part(self, expr: Expr) -> int | None:
        """Returns the component of the bound value that ``expr`` is (-1: the whole)."""
        match expr:
            case ir.Local(_, name):
                return self.parts.get(name)
            case ir.Item(_, ir.Local(_, name), position) if self.parts.get(name) == -1:
                return position
            case _:
                return None

    def only(self, expr: Expr) -> int | None:
        """Returns the component of the bound value that is the only member of the set ``expr``."""
        match expr:
            case ir.Apply(op=Op.SET, args=(item,)):
                return self.part(item)
            case ir.Local(_, name):
                return self.alone.get(name)
            case _:
                return None

    def domain(self, domain: ir.Domain) -> None:
        if not isinstance(domain, ir.Universe):
            self.expr(domain.of)

    def expr(self, expr: Expr) -> None:
        """Records the reads of ``expr``."""
        chain = _chain(expr)
        if isinstance(expr, ir.Apply) and expr.op is Op.IN:
            item, of = expr.args
            inside = _chain(of)
            if inside is not None and isinstance(of.type, t.SetT):
                self.expr(item)
                chain = (*inside[:2], (*inside[2], ir.Key(item, of.type.item)))
        if chain is not None:
            is_state, name, path = chain
            for step in path:
                if isinstance(step, ir.Key):
                    self.expr(step.key)
            self.shadowed |= not is_state and name in self.bound and name not in self.private
            if is_state or name not in self.private:
                access = self.access(is_state, name)
                access.looked = True
                access.own.add(self.own(path))
            return
        for part, bound in scoped_parts(expr):
            known = bound in self.private
            self.shadowed |= bound in self.parts
            if bound is not None:
                self.private.add(bound)
            self.expr(part)
            if bound is not None and not known:
                self.private.discard(bound)


def _chain(expr: Expr) -> tuple[bool, str, Path] | None:
    """Returns a variable or local, and the path to the part of it that ``expr`` is."""
    match expr:
        case ir.Read(_, name):
            return True, name, ()
        case ir.Local(_, name):
            return False, name, ()
        case ir.Index(_, base, key):
            inner = _chain(base)
            if inner is None:
                return None
            key_type = base.type.key if isinstance(base.type, t.MapT) else None
            return inner[0], inner[1], (*inner[2], ir.Key(key, key_type))
        case ir.Item(_, base, position):
            inner = _chain(base)
            return None if inner is None else (inner[0], inner[1], (*inner[2], ir.Pos(position)))
        case _:
            return None


def _match_accumulation(target: ir.Target, value: Expr) -> tuple[str, Expr] | None:
    """Returns how ``value`` changes what the target holds, and by what."""
    if not isinstance(value, ir.Apply):
        return None
    added = inserted(value)
    if added is not None:
        have, rest = added
    elif len(value.args) == 2:
        have, rest = value.args
    else:
        return None
    chain = _chain(have)
    if chain is None or chain[:2] != (target.is_state, target.name):
        return None
    if [_step(s) for s in chain[2]] != [_step(s) for s in target.path]:
        return None
    if added is not None:
        return "in", rest
    if value.op in _GATHERING:
        return _GATHERING[value.op], rest
    if value.op is Op.ADD and isinstance(rest.type, t.IntT):
        if rest.type.lo >= 0:
            return "more", rest
        if rest.type.hi <= 0:
            return "less", rest
    return None


def _match_purge(condition: Expr, body: ir.Block) -> tuple[ir.Target, Expr] | None:
    """Matches a loop that removes all copies of an item from a bag: returns its access to the
    bag."""
    match condition, body:
        case (
            ir.Apply(op=Op.IN, args=(item, of)),
            (ir.Assign(target, ir.Apply(op=Op.BAG_REMOVE, args=(_, gone)) as value),),
        ) if isinstance(of.type, t.BagT) and placeless(item) == placeless(gone):
            chain, looked = _chain(value.args[0]), _chain(of)
            if looked is None or chain is None or _match_accumulation(target, value) is None:
                return None
            alike = [_step(s) for s in looked[2]] == [_step(s) for s in chain[2]]
            return (target, value) if looked[:2] == chain[:2] and alike else None
        case _:
            return None


def _components(domain: ir.Domain) -> int:
    """Returns the number of components of the members of ``domain``; 0 where they are no tuples."""
    item = ir.domain_item(domain)
    return len(item.items) if isinstance(item, t.TupleT) else 0


def _step(step: ir.Key | ir.Pos) -> object:
    return placeless(step.key) if isinstance(step, ir.Key) else step.position


def commutes(loop: ir.For) -> bool:
    """Tells whether the iterations of ``loop``, over distinct members, may be executed in any
    order."""
    if loop.any_order:
        return True
    body = _Body(loop)
    if body.forks and block_can_fault(loop.body, growing=False):
        return False
    return body.commutes()
