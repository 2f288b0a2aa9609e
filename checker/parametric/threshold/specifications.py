"""Specifications as questions: which configurations violate one, in which order.

The negation of a specification is a disjunction of sequences of configurations: the first one of
the execution, and later ones, in order.  That is exact where the negation has no ``[]``; others are
about whole executions, and refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import assert_never

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.parametric.automaton.arithmetic import joined, rewritten, to_nnf
from checker.parametric.automaton.automaton import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Condition,
    Counts,
    Linear,
    Not,
    NotState,
    Or,
    Question,
    Somebody,
    StateFormula,
)
from checker.parametric.threshold.written import (
    All,
    Any,
    Finally,
    Formula,
    Globally,
    Negation,
    Specification,
    Written,
)

TRUE, FALSE = AllOf(), AnyOf()
MOST = 64
"""At most so many sequences of configurations are distinguished."""


class Sequence(Struct, frozen=True):
    """``first`` holds now, and there are later configurations for each of ``later``."""

    first: StateFormula = TRUE
    later: tuple[Sequence, ...] = ()


class _TooMany(Exception):
    """A specification has more sequences than are distinguished."""


def questions_of(
    specification: Specification, written: Written, variables: Mapping[str, Linear]
) -> tuple[Question, ...]:
    """Returns the questions about ``specification``: it is violated where one of them is.

    Raises :class:`SpecError` (E122) where that is not a question about the order of configurations.
    """
    index = {name: at for at, name in enumerate(written.locations)}
    states = _States(index, variables)
    try:
        found = _sequences(specification.formula, True, states)
        chains = [chain for one in found for chain in _chains(one)]
    except _TooMany:
        message = f"`{specification.name}` has more than {MOST} orders of configurations"
        raise _refused(specification, message, "split it into several specifications") from None
    except _Endless:
        message = f"`{specification.name}` is a liveness property"
        hint = "only safety is proved here: what is violated in finitely many steps"
        raise _refused(specification, message, hint) from None
    merged: dict[tuple[StateFormula, tuple[StateFormula, ...]], list[StateFormula]] = {}
    for begins, before, last in chains:
        merged.setdefault((begins, before), []).append(last)
    return tuple(
        Question(specification.name, either(last), False, begins=begins, before=before)
        for (begins, before), last in merged.items()
    )


def _refused(specification: Specification, message: str, hint: str) -> SpecError:
    return SpecError((Diagnostic("E122", message, specification.span, hint=hint),))


class _Endless(Exception):
    """Whether a specification is violated is not seen in finitely many steps."""


# ---- states -----------------------------------------------------------------------------------


def both(parts: list[StateFormula]) -> StateFormula:
    """Returns the conjunction; that nobody is in several sets of locations is said of all at
    once."""
    nobody: list[StateFormula] = [part.part for part in parts if isinstance(part, NotState)]
    rest: list[StateFormula] = [part for part in parts if not isinstance(part, NotState)]
    if nobody:
        rest.append(_inverse(either(nobody)))
    return joined(AllOf, FALSE, rest)


def either(parts: list[StateFormula]) -> StateFormula:
    """Returns the disjunction; that somebody is in one of several sets of locations is said of all
    at once."""
    found = [part for part in parts if isinstance(part, Somebody) and part.least == 1]
    rest: list[StateFormula] = [part for part in parts if part not in found]
    if found:
        rest.insert(0, Somebody(frozenset().union(*(part.locations for part in found))))
    return joined(AnyOf, TRUE, rest)


def _inverse(formula: StateFormula) -> StateFormula:
    return formula.part if isinstance(formula, NotState) else NotState(formula)


class _States(Struct):
    """Makes formulas over configurations of conditions; ``index``: the numbers of locations."""

    index: Mapping[str, int]
    variables: Mapping[str, Linear]

    def of(self, condition: Condition, negated: bool) -> StateFormula:
        return self._of(to_nnf(condition, negated))

    def _of(self, condition: Condition) -> StateFormula:
        match condition:
            case AtLeast(term):
                return self._comparison(term)
            case And(parts):
                return both([self._of(part) for part in parts])
            case Or(parts):
                return either([self._of(part) for part in parts])
            case Not():
                raise ValueError("a negation that was not pushed inwards")
            case _:
                assert_never(condition)

    def _comparison(self, term: Linear) -> StateFormula:
        places = frozenset(self.index[name] for name, _ in term.terms if name in self.index)
        only = len(places) == len(term.terms)
        if only and term.constant == -1 and all(by == 1 for _, by in term.terms):
            return Somebody(places)
        if only and term.constant == 0 and all(by < 0 for _, by in term.terms):
            return NotState(Somebody(places))
        if only and term.constant >= 0 and all(by > 0 for _, by in term.terms):
            return TRUE
        if only and term.constant < 0 and all(by < 0 for _, by in term.terms):
            return FALSE
        return Counts(rewritten(AtLeast(term), self.variables))


# ---- sequences --------------------------------------------------------------------------------


def _sequences(formula: Formula, negated: bool, states: _States) -> list[Sequence]:
    """Returns the sequences of which one has to be found for the formula (or its negation)."""
    match formula:
        case AtLeast() | Not() | And() | Or():
            return [Sequence(states.of(formula, negated))]
        case Negation(part):
            return _sequences(part, not negated, states)
        case Finally(part) | Globally(part):
            if isinstance(formula, Globally) != negated:
                raise _Endless
            return [Sequence(TRUE, (one,)) for one in _sequences(part, negated, states)]
        case All(parts) | Any(parts):
            found = [_sequences(part, negated, states) for part in parts]
            if isinstance(formula, Any) != negated:
                return [one for some in found for one in some]
            return [_together(each) for each in _product(found)]
        case _:
            assert_never(formula)


def _product(found: list[list[Sequence]]) -> Iterator[tuple[Sequence, ...]]:
    for number, each in enumerate(product(*found)):
        if number >= MOST:
            raise _TooMany
        yield each


def _together(parts: tuple[Sequence, ...]) -> Sequence:
    first = both([part.first for part in parts])
    return Sequence(first, tuple(later for part in parts for later in part.later))


def _chains(
    sequence: Sequence,
) -> Iterator[tuple[StateFormula, tuple[StateFormula, ...], StateFormula]]:
    """Yields the orders of a sequence's configurations: the first, others, and the last one."""
    orders = list(_orders(sequence.later))
    for order in orders:
        if order:
            yield sequence.first, order[:-1], order[-1]
        else:
            yield sequence.first, (), TRUE


def _orders(later: tuple[Sequence, ...]) -> Iterator[tuple[StateFormula, ...]]:
    """Yields all orders in which ``later`` may come; two may be the same configuration."""
    if not later:
        yield ()
        return
    number = 0
    for at, one in enumerate(later):
        rest = (*later[:at], *later[at + 1 :])
        for order in _orders((*rest, *one.later)):
            number += 1
            if number > MOST:
                raise _TooMany
            yield order if one.first == TRUE else (one.first, *order)
