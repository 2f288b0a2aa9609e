"""Counts the steps of explored states by what happens in them: of all states where they are few, or
of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from checker.engines.native.search.blowup import sample_rows
from checker.engines.native.search.store import Store
from checker.model import interpreter
from checker.model.ir import TransitionSystem
from checker.results.answer import State, StepCounts

COUNTED = 1_000
"""The largest number of states whose steps are counted."""


def step_counts(system: TransitionSystem, store: Store, explored: int, most: int) -> StepCounts:
    """Returns the numbers of steps of at most ``most`` of the states in ``store``, which has
    ``explored`` states in all.

    The interpreter takes the steps.  The sample depends on the states alone.
    """
    layout = store.kernel.image.layout
    rows = sample_rows(store, most)
    return counted(system, (layout.unpack(words) for words in rows), len(rows), explored)


def counted(
    system: TransitionSystem, states: Iterable[State], number: int, explored: int
) -> StepCounts:
    """Returns the numbers of steps of ``states``, ``number`` of the ``explored`` ones."""
    steps = 0
    by_mark: Counter[int] = Counter()
    for state in states:
        for transition in interpreter.successors(system, state):
            if transition.successor is not None:
                steps += 1
                by_mark.update({event.mark for event in transition.events})
    return StepCounts(number, number == explored, steps, dict(by_mark))
