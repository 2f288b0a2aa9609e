"""Counts the steps from explored states, or from a sample of them, by the marks that they pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from checker.engines.native.search.store import Store
from checker.model import interpreter
from checker.model.ir import TransitionSystem
from checker.results.answer import State, StepCounts

COUNTED = 1_000
"""The largest number of states whose steps are counted."""


def step_counts(
    system: TransitionSystem, store: Store, rows: Sequence[tuple[int, ...]], explored: int
) -> StepCounts:
    """Counts the steps from the states with the words ``rows``, a sample of the ``explored`` states
    in ``store``.  The interpreter takes them."""
    layout = store.kernel.image.layout
    return counted(system, (layout.unpack(words) for words in rows), len(rows), explored)


def counted(
    system: TransitionSystem, states: Iterable[State], number: int, explored: int
) -> StepCounts:
    """Counts the steps from ``states``, which are ``number`` of ``explored`` states."""
    steps = 0
    by_mark: Counter[int] = Counter()
    for state in states:
        for transition in interpreter.successors(system, state):
            if transition.successor is not None:
                steps += 1
                by_mark.update({event.mark for event in transition.events})
    return StepCounts(number, number == explored, steps, dict(by_mark))
