"""Verdicts on probability queries."""

from __future__ import annotations

import time
from fractions import Fraction

from checker.chance.digits import certain, decimal, fraction
from checker.chance.questions import Asked
from checker.chance.targets import UnfairProcessError
from checker.chance.trees import adversary_of
from checker.chance.values import Precision, Valuation, Value
from checker.diagnostics.english import count
from checker.engines.chance import ChanceGraph
from checker.model.ir import VariableKind
from checker.records import replace
from checker.results.chance import Chance
from checker.results.show_values import show
from checker.results.vacuity import UNFAIR
from checker.results.verdict import PropertyVerdict, Word

SAID = (VariableKind.LOCAL, VariableKind.SHARED)
ENDLESS = "E068"
"""The code of the page about expected values that are infinite."""
SHOWN = 4
"""So many states of an end component are told."""


def verdict_of(
    asked: Asked, graph: ChanceGraph, first: int, precision: Precision
) -> PropertyVerdict:
    """Returns the verdict on a question whose conditions in ``graph`` begin at number ``first``;
    the value is computed exactly where an interval does not decide it."""
    started, valuation = time.monotonic(), Valuation(asked, graph, first)
    try:
        number, value = _deciding(valuation, precision)
    except UnfairProcessError:
        return _verdict(asked, Word.VACUOUS, UNFAIR)
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
        exact=str(value.lower) if value.exact and value.upper is not None else "",
        states=len(steps.enabled),
        choices=len(steps.constraint),
        branches=len(steps.target),
        seconds=time.monotonic() - started,
        forever=value.forever,
        endless=tuple(_state_text(graph, state) for state in value.endless[:SHOWN]),
        adversary=adversary_of(asked, graph, value),
    )
    return _verdict(asked, word, _reason(asked, value, found), found)


def _verdict(asked: Asked, word: Word, why: str, found: Chance | None = None) -> PropertyVerdict:
    name, said = asked.question.name, asked.question.goal.document
    return PropertyVerdict(
        name, said or name, word, asked.question.expected or None, why, chance=found
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
        if value.upper is None or value.lower >= bound:
            return Word.HOLDS
        return Word.VIOLATED if value.upper < bound else Word.UNKNOWN
    if value.upper is None:
        return Word.VIOLATED
    if value.upper <= bound:
        return Word.HOLDS
    return Word.VIOLATED if value.lower > bound else Word.UNKNOWN


def _digits(value: Value) -> str:
    if value.upper is None:
        return "infinite"
    return fraction(value.lower) if value.exact else certain(value.lower, value.upper)


def _state_text(graph: ChanceGraph, number: int) -> str:
    """Returns a state in words: the variables of processes that have other values than at the
    start."""
    start, here = graph.state(graph.steps.initial[0]), graph.state(number)
    found = []
    for variable, before, value in zip(graph.system.variables, start, here, strict=True):
        if variable.kind in SAID and before != value:
            found.append(f"{variable.title or variable.name} = {show(variable.type, value)}")
    return ", ".join(found) or "as at the start"


def _reason(asked: Asked, value: Value, found: Chance) -> str:
    """Returns what the value is, and of which adversary, in words."""
    who = "the best adversary" if asked.question.some else "the worst adversary"
    if value.upper is None:
        how = "stay forever" if value.forever else "stay as long as it likes"
        states = count(len(value.endless), "state")
        return f"infinite under {who}: it can {how} in {states} without the goal ({ENDLESS})"
    what = "probability" if not asked.question.counts else "expected number of steps"
    if asked.bound is None and value.lower == 1:
        return "with probability 1 whatever the adversary does"
    return f"the {what} is {found.digits} under {who}"
