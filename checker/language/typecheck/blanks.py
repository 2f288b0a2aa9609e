"""Types holes: what stands around one says the type of what may fill it."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax import ast, typed
from checker.language.typecheck.expressions import check, infer, needs_type
from checker.language.typecheck.scope import UNKNOWN, Scope
from checker.language.typecheck.types import BOOL, INT, fits, show

HOLE = "E152"
"""The code that says that something is a hole."""


class Blank(Struct, frozen=True):
    """A hole at ``span``: what may fill it has the type ``type`` (``UNKNOWN``: nothing says which),
    in ``scope``.  ``options``: the only ones that may, if they are listed.  ``compares``: it is a
    comparison of two values of that type."""

    span: Span
    type: typed.Type
    scope: Scope
    options: tuple[ast.Expr, ...] = ()
    compares: bool = False


def check_blank(expr: ast.Blank, scope: Scope, expected: typed.Type | None) -> typed.Expr:
    """Types a hole, and reports it: nothing can be checked with one."""
    for option in expr.options:
        if expected is not None and expected != UNKNOWN:
            check(option, scope, expected)
        else:
            expected = infer(option, scope).type
    _note(Blank(expr.span, expected or UNKNOWN, scope, expr.options))
    return typed.Literal(expected or UNKNOWN, 0, expr.span)


def check_comparison(expr: ast.Operator, scope: Scope) -> typed.Expr:
    """Types ``left ?? right``, and reports it."""
    left, right = expr.args
    if needs_type(left, scope) and not needs_type(right, scope):
        left, right = right, left
    first = infer(left, scope)
    second = check(right, scope, INT if fits(first.type, INT) else first.type)
    _note(Blank(expr.span, first.type, scope, compares=True))
    return typed.Operation(BOOL, "==", (first, second), expr.span)


def _note(blank: Blank) -> None:
    report = blank.scope.report
    report.blanks.setdefault(blank.span, blank)
    wanted = "a comparison" if blank.compares else show(blank.type)
    hint = f"`bivalence fill {blank.span.file}` finds what can stand here"
    report.add(
        HOLE,
        "this is a hole, and nothing can be checked before it is filled",
        blank.span,
        "" if blank.type == UNKNOWN and not blank.compares else wanted,
        hint,
    )
