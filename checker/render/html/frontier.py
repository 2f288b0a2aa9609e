"""Renders how far a check holds as a self-contained page."""

from __future__ import annotations

import zlib
from typing import Any

from markupsafe import Markup

from checker.diagnostics.visible import visible
from checker.render.diagram.plots import HOLDS, Plot, frontier_plots, plot_svg
from checker.render.html.content import short_file_name
from checker.render.html.page import environment, policy, style
from checker.render.html.weakest_worlds import opening_script, run_of
from checker.results.frontier import SHOWN, Frontier, FrontierCell, PropertyFrontier
from checker.words.frontier import (
    boundary_text,
    cell_text,
    figures,
    loud,
    shown_at,
    worlds_of,
)


def frontier_page(report: Frontier) -> str:
    """Returns the page of a report."""
    script = opening_script()
    data: dict[str, Any] = {
        "report": report,
        "file": short_file_name(report.file),
        "figures": figures(report),
        "properties": [_property(report, each) for each in report.properties],
        "style": style(),
        "script": Markup(script),
        "policy": policy(script),
    }
    return visible(environment().get_template("frontier.html").render(data))


def _property(report: Frontier, found: PropertyFrontier) -> dict[str, Any]:
    name = f"property-{found.property}"
    plots = dict(frontier_plots(report, found))
    ids = {shown_at(c): f"{name}-{i}" for i, c in enumerate(found.cells) if c.trace is not None}
    return {
        "id": name,
        "name": found.property,
        "loud": [*loud(found)],
        "boundaries": [
            {"text": boundary_text(each), "proved": each.proved} for each in found.boundaries
        ],
        "tables": [
            {
                **_table(report, world, across, cells, ids),
                "plot": _plot(plots[world], f"{found.property}-{zlib.crc32(world.encode()):x}-"),
            }
            for world, across, cells in worlds_of(report, found)
        ],
        "runs": [
            {
                "id": ids[shown_at(cell)],
                "at": shown_at(cell),
                "reason": cell.reason,
                **run_of(cell.trace, f"{ids[shown_at(cell)]}-run"),
            }
            for cell in found.cells
            if cell.trace is not None
        ],
    }


def _plot(plot: Plot, prefix: str) -> Markup:
    """Returns the plot of one of the small tables; nothing if there is no axis across, or if
    everything holds."""
    points = [point for series in plot.series.values() for point in series]
    if not plot.across[0] or all(point.kind == HOLDS for point in points):
        return Markup("")
    return Markup(plot_svg(plot, prefix))


def _table(
    report: Frontier,
    world: str,
    across: str,
    cells: dict[str, dict[str, FrontierCell]],
    ids: dict[str, str],
) -> dict[str, Any]:
    """Returns one of the small tables."""
    columns = list(dict.fromkeys(value for row in cells.values() for value in row))
    return {
        "world": world,
        "columns": [f"{across} = {value}" if across else "" for value in columns],
        "rows": [
            {
                "name": f"{report.harder[0]} = {level}",
                "cells": [_cell(row[value], ids) for value in columns if value in row],
            }
            for level, row in cells.items()
        ],
    }


def _cell(cell: FrontierCell, ids: dict[str, str]) -> dict[str, str]:
    kinds = {"holds": "holds", **dict.fromkeys(SHOWN, "fails")}
    kind = "inferred" if cell.inferred else kinds.get(cell.known, "open")
    link = ids.get(shown_at(cell), "")
    return {"kind": kind, "word": cell_text(cell), "link": link, "reason": cell.reason}
