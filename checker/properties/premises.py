"""Extracts a liveness property's premise over executions, and the alternatives of its goals.

A premise over executions, as in `(always not p.down) => eventually p.done`, restricts the property
to the fair executions that satisfy it: where there is none, the property is vacuous.  Where a goal
has alternatives, as in `eventually p.done or p.dead`, one that never holds leaves all to the
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from checker.instantiate.protocol.expressions import Env, exists, lower
from checker.instantiate.protocol.spelling import spell
from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.model import ir
from checker.model.build import fresh_names
from checker.model.dump import value_text

Binders = tuple[typed.Binder, ...]


def is_temporal(expr: object) -> bool:
    """Tells whether a temporal operator occurs in ``expr``."""
    return any(isinstance(n, typed.Temporal) for n in nodes(expr))


def premise_of(formula: typed.Expr) -> typed.Expr | None:
    """Returns the condition on executions under which ``formula`` is not vacuous; ``None`` where no
    premise of it is about whole executions."""
    match formula:
        case typed.Operation(type_, "=>", (premise, goal), span):
            inner = premise_of(goal)
            if inner is not None:
                return typed.Operation(type_, "and", (premise, inner), span)
            return premise if is_temporal(premise) else None
        case typed.Operation(type_, "and", parts, span):
            found = [p for part in parts if (p := premise_of(part)) is not None]
            if len(found) < 2:
                return found[0] if found else None
            return typed.Operation(type_, "or", tuple(found), span)
        case typed.Quantified(type_, "forall", binders, body, span):
            inner = premise_of(body)
            return inner and typed.Quantified(type_, "exists", binders, inner, span)
        case typed.Temporal(type_, "always", (body,), span):
            inner = premise_of(body)
            return inner and typed.Temporal(type_, "eventually", (inner,), span)
        case typed.Temporal(type_, "~>", (premise, _), span) if is_temporal(premise):
            return typed.Temporal(type_, "eventually", (premise,), span)
        case _:
            return None


def spec_text(expr: typed.Expr, env: Env) -> str:
    """Returns ``expr`` in the syntax of specs."""
    parts = spell(expr, Env(env.world, env.instance, None))
    return "".join(p if isinstance(p, str) else _value(p) for p in parts)


def _value(expr: ir.Expr) -> str:
    return value_text(expr.type, expr.value) if isinstance(expr, ir.Const) else "…"


# ---- alternatives of goals --------------------------------------------------------------------


def ways(formula: typed.Expr, env: Env) -> tuple[ir.Way, ...]:
    """Returns the alternatives of the goals of ``formula`` that read state of the protocol."""
    return tuple(way for goal, binders in _goals(formula, ()) for way in _ways(goal, binders, env))


def _goals(formula: typed.Expr, binders: Binders) -> Iterator[tuple[typed.Expr, Binders]]:
    """Yields each goal (what must hold eventually, or infinitely often) with its enclosing
    binders."""
    match formula:
        case typed.Temporal(_, "eventually", (part,), _) | typed.Temporal(_, "~>", (_, part), _):
            yield from _inside(part, binders)
        case typed.Temporal(_, "always", (part,), _) | typed.Operation(_, "=>", (_, part), _):
            yield from _goals(part, binders)
        case typed.Quantified(_, _, more, part, _):
            yield from _goals(part, binders + more)
        case typed.Operation(_, "and", parts, _):
            for part in parts:
                yield from _goals(part, binders)
        case _:
            return


def _inside(goal: typed.Expr, binders: Binders) -> Iterator[tuple[typed.Expr, Binders]]:
    match goal:
        case typed.Quantified(_, _, more, part, _):
            yield from _inside(part, binders + more)
        case typed.Temporal(_, "always" | "eventually", (part,), _):
            yield from _inside(part, binders)
        case typed.Operation(_, "and", parts, _):
            for part in parts:
                yield from _inside(part, binders)
        case _:
            yield goal, binders


def _ways(goal: typed.Expr, binders: Binders, env: Env) -> Iterator[ir.Way]:
    if is_temporal((goal, *(b.where for b in binders))):
        return
    alternatives = _alternatives(goal)
    for part, wanted in alternatives:
        others = tuple(other for other, _ in alternatives if other is not part)
        if _variables(part) and not _variables(part) & _variables(others):
            with fresh_names():
                holds = exists(binders, env, partial(lower, part))
            besides = tuple(spec_text(other, env) for other in others)
            yield ir.Way(holds, spec_text(part, env), besides, wanted)


def _alternatives(goal: typed.Expr) -> list[tuple[typed.Expr, bool]]:
    """Returns the alternatives of ``goal``, each with whether it is more than a negation."""
    match goal:
        case typed.Operation(_, "or", parts, _):
            return [(part, _negated_part(part) is None) for part in parts]
        case typed.Operation(type_, "=>", (given, wanted), span):
            otherwise = _negated_part(given) or typed.Operation(type_, "not", (given,), span)
            return [(otherwise, False), (wanted, True)]
        case _:
            return []


def _negated_part(expr: typed.Expr) -> typed.Expr | None:
    """Returns the operand of a negation; ``None`` for any other expression."""
    match expr:
        case typed.Operation(_, "not", (part,), _):
            return part
        case _:
            return None


def _variables(expr: object) -> frozenset[str]:
    """Returns the names of the protocol's state variables that ``expr`` reads."""
    return frozenset(n.name for n in nodes(expr) if isinstance(n, typed.StateRef))
