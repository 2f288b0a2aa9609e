"""Decisions: one page each, all of one form, all in the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "decisions"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
SECTIONS = ["Context", "Decision", "What else was considered", "What would change it"]
SCREEN = 50
"""Lines of a page, at most."""


def title(page: Path) -> str:
    return page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_decision_is_one_page_in_four_sections(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert all(section.strip() for section in re.split(r"^## .*$", text, flags=re.MULTILINE)[1:])
    assert text.count("\n") <= SCREEN
    assert title(page).startswith(f"{page.name[:3]}. ")


def test_decisions_are_numbered_one_after_the_other() -> None:
    assert [page.name[:4] for page in PAGES] == [f"{i:03}-" for i in range(1, len(PAGES) + 1)]


def test_the_index_has_every_decision_in_order() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- (.*)$", index, re.MULTILINE)
    assert listed == [f"[{title(page)}]({page.name})" for page in PAGES]
