"""The part of a system that is one process: its local states, and what a step makes of them.

A process reads its own state, `shared state` and what it receives.  So of the variables of the
system only the process's own entries are kept (its :attr:`LocalSystem.cells`); whatever else a step
reads (the network, other processes, budgets, shared state, failure detectors) may have any value in
every step.  The code is that of the system, without what happens to messages in flight, and the
interpreter runs it.  So the local system has every step that the process can take in the whole
system, and others: a log that it does not explain is not a log of the whole system.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from msgspec import Struct

from checker.conform.explain_events import OBSERVABLE
from checker.model import ir
from checker.model import types as t
from checker.model.ir import STOPS, Action, Block, Expr, MarkKind, Op, TransitionSystem
from checker.model.tree import nodes, placeless, rewritten, statements
from checker.records import replace

SEEN = OBSERVABLE | {MarkKind.HANDLER, MarkKind.BRANCH, MarkKind.POINT, MarkKind.CHOICE}
"""The kinds of marks that are kept: what logs may record, and what says where a step went."""


class NotLocal(Exception):
    """A process has no local system; the message says why."""


class Cell(Struct, frozen=True):
    """A part of the state that belongs to the process: its entry of the variable with this number,
    at ``place`` (a map), or whether it is in it (``None``: a set of processes)."""

    variable: int
    type: t.Type
    place: int | None


class LocalAction(Struct, frozen=True, eq=False):
    """An action as a step of one process.

    ``body``: without what happens to messages in flight; ``subject``: whose step it is; ``inputs``:
    parameters, and names that the body declares, of which nothing is known before the step.
    ``received``: what is sender and message in it, if it begins with a reception; ``stops``: in it
    the process stops.  ``writes``: the numbers of the cells that it may assign.
    """

    action: Action
    body: Block
    subject: Expr
    inputs: dict[str, t.Type]
    received: tuple[Expr, Expr] | None
    stops: bool
    marks: frozenset[int]
    writes: frozenset[int]


class LocalSystem(Struct, frozen=True, eq=False):
    """The local system of the process with this ``rank``.

    ``free``: the variables that it may read and others may assign, but for those of links.
    """

    system: TransitionSystem
    rank: int
    cells: tuple[Cell, ...]
    actions: tuple[LocalAction, ...]
    free: frozenset[int]


def local_system(system: TransitionSystem, rank: int) -> LocalSystem:
    """Returns the local system of a process; raises :class:`NotLocal`."""
    if system.monitor:
        raise NotLocal("the check follows histories, which are not of one process")
    codes = [_Code(system, _as_reception(system, action)) for action in system.actions]
    shared = {name for code in codes for name in code.foreign_writes()}
    cells = tuple(_cells(system, rank, shared))
    numbers = {system.variables[cell.variable].name: n for n, cell in enumerate(cells)}
    links = {v.name for v in system.variables if v.kind is ir.VariableKind.LINK}
    free = {v.name for v in system.variables} - links - set(numbers)
    actions = tuple(
        code.local(links, free, numbers)
        for code in codes
        if code.subject is not None
        and not (isinstance(code.subject, ir.Const) and code.subject.value != rank)
    )
    elsewhere = {v.name for v in system.variables if not _has_part(system, v.type, rank)}
    unkept = (n for n, v in enumerate(system.variables) if v.name in free - elsewhere)
    return LocalSystem(system, rank, cells, actions, frozenset(unkept))


def _has_part(system: TransitionSystem, type_: t.Type, rank: int) -> bool:
    """Returns whether a variable is not one of a role that the process does not have."""
    match type_:
        case t.MapT(t.AtomT(labels=labels, first=first) as key) if _are_processes(system, key):
            return first <= rank < first + len(labels)
        case _:
            return True


def _as_reception(system: TransitionSystem, action: Action) -> Action:
    """Returns an action in which a forged message is received as one in which a message is: the
    receiver can't tell."""
    kinds = {number: info.kind for number, info in enumerate(system.marks)}
    reception = next((n for n, kind in kinds.items() if kind is MarkKind.RECEIVE), None)

    def change(node: object) -> object:
        if reception is None or not isinstance(node, ir.Mark):
            return None
        if kinds[node.mark] is not MarkKind.FORGE:
            return None
        liar, receiver, message, *claimed = node.args
        return ir.Mark(reception, (receiver, claimed[0] if claimed else liar, message))

    return replace(action, body=rewritten(action.body, change))


