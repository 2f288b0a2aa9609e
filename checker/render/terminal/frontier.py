"""Renders in a terminal how far a check holds."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from checker.render.terminal.canvas import pairs, stack
from checker.results.frontier import Frontier, FrontierCell, PropertyFrontier
from checker.words.frontier import (
    alike,
    boundary_text,
    cell_text,
    figures,
    loud,
    shown_at,
    worlds_of,
)

STYLES = {
    "holds": "green", "violated": "bold red", "error": "bold red", "vacuous": "yellow",
    "unknown": "yellow", "impossible": "dim",
}  # fmt: skip
MARGIN = 10


def frontier_view(report: Frontier) -> RenderableType:
    """Renders the report: properties with the same results share their tables."""
    title = Text(f"{report.file}::{report.check}", style="bold")
    parts: list[RenderableType] = [title]
    for group in alike(report):
        first = group[0]
        parts += [Text(said, style="bold red") for each in group for said in loud(each)]
        parts.append(Text(", ".join(each.property for each in group), style="bold"))
        parts += [*_tables(report, first)]
        parts += [Text(f"boundary: {boundary_text(each)}") for each in first.boundaries]
        rows = [(Text(shown_at(c), style="dim"), Text(c.reason)) for c in _edge(first)]
        if rows:
            parts.append(pairs(rows, 2, max(len(shown_at(c)) for c in _edge(first)) + 1))
    parts.append(pairs([(Text(n), Text(said)) for n, said in _rows(report)], 0, MARGIN))
    return stack(parts)


def _edge(found: PropertyFrontier) -> list[FrontierCell]:
    """Returns the smallest points that fail or are not known, which the report explains."""
    return [c for c in found.cells if c.frontier and c.known != "holds"]


def _tables(report: Frontier, found: PropertyFrontier) -> Iterator[RenderableType]:
    for world, across, cells in worlds_of(report, found):
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.title, table.title_justify = world or None, "left"
        table.add_column("", justify="left", no_wrap=True)
        columns = list(dict.fromkeys(value for row in cells.values() for value in row))
        for value in columns:
            table.add_column(f"{across}={value}" if across else "", no_wrap=True)
        for level, row in cells.items():
            shown = [_cell(row[value]) if value in row else Text("") for value in columns]
            table.add_row(f"{report.harder[0]}={level}", *shown)
        yield table


def _cell(cell: FrontierCell) -> Text:
    return Text(cell_text(cell), style="dim" if cell.inferred else STYLES[cell.known])


def _rows(report: Frontier) -> Iterator[tuple[str, str]]:
    yield "searched", f"along {', '.join(report.harder)}; (…) is inferred, all others were run"
    yield "points", figures(report)
    if report.stopped:
        yield "stopped", report.stopped
