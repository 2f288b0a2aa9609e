"""Linear terms and conditions over names: builds, rewrites and evaluates them.

What goes in and comes out are the types of :mod:`checker.parametric.automaton.automaton`.  All
numbers are integers of any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, assert_never

from checker.parametric.automaton.automaton import And, AtLeast, Condition, Linear, Not, Or

T = TypeVar("T")

TRUE = And()
FALSE = Or()


def linear(terms: Mapping[str, int], constant: int = 0) -> Linear:
    """Returns the term with these coefficients; those that are 0 are left out."""
    kept = sorted((name, by) for name, by in terms.items() if by)
    return Linear(tuple(kept), constant)


def plus(*parts: Linear) -> Linear:
    """Returns the sum."""
    terms: dict[str, int] = {}
    for part in parts:
        for name, by in part.terms:
            terms[name] = terms.get(name, 0) + by
    return linear(terms, sum(part.constant for part in parts))


def times(part: Linear, by: int) -> Linear:
    """Returns the product with a number."""
    return linear({name: each * by for name, each in part.terms}, part.constant * by)


def substitute(part: Linear, by: Mapping[str, Linear]) -> Linear:
    """Returns ``part`` with terms in place of names; names that are not in ``by`` are kept."""
    rest = linear({name: each for name, each in part.terms if name not in by}, part.constant)
    return plus(rest, *(times(by[name], each) for name, each in part.terms if name in by))


def value(part: Linear, values: Mapping[str, int]) -> int:
    """Returns the number that ``part`` is where names have ``values``.

    Raises ``KeyError`` where a name has none.
    """
    return part.constant + sum(values[name] * by for name, by in part.terms)


def holds(condition: Condition, values: Mapping[str, int]) -> bool:
    """Returns whether the condition is true where names have ``values``."""
    match condition:
        case AtLeast(term):
            return value(term, values) >= 0
        case Not(part):
            return not holds(part, values)
        case And(parts):
            return all(holds(part, values) for part in parts)
        case Or(parts):
            return any(holds(part, values) for part in parts)
        case _:
            assert_never(condition)


def to_nnf(condition: Condition, negated: bool = False) -> Condition:
    """Returns the same condition (or its negation) without ``Not``, with nested ``And`` and ``Or``
    merged: ``not x >= 0`` is ``-x - 1 >= 0`` of integers.  Constant parts are evaluated."""
    match condition:
        case AtLeast(term):
            if negated:
                term = plus(times(term, -1), Linear((), -1))
            if not term.terms:
                return TRUE if term.constant >= 0 else FALSE
            return AtLeast(term)
        case Not(part):
            return to_nnf(part, not negated)
        case And(parts) | Or(parts):
            inner = [to_nnf(part, negated) for part in parts]
            return (
                conjunction(inner) if isinstance(condition, And) != negated else disjunction(inner)
            )
        case _:
            assert_never(condition)


def conjunction(parts: list[Condition]) -> Condition:
    """Returns the conjunction of ``parts``, flat and each once; the part itself where there is
    one."""
    return joined(And, FALSE, parts)


def disjunction(parts: list[Condition]) -> Condition:
    """Returns the disjunction of ``parts``, flat and each once; the part itself where there is
    one."""
    return joined(Or, TRUE, parts)


def joined(kind: type[Any], absorbing: T, parts: Iterable[T]) -> T:
    """Returns the connective ``kind`` of ``parts``, as :func:`conjunction` does; ``absorbing``:
    the part that decides it alone."""
    flat: dict[Any, None] = {}
    for part in parts:
        if part == absorbing:
            return absorbing
        flat.update(dict.fromkeys(part.parts if isinstance(part, kind) else (part,)))
    found: T = next(iter(flat)) if len(flat) == 1 else kind(tuple(flat))
    return found


def rewritten(condition: Condition, by: Mapping[str, Linear]) -> Condition:
    """Returns the condition with terms in place of names."""
    match condition:
        case AtLeast(term):
            return AtLeast(substitute(term, by))
        case Not(part):
            return Not(rewritten(part, by))
        case And(parts):
            return And(tuple(rewritten(part, by) for part in parts))
        case Or(parts):
            return Or(tuple(rewritten(part, by) for part in parts))
        case _:
            assert_never(condition)


def comparisons(condition: Condition) -> Iterator[Linear]:
    """Yields the terms that it compares with 0, from left to right."""
    match condition:
        case AtLeast(term):
            yield term
        case Not(part):
            yield from comparisons(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)
        case _:
            assert_never(condition)


def names(condition: Condition) -> frozenset[str]:
    """Returns the names in it."""
    return frozenset(name for term in comparisons(condition) for name, _ in term.terms)
