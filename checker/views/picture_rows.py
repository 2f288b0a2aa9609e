"""Where the steps of a run are in its picture: rows by happened-before, and how high they are."""

from __future__ import annotations

from checker.witness.causality import NOBODY, Causality, lane_of
from checker.witness.trace import Step


def rows_of(found: Causality, loop: int | None) -> tuple[int, ...]:
    """For each step its row: behind all that it depends on.

    Steps that do not depend on one another may share a row, with two exceptions: what concerns all
    processes at once (a split of the network, a round) has what came before it above, and what came
    after it below; and so has the state to which a run comes back for ever (``loop``).
    """
    rows: list[int] = []
    floor = deepest = 0
    for step, causes in zip(found.steps, found.causes, strict=True):
        if loop is not None and step.number == loop + 1:
            floor = deepest + 1
        row = max(floor, 1 + max((rows[cause] for cause in causes), default=-1))
        if is_worlds(step):
            row = max(row, deepest + 1)
            floor = row + 1
        rows.append(row)
        deepest = max(deepest, row)
    return tuple(rows)


def is_worlds(step: Step) -> bool:
    """Whether a step is the world's: it belongs to no process, and to no message either."""
    return step.number > 0 and lane_of(step) == NOBODY and step.kind != "lose"


def tops_of(rows: tuple[int, ...], heights: tuple[float, ...], top: float) -> tuple[float, ...]:
    """The y of each row, where a step needs ``heights[step]`` down to the next row."""
    needed = [0.0] * (max(rows, default=0) + 1)
    for row, height in zip(rows, heights, strict=True):
        needed[row] = max(needed[row], height)
    found = [top]
    for height in needed:
        found.append(found[-1] + height)
    return tuple(found)
