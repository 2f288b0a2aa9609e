"""A quick look ahead: how large queues and numbers get, before anything is compiled.

One run of the interpreter that always goes on with the fullest state.  What it finds is only a
first guess that saves attempts: a run that needs more makes :mod:`checker.pipeline` try again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from checker.lang import typed
from checker.properties import ask
from checker.system import interpreter
from checker.system.evaluate import RunFault
from checker.system.instantiate.assemble import instantiate
from checker.system.interpreter import State
from checker.system.ir import TransitionSystem

PATIENCE = 0.15
"""Seconds that the look ahead may take."""

LONGEST = 200
"""Steps of a run at most."""


HIGHEST = 64
"""No guess is larger: a greedy run may fill what no question needs."""


def larger(capacity: int) -> int:
    """About twice: one bit more for a number, twice the places for a length."""
    return 2 * capacity + capacity % 2


def scouted(check: typed.Check, settings: Mapping[str, str], fine: bool) -> dict[str, int]:
    """Capacities that a greedy run of ``check`` needs; raises :class:`SpecError` as instantiation
    does."""
    until = time.monotonic() + PATIENCE
    capacities: dict[str, int] = {}
    while True:
        made = instantiate(check, settings, ask, capacities=capacities, fine=fine)
        capacities = dict(made.capacities)
        if not capacities or time.monotonic() > until:
            return capacities
        too_small = _walk(made.system, until)
        if too_small is None or capacities[too_small] >= HIGHEST:
            return capacities
        capacities[too_small] = larger(capacities[too_small])


def _walk(system: TransitionSystem, until: float) -> str | None:
    """The first capacity that the greedy run finds too small."""
    try:
        state = interpreter.initial_states(system)[0]
    except (RunFault, IndexError) as fault:
        return getattr(fault, "grows", None)
    seen: set[State] = set()
    for _ in range(LONGEST):
        seen.add(state)
        following: list[State] = []
        for transition in interpreter.successors(system, state):
            if transition.fault is not None and transition.fault.grows is not None:
                return transition.fault.grows
            if transition.successor is not None and transition.successor not in seen:
                following.append(transition.successor)
            if time.monotonic() > until:
                return None
        if not following:
            return None
        state = max(following, key=_weight)
    return None


def _weight(value: object) -> int:
    """How much a state holds."""
    if isinstance(value, tuple | frozenset):
        return 1 + sum(_weight(part) for part in value)
    return int(value) if isinstance(value, int) else 0
