"""Where some initial states, or some choices, leave no fair execution."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checker.chance.objective import Kind
from checker.chance.questions import Asked, Goal
from checker.chance.values import Precision, Valuation
from checker.chance.verdicts import verdict_of
from checker.diagnostics import Span
from checker.engines.chance import NONE, ChanceGraph, Steps, TooFine
from checker.language.syntax import typed
from checker.model.ir import TRUE, TransitionSystem
from checker.results.answer import Path, State
from checker.results.verdict import Word

NOWHERE, START, DEAD, GOAL = range(4)
UNTAKEN = 0
"""A constraint that no choice takes."""


class Given(ChanceGraph):
    """A graph of which the steps are given: ``NOWHERE`` and ``DEAD`` stay where they are, unfairly;
    ``START`` goes to ``DEAD`` or tosses for ``GOAL``, an end, or ``START``."""

    def __init__(self, *initial: int) -> None:
        self.system = TransitionSystem("given", (), (), (), (), (), (), ())
        self.steps = steps = Steps()
        steps.add(0, NONE, [NOWHERE], [1])
        steps.end_state(1)
        steps.add(0, NONE, [DEAD], [1])
        steps.add(0, 1, [GOAL, START], [1, 1])
        steps.end_state(2)
        steps.add(0, NONE, [DEAD], [1])
        steps.end_state(1)
        steps.end_state(0)
        steps.initial = initial
        steps.constraint_sets = frozenset(), frozenset({UNTAKEN}), frozenset({1})

    def state(self, number: int) -> State:
        return (number,)

    def satisfying(self, condition: int) -> set[int]:
        return [{GOAL}, {START}][condition]

    def path_to(self, number: int) -> Path:
        raise NotImplementedError


def question(kind: Kind, steps: int | None = None, until: bool = False) -> Asked:
    place = Span("", 0, 1, 0, 1)
    formula = typed.PropertyDef("q", "", "", typed.Literal(typed.Bool(), True, place), place)
    asked = typed.ChanceQuestion(
        name="q",
        goal=formula,
        keeps=None,
        steps=None,
        numerator=None,
        denominator=None,
        at_least=True,
        counts=False,
        handler="",
        some=False,
        expected="",
        span=place,
    )
    return Asked(asked, (Goal(kind, TRUE, TRUE if until else None),), Fraction(1), steps)


@pytest.mark.parametrize("until", [False, True])
def test_no_admissible_adversary_goes_where_no_run_is_fair(until: bool) -> None:
    asked = question(Kind.EVENTUALLY, until=until)
    assert Valuation(asked, Given(START), 0).value(0, Precision()).lower == 1


def test_nor_does_it_within_a_bound() -> None:
    asked = question(Kind.EVENTUALLY, steps=2)
    assert Valuation(asked, Given(START), 0).value(0, Precision()).lower == Fraction(3, 4)


def test_an_initial_state_without_a_fair_run_is_left_out() -> None:
    asked = question(Kind.EVENTUALLY)
    assert Valuation(asked, Given(NOWHERE, START), 0).value(0, Precision()).lower == 1
    assert Valuation(asked, Given(NOWHERE, START), 0).is_sure(0)


def test_without_a_fair_run_a_question_is_vacuous() -> None:
    found = verdict_of(question(Kind.EVENTUALLY), Given(NOWHERE), 0, Precision())
    assert found.word is Word.VACUOUS
    assert "fairness admits no run" in found.reason


def test_weights_without_room_are_refused() -> None:
    with pytest.raises(TooFine):
        Steps().add(0, NONE, [0, 1], [1 << 62, 1])
