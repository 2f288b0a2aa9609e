"""What a search has been spared by its plan of reductions."""

from __future__ import annotations

import ctypes

from checker.exploration.explored import Explored
from checker.reductions.plan import Kind
from checker.witness.answer import Reduced

SAMPLE = 1 << 16
"""The sizes of the orbits of so many states are added up; of more states, of about so many."""


def reduced(search: Explored) -> Reduced:
    """What was used, what was not and why, and an estimate of the states without it."""
    plan = search.kernel.image.reductions
    text = () if plan.symmetry is None else (plan.symmetry.text,)
    without, exact = unfolded(search)
    return Reduced(
        used=tuple(kind.value for kind in plan.used),
        unused=tuple((unused.kind.value, unused.why) for unused in plan.unused),
        text=text,
        without=without,
        exact=exact and plan.used == (Kind.SYMMETRY,) and search.exhaustive,
    )


def unfolded(search: Explored) -> tuple[int | None, bool]:
    """How many states those that were found stand for, and whether that is exact.

    The sizes of orbits are added up.  Which states are in a sample is decided by their
    fingerprints, so that it does not depend on who found them.  ``None`` where there is no
    symmetry, or where the states are not in this process.
    """
    weigh = search.kernel.weigh
    if weigh is None or search.cycles is not None or not search.states:
        return None, False
    mask = max(0, (search.states // SAMPLE).bit_length() - 1)
    sums = (ctypes.c_uint64 * 2)()
    for crew in search.load().crew:
        weigh(crew.rows.address, crew.count, (1 << mask) - 1, ctypes.addressof(sums))
    count, total = sums
    if not count:
        return None, False
    return round(total * search.states / count), mask == 0
