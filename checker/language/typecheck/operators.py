"""Types operators, by the types of their operands."""

from __future__ import annotations

from typing import NoReturn

from checker.diagnostics import Span
from checker.language.syntax import ast, typed
from checker.language.syntax.typed import Bag, Expr, Seq, Set, Type
from checker.language.typecheck.expressions import (
    check,
    infer,
    members_of,
    mismatch,
    needs_type,
    safe,
)
from checker.language.typecheck.scope import UNKNOWN, Hole, Scope
from checker.language.typecheck.types import BOOL, INT, PROC, fits, show

_TEMPORAL = ("always", "eventually", "~>")


def check_operator(expr: ast.Operator, scope: Scope, expected: Type | None) -> Expr:
    """Types the operator ``expr``; raises :class:`Hole` after reporting an error."""
    from checker.language.typecheck.blanks import check_comparison

    op, args, span = expr.op, expr.args, expr.span
    match op:
        case "??":
            return check_comparison(expr, scope)
        case "not" | "and" | "or" | "=>":
            return typed.Operation(BOOL, op, tuple(safe(a, scope, BOOL) for a in args), span)
        case "==" | "!=":
            return typed.Operation(BOOL, op, pair(args[0], args[1], scope, None), span)
        case "<" | "<=" | ">" | ">=":
            return typed.Operation(BOOL, op, _ordered_arguments(args, scope), span)
        case "in" | "not in":
            return typed.Operation(BOOL, op, _member(args[0], args[1], scope), span)
        case "subset":
            both = pair(args[0], args[1], scope, None)
            _need(both[0], Set, "a set", scope)
            return typed.Operation(BOOL, op, both, span)
        case "prefix":
            both = pair(args[0], args[1], scope, None)
            _need(both[0], Seq, "a seq", scope)
            return typed.Operation(BOOL, op, both, span)
        case "union" | "intersect" | "minus":
            hint = expected if isinstance(expected, Set) else None
            both = pair(args[0], args[1], scope, hint)
            _need(both[0], Set, "a set", scope)
            return typed.Operation(both[0].type, op, both, span)
        case "++":
            both = pair(args[0], args[1], scope, expected if isinstance(expected, Seq) else None)
            _need(both[0], Seq, "a seq", scope)
            return typed.Operation(_open(both[0].type), op, both, span)
        case "+" | "-":
            return check_sum(op, args[0], args[1], scope, expected, span)
        case "*" | "div" | "mod" | "neg":
            return typed.Operation(INT, op, tuple(safe(a, scope, INT) for a in args), span)
        case "size":
            of = members_of(args[0], scope)
            return typed.Operation(INT, op, (of,), span)
        case _:
            _fail_misplaced(op, scope, span)


def _fail_misplaced(op: str, scope: Scope, span: Span) -> NoReturn:
    if op in _TEMPORAL and scope.mode != "property":
        scope.report.fail("N018", f"`{op}` is allowed only in properties", span)
    message = f"`{op}` is nested in an expression that is not a formula"
    hint = "only `not`, `and`, `or`, `=>`, `forall` and `exists` may enclose it"
    scope.report.fail("N019", message, span, hint=hint)


def _open(type_: Type) -> Type:
    return Seq(type_.item) if isinstance(type_, Seq) else type_


def _need(expr: Expr, kind: type[Set] | type[Seq], what: str, scope: Scope) -> None:
    if not isinstance(expr.type, kind) and expr.type != UNKNOWN:
        hint = "a role or a type can be used as a set" if kind is Set else ""
        scope.report.fail("N003", f"this is `{show(expr.type)}`, not {what}", expr.span, what, hint)


def pair(left: ast.Expr, right: ast.Expr, scope: Scope, expected: Type | None) -> tuple[Expr, Expr]:
    """Types two operands of one type; each helps to infer the other."""
    if expected is not None:
        return check(left, scope, expected), check(right, scope, expected)
    if needs_type(left, scope) and not needs_type(right, scope):
        second = infer(right, scope)
        return check(left, scope, second.type), second
    first = infer(left, scope)
    return first, check(right, scope, first.type)


def _ordered_arguments(args: tuple[ast.Expr, ...], scope: Scope) -> tuple[Expr, ...]:
    """Returns the typed operands of a comparison by order, which must be numbers (N007)."""
    made = []
    for arg in args:
        built = safe(arg, scope, INT if isinstance(arg, ast.Blank) else None)
        if built.type == PROC:
            hint = "processes have no order; `rank(p)` is the number of one"
            scope.report.fail("N007", "processes can't be ordered", arg.span, "a number", hint)
        if not fits(built.type, INT):
            mismatch(built, scope, INT)
        made.append(built)
    return tuple(made)


def _member(item: ast.Expr, of: ast.Expr, scope: Scope) -> tuple[Expr, Expr]:
    if needs_type(of, scope) or (isinstance(of, ast.Display) and not needs_type(item, scope)):
        value = infer(item, scope)
        wanted: Type = Set(value.type)
        if isinstance(of, ast.Display) and of.kind in ("seq", "bag"):
            wanted = Seq(value.type) if of.kind == "seq" else Bag(value.type)
        return value, check(of, scope, wanted)
    over = members_of(of, scope)
    assert isinstance(over.type, Set | Bag | Seq)
    return check(item, scope, over.type.item), over


def check_sum(
    op: str,
    left: ast.Expr,
    right: ast.Expr,
    scope: Scope,
    expected: Type | None,
    span: Span,
) -> Expr:
    """Types ``left + right`` and ``left - right``: numbers, or a collection and an item."""
    hint = expected if isinstance(expected, Set | Bag | Seq) else None
    try:
        base = infer(left, scope, hint)
    except Hole:
        safe(right, scope)
        raise
    return add_to(op, base, right, scope, span)


def add_to(op: str, base: Expr, right: ast.Expr, scope: Scope, span: Span) -> Expr:
    """Types ``base + right`` and ``base - right``, where ``base`` is already typed."""
    match base.type:
        case typed.Int():
            return typed.Operation(INT, op, (base, check(right, scope, INT)), span)
        case Set(item) | Bag(item):
            value = infer(right, scope, item)
            if not fits(value.type, item):
                _not_a_member(op, value, base.type, item, scope)
            return typed.Operation(base.type, op, (base, value), span)
        case Seq(item) if op == "+":
            value = check(right, scope, item)
            return typed.Operation(_open(base.type), op, (base, value), span)
        case other if other == UNKNOWN:
            safe(right, scope)
            raise Hole
        case other:
            expected = "a number, a set, a bag" + ("" if op == "-" else " or a seq")
            message = f"`{op}` can't be applied to `{show(other)}`"
            scope.report.fail("N007", message, base.span, expected)


def _not_a_member(op: str, value: Expr, whole: Type, item: Type, scope: Scope) -> None:
    if isinstance(value.type, Set) and isinstance(whole, Set) and fits(value.type, whole):
        word = "union" if op == "+" else "minus"
        hint = f"`{op}` tests one member; for sets write `{word}`"
        message = "this is a set, not one member"
        scope.report.fail("N003", message, value.span, show(item), hint)
    mismatch(value, scope, item)


def conditional(expr: ast.Conditional, scope: Scope, expected: Type | None) -> Expr:
    """Types ``if c then a else b``."""
    condition = safe(expr.condition, scope, BOOL)
    if expected is not None and expected != UNKNOWN:
        both = check(expr.then, scope, expected), check(expr.otherwise, scope, expected)
    else:
        both = pair(expr.then, expr.otherwise, scope, None)
    return typed.Operation(both[0].type, "if", (condition, *both), expr.span)
