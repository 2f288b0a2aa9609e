"""The page of mutants in a browser: it fits in its window, and a survivor leads to its line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened
from tests.mutate.test_mutate_command import WEAK, judged, spec_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1200, 400])
def test_a_survivor_leads_to_its_line(width: int, browser: Browser, tmp_path: Path) -> None:
    long = WEAK.replace("x == 2 and not seen", "x == 2 and not seen" + " and x <= 3" * 12)
    path = spec_in(tmp_path, long)
    out = tmp_path / "mutants.html"
    judged(path, "--html", str(out), "--sample", "30")
    opened = Opened(browser, out, viewport={"width": width, "height": 900})
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    link = page.locator("#survivors a").first
    assert link.bounding_box()["y"] < 900, "what nobody notices is on the first screen"
    link.click()
    target = page.locator(page.evaluate("location.hash"))
    assert "red" in (target.get_attribute("class") or "")
    background = "element => getComputedStyle(element).backgroundColor"
    plain = page.locator("#line-1").evaluate(background)
    assert target.evaluate(background) != plain
    opened.close()
