"""Comparisons of linear terms, and which parts of a condition over receipts stay true.

Names stand for natural numbers, but for those of quotients, which are written out: such a name has
a minus in it where the quotient may be negative.  Names of receipts begin with ``#``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import assert_never

from checker.parametric.automaton.arithmetic import (
    FALSE,
    TRUE,
    comparisons,
    conjunction,
    disjunction,
    names,
    plus,
    times,
)
from checker.parametric.automaton.automaton import And, AtLeast, Condition, Linear, Not, Or

RECEIVED = "#"
ONE = Linear((), 1)


def term(name: str, factor: int = 1) -> Linear:
    """Returns ``factor * name``; ``factor`` is not 0."""
    return Linear(((name, factor),))


def as_linear(value: int | Linear) -> Linear:
    return value if isinstance(value, Linear) else Linear((), int(value))


def plain(value: Linear) -> int | Linear:
    """Returns ``value``, as a number where it is one."""
    return value if value.terms else value.constant


def minus(left: Linear, right: Linear) -> Linear:
    return plus(left, times(right, -1))


def at_least(value: Linear) -> Condition:
    """Returns ``value >= 0``, simplified since names stand for natural numbers; only a quotient of
    a term with a minus in it may be negative."""
    if any("-" in name for name, _ in value.terms):
        return AtLeast(value)
    if all(c >= 0 for _, c in value.terms) and value.constant >= 0:
        return TRUE
    if all(c <= 0 for _, c in value.terms) and value.constant < 0:
        return FALSE
    return AtLeast(value)


def comparison(op: str, left: Linear, right: Linear) -> Condition:
    """Returns ``left op right`` for ``== != < <= > >=``."""
    above = at_least(minus(minus(left, right), ONE))
    below = at_least(minus(minus(right, left), ONE))
    match op:
        case ">=":
            return at_least(minus(left, right))
        case ">":
            return above
        case "<=":
            return at_least(minus(right, left))
        case "<":
            return below
        case "==":
            return both(at_least(minus(left, right)), at_least(minus(right, left)))
        case _:
            return either(above, below)


def both(*parts: Condition) -> Condition:
    return conjunction(list(parts))


def either(*parts: Condition) -> Condition:
    return disjunction(list(parts))


def inverse(condition: Condition) -> Condition:
    """Returns the negation, pushed down to the comparisons."""
    match condition:
        case AtLeast(value):
            return at_least(minus(times(value, -1), ONE))
        case Not(part):
            return part
        case And(parts):
            return either(*(inverse(part) for part in parts))
        case Or(parts):
            return both(*(inverse(part) for part in parts))
        case _:
            assert_never(condition)


def rises(condition: Condition) -> bool:
    """Returns whether ``condition``, once true, stays true when more is received."""
    match condition:
        case AtLeast(value):
            return all(c >= 0 for name, c in value.terms if name.startswith(RECEIVED))
        case Not(part):
            return rises(inverse(part))
        case And(parts) | Or(parts):
            return all(rises(part) for part in parts)
        case _:
            assert_never(condition)


def receipts_in(condition: Condition) -> frozenset[str]:
    """Returns the receipts in ``condition``."""
    return frozenset(name for name in names(condition) if name.startswith(RECEIVED))


def lasting(condition: Condition) -> frozenset[Condition]:
    """Returns the parts of ``condition``, over receipts, that stay true forever once it is true."""
    parts = condition.parts if isinstance(condition, And) else (condition,)
    return frozenset(part for part in parts if receipts_in(part) and rises(part))


def without(condition: Condition, gone: frozenset[str]) -> Condition:
    """Returns ``condition`` where the receipts of ``gone`` are of messages that can't be
    received."""
    match condition:
        case AtLeast(Linear(terms, constant)):
            left = tuple((name, c) for name, c in terms if name not in gone)
            return at_least(Linear(left, constant))
        case Not(part):
            return inverse(without(part, gone))
        case And(parts):
            return both(*(without(part, gone) for part in parts))
        case Or(parts):
            return either(*(without(part, gone) for part in parts))
        case _:
            assert_never(condition)


def implies(one: Condition, other: Condition) -> bool:
    """Returns whether ``other`` is known to be true wherever ``one`` is."""
    match one, other:
        case _, And(parts):
            return all(implies(one, part) for part in parts)
        case Or(parts), _:
            return all(implies(part, other) for part in parts)
        case And(parts), _:
            return any(implies(part, other) for part in parts)
        case _, Or(parts):
            return any(implies(one, part) for part in parts)
        case AtLeast(less), AtLeast(more):
            return _follows(less, more)
        case _:
            return one == other


@lru_cache(maxsize=1 << 14)
def _follows(less: Linear, more: Linear) -> bool:
    """Returns whether ``more`` is known not to be negative wherever ``less`` is not."""
    return at_least(minus(more, less)) == TRUE


def simplify_under(condition: Condition, known: frozenset[Condition]) -> Condition:
    """Returns what is left of ``condition`` where ``known`` holds."""
    if any(implies(part, condition) for part in known):
        return TRUE
    match condition:
        case And(parts):
            return both(*(simplify_under(part, known) for part in parts))
        case Or(parts):
            return either(*(simplify_under(part, known) for part in parts))
        case _:
            return condition


def atoms(condition: Condition) -> frozenset[Linear]:
    """Returns the terms that ``condition`` compares with 0."""
    return frozenset(comparisons(condition))
