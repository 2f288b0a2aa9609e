"""Kinds of links are told apart by what they do: their names are written in one module."""

from __future__ import annotations

import ast
from pathlib import Path

from checker.language.link_kinds import LINK_KINDS

ROOT = Path(__file__).resolve().parents[2]
OWNER = "checker/language/link_kinds.py"
OTHER_MEANINGS = {
    ("checker/explain/realisation.py", "fifo"),  # of properties, in capitals
    ("checker/results/verdict.py", "bounded"),  # a verdict
    ("checker/assist/answer.py", "bounded"),  # the same
}


def strings(path: Path) -> set[object]:
    """The constants in a module that are names of kinds."""
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in LINK_KINDS):
        return set()
    constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return LINK_KINDS.keys() & set(constants)


def test_no_other_module_has_the_name_of_a_kind_as_a_string() -> None:
    paths = sorted((ROOT / "checker").rglob("*.py"))
    found = {(path.relative_to(ROOT).as_posix(), name) for path in paths for name in strings(path)}
    assert {name for path, name in found if path == OWNER} == set(LINK_KINDS)
    assert {pair for pair in found if pair[0] != OWNER} == OTHER_MEANINGS
