"""A browser for the tests of pages; where there is none they are skipped, and say so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""What the browser is called on a machine that has it."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium, without a window."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with sync_api.sync_playwright() as playing:
        started = playing.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page in the browser that notes whatever it says and asks for."""

    def __init__(self, browser: Browser, file: Path, fragment: str = "", **context: object) -> None:
        settings = {"viewport": {"width": 1200, "height": 900}, **context}
        self.context = browser.new_context(**settings)  # type: ignore[arg-type]
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri() + fragment)

    def close(self) -> None:
        """Ends it, and holds it to what every page promises: no errors, nothing from elsewhere."""
        self.context.close()
        assert self.said == []
        assert [url for url in self.asked if not url.startswith(("file:", "data:"))] == []


def wait_for_address(page: Page, part: str) -> None:
    """Returns when the page's address has `part` in its fragment; it is written with a delay.

    Raises:
        playwright.sync_api.TimeoutError: it hasn't after half a minute.
    """
    page.wait_for_function("part => location.hash.includes(part)", arg=part)
