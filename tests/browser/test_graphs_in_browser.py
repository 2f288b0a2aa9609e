"""Graphs and plots in a real browser: no text is cut off, on a phone and in the dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.api import state_graph
from checker.render.diagram.plots import HOLDS, SweepPoint, plot_svg, sweep_plot
from checker.render.diagram.state_graph import state_graph_svg

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
INSIDE = """([outer, inner]) => [...document.querySelectorAll(outer)].flatMap(box => {
  const frame = box.matches('svg') ? box : box.querySelector('rect');
  const a = frame.getBoundingClientRect();
  return [...box.querySelectorAll(inner)].filter(each => {
    const b = each.getBoundingClientRect();
    return b.left < a.left || b.right > a.right || b.top < a.top || b.bottom > a.bottom;
  }).map(each => each.textContent);
})"""


def opened(browser: Browser, svg: str, scheme: str = "light") -> Page:
    """A page of the width of a phone with the picture in it."""
    context = browser.new_context(
        viewport={"width": 400, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = context.new_page()
    page.set_content(f'<body style="margin:0">{svg}')
    return page


def test_the_text_of_a_node_is_inside_its_box(browser: Browser) -> None:
    svg = state_graph_svg(state_graph("broadcast/eager_reliable", "crash_one", settings={"n": 2}))
    page = opened(browser, svg)
    assert page.locator("g.place").count() > 40
    assert page.evaluate(INSIDE, ["g.place", "text"]) == []
    assert page.evaluate(INSIDE, ["svg", "text"]) == []


def test_a_plot_fits_a_phone_and_its_background_follows_the_reader(browser: Browser) -> None:
    points = [SweepPoint(str(n), f"links={n % 2}", 10**n, HOLDS, "") for n in range(1, 8)]
    svg = plot_svg(sweep_plot("crash_one: states", "n", points))
    papers = []
    for scheme in ("light", "dark"):
        page = opened(browser, svg, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        assert page.evaluate(INSIDE, ["svg", "text"]) == []
        papers.append(page.evaluate("getComputedStyle(document.querySelector('rect')).fill"))
    assert papers[0] != papers[1]


def test_the_levels_of_valence_fit_a_phone(browser: Browser, tmp_path: Path) -> None:
    from checker.cli.main import main

    file = tmp_path / "valence.html"
    assert main(["valence", "consensus/paxos::duel", "--html", str(file), "-q"]) == 0
    page = opened(browser, "")
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    wide = page.evaluate(
        "[...document.querySelectorAll('#levels > .scroll > svg')].map(s => s.scrollWidth)"
    )
    assert wide and all(each <= 376 for each in wide)
    assert page.evaluate(INSIDE, ["#levels > .scroll > svg", "text"]) == []
