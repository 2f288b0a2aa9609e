"""From where on a goal can't be reached: by the book on random graphs."""

from __future__ import annotations

from collections import Counter

from checker.explain.counterfactual_queries import ExplainingBudget
from checker.explain.no_return import point_of_no_return
from checker.model import interpreter, ir
from checker.model.build import equal, integer
from checker.model.interpreter import State
from checker.model.ir import Expr, TransitionSystem
from checker.results.rerun import rerun
from tests.explain.test_budgeted import violated


def reachable(system: TransitionSystem, start: State, goal: Expr) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        if interpreter.holds(system, goal, state):
            return True
        for step in interpreter.successors(system, state):
            if step.successor is not None and step.successor not in seen:
                seen.add(step.successor)
                waiting.append(step.successor)
    return False


def test_by_the_book() -> None:
    found: Counter[int | None] = Counter()
    for seed, system, path in violated(range(30)):
        run = rerun(system, path, system.properties[0])
        variable = system.variables[0]
        goal = equal(ir.Read(variable.type, "v"), integer(seed % 5))
        lost = [not reachable(system, moment.state, goal) for moment in run.moments]
        expected = lost.index(True) if True in lost else None
        assert point_of_no_return(system, run, goal, ExplainingBudget(60)) == expected, seed
        assert point_of_no_return(system, run, goal, ExplainingBudget(0)) is None
        found[expected] += 1
    assert len(found) > 2
