"""Plots of frontiers and sweeps: where points are, how they are marked, where the line is."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from checker.api import sweep
from checker.render.diagram.plots import (
    FAILS,
    HOLDS,
    INFERRED,
    OTHER,
    SHAPES,
    SweepPoint,
    frontier_plot,
    plot_svg,
    sweep_plot,
)
from checker.results.frontier import FrontierCell, Known
from checker.sweep.sweep_plot import plot_of

SVG = "{http://www.w3.org/2000/svg}"
WORDS: dict[str, Known] = {"h": "holds", "v": "violated", "u": "unknown", "i": "impossible"}


def cells(*rows: str) -> dict[str, dict[str, FrontierCell]]:
    """Rows from f = 0 up, a letter for each n from 2 on; capitals were not run."""
    return {
        str(f): {
            str(n): FrontierCell({"n": str(n), "f": str(f)}, WORDS[c.lower()], c.isupper())
            for n, c in enumerate(row, start=2)
        }
        for f, row in enumerate(rows)
    }


@pytest.mark.every
@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (("hhh", "vhh", "Vvv"), (0.5, 1.5, 1.5)),
        (("vhh", "Vvh"), (-0.5, 0.5, 1.5)),
        (("hhh", "hhh"), ()),  # nothing fails
        (("huh", "vvv"), ()),  # one is not known
        (("vhh", "hvv"), ()),  # not monotone
    ],
)
def test_the_line_is_between_what_holds_and_what_fails(
    rows: tuple[str, ...], line: tuple[float, ...]
) -> None:
    plot = frontier_plot("agreement", ("f", "n"), cells(*rows))
    assert plot.boundary == line
    root = ElementTree.fromstring(plot_svg(plot))
    assert len([*root.iter(f"{SVG}g")]) == sum(map(len, rows)) + len(
        {p.kind for p in plot.series[""]}
    )


def test_points_are_marked_by_what_is_known() -> None:
    plot = frontier_plot("agreement", ("f", "n"), cells("huv", "Viv"), proved=True)
    kinds = {(p.at, p.height): p.kind for p in plot.series[""]}
    assert kinds == {
        (0, 0): HOLDS, (1, 0): OTHER, (2, 0): FAILS, (0, 1): INFERRED, (2, 1): FAILS,
    }  # fmt: skip
    assert len({*SHAPES.values()}) == len(SHAPES), "shapes differ"
    assert not plot.dashed and frontier_plot("a", ("f", "n"), cells("h")).dashed
    text = plot_svg(plot, "one-")
    assert "n=4 f=0: violated" in text and 'id="one-title"' in text
    assert all(kind in text for kind in (HOLDS, FAILS, INFERRED, OTHER))


def test_the_sizes_of_a_sweep_are_on_a_logarithmic_axis() -> None:
    points = [
        SweepPoint(str(n), f"crash={c}", 10 ** (n - 1 + c), HOLDS, f"{n}, {c}")
        for c in (0, 1)
        for n in (2, 3, 4)
    ]
    plot = sweep_plot("c: states", "n", [*points, SweepPoint("5", "crash=0", 0, OTHER, "none")])
    assert plot.across == ("n", ("2", "3", "4", "5"))
    assert [p.height for p in plot.series["crash=0"]] == [1, 2, 3]
    assert [label for _, label in plot.up[1]] == ["10", "100", "1,000", "10,000"]
    root = ElementTree.fromstring(plot_svg(plot))
    places = {
        each[0].text: [*map(float, re.findall(r"-?[\d.]+", each.get("transform") or ""))]
        for each in root.iter(f"{SVG}g")
        if each.get("class") == "point"
    }
    assert places["2, 0"][0] < places["3, 0"][0] < places["4, 0"][0]
    assert places["3, 0"][1] == places["2, 1"][1] < places["2, 0"][1]
    ticks = {t.text: float(t.get("y", "")) - 4 for t in root.iter(f"{SVG}text")}
    assert ticks["100"] == places["3, 0"][1]
    assert float(root.get("width", "")) <= 400
    assert {"crash=0", "crash=1", HOLDS} <= {t.text for t in root.iter(f"{SVG}text")}


def test_a_cell_is_marked_by_its_worst_verdict_over_an_axis_of_numbers() -> None:
    grid = {"links": ["perfect"], "n": [2]}
    found = sweep("broadcast/eager_reliable", "crash_one", grid=grid, jobs=1)
    plot = plot_of(found.plan, found.rows)
    assert plot.across == ("n", ("2",))
    ((name, (point,)),) = plot.series.items()
    assert (name, point.kind) == ("links=perfect", FAILS), "uniform agreement fails, others hold"


def test_an_empty_sweep_can_be_drawn() -> None:
    for points in ([], [SweepPoint("a<b", "", 1, HOLDS, "<i>")]):
        root = ElementTree.fromstring(plot_svg(sweep_plot("c", "links", points)))
        assert root.get("viewBox")
