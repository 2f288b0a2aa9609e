"""Types properties: the positions of temporal operators, and what may surround them."""

from __future__ import annotations

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_items, typed
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.expressions import bind, safe
from checker.language.typecheck.scope import Hole, Home, Scope
from checker.language.typecheck.types import BOOL

_TEMPORAL = ("always", "eventually", "initially", "~>")
_BOOLEAN = ("not", "and", "or", "=>")
_FIRST = "outside every temporal operator it would refer only to the first state"


def property_of(decl: ast_items.PropertyDecl, home: Home) -> typed.PropertyDef | None:
    """Returns the property ``decl``; ``None`` where something is wrong, which is reported."""
    scope = Scope(home, "property")
    try:
        if not (temporal(decl.formula) or _refers(decl.formula, scope)):
            bare = _innermost(decl.formula)
            hint = (
                "write `always …`, `eventually …` or `… ~> …`, or `initially …` of the first state"
            )
            scope.report.fail("N019", "this formula has no temporal operator", bare.span, hint=hint)
        formula = _formula(decl.formula, scope, False)
    except Hole:
        return None
    return typed.PropertyDef(decl.name.text, decl.document, decl.text, formula, decl.name.span)


def invariant_of(decl: ast_items.PropertyDecl, home: Home) -> typed.PropertyDef | None:
    """Returns the lemma ``decl`` as ``always`` of its formula; ``None`` where something is
    wrong."""
    scope = Scope(home, "property")
    if temporal(decl.formula):
        hint = "leave out `always`, or write `property`"
        message = "an invariant is a state predicate; `always` is implied"
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
    from checker.language.typecheck.objects import consistency

    if isinstance(expr, ast.Name) and _refers(expr, scope):
        return _referred(expr, scope, inside)
    if not (temporal(expr) or _refers(expr, scope)):
        built = safe(expr, scope, BOOL)
        changing = None if inside else _changing(built)
        if changing is not None:
            hint = "put it after `always`, `always (… => eventually …)`, or write `initially …`"
            message = f"this changes during a run; {_FIRST}"
            scope.report.fail("N019", message, changing.span, hint=hint)
        return built
    match expr:
        case ast.Consistent(kind, of, span):
            return consistency(kind.split()[0], of, span, scope.home)
        case ast.Quantified(kind, binders, body, span):
            bound, inner = bind(binders, scope)
            made = _formula(body, inner, inside)
            for binder in bound:
                _require_rigid(binder.domain, scope, inside)
                if binder.where is not None:
                    _require_rigid(binder.where, scope, inside)
            return typed.Quantified(BOOL, kind, bound, made, span)
        case ast.Operator("initially", (arg,), span):
            return _initially(arg, scope, inside, span)
        case ast.Operator(op, args, span) if op in _TEMPORAL:
            return typed.Temporal(BOOL, op, _formulas(args, scope, True), span)
        case ast.Operator(op, args, span) if op in _BOOLEAN:
            return typed.Operation(BOOL, op, _formulas(args, scope, inside), span)
        case _:
            message = "a temporal operator is nested in an expression that is not a formula"
            hint = "only `not`, `and`, `or`, `=>`, `forall` and `exists` may enclose it"
            scope.report.fail("N019", message, expr.span, hint=hint)


_ONCE = "`initially` refers to the first state, so no temporal operator may enclose it"


def _initially(arg: ast.Expr, scope: Scope, inside: bool, span: Span) -> typed.Expr:
    """Types ``initially arg``: a state predicate, asked of the first state of an execution."""
    if inside:
        hint = "move it out: `(initially …) => always …`"
        scope.report.fail("N019", _ONCE, span, hint=hint)
    if temporal(arg) or _refers(arg, scope):
        hint = "leave out `initially`: the formula already applies to the whole run"
        scope.report.fail("N019", "this describes a run, not its first state", arg.span, hint=hint)
    built = safe(arg, scope, BOOL)
    for node in nodes_of(built):
        if isinstance(node, typed.Correct) and node.kind == "correct":
            message = "which processes are correct is not determined in the first state"
            hint = "move it out: `correct(p) and (initially …) => …`"
            scope.report.fail("N019", message, node.span, hint=hint)
    return typed.Temporal(BOOL, "initially", (built,), span)


def _refers(expr: ast.Expr, scope: Scope) -> bool:
    """Tells whether ``expr`` is a formula in which another property is named."""
    match expr:
        case ast.Name(text):
            known = scope.home.formulas
            free = not scope.meaning_of(text) and not scope.home.labels(text)
            return known is not None and text in known.names and free
        case ast.Operator(op, args, _) if op in (*_TEMPORAL, *_BOOLEAN):
            return any(_refers(arg, scope) for arg in args)
        case ast.Quantified(body=body):
            return _refers(body, scope)
        case _:
            return False


def _referred(name: ast.Name, scope: Scope, inside: bool) -> typed.Expr:
    """Returns the formula of the property ``name``; ``inside``: of a temporal operator."""
    assert scope.home.formulas is not None
    found = scope.home.formulas.find(name)
    if inside and any(
        isinstance(n, typed.Temporal) and n.op == "initially" for n in nodes_of(found)
    ):
        message = f"{_ONCE}; `{name.text}` says it"
        scope.report.fail("N019", message, name.span)
    return found


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
    """Tells whether a temporal operator occurs in ``expr``, or what is about whole executions."""
    return any(
        isinstance(node, ast.Consistent)
        or (isinstance(node, ast.Operator) and node.op in _TEMPORAL)
        for node in nodes_of(expr)
    )


def _require_rigid(expr: typed.Expr, scope: Scope, inside: bool) -> None:
    """Reports what is not rigid in a quantifier around a temporal operator."""
    changing = _changing(expr)
    if changing is not None:
        message = (
            "this set changes during a run, and the quantifier is outside the temporal operator"
        )
        hint = "put the quantifier after `always`, or range over all values: `m in Msg`"
        if inside:
            hint = "range over all values and add a premise: `forall m in Msg: m in … => …`"
        scope.report.fail("N019", message, changing.span, hint=hint)


def _changing(node: object) -> typed.Expr | None:
    """Returns a part of ``node`` that need not be the same in all states of an execution."""
    return next((each for each in nodes_of(node, typed.TYPES) if typed.changes(each)), None)
