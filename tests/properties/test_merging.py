"""Merged formulas say what they said before, of runs in which the parameters stay as they are."""

from __future__ import annotations

import random

import pytest

from checker.model import ir
from checker.model.evaluate import Scope, evaluate
from checker.model.ir import Connective, Expr, Formula, Holds, Modal
from checker.model.types import BOOL
from checker.properties.buchi_automaton import normal
from checker.properties.merging import Merging, renumber_propositions
from checker.results.fair_lasso import truth

PLAIN: tuple[Expr, ...] = (
    ir.Read(BOOL, "x"),
    ir.Read(BOOL, "y"),
    ir.Local(BOOL, "p"),
    ir.Local(BOOL, "q"),
)
"""Two that a run can change, two that it can't."""


def _formula(source: random.Random, depth: int) -> Formula:
    if depth == 0 or source.random() < 0.1:
        return Holds(source.randrange(len(PLAIN)))
    op = source.choice(["not", "and", "or", "always", "eventually", "recurs", "lasts"])
    match op:
        case "not":
            return Connective("not", (_formula(source, depth - 1),))
        case "and" | "or":
            parts = tuple(_formula(source, depth - 1) for _ in range(source.randint(2, 3)))
            return Connective(op, parts)
        case "recurs":
            return Modal("always", Modal("eventually", _formula(source, depth - 1)))
        case "lasts":
            return Modal("eventually", Modal("always", _formula(source, depth - 1)))
        case _:
            return Modal(op, _formula(source, depth - 1))


def _first(formula: Formula, propositions: tuple[Expr, ...], run: list[dict[str, bool]]) -> bool:
    scopes = [Scope({n: s[n] for n in "xy"}, {n: s[n] for n in "pq"}) for s in run]
    truths = [[bool(evaluate(e, scope)) for scope in scopes] for e in propositions]
    return truth(formula, truths, len(run), len(run) // 2)[0]


@pytest.mark.parametrize("seed", range(20))
def test_merging_keeps_the_meaning(seed: int) -> None:
    source = random.Random(seed)
    smaller = 0
    for _ in range(30):
        formula = normal(_formula(source, 4))
        known = {expr: i for i, expr in enumerate(PLAIN)}
        propositions, (merged,) = renumber_propositions(known, Merging(known).merge(formula))
        smaller += len(str(merged)) < len(str(formula))
        for _ in range(10):
            fixed = {name: source.random() < 0.5 for name in "pq"}
            run = [
                {"x": source.random() < 0.5, "y": source.random() < 0.5} | fixed for _ in range(4)
            ]
            assert _first(formula, PLAIN, run) == _first(merged, propositions, run)
    assert smaller > 0
