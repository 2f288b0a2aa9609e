"""Properties: where temporal operators stand, and what may stand around them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from checker.diagnostics import Span
from checker.lang import ast, ast_items, typed
from checker.lang.check_expr import bind, safe
from checker.lang.check_types import BOOL
from checker.lang.scope import Hole, Home, Scope

_TEMPORAL = ("always", "eventually", "~>")


def property_of(decl: ast_items.PropertyDecl, home: Home) -> typed.PropertyDef | None:
    """The property ``decl``; ``None`` where something is wrong, which is reported."""
    try:
        formula = _formula(decl.formula, Scope(home, "property"))
    except Hole:
        return None
    return typed.PropertyDef(decl.name.text, decl.document, decl.text, formula, decl.name.span)


def _formula(expr: ast.Expr, scope: Scope) -> typed.Expr:
    match expr:
        case ast.Quantified("forall", binders, body, span):
            bound, inner = bind(binders, scope)
            made = _formula(body, inner)
            for binder in bound:
                _fixed(binder.domain, scope)
                if binder.where is not None:
                    _fixed(binder.where, scope)
            return typed.Quantified(BOOL, "forall", bound, made, span)
        case ast.Operator(op, args, span) if op in _TEMPORAL:
            return typed.Temporal(BOOL, op, tuple(safe(a, scope, BOOL) for a in args), span)
        case _:
            if _temporal(expr):
                message = "temporal operators below other operators are not supported yet"
                hint = "`forall …: always …`, `… eventually …` and `… ~> …` are"
                scope.report.fail("N001", message, expr.span, hint=hint)
            hint = "write `always …`, `eventually …` or `… ~> …`"
            scope.report.fail("N019", "this does not say when it holds", expr.span, hint=hint)


def _temporal(expr: object) -> bool:
    """Whether a temporal operator stands somewhere in ``expr``."""
    if isinstance(expr, tuple):
        return any(_temporal(e) for e in expr)
    if isinstance(expr, ast.Operator) and expr.op in _TEMPORAL:
        return True
    if is_dataclass(expr) and not isinstance(expr, type | Span):
        return any(_temporal(getattr(expr, f.name)) for f in fields(expr))
    return False


def _fixed(expr: typed.Expr, scope: Scope) -> None:
    """Reports what changes during a run, in a quantifier around a temporal operator."""
    changing = _changing(expr)
    if changing is not None:
        message = "this changes during a run, and the quantifier stands before the operator"
        hint = "put the quantifier behind `always`, or range over all values: `m in Msg`"
        scope.report.fail("N019", message, changing.span, hint=hint)


def _changing(node: object) -> typed.Expr | None:
    if isinstance(node, tuple):
        return next((c for c in map(_changing, node) if c is not None), None)
    if isinstance(
        node,
        typed.StateRef
        | typed.Received
        | typed.History
        | typed.HistoryOrder
        | typed.Repeated
        | typed.Causes,
    ):
        return node
    if isinstance(node, typed.Correct) and node.kind == "crashed":
        return node
    if is_dataclass(node) and not isinstance(node, type | Span):
        parts = (getattr(node, f.name) for f in fields(node) if f.name not in ("span", "type"))
        return next((c for c in map(_changing, parts) if c is not None), None)
    return None
