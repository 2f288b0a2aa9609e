"""Types views of a check: ``view p.term, #p.log``, what makes two states different."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Diagnostic, Span
from checker.language.syntax import ast, ast_clauses, typed
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.bounds import each_process
from checker.language.typecheck.expressions import bind, infer
from checker.language.typecheck.properties import temporal
from checker.language.typecheck.scope import UNKNOWN, Hole, Home, Scope

_OBSERVED = (
    typed.History
    | typed.HistoryOrder
    | typed.Repeated
    | typed.Causes
    | typed.Correct
    | typed.Acts
    | typed.RepeatedAct
    | typed.Opinion
    | typed.Consistent
)
"""What is no state of the protocol, and is compared whatever the view says."""


def view_of(items: list[ast_clauses.View], home: Home) -> typed.View | None:
    """Returns what the views of a check say together; errors go to the report of ``home``."""
    if not items:
        return None
    terms = tuple(term for item in items for expr in item.terms for term in _term(expr, home))
    texts = (" ".join(text.split()) for item in items for text in item.texts)
    return typed.View(terms, ", ".join(texts), items[0].span)


def of_view(check: typed.Check) -> Iterator[Diagnostic]:
    """Yields the warning that a view deserves, where the check has one."""
    if check.view is not None:
        message = "of the states with equal views only one is explored"
        hint = "violations are real; other properties hold `within` the view"
        yield Diagnostic("C052", message, check.view.span, hint=hint, severity="warning")


def _term(expr: ast.Expr, home: Home) -> Iterator[typed.ViewTerm]:
    scope = Scope(home, "property")
    try:
        if temporal(expr):
            message = "a view is a state expression, and this has a temporal operator"
            scope.report.fail("C050", message, expr.span, hint="leave out the temporal operator")
        binders, inner = bind(each_process(expr, scope), scope)
        value = infer(expr, inner)
        _require_state(value, scope)
    except Hole:
        return
    if value.type != UNKNOWN:
        names = (binder.pattern for binder in binders)
        bound = tuple(pattern.name for pattern in names if isinstance(pattern, typed.Bind))
        over = (binder.domain for binder in binders)
        roles = tuple(d.role if isinstance(d, typed.Processes) else None for d in over)
        yield typed.ViewTerm(bound, roles, value)


def _require_state(value: typed.Expr, scope: Scope) -> None:
    """Reports what is no state of the protocol."""
    for node in nodes_of(value):
        if isinstance(node, typed.StateRef) and node.ghost:
            _fail(f"the ghost `{node.name}`", node.span, scope)
        if isinstance(node, _OBSERVED):
            _fail("this observation", node.span, scope)


def _fail(what: str, span: Span, scope: Scope) -> None:
    message = f"a view compares process state, and {what} is always compared"
    scope.report.fail("C050", message, span, hint="leave it out: it always distinguishes states")
