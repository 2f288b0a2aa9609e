"""Draws a step of a run that a user makes by hand: the faults, processes and kinds of steps take
turns, however many there are of each, and coins show what they show by their weights.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from checker.model.distributions import Successor
from checker.model.fault_actions import is_fault
from checker.model.interpreter import Transition
from checker.model.ir import TransitionSystem
from checker.results.mark_events import acting

_T = TypeVar("_T")


def draw_transition(
    system: TransitionSystem,
    among: Sequence[Transition],
    chance: random.Random,
    rate: float,
    odds: Mapping[Successor, Fraction] | None = None,
) -> Transition | None:
    """Draws one of ``among``: whether a fault occurs (with probability ``rate``, where one is
    enabled), then the process, then the kind of step, then the step, and then, where chance has a
    part in it, what its coins show: ``odds`` is what
    :func:`checker.model.distributions.odds` says of the state.  Returns ``None`` where no fault is
    drawn, and no other transition is enabled.
    """
    wrong = [t for t in among if is_fault(t.action)]
    pool = [t for t in among if not is_fault(t.action)]
    if wrong and chance.random() < rate:
        pool = wrong
    if not pool:
        return None
    pool = _group(pool, lambda t: acting(system, t.events), chance)
    pool = _group(pool, lambda t: t.action.kind.value, chance)
    drawn = chance.choice(pool)
    outcomes: dict[Successor, list[Transition]] = defaultdict(list)
    for step in pool:
        if (step.action, step.params) == (drawn.action, drawn.params):
            outcomes[_key(step)].append(step)
    shares = [share for key in outcomes if (share := (odds or {}).get(key)) is not None]
    if len(shares) < len(outcomes):  # chance has no part in it, or a part that is not known
        return drawn
    return chance.choice(chance.choices([*outcomes.values()], [*map(float, shares)])[0])


def _key(step: Transition) -> Successor:
    assert step.successor is not None
    return step.action.name, step.params, step.successor


def _group(among: Sequence[_T], key: Callable[[_T], str], chance: random.Random) -> list[_T]:
    """Draws one of the groups into which ``key`` divides ``among``."""
    groups: dict[str, list[_T]] = defaultdict(list)
    for each in among:
        groups[key(each)].append(each)
    return groups[chance.choice(sorted(groups))]
