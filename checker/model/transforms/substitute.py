"""Substitutes expressions for local names; binders get fresh names where a body is duplicated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from checker.system import ir
from checker.system.build import fresh
from checker.system.ir import Block, Expr
from checker.system.tree import branches, nodes
from checker.system.types import BOOL


def substitute(block: Block, meaning: dict[str, Expr]) -> Block:
    """Returns ``block`` with ``Local(name)`` replaced by ``meaning[name]``; its own locals are
    renamed."""
    renamed = dict(meaning)
    for name in _introduced_names(block):
        renamed.setdefault(name, ir.Local(BOOL, fresh(name.split(".")[0])))
    result: Block = _replace(block, renamed)
    return result


def _introduced_names(block: Block) -> list[str]:
    """Returns the names that statements and binders of ``block`` introduce."""
    return [node.name for node in nodes(block) if isinstance(node, _BINDERS)]


_BINDERS = (ir.Declare, ir.For, ir.Choose, ir.Quant, ir.SetOf, ir.MapOf, ir.Let)


def _replace(node: Any, meaning: dict[str, Expr]) -> Any:
    if isinstance(node, ir.Local):
        found = meaning.get(node.name)
        if found is None:
            return node
        if isinstance(found, ir.Local):
            return ir.Local(node.type, found.name)
        return found
    if isinstance(node, tuple):
        return tuple(_replace(part, meaning) for part in node)
    changes = {name: _replace(getattr(node, name), meaning) for name in branches(type(node)) or ()}
    if isinstance(node, _BINDERS) or (isinstance(node, ir.Target) and not node.is_state):
        local = meaning.get(node.name)
        if isinstance(local, ir.Local):
            changes["name"] = local.name
    return replace(node, **changes) if changes else node


def at_place(node: Any, place: ir.SourceLocation | None) -> Any:
    """Returns ``node`` with errors reported at ``place``, where that is known."""
    if place is None:
        return node
    if isinstance(node, tuple):
        return tuple(at_place(part, place) for part in node)
    changes = {name: at_place(getattr(node, name), place) for name in branches(type(node)) or ()}
    if isinstance(node, ir.Fault | ir.Apply) and node.place is not None:
        changes["place"] = place
    return replace(node, **changes) if changes else node