def _cells(system: TransitionSystem, rank: int, shared: set[str]) -> Iterator[Cell]:
    for number, variable in enumerate(system.variables):
        if variable.name in shared:
            continue
        match variable.type:
            case t.MapT(t.AtomT(labels=labels, first=first) as key, value):
                if _are_processes(system, key) and first <= rank < first + len(labels):
                    yield Cell(number, value, rank - first)
            case t.SetT(t.AtomT() as key) if _are_processes(system, key):
                yield Cell(number, t.BOOL, None)
            case _:
                pass


def _are_processes(system: TransitionSystem, type_: t.Type) -> bool:
    return isinstance(type_, t.AtomT) and (
        type_.labels == system.processes[type_.first : type_.first + len(type_.labels)]
    )


class _Code:
    """The code of an action, and whose step it is."""

    def __init__(self, system: TransitionSystem, action: Action) -> None:
        self.system, self.action = system, action
        inside = tuple(statements(action.body))
        declared = [s for s in inside if isinstance(s, ir.Declare)]
        names = [s.name for s in declared]
        assigned = {s.target.name for s in inside if isinstance(s, ir.Assign)}
        self._aliases = {
            s.name: s.value for s in declared if names.count(s.name) == 1 and s.name not in assigned
        }
        self._assigns = [s for s in inside if isinstance(s, ir.Assign) and s.target.is_state]
        self._marks = [s for s in inside if isinstance(s, ir.Mark)]
        self.subject = self._subject()
        self._check_marks()

    def resolved(self, expr: Expr) -> Any:
        """Returns ``expr`` in terms of the action's parameters, as far as names are only other
        words for these."""

        def change(node: object) -> object:
            if isinstance(node, ir.Local) and node.name in self._aliases:
                return self.resolved(self._aliases[node.name])
            return None

        return placeless(rewritten(expr, change))

    def _subject(self) -> Any:
        if self.action.actor is not None:
            return self.resolved(self.action.actor)
        for param in self.action.params:
            item = ir.domain_item(param.domain)
            if _are_processes(self.system, item):
                return ir.Local(item, param.name)
        return None

    def _check_marks(self) -> None:
        """Raises :class:`NotLocal` where an event that logs record is of another process."""
        for mark in self._marks:
            kind = self.system.marks[mark.mark].kind
            if (kind in OBSERVABLE or kind in STOPS) and not self._is_own(mark.args[0]):
                raise NotLocal(f"`{self.action.name}` is a step of several processes at once")

    def _is_own(self, process: Expr) -> bool:
        return self.subject is not None and self.resolved(process) == self.subject

    def foreign_writes(self) -> Iterator[str]:
        """Yields the variables of which the action assigns more than the entry of its process."""
        for assign in self._assigns:
            target, value = assign.target, assign.value
            match target.path, value:
                case (ir.Key(key), *_), _ if self._is_own(key):
                    continue
                case (), ir.Apply(_, Op.INSERT | Op.REMOVE, (ir.Read(_, name), item)):
                    if name == target.name and self._is_own(item):
                        continue
                case _:
                    pass
            yield target.name

    def local(self, links: set[str], free: set[str], numbers: dict[str, int]) -> LocalAction:
        """Returns the action as a step of its process."""
        slicer = _Slicer(self.system, links, free, self._read_free(free))
        body = slicer.block(self.action.body, outermost=True)
        inputs = dict(slicer.inputs)
        for param in self.action.params:
            match param.domain:
                case ir.Universe(item):
                    inputs[param.name] = item
                case domain if slicer.reads(domain, links | free):
                    inputs[param.name] = ir.domain_item(domain)
                case _:
                    pass
        kinds = {mark.mark: self.system.marks[mark.mark].kind for mark in self._marks}
        received = None
        for name in slicer.inputs:  # what the body declares from a link is known by its own name
            self._aliases.pop(name, None)
        for stmt in body:
            if isinstance(stmt, ir.Mark) and kinds.get(stmt.mark) is MarkKind.RECEIVE:
                received = (self.resolved(stmt.args[1]), self.resolved(stmt.args[2]))
                break
        writes = {numbers[s.target.name] for s in self._assigns if s.target.name in numbers}
        return LocalAction(
            self.action,
            body,
            self.subject,
            inputs,
            received,
            any(kind in STOPS for kind in kinds.values()),
            frozenset(kinds),
            frozenset(writes),
        )

    def _read_free(self, free: set[str]) -> set[str]:
        """Returns the variables of ``free`` that the body reads for more than their own next
        value."""
        found: set[str] = set()
        for stmt in statements(self.action.body):
            own = stmt.target.name if isinstance(stmt, ir.Assign) else ""
            shallow = _without_blocks(stmt)
            found |= {n.variable for n in nodes(shallow) if isinstance(n, ir.Read)} - {own}
        return found & free


