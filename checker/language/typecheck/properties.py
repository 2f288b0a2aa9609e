"""Types properties: the positions of temporal operators, and what may surround them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_items, typed
from checker.language.typecheck.expressions import bind, safe
from checker.language.typecheck.scope import Hole, Home, Scope
from checker.language.typecheck.types import BOOL

_TEMPORAL = ("always", "eventually", "~>")
_BOOLEAN = ("not", "and", "or", "=>")
_FIRST = "outside of every temporal operator it would be asked of the first state only"


def property_of(decl: ast_items.PropertyDecl, home: Home) -> typed.PropertyDef | None:
    """Returns the property ``decl``; ``None`` where something is wrong, which is reported."""
    scope = Scope(home, "property")
    try:
        if not temporal(decl.formula):
            bare = _innermost(decl.formula)
            hint = "write `always …`, `eventually …` or `… ~> …`"
            scope.report.fail("N019", "this does not say when it holds", bare.span, hint=hint)
        formula = _formula(decl.formula, scope, False)
    except Hole:
        return None
    return typed.PropertyDef(decl.name.text, decl.document, decl.text, formula, decl.name.span)


def invariant_of(decl: ast_items.PropertyDecl, home: Home) -> typed.PropertyDef | None:
    """Returns the lemma ``decl`` as ``always`` of its formula; ``None`` where something is
    wrong."""
    scope = Scope(home, "property")
    if temporal(decl.formula):
        hint = "leave out `always`, or call it a `property`"
        message = "an invariant is about single states, and means that it is always so"
        home.report.add("N030", message, _first_temporal(decl.formula).span, hint=hint)
        return None
    try:
        body = safe(decl.formula, scope, BOOL)
    except Hole:
        return None
    formula = typed.Temporal(BOOL, "always", (body,), decl.formula.span)
    text = f"always {decl.text}"
    return typed.PropertyDef(
        decl.name.text, decl.document, text, formula, decl.name.span, lemma=True
    )


def _first_temporal(expr: ast.Expr) -> ast.Expr:
    """Strips the quantifiers of ``expr``, whose body is, or contains, a temporal formula."""
    while isinstance(expr, ast.Quantified):
        expr = expr.body
    return expr


def _innermost(expr: ast.Expr) -> ast.Expr:
    while isinstance(expr, ast.Quantified) and expr.kind == "forall":
        expr = expr.body
    return expr


def _formula(expr: ast.Expr, scope: Scope, inside: bool) -> typed.Expr:
    """Types ``expr``, which may contain temporal operators; ``inside`` one, state may be read.

    Raises :class:`Hole` after reporting an error.
    """
    if not temporal(expr):
        built = safe(expr, scope, BOOL)
        changing = None if inside else _changing(built)
        if changing is not None:
            hint = "put it behind `always`: `always (… => eventually …)`"
            message = f"this changes during a run; {_FIRST}"
            scope.report.fail("N019", message, changing.span, hint=hint)
        return built
    match expr:
        case ast.Quantified(kind, binders, body, span):
            bound, inner = bind(binders, scope)
            made = _formula(body, inner, inside)
            for binder in bound:
                _require_rigid(binder.domain, scope, inside)
                if binder.where is not None:
                    _require_rigid(binder.where, scope, inside)
            return typed.Quantified(BOOL, kind, bound, made, span)
        case ast.Operator(op, args, span) if op in _TEMPORAL:
            return typed.Temporal(BOOL, op, _formulas(args, scope, True), span)
        case ast.Operator(op, args, span) if op in _BOOLEAN:
            return typed.Operation(BOOL, op, _formulas(args, scope, inside), span)
        case _:
            message = "a temporal operator stands inside of an expression that is no formula"
            hint = "around it there may be `not and or =>`, `forall` and `exists`"
            scope.report.fail("N019", message, expr.span, hint=hint)


def _formulas(args: tuple[ast.Expr, ...], scope: Scope, inside: bool) -> tuple[typed.Expr, ...]:
    """Types all of ``args``, so that the errors in each are reported."""
    made: list[typed.Expr] = []
    wrong = False
    for arg in args:
        try:
            made.append(_formula(arg, scope, inside))
        except Hole:
            wrong = True
    if wrong:
        raise Hole
    return tuple(made)


def temporal(expr: object) -> bool:
    """Tells whether a temporal operator occurs in ``expr``."""
    if isinstance(expr, tuple):
        return any(temporal(e) for e in expr)
    if isinstance(expr, ast.Operator) and expr.op in _TEMPORAL:
        return True
    if is_dataclass(expr) and not isinstance(expr, type | Span):
        return any(temporal(getattr(expr, f.name)) for f in fields(expr))
    return False


def _require_rigid(expr: typed.Expr, scope: Scope, inside: bool) -> None:
    """Reports what is not rigid in a quantifier around a temporal operator."""
    changing = _changing(expr)
    if changing is not None:
        message = "this changes during a run, and the quantifier stands before the operator"
        hint = "put the quantifier behind `always`, or range over all values: `m in Msg`"
        if inside:
            hint = "range over all values and ask in a premise: `forall m in Msg: m in … => …`"
        scope.report.fail("N019", message, changing.span, hint=hint)


def _changing(node: object) -> typed.Expr | None:
    """Returns a part of ``node`` that need not be the same in all states of an execution."""
    if isinstance(node, tuple):
        return next((c for c in map(_changing, node) if c is not None), None)
    if typed.changes(node):
        return node
    if is_dataclass(node) and not isinstance(node, type | Span):
        parts = (getattr(node, f.name) for f in fields(node) if f.name not in ("span", "type"))
        return next((c for c in map(_changing, parts) if c is not None), None)
    return None
