"""A sweep from Python: its rows as a table, which notebooks show."""

from __future__ import annotations

import zlib
from html import escape
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checker.diagnostics.visible import visible
from checker.render.diagram.plots import plot_svg
from checker.results.frames import frame_of
from checker.sweep.rows import Row, as_table, columns_of, in_order, record, row_of, without_run
from checker.sweep.run import run
from checker.sweep.sweep_plan import SweepPlan
from checker.sweep.sweep_plot import plot_of

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = ("status", "states", "depth", "seconds")
"""The columns that are shown beside the parameters and verdicts."""


class Sweep(Struct, frozen=True):
    """The results of the cells of a ``plan``; ``rows`` are in the order of the cells."""

    plan: SweepPlan
    rows: tuple[Row, ...]

    def to_arrow(self) -> pa.Table:
        """Returns a row per cell, with the columns of the file that ``bivalence sweep`` writes."""
        return as_table(self.plan, self.rows)

    def to_pandas(self) -> Any:
        """Returns the same as a ``pandas.DataFrame``; raises :class:`SpecError` (E128)."""
        return frame_of(self.to_arrow())

    def _repr_html_(self) -> str:
        """Returns the parameters, verdicts and sizes of all cells as a table of HTML, and a plot of
        the sizes."""
        columns = columns_of(self.plan)
        axes = [columns.parameters[name] for name in self.plan.grid.names]
        verdicts = [f"verdict_{end}" for end in columns.properties.values()]
        shown = [*axes, *verdicts, *SHOWN]
        records = [record(row, self.plan, columns) for row in self.rows]
        lines = [_line("th", [name.removeprefix("verdict_") for name in shown])]
        lines += [_line("td", [each[name] for name in shown]) for each in records]
        plot = plot_of(self.plan, self.rows)
        drawn = plot_svg(plot, f"t{zlib.crc32(repr(plot).encode()):08x}-")
        return visible(f"<table>{''.join(lines)}</table>{drawn}")


def swept(plan: SweepPlan, jobs: int) -> Sweep:
    """Runs all cells of ``plan``, ``jobs`` at a time, in processes of this machine."""
    cells = {cell.number: cell for cell in plan.cells}
    rows = [row_of(cells[outcome.cell], outcome, {}) for outcome in run(plan, jobs, None)]
    return Sweep(plan, tuple(in_order([*rows, *without_run(plan, rows)])))


def _line(kind: str, values: list[Any]) -> str:
    cells = ("" if value is None else escape(str(value)) for value in values)
    return f"<tr>{''.join(f'<{kind}>{cell}</{kind}>' for cell in cells)}</tr>"
