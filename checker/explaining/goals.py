"""What a property demands in the end, as an expression over single states."""

from __future__ import annotations

from typing import assert_never

from checker.system import build, ir
from checker.system.ir import Expr, Formula, Property
from checker.witness.rerun import Run


def goal(prop: Property, run: Run) -> Expr | None:
    """What has to become true in ``run`` and doesn't; ``None`` where that is not one thing.

    It is what stands under the only ``eventually`` of the formula that is to hold, with the values
    that the run is about.
    """
    if prop.formula is None:
        return None
    found = _wanted(prop.formula, True)
    if len(found) != 1:
        return None
    expr = _expr(found[0], prop)
    if expr is None:
        return None
    for param, value in reversed(list(zip(prop.params, run.values, strict=True))):
        type_ = ir.domain_item(param.domain)
        expr = ir.Let(expr.type, param.name, ir.Const(type_, value), expr)
    return expr


def _wanted(formula: Formula, holds: bool) -> list[Formula]:
    """The parts that have to be true at some time for ``formula`` to be as ``holds`` says."""
    match formula:
        case ir.Holds():
            return []
        case ir.Connective("not", (part,)):
            return _wanted(part, not holds)
        case ir.Connective(parts=parts):
            return [found for part in parts for found in _wanted(part, holds)]
        case ir.Modal("eventually", part) if holds:
            return [part, *_wanted(part, holds)]
        case ir.Modal("always", part) if not holds:
            return [ir.Connective("not", (part,)), *_wanted(part, holds)]
        case ir.Modal(part=part):
            return _wanted(part, holds)
        case _:
            assert_never(formula)


def _expr(formula: Formula, prop: Property) -> Expr | None:
    """``formula`` as an expression, if it is about one state."""
    match formula:
        case ir.Holds(index):
            return prop.propositions[index]
        case ir.Modal():
            return None
        case ir.Connective(op, parts):
            found = [_expr(part, prop) for part in parts]
            known = [part for part in found if part is not None]
            if len(known) < len(found):
                return None
            if op == "not":
                return build.negation(known[0])
            return build.conj(*known) if op == "and" else build.disj(*known)
        case _:
            assert_never(formula)
