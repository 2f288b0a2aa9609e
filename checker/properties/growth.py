"""Decides which expressions are monotone: histories only grow, and ``correct`` is rigid."""

from __future__ import annotations

from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed


def grows(expr: typed.Expr) -> bool:
    """Tells whether ``expr``, once true in an execution, stays true (sets: only gain members)."""
    match expr:
        case typed.Operation(_, "and" | "or", args, _):
            return all(grows(a) for a in args)
        case typed.Operation(_, "in", (item, of), _):
            return is_rigid(item) and grows(of)
        case typed.Operation(_, ">" | ">=", (left, right), _):
            if isinstance(left, typed.Operation) and left.op == "size":
                return grows(left.args[0]) and is_rigid(right)
            return is_rigid(expr)
        case typed.Quantified(_, kind, binders, body, _):
            ranges = is_rigid if kind == "forall" else grows
            parts = [p for b in binders for p in (b.domain, b.where) if p is not None]
            patterns = all(is_rigid(b.pattern) for b in binders)
            return patterns and all(ranges(p) for p in parts) and grows(body)
        case typed.Acts():
            return True
        case typed.History():
            return is_rigid(expr.owner)
        case typed.HistoryOrder(_, _, _, owner, first, second, _):
            return is_rigid(owner) and is_rigid(first) and is_rigid(second)
        case typed.Repeated(_, _, _, owner, item, _):
            return is_rigid(owner) and is_rigid(item)
        case typed.RepeatedAct(_, _, item, _):
            return is_rigid(item)
        case typed.Causes(_, first, second, _):
            return is_rigid(first) and is_rigid(second)
        case _:
            return is_rigid(expr)


def is_rigid(expr: typed.Expr | typed.Pattern) -> bool:
    """Tells whether ``expr`` is rigid: it has the same value in every state of an execution."""
    return not any(isinstance(n, typed.Temporal) or typed.changes(n) for n in nodes(expr))
