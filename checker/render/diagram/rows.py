"""Assigns the steps of an execution to rows, and computes their heights."""

from __future__ import annotations

from typing import Literal

from checker.results.causality import NOBODY, Causality, lane_of
from checker.results.events import named_values
from checker.results.trace import Step

Layout = Literal["steps", "causality"]
"""The order of rows: a row for each step, as they happened, or by happened-before alone."""


def home_of(step: Step, processes: tuple[str, ...]) -> str:
    """Returns the process in whose column ``step`` is shown; ``NOBODY`` where it concerns all of
    them.

    That is the step's own process, or the only process that a step of the environment affects, such
    as a tick of its clock.
    """
    lane = lane_of(step)
    if lane != NOBODY or step.kind != "world":
        return lane
    told = [value for event in step.events for _, value in named_values(event)]
    return told[0] if len(told) == 1 and told[0] in processes else NOBODY


def rows_of(
    found: Causality, homes: tuple[str, ...], loop: int | None, layout: Layout
) -> tuple[int, ...]:
    """Returns the row of each step; ``homes`` as in :func:`home_of`."""
    if layout == "steps":
        return tuple(range(len(found.steps)))
    return _rows_by_causality(found, homes, loop)


def _rows_by_causality(
    found: Causality, homes: tuple[str, ...], loop: int | None
) -> tuple[int, ...]:
    """Returns the row of each step: below all steps that it depends on.

    Steps that do not depend on one another may share a row, with two exceptions: a step that
    concerns all processes at once (a partition of the network, a round) is below all earlier steps
    and above all later ones; and so is the state at which the cycle begins (``loop``).
    """
    rows: list[int] = []
    last: dict[str, int] = {}
    floor = deepest = 0
    for step, causes, home in zip(found.steps, found.causes, homes, strict=True):
        if loop is not None and step.number == loop + 1:
            floor = deepest + 1
        row = max(floor, 1 + max((rows[cause] for cause in causes), default=-1))
        for lane in {home, *(event.process for event in step.events)}:
            if lane in last:
                row = max(row, last[lane] + 1)
        if is_everybodys(step, home):
            row = max(row, deepest + 1)
            floor = row + 1
        if home != NOBODY:
            last[home] = row
        rows.append(row)
        deepest = max(deepest, row)
    return tuple(rows)


def is_everybodys(step: Step, home: str) -> bool:
    """Returns whether a step concerns all processes: it belongs to no process or message."""
    return step.number > 0 and home == NOBODY and step.kind != "lose"


def tops_of(rows: tuple[int, ...], heights: tuple[float, ...], top: float) -> tuple[float, ...]:
    """Returns the y of each row, where a step needs ``heights[step]`` down to the next row."""
    needed = [0.0] * (max(rows, default=0) + 1)
    for row, height in zip(rows, heights, strict=True):
        needed[row] = max(needed[row], height)
    found = [top]
    for height in needed:
        found.append(found[-1] + height)
    return tuple(found)
