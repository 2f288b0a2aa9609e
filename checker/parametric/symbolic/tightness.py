"""Tests whether a resilience condition is tight: weaker assumptions are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from checker.parametric.automaton.arithmetic import TRUE, conjunction, plus, to_nnf
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    And,
    AtLeast,
    Condition,
    Linear,
    Not,
    Outcome,
    Question,
)
from checker.parametric.symbolic.decide import ParametricChecker


class Weaker(Struct, frozen=True):
    """The result for questions under a weaker assumption.

    ``condition``: the weaker assumption; ``part``: the part of the original condition that is
    weakened by one, or ``dropped``.  ``question``: one that is violated then, and ``run``, an
    execution with the smallest parameter values that violates it; both ``None`` where all are still
    proved, or where ``reason`` explains why it is not known.
    """

    condition: Condition
    part: Condition
    dropped: bool
    question: Question | None = None
    run: AcceleratedRun | None = None
    reason: str = ""


def tightness(counting: ParametricChecker, questions: Sequence[Question]) -> Iterator[Weaker]:
    """For each part of the condition that ``counting`` assumes, yields the result of weakening it
    by one (``n > 3t`` to ``n >= 3t``), and if everything is still proved then, that of dropping it.

    ``questions``: those that are proved under the condition.  Parts that the rest implies are left
    out.  Callers may stop between two results.
    """
    whole = to_nnf(counting.assumed)
    parts = list(whole.parts) if isinstance(whole, And) else [whole]
    for at, part in enumerate(parts):
        rest = [*parts[:at], *parts[at + 1 :]]
        for changed, dropped in _weakenings(part):
            condition = conjunction([*rest[:at], changed, *rest[at:]])
            more = counting.assuming(condition).possible(Not(part))
            if more is False:
                continue
            result = _ask_until_violated(counting.assuming(condition), questions, part, dropped)
            yield result
            if result.question is not None or result.reason:
                break


def _weakenings(part: Condition) -> Iterator[tuple[Condition, bool]]:
    if isinstance(part, AtLeast):
        yield AtLeast(plus(part.linear, Linear((), 1))), False
    yield TRUE, True


def _ask_until_violated(
    counting: ParametricChecker,
    questions: Sequence[Question],
    part: Condition,
    dropped: bool,
) -> Weaker:
    """Decides the questions until one is violated."""
    reason = ""
    for question in questions:
        decision = counting.decide(question)
        if decision.run is not None:
            run = counting.smallest(question, decision.run, steps=False)
            return Weaker(counting.assumed, part, dropped, question, run)
        if decision.outcome is Outcome.UNKNOWN:
            reason = f"{question.property}: {decision.reason}"
    return Weaker(counting.assumed, part, dropped, reason=reason)
