"""Synthesizes conditions on sizes, and thresholds, under which a protocol satisfies its properties.

Candidates come from a small template, weak ones first.  Each that fails yields the parameter values
of a violation, and these values refute further candidates without a query (counterexample-guided
synthesis; A. Solar-Lezama et al.: Combinatorial sketching for finite programs, ASPLOS 2006; for
thresholds M. Lazić, I. Konnov, J. Widder, R. Bloem: Synthesis of distributed algorithms with
parameterized threshold guards, OPODIS 2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from msgspec import Struct

from checker.parametric.automaton.arithmetic import (
    conjunction,
    holds,
    linear,
    names,
    plus,
    times,
    to_nnf,
)
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    And,
    AtLeast,
    Condition,
    Linear,
    Not,
    Outcome,
    Question,
    Quotient,
)
from checker.parametric.symbolic.decide import ParametricChecker

LARGEST = 8
"""The largest factor of a parameter in a condition on sizes."""


class Proposal(Struct, frozen=True):
    """A result: all questions are proved under ``condition``.

    ``part``: the part that was proposed: a comparison of sizes; or ``None``, and ``threshold`` was
    proposed: a parameter and its value.
    """

    condition: Condition
    part: Condition | None = None
    threshold: Quotient | None = None


class UndecidedCandidate(Struct, frozen=True):
    """A candidate that is neither proved nor refuted, and why."""

    condition: Condition
    reason: str


def conditions(
    counting: ParametricChecker, questions: Sequence[Question], *, largest: int = LARGEST
) -> Iterator[Proposal | UndecidedCandidate]:
    """Yields the weakest conditions ``n >= a * x + b * y + … + c`` under which all of ``questions``
    are proved, with factors from 0 to ``largest``, and ``c`` 0 or 1.

    ``n`` is the parameter of that name, or the first; ``x``, ``y``, … are the others.  The
    automaton's condition on these alone is kept.  No weaker condition of the template is proved
    than those proposed; callers may stop between two results.
    """
    sizes = counting.automaton.parameters
    if not sizes:
        return
    size = "n" if "n" in sizes else sizes[0]
    others = [name for name in sizes if name != size]
    whole = to_nnf(counting.assumed)
    parts = list(whole.parts) if isinstance(whole, And) else [whole]
    kept = [part for part in parts if size not in names(part)]
    refuted: list[dict[str, int]] = []
    proved: list[tuple[int, ...]] = []
    weakest: list[Condition] = []
    factors = list(product(range(largest + 1), repeat=len(others)))
    candidates = [(*each, constant) for each in factors for constant in (0, 1)]
    for candidate in sorted(candidates, key=lambda each: (sum(each), each)):
        if any(_stronger(candidate, weak) for weak in proved):
            continue
        *by, constant = candidate
        needed = linear({size: 1, **{name: -a for name, a in zip(others, by, strict=True)}})
        part = AtLeast(plus(needed, Linear((), -constant)))
        if any(holds(part, numbers) for numbers in refuted):
            continue
        condition = conjunction([part, *kept])
        if any(_is_implied(counting.assuming(condition), size, weak) for weak in weakest):
            continue
        outcome = _all_proved(counting.assuming(condition), questions)
        match outcome:
            case AcceleratedRun():
                refuted.append(dict(outcome.values))
            case str():
                yield UndecidedCandidate(condition, outcome)
            case None:
                proved.append(candidate)
                weakest.append(part)
                yield Proposal(condition, part)


def thresholds(
    counting: ParametricChecker,
    questions: Sequence[Question],
    name: str,
    *,
    sizes: Sequence[str],
    divisors: Sequence[int] = (1, 2),
) -> Iterator[Proposal | UndecidedCandidate]:
    """Yields values of the parameter ``name``, which guards compare with: ``(a * x + b * y + …) div
    d + c`` so that all of ``questions`` are proved with this value.

    ``sizes``: the parameters ``x``, ``y``, …, with factors from -1 to 3 (``n``: 0 or 1); ``c`` is 0
    or 1. The assumptions of ``counting`` are kept, and should not determine ``name``.  Nothing is
    proposed where no guard compares with it.
    """
    if not any(name in names(rule.guard) for rule in counting.automaton.rules):
        return
    refuted: list[dict[str, int]] = []
    ranges = [range(2) if size == "n" else range(-1, 4) for size in sizes]
    candidates = [
        (divisor, by, constant)
        for divisor in divisors
        for by in product(*ranges)
        for constant in (0, 1)
        if divisor == 1 or any(each % divisor for each in by)
    ]
    for divisor, by, constant in sorted(candidates, key=_simplicity):
        numerator = plus(linear(dict(zip(sizes, by, strict=True))), Linear((), constant * divisor))
        rest = plus(numerator, linear({name: -divisor}))
        below = plus(times(rest, -1), Linear((), divisor - 1))
        equal: list[Condition] = [AtLeast(rest), AtLeast(below)]
        if any(all(holds(part, numbers) for part in equal) for numbers in refuted):
            continue
        condition = conjunction([to_nnf(counting.assumed), *equal])
        outcome = _all_proved(counting.assuming(condition), questions)
        match outcome:
            case AcceleratedRun():
                refuted.append(dict(outcome.values))
            case str():
                yield UndecidedCandidate(condition, outcome)
            case None:
                threshold = Quotient(name, numerator, divisor)
                yield Proposal(condition, threshold=threshold)


def _simplicity(candidate: tuple[int, tuple[int, ...], int]) -> tuple[object, ...]:
    divisor, by, constant = candidate
    return divisor, sum(abs(each) for each in by) + constant, by


def _is_implied(counting: ParametricChecker, size: str, weak: Condition) -> bool:
    """Returns whether ``weak`` follows from the assumptions, where there is a process at all."""
    somebody = AtLeast(linear({size: 1}, -1))
    return counting.possible(And((somebody, Not(weak)))) is False


def _stronger(candidate: tuple[int, ...], weak: tuple[int, ...]) -> bool:
    return all(here >= there for here, there in zip(candidate, weak, strict=True))


def _all_proved(
    counting: ParametricChecker, questions: Sequence[Question]
) -> AcceleratedRun | str | None:
    """Returns ``None`` where all are proved; else a violation, or why it is not known."""
    reason: str | None = None
    for question in questions:
        decision = counting.decide(question)
        if decision.run is not None:
            return decision.run
        if decision.outcome is not Outcome.PROVED and reason is None:
            reason = f"{question.property}: {decision.outcome}: {decision.reason}"
    return reason
