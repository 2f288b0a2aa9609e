"""Types choices, the adversary's and those by chance."""

from __future__ import annotations

from checker.language.syntax import ast, ast_draws, typed
from checker.language.typecheck.expressions import bind_one, check, safe
from checker.language.typecheck.scope import Scope
from checker.language.typecheck.types import BOOL, INT


def choose(
    stmt: ast.Choose | ast_draws.Draw | ast_draws.WeighedDraw, scope: Scope
) -> tuple[tuple[typed.Stmt, ...], Scope]:
    """Returns a choice, and the scope in which its name is bound."""
    if isinstance(stmt, ast_draws.WeighedDraw):
        return _weighed(stmt, scope)
    pattern, domain, inner = bind_one(stmt.pattern, stmt.domain, scope)
    where = None if stmt.where is None else safe(stmt.where, inner, BOOL)
    weights = () if isinstance(stmt, ast_draws.Draw) else None
    return (typed.Choose(pattern, domain, where, stmt.span, weights),), inner


def _weighed(stmt: ast_draws.WeighedDraw, scope: Scope) -> tuple[tuple[typed.Stmt, ...], Scope]:
    values = ast.Display("set", tuple(weight.value for weight in stmt.weights), stmt.span)
    pattern, domain, inner = bind_one(stmt.pattern, values, scope)
    assert isinstance(domain, typed.Display)
    weights = tuple(
        typed.Weight(
            value,
            check(weight.numerator, scope, INT),
            None if weight.denominator is None else check(weight.denominator, scope, INT),
            weight.span,
        )
        for value, weight in zip(domain.items, stmt.weights, strict=True)
    )
    return (typed.Choose(pattern, domain, None, stmt.span, weights),), inner
