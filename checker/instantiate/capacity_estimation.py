"""Estimates capacities, how large queues and numbers get, from a greedy execution before
compilation.

The interpreter makes one execution that always continues with the fullest state.  The result is
only a first guess that saves attempts: an execution that needs more makes
:mod:`checker.session.attempts` try again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checker.instantiate.capacities import enlarge_bound, maximum_bound
from checker.instantiate.instantiated import Instantiated
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem

EFFORT = 400
"""Transitions that all executions may compute together: a number, not a time, so that what is
explored does not depend on the load of the machine."""

ATTEMPTS = 12
"""Executions at most."""

HIGHEST = 16
"""No guess is larger: a greedy execution may fill what no property needs, or what is unbounded."""


def estimate_capacities(make: Callable[[Mapping[str, int]], Instantiated]) -> Instantiated:
    """Returns the system of a check, with capacities that are large enough for a greedy execution
    of it.

    ``make`` gives the system with some capacities; what it raises is raised here, too.
    """
    made = make({})
    left = EFFORT
    for _ in range(ATTEMPTS):
        capacities = dict(made.capacities)
        if not capacities or left <= 0:
            break
        too_small, left = _walk(made.system, left)
        if too_small is None or capacities[too_small] >= min(HIGHEST, maximum_bound(too_small)):
            break
        capacities[too_small] = enlarge_bound(capacities[too_small])
        made = make(capacities)
    return made


def _walk(system: TransitionSystem, effort: int) -> tuple[str | None, int]:
    """Returns the first capacity that the greedy execution finds too small, and what is left of
    ``effort``."""
    try:
        state, _ = next(interpreter.starts(system))
    except (RunFault, StopIteration) as fault:
        return getattr(fault, "grows", None), effort
    seen: set[State] = set()
    while effort > 0:
        seen.add(state)
        following: list[State] = []
        for transition in interpreter.successors(system, state):
            effort -= 1
            if transition.fault is not None and transition.fault.grows is not None:
                return transition.fault.grows, effort
            if transition.successor is not None and transition.successor not in seen:
                following.append(transition.successor)
            if effort <= 0:
                return None, 0
        if not following:
            break
        state = max(following, key=_weight)
    return None, effort


def _weight(value: object) -> int:
    """Returns how much a state holds."""
    if isinstance(value, tuple | frozenset):
        return 1 + sum(_weight(part) for part in value)
    return int(value) if isinstance(value, int) else 0
