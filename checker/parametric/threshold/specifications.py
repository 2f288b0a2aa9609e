"""Specifications as questions: which configurations violate one, in which order.

The negation of a specification is a disjunction of sequences of configurations: the first one of
the execution, later ones, in order, and the last one, in which it stays forever.  For an execution
may stay anywhere, as fairness is what a specification assumes.  Without cycles and resets it does
stay somewhere: what processes send without moving changes each comparison once.  So ``<>[] F`` and
``[]<> F`` are about the last configuration.  Nor does it matter that an execution may go around a
cycle forever, if at most one part is ``[]<> F``: then some configuration on the cycle satisfies all
parts, and it may stay there instead.  ``[] F`` is about the last configuration where F can't become
true again; that nobody is ever in a location is a matter of its rules.  Other formulas are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import product
from typing import assert_never

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.parametric.automaton.arithmetic import comparisons, joined, rewritten, to_nnf
from checker.parametric.automaton.automaton import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Automaton,
    Condition,
    Counts,
    Linear,
    Not,
    NotState,
    Or,
    Question,
    Somebody,
    StateFormula,
    sent_name,
)
from checker.parametric.threshold.expressions import is_condition
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
from checker.records import replace

TRUE, FALSE = AllOf(), AnyOf()
MOST = 64
"""At most so many sequences of configurations are distinguished."""


class Sequence(Struct, frozen=True):
    """``first`` holds now, there are later configurations for each of ``later``, and ``last`` holds
    in the last one; nobody is in the locations ``never`` at any time.  ``again``: how many parts of
    ``last`` have to hold infinitely often only."""

    first: StateFormula = TRUE
    later: tuple[Sequence, ...] = ()
    last: StateFormula = TRUE
    never: frozenset[int] = frozenset()
    again: int = 0


class Asked(Struct, frozen=True):
    """A question about the executions in which nobody is ever in the locations ``never``.

    ``any_tail``: also of executions that go around a cycle forever; otherwise only of those that
    stay in one configuration.
    """

    question: Question
    never: frozenset[int]
    any_tail: bool


class _TooMany(Exception):
    """A specification has more sequences than are distinguished."""


def questions_of(
    specification: Specification,
    written: Written,
    variables: Mapping[str, Linear],
    automaton: Automaton,
) -> tuple[Asked, ...]:
    """Returns the questions about ``specification``: it is violated where one of them is.

    Raises :class:`SpecError` (E122) where that is not a question about the order of configurations.
    """
    index = {name: at for at, name in enumerate(written.locations)}
    states = _States(index, variables, automaton)
    try:
        found = _sequences(specification.formula, True, states, Place.TOP)
        chains = [(one.never, one.again < 2, *chain) for one in found for chain in _chains(one)]
    except _TooMany:
        message = f"`{specification.name}` has more than {MOST} orders of configurations"
        raise _refused(specification, message, "split it into several specifications") from None
    except _Endless:
        message = f"`{specification.name}` combines temporal operators in an unsupported way"
        hint = "in its negation, `[] F` needs an F that can't become true again, or `F == 0`"
        raise _refused(specification, message, hint) from None
    merged: dict[
        tuple[frozenset[int], bool, StateFormula, tuple[StateFormula, ...]], list[StateFormula]
    ] = {}
    for never, any_tail, begins, before, last in chains:
        merged.setdefault((never, any_tail, begins, before), []).append(last)
    return tuple(
        Asked(
            Question(specification.name, either(last), False, begins=begins, before=before),
            never,
            any_tail,
        )
        for (never, any_tail, begins, before), last in merged.items()
    )


def is_safety(formula: Formula, negated: bool = False) -> bool:
    """Returns whether each violation of the formula (or of its negation) is seen in finitely many
    steps, by its form."""
    match formula:
        case Negation(part):
            return is_safety(part, not negated)
        case Finally(part) | Globally(part):
            return isinstance(formula, Globally) != negated and is_safety(part, negated)
        case All(parts) | Any(parts):
            return all(is_safety(part, negated) for part in parts)
        case _:
            return True


def without(automaton: Automaton, never: frozenset[int]) -> Automaton:
    """Returns the automaton in which nobody is ever in the locations ``never``."""
    if not never:
        return automaton
    rules = tuple(
        replace(rule, guard=Or()) if never & {rule.source, rule.target} else rule
        for rule in automaton.rules
    )
    nobody = tuple(
        AtLeast(Linear(((automaton.locations[at].name, -1),)))
        for at in sorted(never)
        if automaton.locations[at].initial
    )
    return replace(automaton, rules=rules, begins=(*automaton.begins, *nobody))


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
    automaton: Automaton

    def was_true(self, formula: StateFormula) -> bool:
        """Returns whether the formula, where it is true, has been true all the time."""
        match formula:
            case Somebody(locations, 1):
                return all(
                    rule.source in locations or rule.target not in locations
                    for rule in self.automaton.rules
                )
            case NotState(Somebody(locations, 1)):
                return all(
                    rule.source not in locations or rule.target in locations
                    for rule in self.automaton.rules
                )
            case AllOf(parts) | AnyOf(parts):
                return all(self.was_true(part) for part in parts)
            case Counts(condition):
                found = [term for part in comparisons(condition) for term in part.terms]
                reset = {sent_name(at) for rule in self.automaton.rules for at in rule.resets}
                return not any(
                    name in self.index or name in reset or (name.startswith("#") and by > 0)
                    for name, by in found
                )
            case _:
                return False

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


class Place(StrEnum):
    """Where a part of a formula stands: it is about the start, directly behind ``<>``, or about
    some later configuration."""

    TOP = "top"
    EVENTUALLY = "eventually"
    INSIDE = "inside"


def _sequences(formula: Formula, negated: bool, states: _States, place: Place) -> list[Sequence]:
    """Returns the sequences of which one has to be found for the formula (or its negation)."""
    match formula:
        case AtLeast() | Not() | And() | Or():
            return [Sequence(states.of(formula, negated))]
        case Negation(part):
            return _sequences(part, not negated, states, place)
        case Finally(part) | Globally(part):
            if isinstance(formula, Globally) != negated:
                return [_always(part, negated, states, place)]
            found = _sequences(part, negated, states, Place.EVENTUALLY)
            return [_eventually(one) for one in found]
        case All(parts) | Any(parts):
            inside = place if place is Place.TOP else Place.INSIDE
            each = [_sequences(part, negated, states, inside) for part in parts]
            if isinstance(formula, Any) != negated:
                return [one for some in each for one in some]
            return [_together(one) for one in _product(each)]
        case _:
            assert_never(formula)


def _eventually(one: Sequence) -> Sequence:
    if one.first == TRUE and not one.later:
        return one
    return Sequence(TRUE, (Sequence(one.first, one.later),), one.last, one.never, one.again)


def _always(part: Formula, negated: bool, states: _States, place: Place) -> Sequence:
    """Returns the sequence for ``[] part`` (or for ``<> part``, negated)."""
    while isinstance(part, Negation):
        part, negated = part.part, not negated
    again = 0
    if isinstance(part, Finally | Globally):
        if isinstance(part, Globally) != negated:
            return _always(part.part, negated, states, place)
        part, place, again = part.part, Place.EVENTUALLY, 1
    if not is_condition(part):
        raise _Endless
    formula = states.of(part, negated)
    _require_settled(formula)
    never = frozenset[int]()
    last: list[StateFormula] = []
    for each in formula.parts if isinstance(formula, AllOf) else (formula,):
        if place is Place.EVENTUALLY or states.was_true(each):
            last.append(each)
        elif place is Place.TOP and isinstance(each, NotState) and isinstance(each.part, Somebody):
            never |= each.part.locations
        else:
            raise _Endless
    return Sequence(TRUE, (), both(last), never, again)


def _require_settled(formula: StateFormula) -> None:
    """Raises where the truth of ``formula`` may change forever as processes send in one place."""
    match formula:
        case NotState(part):
            _require_settled(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                _require_settled(part)
        case Counts(condition):
            for term in comparisons(condition):
                if len({by > 0 for name, by in term.terms if name.startswith("#")}) > 1:
                    raise _Endless
        case Somebody():
            pass


def _product(found: list[list[Sequence]]) -> Iterator[tuple[Sequence, ...]]:
    for number, each in enumerate(product(*found)):
        if number >= MOST:
            raise _TooMany
        yield each


def _together(parts: tuple[Sequence, ...]) -> Sequence:
    return Sequence(
        both([part.first for part in parts]),
        tuple(later for part in parts for later in part.later),
        both([part.last for part in parts]),
        frozenset().union(*(part.never for part in parts)),
        sum(part.again for part in parts),
    )


def _chains(
    sequence: Sequence,
) -> Iterator[tuple[StateFormula, tuple[StateFormula, ...], StateFormula]]:
    """Yields the orders of a sequence's configurations: the first, others, and the last one."""
    for order in _orders(sequence.later):
        if sequence.last != TRUE:
            yield sequence.first, order, sequence.last
        elif order:
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
