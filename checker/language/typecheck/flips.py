"""Rewrites ``flip()`` in a statement to a choice before the statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_draws
from checker.language.syntax.walk import mapped
from checker.records import replace

_ONCE = ast.Quantified | ast.Comprehension | ast.SeqComprehension | ast.Aggregate | ast.MapDisplay
"""Nodes that evaluate their parts more than once: a flip can't be inside."""


def lift_flips(stmt: ast.Stmt, taken: frozenset[str]) -> tuple[ast.Block, ast.Stmt]:
    """Returns the choices before ``stmt``, and ``stmt`` with their names in it.

    ``taken``: names that are in use.  A flip at an invalid position (a guard, a quantifier, a loop)
    is left there.
    """
    found: list[ast.Stmt] = []

    def fresh(span: Span) -> ast.Name:
        number = 1 + len(found) + sum(name.startswith("flip'") for name in taken)
        name = ast.Name(f"flip'{number}", span)
        found.append(ast_draws.Draw(name, ast.BoolWord(span), None, span))
        return name

    match stmt:
        case ast.Let(ast.Name() as name, ast.Apply("flip", (), span), _):
            return (), ast_draws.Draw(name, ast.BoolWord(span), None, span)
        case ast.Assign() | ast.Let() | ast.Var() | ast.Perform():
            stmt = replace(stmt, value=_without(stmt.value, fresh))
        case ast.If():
            stmt = replace(stmt, condition=_without(stmt.condition, fresh))
        case ast.Call():
            stmt = replace(stmt, args=_without(stmt.args, fresh))
        case ast.Send():
            stmt = replace(stmt, message=_without(stmt.message, fresh))
        case _:
            pass
    return tuple(found), stmt


def _without(node: Any, fresh: Callable[[Span], ast.Name]) -> Any:
    """Returns ``node`` with a new name for each flip in it."""
    match node:
        case ast.Apply("flip", (), span):
            return fresh(span)
        case _ if isinstance(node, _ONCE):
            return node
        case _:
            return mapped(node, lambda part: _without(part, fresh))
