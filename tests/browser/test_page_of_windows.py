"""The page of the score by windows, in a browser: the spec's lines, and a click on a red one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.cli.main import main
from tests.browser.conftest import Opened
from tests.conform.test_windows_command import ASKS, adds, written

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def page_of(folder: Path) -> Path:
    spec, logs = written(folder / "logs", c1=ASKS, s1=adds(1, 4, 7))
    page = folder / "windows.html"
    asked = ["conform", f"{spec}::one", logs, "--windows", "--quiet", "--html", str(page)]
    assert main(asked) == 1
    return page


@pytest.mark.parametrize("width", [1200, 400])
def test_a_click_on_a_red_line_shows_why(width: int, browser: Browser, tmp_path: Path) -> None:
    opened = Opened(browser, page_of(tmp_path), viewport={"width": width, "height": 900})
    page = opened.page
    lines = page.locator("#spec .file").first.locator(".code > ol > li")
    text = (tmp_path / "spec.bcast").read_text(encoding="utf-8").splitlines()
    assert lines.count() == len(text)
    red = [n for n in range(len(text)) if "red" in (lines.nth(n).get_attribute("class") or "")]
    assert [text[n].strip() for n in red] == ["upon receive ADD(k) from c {"]
    why = page.locator("#spec .why")
    assert not why.first.is_visible()
    page.locator("#spec summary").first.click()
    assert "TOTAL(3)" in why.first.inner_text()
    background = "element => getComputedStyle(element).backgroundColor"
    kinds = ("red", "explained")
    colours = {kind: page.locator(f".code li.{kind}").first.evaluate(background) for kind in kinds}
    assert colours["red"] != colours["explained"]
    widest = page.evaluate("document.documentElement.scrollWidth")
    assert widest <= width
    counters = "getComputedStyle(document.querySelector('.why li')).counterIncrement"
    assert page.evaluate(counters) == "none"  # lines keep their numbers
    opened.close()


def test_a_row_leads_to_its_first_red_window(browser: Browser, tmp_path: Path) -> None:
    opened = Opened(browser, page_of(tmp_path))
    opened.page.locator("#table td a").first.click()
    target = opened.page.locator(opened.page.evaluate("location.hash"))
    assert "ADD(2)" in target.inner_text()
    assert opened.page.locator(".unseen").count() >= 1  # the key at least
    opened.close()
