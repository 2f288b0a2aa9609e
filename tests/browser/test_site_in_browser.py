"""The site in a browser, from a folder and without a server: it is searched, and fits a phone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.resources import specs
from tests.browser.conftest import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once."""
    folder = tmp_path_factory.mktemp("site")
    docs = specs().parent / "docs"
    subprocess.run([sys.executable, "-m", "sphinx", "-q", str(docs), str(folder)], check=True)
    return folder


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("lasso", "What fairness means here"),
        ("hyperproperties", "Hyperproperties"),
        ("junit", "check"),
        ("S007", "S007: a notation of another language"),
    ],
)
def test_a_search_finds_the_page(browser: Browser, site: Path, words: str, page: str) -> None:
    opened = Opened(browser, site / "search.html", f"?q={words}")
    found = opened.page.locator("#search-results li a")
    found.first.wait_for()
    opened.page.wait_for_function(
        "document.querySelector('.search-summary')?.innerText.includes('finished')"
    )
    assert page in found.all_inner_texts()
    opened.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "page",
    ["index", "tutorial/for_users_of_other_tools", "limits/code", "reference/commands/check"],
)
def test_a_page_is_not_wider_than_a_phone(
    browser: Browser, site: Path, page: str, scheme: str
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": scheme}
    opened = Opened(browser, site / f"{page}.html", **phone)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    opened.close()
