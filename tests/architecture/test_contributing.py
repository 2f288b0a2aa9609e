"""CONTRIBUTING.md names every file that a recipe has to name, as the code is today."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
Says = Callable[[str], bool]


def section(title: str) -> str:
    """The part of the page below the heading ``title``, without the next heading."""
    return re.split(r"^##+ ", PAGE.partition(f"# {title}\n")[2], flags=re.MULTILINE)[0]


def matches(pattern: str) -> Says:
    found = re.compile(pattern)
    return lambda text: found.search(text) is not None


def takes_apart(kind: str) -> Says:
    """Whether a module asks for nodes of a ``kind`` of the IR; to make them does not count."""

    def asks(text: str) -> bool:
        if kind not in text or not re.search(r"^from checker\.model(\.ir)? import ", text, re.M):
            return False
        tree = ast.parse(text)
        found = {id(node): node for node in ast.walk(tree) if named(node) in (kind, f"ir.{kind}")}
        for node in ast.walk(tree):
            for field in ("func", "annotation", "returns"):
                for part in ast.walk(getattr(node, field, None) or ast.Pass()):
                    found.pop(id(part), None)
        return bool(found)

    return asks


def named(node: ast.AST) -> str:
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(owner), name):
            return f"{owner}.{name}"
    return ""


RECIPES: list[tuple[str, Says, str]] = [
    (
        "A trait of links",
        matches(
            r"\bkind\.(ordered|loses|keeps|duplicates|repeats|may_miss|delivery|authenticates"
            r"|has_capacity|traits)\b"
        ),
        "checker/language/link_kinds.py",
    ),
    (
        "How to add a statement or an expression",
        matches(r"\b(ast|typed)\.(If|Either|Loop|For)\b"),
        "",
    ),
    ("A statement of the IR", takes_apart("While"), ""),
    ("An expression of the IR", takes_apart("Comprehension"), ""),
]
"""A section, what the text of a module has that belongs there, and modules that are left out: the
places where today's engines speak of themselves."""


@pytest.mark.parametrize(("title", "says", "but"), RECIPES, ids=[r[0] for r in RECIPES])
def test_a_recipe_names_every_file(title: str, says: Says, but: str) -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "checker").rglob("*.py"))
        if says(path.read_text(encoding="utf-8"))
    ]
    wanted = [name for name in found if not but or not re.match(but, name)]
    assert len(wanted) >= 5
    lacking = [name for name in wanted if f"`{name}`" not in section(title)]
    assert not lacking
