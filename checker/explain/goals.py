"""The goal of an obligation, as an expression over single states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from checker.model import build, ir
from checker.model.ir import Expr
from checker.model.reading import Atom, Join, Node, Range, Timed
from checker.model.tree import rewritten
from checker.model.types import BOOL, Value


def goal(node: Node, names: Mapping[str, Value]) -> Expr | None:
    """Returns ``node`` with the values of ``names``; ``None`` where it is about more than one
    state."""
    expr = _expr(node)
    return None if expr is None else _substitute_constants(expr, names)


def _expr(node: Node) -> Expr | None:
    match node:
        case Atom(expr):
            return expr
        case Join(op, parts):
            found = [_expr(part) for part in parts]
            known = [part for part in found if part is not None]
            return _connective(op, known) if len(known) == len(found) else None
        case Range():
            return _quantifier(node)
        case Timed():
            return None
        case _:
            assert_never(node)


def _connective(op: str, parts: list[Expr]) -> Expr:
    match op:
        case "not":
            return build.negation(parts[0])
        case "and":
            return build.conj(*parts)
        case "or":
            return build.disj(*parts)
        case "=>":
            return build.disj(build.negation(parts[0]), parts[1])
        case _:
            return build.equal(parts[0], parts[1])


def _quantifier(node: Range) -> Expr | None:
    body, where = _expr(node.body), ir.TRUE if node.where is None else _expr(node.where)
    if body is None or where is None:
        return None
    among = build.conj(node.condition, where)
    kind = ir.Quantifier(node.kind)
    if kind is ir.Quantifier.FORALL:
        held = build.disj(build.negation(among), body)
    else:
        held = build.conj(among, body)
    return ir.Quant(kind, node.name, node.domain, held, BOOL)


def _substitute_constants(node: Any, names: Mapping[str, Value]) -> Any:
    """Returns ``node`` with constants for ``names``, none of which is bound inside."""

    def change(part: Any) -> ir.Const | None:
        is_named = isinstance(part, ir.Local) and part.name in names
        return ir.Const(part.type, names[part.name]) if is_named else None

    return rewritten(node, change)
