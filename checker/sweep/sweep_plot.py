"""The numbers of states of a sweep as a plot, over one of its axes."""

from __future__ import annotations

from collections.abc import Sequence

from checker.render.diagram.plots import FAILS, HOLDS, OTHER, Plot, SweepPoint, sweep_plot
from checker.results.verdict import Word
from checker.sweep.rows import Row, in_order
from checker.sweep.sweep_plan import SweepPlan

GOOD = (Word.HOLDS, Word.PROVED)
BAD = (Word.VIOLATED, Word.ERROR)


def plot_of(plan: SweepPlan, rows: Sequence[Row]) -> Plot:
    """Returns the plot over the first axis of numbers, or the first one; a line for each
    combination of the others."""
    names = plan.grid.names
    numbers = [n for n in names if all(str(row.cell.settings[n]).isdecimal() for row in rows)]
    across = (numbers or list(names))[0]
    rest = [name for name in names if name != across]
    points = []
    for row in in_order(rows):
        at = {name: str(row.cell.settings[name]) for name in names}
        states = 0 if row.report is None else row.report.distinct_states
        others = " ".join(f"{name}={at[name]}" for name in rest)
        said = ", ".join(f"{name}={value}" for name, value in at.items())
        points.append(SweepPoint(at[across], others, states, _kind(row), f"{said}: {states:,}"))
    return sweep_plot(f"{plan.check.name}: states", across, points)


def _kind(row: Row) -> str:
    words = [verdict.word for verdict in row.verdicts.values()]
    if any(word in BAD for word in words):
        return FAILS
    return HOLDS if words and all(word in GOOD for word in words) else OTHER
