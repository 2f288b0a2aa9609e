"""Draws a step of a run that a user makes by hand: the faults, processes and kinds of steps take
turns, however many there are of each.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from checker.model.fault_actions import is_fault
from checker.model.interpreter import Transition
from checker.model.ir import TransitionSystem
from checker.results.events import acting

_T = TypeVar("_T")


def draw_transition(
    system: TransitionSystem, among: Sequence[Transition], chance: random.Random, rate: float
) -> Transition | None:
    """Draws one of ``among``: whether a fault occurs (with probability ``rate``, where one is
    enabled), then the process, then the kind of step, then the step.  Returns ``None`` where no
    fault is drawn, and no other transition is enabled.
    """
    wrong = [t for t in among if is_fault(t.action)]
    pool = [t for t in among if not is_fault(t.action)]
    if wrong and chance.random() < rate:
        pool = wrong
    if not pool:
        return None
    pool = _group(pool, lambda t: acting(system, t.events), chance)
    pool = _group(pool, lambda t: t.action.kind.value, chance)
    return chance.choice(pool)


def _group(among: Sequence[_T], key: Callable[[_T], str], chance: random.Random) -> list[_T]:
    """Draws one of the groups into which ``key`` divides ``among``."""
    groups: dict[str, list[_T]] = defaultdict(list)
    for each in among:
        groups[key(each)].append(each)
    return groups[chance.choice(sorted(groups))]
