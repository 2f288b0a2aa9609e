"""Defines the syntax tree of objects and of requests that return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax import ast

if TYPE_CHECKING:
    from checker.language.syntax.ast_items import Constant, Definition, State, TypeAlias


class Returned(Struct, frozen=True):
    """``returns name(fields)``: the indication by which a request returns."""

    name: ast.Name
    fields: tuple[ast.Field, ...]
    span: Span


class Operation(Struct, frozen=True):
    """An operation of an object; ``type`` ``None``: it has no result."""

    name: ast.Name
    fields: tuple[ast.Field, ...]
    type: ast.Type | None
    body: ast.Block
    span: Span


class Object(Struct, frozen=True):
    """A sequential specification; ``types``: the names that stand for types of its users."""

    name: ast.Name
    types: tuple[ast.Name, ...]
    items: tuple[Operation | State | TypeAlias | Constant | Definition, ...]
    span: Span
