"""Budgets and interrupts end the analysis in every phase."""

from __future__ import annotations

import pytest

from checker.chance import intervals, policies
from checker.chance.exact import exact_probability
from checker.chance.graph import ProcessGraph
from checker.chance.objective import Kind, Objective
from checker.chance.probability import probability
from checker.engines import budgets
from checker.engines.budgets import BudgetExhausted
from tests.chance import models
from tests.instantiate.limited import for_ever


def _goal(n: int) -> tuple[ProcessGraph, Objective]:
    model = models.trap(n)
    goal = Objective(Kind.EVENTUALLY, model.where(lambda s: s == 2 * n))
    return ProcessGraph(model.process), goal


def test_sweeps_that_would_take_years_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "SMALL", 0)  # however long that takes
    graph, goal = _goal(38)
    with pytest.raises(BudgetExhausted), budgets.within(0.5), budgets.raising_when_exhausted():
        probability(graph, goal, largest=True)


def test_rational_equations_that_would_take_long_end(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, goal = _goal(5)
    found = probability(graph, goal, largest=True)

    monkeypatch.setattr(policies, "solve", for_ever)
    with pytest.raises(BudgetExhausted), budgets.within(0.2), budgets.raising_when_exhausted():
        exact_probability(found, goal)
