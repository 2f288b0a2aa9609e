"""What a reader does with the picture of a run: order it, narrow it, enlarge it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from checker.model.ir import VariableKind
from checker.records import replace
from checker.render.html import page_of
from checker.results.trace import Change, Trace
from tests.browser import runs
from tests.browser.conftest import Opened, wait_for_address
from tests.render.runs import busy
from tests.results.by_hand import crash, request, step, trace

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a run; at its close it must have been quiet and asked for nothing."""
    opened: list[Opened] = []

    def opener(trace: Trace, fragment: str = "", **context: Any) -> Opened:
        file = tmp_path / f"page{len(opened)}.html"
        file.write_text(page_of(trace), encoding="utf-8")
        opened.append(Opened(browser, file, fragment, **context))
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


def is_in_order(page: Page) -> bool:
    """Whether no sign of a later step is above one of an earlier step."""
    tops = page.evaluate(
        """() => [...document.querySelectorAll(".diagram g.step[data-step]")]
        .filter(g => !g.hasAttribute("hidden"))
        .map(g => [Number(g.dataset.step),
                   g.querySelector(".body, .cross, text").getBoundingClientRect().y])"""
    )
    in_order = [top for _, top in sorted(tops, key=lambda pair: pair[0])]
    return all(below > above - 8 for above, below in pairwise(in_order))


def test_the_picture_is_ordered_by_steps_or_by_causality(open_page: Open) -> None:
    page = open_page(busy(40, 3)).page
    assert is_in_order(page)
    assert "a row for each step" in page.locator(".caption").first.inner_text()
    page.keyboard.press("ArrowLeft")
    page.locator("button.layout").click()
    assert not is_in_order(page)
    assert "on which it depends" in page.locator(".caption").first.inner_text()
    assert page.locator(".diagram .step.now").first.get_attribute("data-step") == "39"
    wait_for_address(page, "layout=causality")
    page.reload()
    assert not is_in_order(page)
    page.keyboard.press("l")
    assert is_in_order(page)


def test_processes_are_left_out_with_their_messages_and_rows(open_page: Open) -> None:
    page = open_page(busy(40)).page
    high = page.locator(".diagram svg").evaluate("svg => svg.viewBox.baseVal.height")
    page.locator(".lanes summary").click()
    for process in ("p4", "p5"):
        page.locator(f".lanes input[value={process}]").uncheck()
    for gone in ("g.lane[data-process=p5]", "g.step[data-lane=p4]", "g.arrow[data-to=p5]"):
        assert page.locator(f".diagram {gone}").count() > 0
        assert page.locator(f".diagram {gone}:visible").count() == 0
    assert page.locator(".diagram g.step[data-lane=p1]:visible").count() > 0
    assert page.locator(".diagram .folded").count() > 0
    assert page.locator(".diagram svg").evaluate("svg => svg.viewBox.baseVal.height") < high
    marks = """() => [...document.querySelectorAll(".diagram g.lane[data-process=p3]")].map(
        lane => lane.querySelector("line").getBoundingClientRect().x)"""
    (lane,) = page.evaluate(marks)
    sign = page.locator(".diagram g.step[data-lane=p3]:visible .body").first.bounding_box()
    assert sign is not None
    assert abs(sign["x"] + sign["width"] / 2 - lane) < 8
    for process in ("p1", "p2", "p3"):
        page.locator(f".lanes input[value={process}]").click()
    assert page.locator(".lanes input:checked").count() == 1
    page.locator("button.layout").click()
    assert page.locator(".diagram g.lane:visible").count() == 1


def test_what_does_not_matter_is_folded_away(open_page: Open) -> None:
    page = open_page(runs.explained(busy(40), context=tuple(range(3, 30)))).page
    high = page.locator(".diagram svg").evaluate("svg => svg.viewBox.baseVal.height")
    page.keyboard.press("c")
    assert page.locator(".diagram g.step.context:visible").count() == 0
    assert "27 steps left out" in page.locator(".diagram .folded").first.text_content()
    assert page.locator(".diagram svg").evaluate("svg => svg.viewBox.baseVal.height") < high / 2
    assert is_in_order(page)
    page.keyboard.press("c")
    assert page.locator(".diagram svg").evaluate("svg => svg.viewBox.baseVal.height") == high
    assert page.locator(".diagram .folded").count() == 0


def test_the_picture_is_enlarged(open_page: Open) -> None:
    page = open_page(busy(40)).page
    wide = page.locator(".diagram svg").evaluate("svg => svg.getBoundingClientRect().width")
    page.keyboard.press("+")
    larger = page.locator(".diagram svg").evaluate("svg => svg.getBoundingClientRect().width")
    assert larger > wide
    page.locator("button[data-zoom='-1']").click()
    page.keyboard.press("-")
    assert page.locator(".diagram svg").evaluate("svg => svg.getBoundingClientRect().width") < min(
        wide, larger
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_faded_texts_can_be_read(open_page: Open, theme: str) -> None:
    run = runs.explained(busy(20), context=tuple(range(3, 9)))
    page = open_page(run, fragment=f"#step=4&theme={theme}").page
    contrasts = page.evaluate(
        """() => {
        const parsed = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
        const paper = parsed(getComputedStyle(document.documentElement).backgroundColor);
        const light = (rgb) => rgb.map((c) => c / 255)
          .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        return [...document.querySelectorAll(".diagram :is(.later, .context) text")].map((text) => {
          let alpha = Number(getComputedStyle(text).fillOpacity);
          for (let up = text; up; up = up.parentElement) {
            alpha *= Number(getComputedStyle(up).opacity);
          }
          const fill = parsed(getComputedStyle(text).fill);
          const seen = fill.map((c, i) => c * alpha + paper[i] * (1 - alpha));
          const [a, b] = [light(seen), light(paper)].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        });
        }"""
    )
    assert len(contrasts) > 10
    assert min(contrasts) >= 4.5


def test_lines_of_the_source_wrap(open_page: Open) -> None:
    page = open_page(
        runs.found(runs.BROKEN, "crash_one"), viewport={"width": 420, "height": 800}
    ).page
    for code in page.locator(".code:visible").all():
        assert code.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_narrow_page_starts_at_its_left_edge(open_page: Open) -> None:
    page = open_page(busy(40), viewport={"width": 420, "height": 800}).page
    assert page.locator(".diagram").evaluate("box => box.scrollLeft") == 0
    assert page.evaluate("scrollX") == 0


def test_what_a_crash_forgets_is_no_change(open_page: Open) -> None:
    values = {"seen": {"#map": [["p1", ["a"]], ["p2", []], ["p3", []]]}}
    gone = Change("seen", "seen", "p1", "[a]", "[]", VariableKind.LOCAL, True)
    told = Change("seen", "seen", "p2", "[]", "[b]", VariableKind.LOCAL, False)
    run = trace(step(1, crash("p1"), changes=(gone,)), step(2, request("p2", "b"), changes=(told,)))
    states = (replace(each, state=values) for each in run.steps)
    run = replace(run, steps=tuple(states), variables=(("seen", "local"),))
    page = open_page(run, fragment="#step=1").page
    assert page.locator(".state td.down").inner_text() == "[a]"
    assert page.locator(".state del").count() == 0
    page.keyboard.press("ArrowRight")
    assert page.locator(".state del").inner_text() == "[]"
