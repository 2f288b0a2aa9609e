"""Simplifies conditions over natural numbers, so that equal ones look alike."""

from __future__ import annotations

from checker.parametric.automaton.arithmetic import (
    FALSE,
    TRUE,
    conjunction,
    disjunction,
    plus,
    times,
    to_nnf,
)
from checker.parametric.automaton.automaton import And, AtLeast, Condition, Linear, Not, Or


def simplified(condition: Condition, naturals: frozenset[str]) -> Condition:
    """Returns the same condition without ``Not``; sent messages and ``naturals`` are at least 0.

    Comparisons that are always true are left out, and so are parts that others imply; parts are
    sorted.
    """
    return _of(to_nnf(condition), naturals)


def implies(one: Condition, other: Condition, naturals: frozenset[str]) -> bool:
    """Returns whether ``one`` implies ``other``, as far as that is seen by comparing their parts
    one by one."""
    if one in (other, FALSE) or other == TRUE:
        return True
    if isinstance(one, AtLeast) and isinstance(other, AtLeast):
        return _never_negative(plus(other.linear, times(one.linear, -1)), naturals)
    if isinstance(other, And):
        return all(implies(one, part, naturals) for part in other.parts)
    if isinstance(one, Or):
        return all(implies(part, other, naturals) for part in one.parts)
    if isinstance(one, And) and any(implies(part, other, naturals) for part in one.parts):
        return True
    return isinstance(other, Or) and any(implies(one, part, naturals) for part in other.parts)


def _never_negative(term: Linear, naturals: frozenset[str]) -> bool:
    return term.constant >= 0 and all(
        by > 0 and (name in naturals or name.startswith("#")) for name, by in term.terms
    )


def _of(condition: Condition, naturals: frozenset[str]) -> Condition:
    match condition:
        case AtLeast(term):
            return TRUE if _never_negative(term, naturals) else condition
        case And(parts):
            kept = _strongest([_of(part, naturals) for part in parts], naturals, weak=False)
            return conjunction(sorted(kept, key=repr))
        case Or(parts):
            kept = _strongest([_of(part, naturals) for part in parts], naturals, weak=True)
            if any(_complement(part) in kept for part in kept if isinstance(part, AtLeast)):
                return TRUE
            return disjunction(sorted(kept, key=repr))
        case Not():
            raise ValueError("a negation that was not pushed inwards")


def _complement(part: AtLeast) -> Condition:
    return AtLeast(plus(times(part.linear, -1), Linear((), -1)))


def _strongest(parts: list[Condition], naturals: frozenset[str], *, weak: bool) -> list[Condition]:
    """Returns ``parts`` without those that follow from others (``weak``: from which others
    follow)."""
    kept: list[Condition] = []
    for part in dict.fromkeys(parts):
        if any(_follows(part, other, naturals, weak) for other in kept):
            continue
        kept = [other for other in kept if not _follows(other, part, naturals, weak)]
        kept.append(part)
    return kept


def _follows(part: Condition, other: Condition, naturals: frozenset[str], weak: bool) -> bool:
    one, two = (part, other) if weak else (other, part)
    return implies(one, two, naturals)
