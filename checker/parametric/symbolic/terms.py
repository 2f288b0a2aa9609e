"""Builds sums, conjunctions and disjunctions for z3.

These are most of a formula, and z3's own functions for them look up and compare the sorts of all
operands first.  Here operands are of the right sort, and of z3's main context.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

_CONTEXT = z3.main_ctx()


def total(parts: Sequence[z3.ArithRef]) -> z3.ArithRef:
    """Returns the sum of integers; 0 where there are none."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return z3.IntVal(0)
    return z3.ArithRef(z3.Z3_mk_add(_CONTEXT.ref(), *_operands(parts)), _CONTEXT)


def all_of(parts: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Returns the conjunction."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    return z3.BoolRef(z3.Z3_mk_and(_CONTEXT.ref(), *_operands(found)), _CONTEXT)


def any_of(parts: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Returns the disjunction."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    return z3.BoolRef(z3.Z3_mk_or(_CONTEXT.ref(), *_operands(found)), _CONTEXT)


def zero(number: z3.ArithRef) -> z3.BoolRef:
    """Returns that an integer is 0."""
    return z3.BoolRef(z3.Z3_mk_eq(_CONTEXT.ref(), number.as_ast(), _ZERO.as_ast()), _CONTEXT)


def not_negative(number: z3.ArithRef) -> z3.BoolRef:
    """Returns that an integer is at least 0."""
    return z3.BoolRef(z3.Z3_mk_ge(_CONTEXT.ref(), number.as_ast(), _ZERO.as_ast()), _CONTEXT)


_ZERO = z3.IntVal(0)


def _operands(parts: Sequence[z3.ExprRef]) -> tuple[int, object]:
    return len(parts), (z3.Ast * len(parts))(*(part.as_ast() for part in parts))