def _without_blocks(stmt: ir.Stmt) -> tuple[Any, ...]:
    """Returns the expressions of a statement itself, not those of statements in it."""
    match stmt:
        case ir.If(condition) | ir.While(condition):
            return (condition,)
        case ir.For(_, domain):
            return (domain,)
        case _:
            return (stmt,)


class _Slicer:
    """Takes out of the body of an action what happens to messages in flight, and to the variables
    ``free`` that the body does not read; where a condition depends on what is not kept, it may
    be true or false."""

    def __init__(
        self, system: TransitionSystem, links: set[str], free: set[str], read: set[str]
    ) -> None:
        self.system, self.links, self.unkept = system, links, links | free
        self.dropped = links | (free - read)
        self.inputs: dict[str, t.Type] = {}
        self._numbers = 0

    def reads(self, node: Any, names: set[str]) -> bool:
        """Returns whether ``node`` reads one of the variables ``names``."""
        return any(isinstance(each, ir.Read) and each.variable in names for each in nodes(node))

    def block(self, block: Block, *, outermost: bool = False) -> Block:
        """Returns what is kept of ``block``."""
        return tuple(new for stmt in block for new in self._stmt(stmt, outermost))

    def _stmt(self, stmt: ir.Stmt, outermost: bool) -> Iterator[ir.Stmt]:
        match stmt:
            case ir.Assign(target) if target.is_state and target.name in self.dropped:
                return
            case ir.Mark(mark) if self.system.marks[mark].kind not in SEEN:
                return
            case ir.If(condition, then, otherwise):
                then, otherwise = self.block(then), self.block(otherwise)
                if then or otherwise:
                    chosen, known = self._condition(condition)
                    yield from chosen
                    yield ir.If(known, then, otherwise)
            case ir.Assume(condition):
                chosen, known = self._condition(condition)
                yield from (*chosen, ir.Assume(known))
            case ir.For(name, domain, body, any_order):
                if body := self.block(body):
                    self._refuse_links(domain)
                    yield ir.For(name, domain, body, any_order)
            case ir.While(condition, body, limit, place, grows):
                if body := self.block(body):
                    self._refuse_links(condition)
                    yield ir.While(condition, body, limit, place, grows)
            case ir.Declare(name, type_, value) if outermost and self.reads(value, self.links):
                self.inputs[name] = type_
            case ir.Assign() | ir.Mark() | ir.Declare() | ir.Choose() | ir.Fault() | ir.Emit():
                self._refuse_links(stmt)
                yield stmt
            case _:
                assert_never(stmt)

    def _refuse_links(self, node: Any) -> None:
        if self.reads(node, self.links):
            raise NotLocal("a handler depends on which messages are in flight")

    def _condition(self, condition: Expr) -> tuple[Block, Expr]:
        """Returns ``condition`` with a choice for each part that depends on what is not kept."""
        chosen: list[ir.Stmt] = []

        def changed(expr: Expr) -> Expr:
            if not self.reads(expr, self.unkept):
                return expr
            if isinstance(expr, ir.Apply) and expr.op in (Op.AND, Op.OR, Op.NOT):
                return ir.Apply(expr.type, expr.op, tuple(map(changed, expr.args)), expr.place)
            self._numbers += 1
            name = f"_free.{self._numbers}"
            chosen.append(ir.Choose(name, ir.Universe(t.BOOL), ir.TRUE))
            return ir.Local(t.BOOL, name)

        known = changed(condition)
        return tuple(chosen), known
