"""The bodies of handlers: the events that each causes, in the order of its statements, and the
variables that it reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checker.conform.explain_events import BY_MESSAGE
from checker.conform.lines import Logged
from checker.model import ir
from checker.model.ir import Block, MarkKind, TransitionSystem
from checker.model.tree import nodes, statements

BEGINNINGS = (MarkKind.RECEIVE, MarkKind.REQUEST, MarkKind.TIMEOUT, MarkKind.HANDLER)
"""The kinds of events with which a step begins."""


class HandlerBody(Struct, frozen=True):
    """A handler: for each kind of event where its statements have it, counted from 1 (0: it begins
    with it), and the variables that it ``reads`` and ``writes``, but for those of links."""

    events: dict[Logged, tuple[int, ...]]
    reads: frozenset[str]
    writes: frozenset[str]

    def has(self, kind: Logged) -> bool:
        """Returns whether it causes an event of this kind."""
        return bool(self.places(kind))

    def places(self, kind: Logged) -> tuple[int, ...]:
        """Returns the positions of its events of this kind."""
        if kind.name:
            return self.events.get(kind, ())
        return tuple(p for each, at in self.events.items() if each.kind is kind.kind for p in at)


def handler_bodies(system: TransitionSystem) -> tuple[HandlerBody, ...]:
    """Returns the handlers of a system, without those in which a process crashes."""
    links = {v.name for v in system.variables if v.kind is ir.VariableKind.LINK}
    found = []
    for action in system.actions:
        inside = [s for s in statements(action.body) if isinstance(s, ir.Mark)]
        kinds = {system.marks[each.mark].kind for each in inside}
        if kinds & ir.STOPS:
            continue
        condition = [action.guard, *(param.where for param in action.params)]
        outside = {n.variable for part in condition for n in nodes(part) if isinstance(n, ir.Read)}
        for block in _handlers(system, action.body):
            found.append(_body(system, block, outside, links))
    return tuple(found)


def _handlers(system: TransitionSystem, block: Block) -> Iterator[Block]:
    """Yields the blocks that begin a handler, the outermost ones."""
    if any(isinstance(s, ir.Mark) and system.marks[s.mark].kind is MarkKind.HANDLER for s in block):
        yield block
        return
    for stmt in block:
        for inner in _blocks_in(stmt):
            yield from _handlers(system, inner)


def _blocks_in(stmt: ir.Stmt) -> Iterator[Block]:
    match stmt:
        case ir.If(_, then, otherwise):
            yield from (then, otherwise)
        case ir.For(_, _, body) | ir.While(_, body):
            yield body
        case _:
            pass


def _body(
    system: TransitionSystem, block: Block, outside: set[str], links: set[str]
) -> HandlerBody:
    events: dict[Logged, tuple[int, ...]] = {}
    reads, writes = set(outside), set[str]()
    for at, stmt in enumerate(statements(block), 1):
        if isinstance(stmt, ir.Mark) and system.marks[stmt.mark].kind not in BY_MESSAGE:
            kind = _logged(system, stmt.mark)
            place = 0 if kind.kind in BEGINNINGS else at
            events[kind] = (*events.get(kind, ()), place)
        if isinstance(stmt, ir.Assign) and stmt.target.is_state:
            writes.add(stmt.target.name)
    reads |= {n.variable for n in _every_node(block) if isinstance(n, ir.Read)}
    return HandlerBody(events, frozenset(reads - links), frozenset(writes - links))


def _every_node(block: Block) -> Iterator[Any]:
    for stmt in statements(block):
        yield from nodes(stmt)


def _logged(system: TransitionSystem, mark: int) -> Logged:
    """Returns the kind of event that a mark is, as a mapping writes it."""
    info = system.marks[mark]
    if info.kind is MarkKind.MESSAGE:
        return Logged(MarkKind.SEND, info.text)
    if info.kind is MarkKind.HANDLER:
        for begin, kind in (("receive", MarkKind.RECEIVE), ("request", MarkKind.REQUEST)):
            if info.text.startswith(f"upon {begin} "):
                name = info.text.removeprefix(f"upon {begin} ").partition("(")[0].split()[0]
                return Logged(kind, name)
    return Logged(info.kind, info.text)
