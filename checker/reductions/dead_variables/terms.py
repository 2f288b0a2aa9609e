"""Analysis of expressions: their parts, the variables that they mention, their possible errors."""

from __future__ import annotations

from typing import Any

from checker.model import ir
from checker.model.build import conj, disj, negation
from checker.model.ir import Apply, Expr, Op
from checker.model.memo import in_an_analysis, in_an_analysis_with
from checker.model.names import locals_in, reads_in
from checker.model.run_errors import can_fault
from checker.model.tree import mapped


@in_an_analysis_with
def replace_all(expr: Expr, pattern: Expr, value: Expr) -> Expr:
    """``expr`` with ``value`` for every ``pattern``."""
    kind, names, reads = type(pattern), locals_in(pattern), reads_in(pattern)

    def change(node: Any) -> Any:
        if type(node) is kind and node == pattern:
            return value
        return mapped(node, change) if _has(node, names, reads) else node

    result: Expr = change(expr)
    return result


def _has(node: Any, names: frozenset[str], reads: frozenset[str]) -> bool:
    return names <= locals_in(node) and (not reads or reads <= reads_in(node))


def same(left: Expr | None, right: Expr) -> bool:
    """Whether two expressions without places are written alike; ``None`` is equal to no
    expression.
    """
    return left == right


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The operands of a conjunction."""
    if isinstance(expr, Apply) and expr.op is Op.AND:
        return tuple(inner for part in expr.args for inner in conjuncts(part))
    return () if expr == ir.TRUE else (expr,)


@in_an_analysis
def simple(expr: Expr) -> Expr:
    """``expr`` without comparisons of an expression with itself and without constants in
    connectives.
    """
    match expr:
        case Apply(op=Op.EQ, args=(left, right)) if same(left, right) and not can_fault(left):
            return ir.TRUE
        case Apply(op=Op.EQ, args=(ir.Const(value=left), ir.Const(value=right))):
            return ir.TRUE if left == right else ir.FALSE
        case Apply(op=Op.NOT, args=(part,)):
            return negation(simple(part))
        case Apply(op=Op.AND, args=args):
            found = [simple(arg) for arg in args]
            return ir.FALSE if ir.FALSE in found else conj(*dict.fromkeys(found))
        case Apply(op=Op.OR, args=args):
            found = [simple(arg) for arg in args]
            return ir.TRUE if ir.TRUE in found else disj(*dict.fromkeys(found))
        case _:
            return expr
