"""Statements that have blocks inside: nothing that walks through them leaves one out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, get_args

import pytest

from checker.diagnostics import Span
from checker.language.syntax import ast, typed
from checker.language.syntax.ast import blocks_of
from checker.language.typecheck.exactly_once import statements_of
from checker.records import fields

NUMBERS = count(1)


def part(type_: str) -> Any:
    """A field of this type: with a statement of its own in each block, nothing else."""
    column = next(NUMBERS)
    block = (ast.Yield(Span("a", 1, column, 1, column + 1)),)
    if type_ == "Block":
        return block
    return ((None, block),) if "Block" in type_ else None


def statements(union: Any) -> Iterator[tuple[Any, list[ast.Yield]]]:
    """A statement of each class that has blocks, with what is in them."""
    for kind in get_args(union):
        made = kind(*(part(str(field.type)) for field in fields(kind)))
        values = (getattr(made, field.name) for field in fields(kind) if "Block" in str(field.type))
        inside = [v[0] if isinstance(v[0], ast.Yield) else v[0][1][0] for v in values]
        if inside:
            yield made, inside


def name(case: Any) -> str | None:
    return type(case).__name__ if hasattr(case, "span") else ""


@pytest.mark.parametrize(("stmt", "inside"), list(statements(ast.Stmt)), ids=name)
def test_blocks_of_a_statement(stmt: ast.Stmt, inside: list[ast.Yield]) -> None:
    assert [block[0] for block in blocks_of(stmt)] == inside


@pytest.mark.parametrize(("stmt", "inside"), list(statements(typed.Stmt)), ids=name)
def test_statements_in_typed_blocks(stmt: typed.Stmt, inside: list[typed.Yield]) -> None:
    assert list(statements_of((stmt,))) == [stmt, *inside]


def test_there_are_statements_with_blocks() -> None:
    assert {type(stmt) for stmt, _ in statements(ast.Stmt)} >= {ast.If, ast.Loop, ast.Either}
    assert {type(stmt) for stmt, _ in statements(typed.Stmt)} >= {typed.If, typed.For, typed.Either}
