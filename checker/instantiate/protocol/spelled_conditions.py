"""Splits the condition of a handler into conjuncts, each in the words of the spec."""

from __future__ import annotations

from collections.abc import Iterator

from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.spelling import spell_named
from checker.language.syntax import typed
from checker.model.ir import Condition, Expr

COMPARING = frozenset({"not", "and", "or", "=>", "==", "!=", "<", "<=", ">", ">=", "in", "not in"})
COUNTING = frozenset({"+", "-", "*", "div", "mod", "neg", "if"})
"""Operators whose operands say more than their result does."""

VALUES = (typed.Literal, typed.Named, typed.Self, typed.Processes, typed.All, typed.Nothing)
"""Expressions whose text is their value."""


def spelled_conditions(
    conditions: tuple[typed.Expr | None, ...], env: Env
) -> tuple[Condition, ...]:
    """Returns the conjuncts of ``conditions``, of a handler whose names ``env`` binds."""
    parts = (part for whole in conditions if whole is not None for part in _conjuncts(whole))
    return tuple(_condition(part, env) for part in parts)


def _conjuncts(expr: typed.Expr) -> Iterator[typed.Expr]:
    match expr:
        case typed.Operation(_, "and", args, _):
            for arg in args:
                yield from _conjuncts(arg)
        case _:
            yield expr


def _condition(expr: typed.Expr, env: Env) -> Condition:
    terms: dict[str, Expr] = {}
    for term in _terms(expr):
        terms.setdefault(spell_named(term, env), lower(term, env))
    return Condition(spell_named(expr, env), lower(expr, env), tuple(terms.items()), expr.span)


def _terms(expr: typed.Expr) -> Iterator[typed.Expr]:
    """Yields the largest parts whose values are not the result of an operator that is shown."""
    match expr:
        case typed.Operation(_, op, args, _) if op in COMPARING | COUNTING:
            for arg in args:
                yield from _terms(arg)
        case typed.Display(_, items, _):
            for item in items:
                yield from _terms(item)
        case typed.Quantified(_, _, binders, _, _):
            if isinstance(binders[0].domain, typed.StateRef):
                yield binders[0].domain
        case typed.Entry(_, _, key, _):
            yield expr
            yield from _terms(key)
        case _ if not isinstance(expr, VALUES):
            yield expr
