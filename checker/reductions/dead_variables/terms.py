"""Analysis of expressions: their parts, the variables that they mention, their possible errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.model import ir
from checker.model.build import conj, disj, negation
from checker.model.ir import Apply, Expr, Op
from checker.model.memo import analysis_table, by_identity, in_an_analysis, is_in_analysis
from checker.model.names import locals_in, reads_in
from checker.model.run_errors import can_fault
from checker.model.tree import mapped

_replacing = analysis_table()


def replace_all(expr: Expr, pattern: Expr, value: Expr) -> Expr:
    """``expr`` with ``value`` for every ``pattern``."""
    return replacing(pattern, value)(expr)


def replacing(pattern: Expr, value: Expr) -> Callable[[Expr], Expr]:
    """The function that gives an expression with ``value`` for every ``pattern``."""
    known: Callable[[Expr], Expr] | None = _replacing.get((pattern, value))
    if known is not None:
        return known
    kind, names, reads = type(pattern), locals_in(pattern), reads_in(pattern)

    def change(node: Any) -> Any:
        if not names <= locals_in(node) or (reads and not reads <= reads_in(node)):
            return node
        if type(node) is kind and node == pattern:
            return value
        return mapped(node, changed)

    changed: Callable[[Any], Any] = by_identity(change)
    if is_in_analysis():
        _replacing[pattern, value] = changed
    return changed


def same(left: Expr | None, right: Expr) -> bool:
    """Whether two expressions without places are written alike; ``None`` is equal to no
    expression.
    """
    return left == right


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The operands of a conjunction."""
    if isinstance(expr, Apply):
        if expr.op is Op.AND:
            return tuple([inner for part in expr.args for inner in conjuncts(part)])
        return (expr,)
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
