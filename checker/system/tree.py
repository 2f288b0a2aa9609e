"""Code of a transition system as a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from checker.system import ir, types

_fields: dict[type, tuple[str, ...]] = {}


def branches(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node in which other nodes may be; none where it is no node: types,
    places and plain values are none."""
    found = _fields.get(kind)
    if found is None:
        node = is_dataclass(kind) and kind is not ir.Place and kind.__module__ != types.__name__
        found = _fields[kind] = tuple(f.name for f in fields(kind)) if node else ()
    return found


def parts(node: object) -> Iterator[Any]:
    """What ``node`` is made of, one level down: expressions, domains, statements."""
    for name in branches(type(node)):
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            if branches(type(part)):
                yield part


def nodes(root: object) -> Iterator[Any]:
    """``root``, or each part of a tuple, and everything below it, from the top down."""
    todo = list(reversed(root)) if isinstance(root, tuple) else [root]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            todo.extend(reversed(node))
        elif branches(type(node)):
            yield node
            todo.extend(reversed(tuple(parts(node))))


def rewritten(node: Any, change: Callable[[Any], Any]) -> Any:
    """``node`` with ``change`` made wherever it gives something else than ``None``, top down."""
    changed = change(node)
    if changed is not None:
        return changed
    found: dict[str, Any] = {}
    for name in branches(type(node)):
        value = getattr(node, name)
        if isinstance(value, tuple):
            new: Any = tuple(rewritten(p, change) if branches(type(p)) else p for p in value)
            if any(one is not other for one, other in zip(new, value, strict=True)):
                found[name] = new
        elif branches(type(value)):
            new = rewritten(value, change)
            if new is not value:
                found[name] = new
    return replace(node, **found) if found else node


def statements(block: ir.Block) -> Iterator[ir.Stmt]:
    """All statements of ``block``, nested ones included."""
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


def handed_on(loop: ir.While) -> frozenset[str]:
    """The locals that a round of ``loop`` takes over from the one before."""
    inside = tuple(statements(loop.body))
    assigned = {s.target.name for s in inside if isinstance(s, ir.Assign) and not s.target.is_state}
    return frozenset(assigned - {s.name for s in inside if isinstance(s, ir.Declare)})


def placeless(node: Any) -> Any:
    """``node`` without the places of what is in it, so that it can be compared."""

    def change(part: Any) -> Any:
        if getattr(part, "place", None) is None:
            return None
        return placeless(replace(part, place=None))

    return rewritten(node, change)
