"""Substitutes expressions for local names; binders get fresh names where a body is duplicated."""

from __future__ import annotations

from typing import Any

from checker.model import ir
from checker.model.build import fresh
from checker.model.ir import Block, Expr
from checker.model.names import BINDERS
from checker.model.tree import mapped, nodes, with_fields
from checker.model.types import BOOL


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
    return [node.name for node in nodes(block) if isinstance(node, BINDERS)]


def _replace(node: Any, meaning: dict[str, Expr]) -> Any:
    if isinstance(node, ir.Local):
        value = meaning.get(node.name)
        if isinstance(value, ir.Local):
            return ir.Local(node.type, value.name)
        return node if value is None else value
    found = mapped(node, lambda part: _replace(part, meaning))
    if isinstance(node, BINDERS) or (isinstance(node, ir.Target) and not node.is_state):
        local = meaning.get(node.name)
        if isinstance(local, ir.Local):
            return with_fields(found, {"name": local.name})
    return found


def at_place(node: Any, place: ir.SourceLocation | None) -> Any:
    """Returns ``node`` with errors reported at ``place``, where that is known."""
    if place is None:
        return node
    found = mapped(node, lambda part: at_place(part, place))
    if isinstance(node, ir.Fault | ir.Apply) and node.place is not None:
        return with_fields(found, {"place": place})
    return found
