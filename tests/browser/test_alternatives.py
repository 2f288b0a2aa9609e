"""What else could have happened, on the page of a run: listed, stepped into, and left again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.cli.trace_positions import steps_of
from checker.render.html import page_of
from checker.results.trace import Trace
from checker.simulate.alternatives import all_alternatives
from checker.words.steps import headline
from tests.browser import runs
from tests.browser.conftest import Opened, wait_for_address

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a run with its alternatives."""
    opened: list[Opened] = []

    def opener(trace: Trace, fragment: str = "", **context: object) -> Opened:
        prepared, taken = steps_of(trace)
        others = all_alternatives(prepared.system, taken)
        file = tmp_path / f"page{len(opened)}.html"
        text = page_of(trace, alternatives=others, document="run.json")
        file.write_text(text, encoding="utf-8")
        opened.append(Opened(browser, file, fragment, **context))
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


def broken() -> Trace:
    return runs.found(runs.RIGHT, "crash_one")


def test_they_are_listed_at_each_step(open_page: Open) -> None:
    page = open_page(broken(), "#step=1").page
    assert page.locator(".alternatives summary").inner_text() == "3 other steps were possible"
    assert page.locator(".alternatives ol").is_hidden()
    page.keyboard.press("a")
    buttons = page.locator(".alternatives ol button")
    assert buttons.all_inner_texts() == ["p1 crashes", "p2 crashes", "p3 crashes"]
    page.keyboard.press("ArrowRight")
    assert "p2 receives COPY(DATA(p1, a)) from p1" in buttons.all_inner_texts()
    page.keyboard.press("Home")
    assert page.locator(".alternatives").is_hidden()


def test_one_is_stepped_into_and_left(open_page: Open) -> None:
    page = open_page(broken(), "#step=2").page
    page.keyboard.press("a")
    row = page.locator(".state tr", has=page.locator("th", has_text="seen"))
    before = row.inner_text()
    button = page.locator(".alternatives ol button", has_text="p2 receives COPY")
    button.click()
    words = "p2 receives COPY(DATA(p1, a)) from p1"
    assert page.locator(".headline").inner_text() == f"In place of step 2: {words}"
    assert row.locator("ins").all_inner_texts() == ["{(p1, a)}"]
    assert row.locator("td").nth(1).locator("ins").count() == 1, "it is p2's"
    assert page.locator(".events li").all_inner_texts()[0].endswith("deliver(p1, a)")
    mail = page.locator(".mail").inner_text()
    assert "COPY(DATA(p1, a))  p2 → p3" in mail
    assert "p1 → p2" not in mail
    assert button.get_attribute("aria-pressed") == "true"
    codes = page.locator(".command code").all_inner_texts()
    assert codes == ["bivalence explore --from run.json@1", words]
    assert page.locator(".spoken").inner_text() == f"In place of step 2: {words}"
    wait_for_address(page, "instead=")
    page.keyboard.press("Escape")
    assert page.locator(".headline").inner_text().startswith("2. ")
    assert row.inner_text() == before
    assert page.locator(".stepping").is_hidden()
    page.wait_for_function("() => !location.hash.includes('instead')")


def test_a_crash_takes_its_process_down(open_page: Open) -> None:
    page = open_page(broken(), "#step=2").page
    page.keyboard.press("a")
    page.locator(".alternatives ol button", has_text=re.compile("^p3 crashes$")).click()
    head = page.locator(".state tr").first
    assert "down" in head.locator("th", has_text="p3").inner_text()
    page.locator(".back").click()
    assert "down" not in head.locator("th", has_text="p3").inner_text()


def test_other_steps_leave_it(open_page: Open) -> None:
    page = open_page(broken(), "#step=2").page
    page.keyboard.press("a")
    page.locator(".alternatives ol button").first.click()
    page.keyboard.press("ArrowRight")
    assert page.locator(".headline").inner_text().startswith("3. ")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".headline").inner_text().startswith("2. ")
    assert page.locator(".aside-step").count() == 0


def test_the_address_leads_to_one(open_page: Open) -> None:
    page = open_page(broken(), "#step=1&instead=2").page
    assert page.locator(".headline").inner_text() == "In place of step 1: p2 crashes"
    page = open_page(broken(), "#step=1&instead=99").page
    assert page.locator(".headline").inner_text() == "1. " + headline(broken().steps[1])


def test_a_start_has_alternatives_too(open_page: Open) -> None:
    trace = runs.found("byzantine/echo.bcast", "built_for_one_with_two")
    page = open_page(trace, "#step=0").page
    page.keyboard.press("a")
    assert page.locator(".alternatives .aside").last.inner_text().startswith("and ")
    page.locator(".alternatives ol button").nth(3).click()
    assert page.locator(".headline").inner_text().startswith("In place of step 0: the run starts")
    assert page.locator(".state ins, .world ins").count() > 0
    assert page.locator(".command").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_has_room(open_page: Open, scheme: str) -> None:
    page = open_page(
        broken(), "#step=2&instead=1", viewport={"width": 420, "height": 900}, color_scheme=scheme
    ).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    box = page.locator(".alternatives").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 420


def test_a_page_without_them_has_no_list(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page_of(broken()), encoding="utf-8")
    opened = Opened(browser, file, "#step=2&instead=1")
    assert opened.page.locator(".alternatives").count() == 0
    opened.page.keyboard.press("a")
    opened.page.keyboard.press("Escape")
    assert opened.page.locator(".headline").inner_text().startswith("2. ")
    opened.close()
