"""Finds the point from which on a goal is unreachable."""

from __future__ import annotations

from checker.explain.counterfactual_queries import ExplainingBudget, explore_in_time
from checker.model import interpreter, ir
from checker.model.interpreter import State
from checker.model.ir import Expr, Property, PropertyKind, TransitionSystem
from checker.records import replace
from checker.results.rerun import Run

GOAL = "goal"


def point_of_no_return(
    system: TransitionSystem, run: Run, goal: Expr, clock: ExplainingBudget
) -> int | None:
    """Returns the number of the first step of ``run`` after which ``goal`` is unreachable.

    ``None`` where there is none, or where that is not known.  What is unreachable from a state is
    unreachable from those after it, so it is found by bisection.
    """
    low, high = 0, len(run.moments) - 1
    if _reachable(system, run.moments[high].state, goal, clock) is not False:
        return None
    while low < high:
        middle = (low + high) // 2
        match _reachable(system, run.moments[middle].state, goal, clock):
            case None:
                return None
            case True:
                low = middle + 1
            case False:
                high = middle
    return high


def _reachable(
    system: TransitionSystem, state: State, goal: Expr, clock: ExplainingBudget
) -> bool | None:
    """Returns whether ``goal`` is true in ``state`` or reachable from it; ``None``: not known."""
    question = Property(GOAL, PropertyKind.INVARIANT, goal, ir.TRUE, "")
    begun = replace(
        system,
        variables=tuple(
            replace(v, initial=value) for v, value in zip(system.variables, state, strict=True)
        ),
        init=(),
        properties=(question,),
        justice=(),
    )
    if interpreter.initial_states(begun) != [state]:  # the monitor would go on twice
        return None
    answer = explore_in_time(begun, clock)
    if isinstance(answer, str):
        return None
    if GOAL in answer.violations:
        return True
    return False if answer.exhaustive else None
