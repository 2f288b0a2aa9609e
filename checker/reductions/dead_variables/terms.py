"""Analysis of expressions: their parts, the variables that they mention, their possible errors."""

from __future__ import annotations

from typing import Any

from checker.system import ir
from checker.system.build import conj, disj, negation
from checker.system.ir import Apply, Expr, Op
from checker.system.run_errors import can_fault
from checker.system.tree import nodes, parts, rewritten


def replace_all(expr: Expr, pattern: Expr, value: Expr) -> Expr:
    """``expr`` with ``value`` for every ``pattern``."""
    kind = type(pattern)

    def change(node: Any) -> Any:
        return value if type(node) is kind and node == pattern else None

    result: Expr = rewritten(expr, change)
    return result


def same(left: Expr | None, right: Expr) -> bool:
    """Whether two expressions without places are written alike; ``None`` is equal to no
    expression.
    """
    return left == right


def mentions(expr: Any) -> set[str]:
    """The state variables that it mentions."""
    return {n.variable for n in nodes(expr) if isinstance(n, ir.Read)}


def free(expr: Any) -> set[str]:
    """The local names that it does not bind."""
    match expr:
        case ir.Local(name=name):
            return {name}
        case ir.Quant(name=name, domain=domain, body=body):
            return free(domain) | free(body) - {name}
        case ir.SetOf(name=name, domain=domain, where=where, item=item):
            return free(domain) | (free(where) | free(item)) - {name}
        case ir.MapOf(name=name, body=body):
            return free(body) - {name}
        case ir.Let(name=name, value=value, body=body):
            return free(value) | free(body) - {name}
        case _:
            return {name for part in parts(expr) for name in free(part)}


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The operands of a conjunction."""
    if isinstance(expr, Apply) and expr.op is Op.AND:
        return tuple(inner for part in expr.args for inner in conjuncts(part))
    return () if expr == ir.TRUE else (expr,)


def simple(expr: Expr) -> Expr:
    """``expr`` without comparisons of an expression with itself and without constants in
    connectives.
    """
    match expr:
        case Apply(op=Op.EQ, args=(left, right)) if same(left, right) and not can_fault(left):
            return ir.TRUE
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
