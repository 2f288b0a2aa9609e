"""Pictures in files have their colours in programs that know no custom properties."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from checker.render.diagram import graph_drawing, svg
from checker.render.diagram.picture import picture_of
from checker.render.diagram.plots import (
    HOLDS,
    SweepPoint,
    frontier_svg,
    plot_svg,
    sweep_plot,
)
from checker.results.frontier import Boundary, Frontier, FrontierCell, PropertyFrontier
from tests.render.runs import everything

ROOT = Path(graph_drawing.__file__).parents[2]


def _sweep() -> str:
    points = [SweepPoint(n, "states", 10.0**at, HOLDS, n) for at, n in enumerate("234")]
    return plot_svg(sweep_plot("a sweep", "n", points))


PICTURES: dict[str, Callable[[], str]] = {
    "a run": lambda: svg.svg_of(picture_of(everything())),
    "a sweep": _sweep,
    "a frontier": lambda: frontier_svg(_frontier()),
    "a graph": lambda: _graph(),
}


def _frontier() -> Frontier:
    settings = [{"n": n, "f": f} for n in "12" for f in "012"]
    cells = tuple(FrontierCell(s, "holds" if s["f"] < s["n"] else "violated") for s in settings)
    boundary = Boundary("", "formula", "n > f")
    found = PropertyFrontier("agreement", cells, (boundary,))
    axes = (("n", ("1", "2")), ("f", ("0", "1", "2")))
    return Frontier("a.bcast", "c", "", axes, ("f",), (found, found))


def _graph() -> str:
    canvas = graph_drawing.Canvas()
    places = {n: graph_drawing.Place((str(n),), ("initial", "violating")) for n in (0, 1)}
    graph_drawing.draw_graph(canvas, places, {(0, 1): ("A",)}, {"A": 0})
    return canvas.document("a graph")


def declarations(text: str) -> list[tuple[str, str]]:
    """Returns the declarations of a rule or of an attribute, with those that a program ignores."""
    pairs = (each.partition(":") for each in text.split(";"))
    return [(name.strip(), value.strip()) for name, _, value in pairs if value]


@pytest.mark.parametrize("name", PICTURES)
def test_a_literal_colour_comes_before_each_custom_property(name: str) -> None:
    drawn = PICTURES[name]()
    root = ElementTree.fromstring(drawn)
    sheet = "".join(e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}style"))
    outside = sheet.partition("@supports")[0]
    rules = [rule for rule in re.findall(r"\{([^{}]*)\}", outside) if "--ink" not in rule[:12]]
    rules += [e.attrib["style"] for e in root.iter() if "style" in e.attrib]
    found = 0
    for rule in rules:
        known: dict[str, str] = {}
        for prop, value in declarations(rule):
            if "var(" in value:
                assert re.fullmatch(r"#[0-9a-f]{6}", known.get(prop, "")), (prop, rule)
                found += 1
            known[prop] = value
    assert found or name == "a run"
    assert "#1b1f24" in outside + drawn and "paint-order" not in outside


def test_all_pictures_are_made_by_these() -> None:
    """A new way of writing pictures wants a line in PICTURES; the page of valence is no file."""
    makers = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if "<svg xmlns" in path.read_text(encoding="utf-8")
    }
    assert makers == {
        "render/diagram/graph_drawing.py",
        "render/diagram/svg.py",
        "render/diagram/valence.py",
    }


def test_a_frontier_has_a_plot_for_each_property_and_world() -> None:
    drawn = frontier_svg(_frontier())
    assert drawn.count('class="band"') == 2 and drawn.count("stroke-dasharray") >= 2
    assert "How far c holds" in drawn
