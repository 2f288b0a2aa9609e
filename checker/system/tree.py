"""Traverses and rewrites the code of a transition system as a tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter
from typing import Any

from checker.diagnostics import Span
from checker.system import ir, types

_PLAIN = {k.__name__ for k in (str, int, bool, tuple, frozenset, Span, ir.SourceLocation)}
_PLAIN.add("None")
"""Fields annotated with nothing else contain no node."""

Values = Callable[[Any], tuple[Any, ...]]

_branches: dict[type, tuple[str, ...] | None] = {}
_backwards: dict[type, Values | None] = {}


def branches(kind: type) -> tuple[str, ...] | None:
    """Returns the fields of a kind of node that may contain nodes; ``None`` where it is no node.

    Types, source locations and plain values are none.
    """
    if kind not in _branches:
        node = (
            is_dataclass(kind)
            and kind is not ir.SourceLocation
            and kind.__module__ != types.__name__
        )
        _branches[kind] = _fields(kind) if node else None
    return _branches[kind]


def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if not set(re.findall(r"\w+", str(f.type))) <= _PLAIN)


def backwards(kind: type) -> Values | None:
    """Returns a getter for the values of :func:`branches` of a node of that ``kind``, the last one
    first; ``None`` where it is no node."""
    if kind not in _backwards:
        _backwards[kind] = _reading(branches(kind))
    return _backwards[kind]


def _reading(names: tuple[str, ...] | None) -> Values | None:
    match names:
        case None:
            return None
        case ():
            return lambda node: ()
        case (name,):
            return lambda node: (getattr(node, name),)
        case _:
            return attrgetter(*reversed(names))


def parts(node: object) -> Iterator[Any]:
    """Returns the children of ``node``: expressions, domains, statements."""
    for name in branches(type(node)) or ():
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            if branches(type(part)) is not None:
                yield part


def nodes(root: object, beyond: tuple[type, ...] = ()) -> Iterator[Any]:
    """Yields ``root``, or each part of a tuple, and everything below it, top down.

    Nodes of the types ``beyond`` are left out, with everything below them.
    """
    todo = [root]
    while todo:
        node = todo.pop()
        below = backwards(type(node))
        if below is not None and not isinstance(node, beyond):
            yield node
            todo.extend(below(node))
        elif isinstance(node, tuple):
            todo.extend(reversed(node))


def rewritten(node: Any, change: Callable[[Any], Any]) -> Any:
    """Returns ``node`` with ``change`` applied, top down, wherever it does not return ``None``."""
    changed = change(node)
    if changed is not None:
        return changed
    found: dict[str, Any] = {}
    for name in branches(type(node)) or ():
        value = getattr(node, name)
        if isinstance(value, tuple):
            new: Any = tuple(_rewritten(part, change) for part in value)
            if any(one is not other for one, other in zip(new, value, strict=True)):
                found[name] = new
        else:
            new = _rewritten(value, change)
            if new is not value:
                found[name] = new
    return replace(node, **found) if found else node


def _rewritten(part: Any, change: Callable[[Any], Any]) -> Any:
    return part if branches(type(part)) is None else rewritten(part, change)


def statements(block: ir.Block) -> Iterator[ir.Stmt]:
    """Yields all statements of ``block``, nested ones included."""
    for stmt in block:
        yield stmt
        match stmt:
            case ir.If(_, then, otherwise):
                yield from statements(then)
                yield from statements(otherwise)
            case ir.For(body=body) | ir.While(body=body):
                yield from statements(body)
            case _:
                pass


def loop_carried(loop: ir.While) -> frozenset[str]:
    """Returns the loop-carried locals: those that an iteration takes over from the one before."""
    inside = tuple(statements(loop.body))
    assigned = {s.target.name for s in inside if isinstance(s, ir.Assign) and not s.target.is_state}
    return frozenset(assigned - {s.name for s in inside if isinstance(s, ir.Declare)})


def placeless(node: Any) -> Any:
    """Returns ``node`` without source locations, so that it can be compared."""

    def change(part: Any) -> Any:
        if getattr(part, "place", None) is None:
            return None
        return placeless(replace(part, place=None))

    return rewritten(node, change)
