"""Replacing local names by expressions; binders get fresh names where a body is used again."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from checker.system import ir
from checker.system.build import fresh
from checker.system.ir import Block, Expr
from checker.system.types import BOOL


def substitute(block: Block, meaning: dict[str, Expr]) -> Block:
    """``block`` with ``Local(name)`` replaced by ``meaning[name]``; its own locals are renamed."""
    renamed = dict(meaning)
    for name in _introduced(block):
        renamed.setdefault(name, ir.Local(BOOL, fresh(name.split(".")[0])))
    result: Block = _replaced(block, renamed)
    return result


def _introduced(node: Any) -> list[str]:
    """Names that statements and binders of ``node`` introduce."""
    found: list[str] = []
    if isinstance(node, tuple):
        for part in node:
            found.extend(_introduced(part))
    elif is_dataclass(node) and not isinstance(node, type):
        if isinstance(node, _BINDERS):
            found.append(node.name)
        for field in fields(node):
            found.extend(_introduced(getattr(node, field.name)))
    return found


_BINDERS = (ir.Declare, ir.For, ir.Choose, ir.Quant, ir.SetOf, ir.MapOf, ir.Let)


def _replaced(node: Any, meaning: dict[str, Expr]) -> Any:
    if isinstance(node, ir.Local):
        found = meaning.get(node.name)
        if found is None:
            return node
        if isinstance(found, ir.Local):
            return ir.Local(node.type, found.name)
        return found
    if isinstance(node, tuple):
        return tuple(_replaced(part, meaning) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changes = {f.name: _replaced(getattr(node, f.name), meaning) for f in fields(node)}
    name = changes.get("name")
    if isinstance(node, (*_BINDERS, ir.Target)) and isinstance(name, str):
        local = meaning.get(name)
        is_local = not (isinstance(node, ir.Target) and node.is_state)
        if is_local and isinstance(local, ir.Local):
            changes["name"] = local.name
    return replace(node, **changes)


def at_place(node: Any, place: ir.Place | None) -> Any:
    """``node`` in which errors are told to be at ``place``, where that is known."""
    if place is None or (not isinstance(node, tuple) and not is_dataclass(node)):
        return node
    if isinstance(node, tuple):
        return tuple(at_place(part, place) for part in node)
    if isinstance(node, type | ir.Place):
        return node
    changes = {f.name: at_place(getattr(node, f.name), place) for f in fields(node)}
    if isinstance(node, ir.Fault | ir.Apply) and node.place is not None:
        changes["place"] = place
    return replace(node, **changes)
