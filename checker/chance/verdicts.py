"""Verdicts on questions about chance."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

from checker.chance.digits import certain, decimal, fraction
from checker.chance.questions import Asked
from checker.chance.trees import adversary_of
from checker.chance.values import Precision, Valuation, Value
from checker.engines.chance import ChanceGraph
from checker.results.chance import Chance
from checker.results.verdict import PropertyVerdict, Word


def verdict_of(
    asked: Asked, graph: ChanceGraph, first: int, precision: Precision
) -> PropertyVerdict:
    """Returns the verdict on a question whose conditions in ``graph`` begin at number ``first``;
    the value is computed exactly where an interval does not decide it."""
    started, valuation = time.monotonic(), Valuation(asked, graph, first)
    number, value = _deciding(valuation, precision)
    word = _word(asked, value)
    if word is Word.UNKNOWN and not value.exact:
        value = valuation.value(number, replace(precision, exact=True))
        word = _word(asked, value)
    steps = graph.steps
    found = Chance(
        lower=decimal(value.lower),
        upper="infinite" if value.upper is None else decimal(value.upper, up=True),
        digits=_digits(value),
        extreme="largest" if asked.largest else "smallest",
        exact=str(value.lower) if value.exact else "",
        states=len(steps.enabled),
        choices=len(steps.constraint),
        branches=len(steps.target),
        seconds=time.monotonic() - started,
        adversary=adversary_of(asked, graph, value),
    )
    question = asked.question
    return PropertyVerdict(
        question.name,
        question.goal.document or question.name,
        word,
        question.expected or None,
        _reason(asked, value, found),
        chance=found,
    )


def _deciding(valuation: Valuation, precision: Precision) -> tuple[int, Value]:
    """Returns the goal that decides a question, and its value: one that is not sure, if any."""
    asked = valuation.asked
    number = 0
    if asked.bound is None and not asked.question.some:
        unsure = (i for i in range(len(asked.goals)) if not valuation.is_sure(i))
        found = next(unsure, None)
        if found is None:
            return 0, Value(Fraction(1), Fraction(1), True)
        number = found
    return number, valuation.value(number, precision)


def _word(asked: Asked, value: Value) -> Word:
    bound = Fraction(1) if asked.bound is None else asked.bound
    if asked.question.at_least:
        if value.lower >= bound:
            return Word.HOLDS
        return Word.VIOLATED if value.upper is not None and value.upper < bound else Word.UNKNOWN
    if value.upper is not None and value.upper <= bound:
        return Word.HOLDS
    return Word.VIOLATED if value.lower > bound else Word.UNKNOWN


def _digits(value: Value) -> str:
    if value.upper is None:
        return "infinite"
    return fraction(value.lower) if value.exact else certain(value.lower, value.upper)


def _reason(asked: Asked, value: Value, found: Chance) -> str:
    """Returns what the value is, and of which adversary, in words."""
    who = "the best adversary" if asked.question.some else "the worst adversary"
    what = "chance" if not asked.question.counts else "expected number of steps"
    if asked.bound is None and value.lower == 1:
        return "with probability 1 whatever the adversary does"
    return f"the {what} is {found.digits} under {who}"
