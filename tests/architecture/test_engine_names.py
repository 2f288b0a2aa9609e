"""Engines are told apart by what they declare: no module names one as a string but its own and the
list of them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from checker.extensions.tables import ENGINES

ROOT = Path(__file__).resolve().parents[2]
LIST = "checker/extensions/tables.py"
EXCEPTIONS: dict[str, str] = {}
"""Modules that may name an engine, each with the reason."""


@cache
def strings(path: Path) -> set[str]:
    """The strings of a module, documentation apart, if the name of an engine may be among them."""
    text = path.read_text(encoding="utf-8")
    if not any(f'"{engine}"' in text for engine in ENGINES.built_in):
        return set()
    tree = ast.parse(text)
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Expr)]
    documentation = {id(text) for text in texts}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documentation
    }


@pytest.mark.parametrize("engine", ENGINES.built_in)
def test_an_engine_is_named_in_its_own_package_only(engine: str) -> None:
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "checker").rglob("*.py")
        if engine in strings(path)
    }
    own = f"checker/engines/{engine}/"
    assert f"{own}engine.py" in naming
    others = {path for path in naming if not path.startswith(own)}
    assert others - EXCEPTIONS.keys() == {LIST}


def test_exceptions_are_needed() -> None:
    names = set(ENGINES.built_in)
    for path, reason in EXCEPTIONS.items():
        assert names & strings(ROOT / path), path
        assert reason
