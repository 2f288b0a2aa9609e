"""Weaker conditions on sizes: whether less could be required of them, and other sufficient
conditions and thresholds.

What z3 refutes is concretized before it is reported to fail, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import names
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    And,
    AtLeast,
    Automaton,
    Condition,
    Linear,
    Question,
    Quotient,
)
from checker.parametric.automaton.wording import Words
from checker.proving.concretization import Refuted, numbers_of, sizes_text
from checker.records import replace
from checker.results.proof import Weakened

if TYPE_CHECKING:
    from checker.parametric.symbolic.decide import ParametricChecker

PROPOSED = 3
"""At most so many conditions, and so many values of each threshold, are proposed."""

TRIED = 60
"""A search ends after so many candidates without an answer."""


def weaken_assumptions(
    counting: ParametricChecker,
    questions: Sequence[Question],
    follow: Callable[[Question, AcceleratedRun], Refuted],
) -> Iterator[Weakened]:
    """Yields the outcome for ``questions``, which are proved under what ``counting`` assumes, where
    less is assumed."""
    from checker.parametric.symbolic.tightness import tightness

    automaton = counting.automaton
    words = Words(automaton)
    for weaker in tightness(counting, questions):
        condition = words.condition(weaker.condition)
        condition = "" if condition == "true" else condition
        if weaker.question is None or weaker.run is None:
            yield Weakened(condition, reason=weaker.reason)
            continue
        name, numbers = weaker.question.property, numbers_of(automaton, weaker.run)
        found = follow(weaker.question, weaker.run)
        if found.trace is not None:
            yield Weakened(condition, name, dict(numbers))
        else:
            why = "exploration shows that it holds there" if found.holds else found.reason
            yield Weakened(condition, reason=f"{name} may fail with {sizes_text(numbers)}: {why}")


def conditions(counting: ParametricChecker, questions: Sequence[Question]) -> Iterator[str]:
    """Yields the weakest linear conditions on sizes under which ``questions`` are proved, in
    words."""
    from checker.parametric.symbolic.synthesis import Proposal
    from checker.parametric.symbolic.synthesis import conditions as weakest

    words = Words(counting.automaton)
    proposed = open_ = 0
    for found in weakest(counting, questions):
        if isinstance(found, Proposal):
            proposed += 1
            yield f"with {words.condition(found.condition)}"
        else:
            open_ += 1
        if proposed == PROPOSED or open_ == TRIED:
            return


def defaults(check: typed.Check) -> tuple[str, ...]:
    """Returns the parameters that are numbers and have a default that nothing replaces:
    thresholds."""
    given = {s.name for s in check.settings} | set(check.every)
    return tuple(
        p.name
        for p in check.protocol.parameters
        if isinstance(p.type, typed.Int) and p.default is not None and p.name not in given
    )


def thresholds(
    check: typed.Check,
    name: str,
    proved: Sequence[str],
    extracted: Callable[[typed.Check], tuple[Automaton, tuple[Question, ...]]],
    counted: Callable[[Automaton, Condition], ParametricChecker],
) -> Iterator[str]:
    """Yields values of the threshold ``name`` of ``check`` for which ``proved`` remain proved, in
    words."""
    from checker.parametric.symbolic.synthesis import Proposal
    from checker.parametric.symbolic.synthesis import thresholds as possible

    automaton, questions = extracted(replace(check, every=(*check.every, name)))
    if not _waits_for(automaton, name):
        return
    asked = [q for q in questions if q.property in proved]
    counting = counted(automaton, automaton.resilience)
    words = Words(automaton)
    proposed = open_ = 0
    for found in possible(counting, asked, name, sizes=check.every):
        if isinstance(found, Proposal) and found.threshold is not None:
            proposed += 1
            yield f"{name} = {_threshold_text(found.threshold, words)}"
        elif not isinstance(found, Proposal):
            open_ += 1
        if proposed == PROPOSED or open_ == TRIED:
            return


def _waits_for(automaton: Automaton, name: str) -> bool:
    """Returns whether some guard depends on ``name``."""
    spoken = {each for rule in automaton.rules for each in names(rule.guard)}
    return name in spoken or any(
        quotient.name in spoken and name in dict(quotient.numerator.terms)
        for quotient in automaton.quotients
    )


def _threshold_text(threshold: Quotient, words: Words) -> str:
    whole = words.linear(threshold.numerator)
    if threshold.divisor == 1:
        return whole
    return f"({whole}) div {threshold.divisor}"


def equal_to(numbers: Mapping[str, int]) -> Condition:
    """Returns the condition that parameters have these numbers."""
    parts: list[Condition] = []
    for name, value in numbers.items():
        parts.append(AtLeast(Linear(((name, 1),), -value)))
        parts.append(AtLeast(Linear(((name, -1),), value)))
    return And(tuple(parts))
