"""Views and explanations match on events and facts: they do not parse text that the tool made."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CHECKER = Path(__file__).parents[2] / "checker"
ROOMS = ("render", "explain", "words")
ALLOWED = {
    "render/html/content.py": "marks up what stands between backquotes as code",
    "render/html/gallery.py": "makes names of files and ids from names that authors chose",
}
"""The modules that may use regular expressions, and what for."""
READERS = {
    "explain/trace_equivalence.py",
    "render/diagram/identity.py",
    "words/wrappers.py",
}
"""The modules that need parts of messages, which documents hold as printed terms."""


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
    return found


def users(modules: set[str]) -> set[str]:
    """The files of the rooms that import one of these modules."""
    files = (path for room in ROOMS for path in (CHECKER / room).rglob("*.py"))
    return {path.relative_to(CHECKER).as_posix() for path in files if imported(path) & modules}


def test_views_and_explanations_use_no_regular_expressions() -> None:
    assert users({"re", "regex"}) == ALLOWED.keys()


def test_few_modules_read_printed_terms() -> None:
    assert users({"checker.results.terms"}) == READERS


@pytest.mark.parametrize("text", ["import re", "def f() -> None:\n    from re import sub"])
def test_an_import_is_found_wherever_it_stands(text: str, tmp_path: Path) -> None:
    path = tmp_path / "view.py"
    path.write_text(text, "utf-8")
    assert imported(path) == {"re"}
