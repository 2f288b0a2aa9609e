"""Equivalent actions: their instances have the same effect."""

from __future__ import annotations

from typing import Any

from checker.model import ir
from checker.model.memo import in_an_analysis
from checker.model.names import ROLES
from checker.model.tree import statements
from checker.records import fields, is_record
from checker.reductions.partial_order.effects import Effects


def are_equivalent(a: Effects, b: Effects) -> bool:
    """Whether instances with the same parameters have the same effect, however they are enabled."""
    types_a, types_b = ([type_ for _, type_ in e.binders] for e in (a, b))
    if types_a != types_b or _kinds(a) != _kinds(b):
        return False
    return bool(_shape(a) == _shape(b))


@in_an_analysis
def _kinds(one: Effects) -> list[type]:
    """The kinds of its statements: where they differ, so do the shapes."""
    return [type(stmt) for stmt in statements(one.action.body) if not isinstance(stmt, ir.Mark)]


@in_an_analysis
def _shape(one: Effects) -> Any:
    names = {name: i for i, (name, _) in enumerate(one.binders)}
    return _normalize(one.action.body, names)


def _normalize(node: Any, names: dict[str, int]) -> Any:
    """``node`` with its locals numbered in order of occurrence, and without marks and places."""
    if isinstance(node, tuple):
        return tuple(_normalize(part, names) for part in node if not isinstance(part, ir.Mark))
    if isinstance(node, ir.SourceLocation):
        return None
    if not is_record(node) or isinstance(node, type | ir.Const):
        return node
    local = not (isinstance(node, ir.Target) and node.is_state)
    parts: list[Any] = [type(node).__name__]
    for one in fields(node):
        value = getattr(node, one.name)
        if one.name == "name" and local and isinstance(node, _NAMING):
            value = names.setdefault(value, len(names))
        elif one.name != "type":
            value = _normalize(value, names)
        parts.append(value)
    return tuple(parts)


_NAMING = tuple(k for k, roles in ROLES.items() if roles.refers or roles.writes or roles.binds)
