"""Analysis of expressions: their parts, the variables that they mention, their possible errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.model import ir
from checker.model.build import conj, disj, negation
from checker.model.ir import Apply, Expr, Op
from checker.model.memo import (
    Keeping,
    analysis_table,
    in_an_analysis,
    in_its_object,
    is_in_analysis,
)
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
    changed = _Replacing(pattern, value).of
    if is_in_analysis():
        _replacing[pattern, value] = changed
    return changed


class _Replacing(Keeping):
    """Puts ``value`` in the place of ``pattern``."""

    def __init__(self, pattern: Expr, value: Expr) -> None:
        super().__init__()
        self.pattern, self.value, self.kind = pattern, value, type(pattern)
        self.names, self.reads = locals_in(pattern), reads_in(pattern)

    @in_its_object
    def of(self, node: Any) -> Any:
        if not self.names <= locals_in(node) or not self.reads <= reads_in(node):
            return node
        if type(node) is self.kind and node == self.pattern:
            return self.value
        return mapped(node, self.of)


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
