"""The syntax tree of some clauses of a check; see :mod:`checker.language.syntax.ast_items`."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax import ast


class StateBound(Struct, frozen=True):
    """``bound formula``; ``text``: the formula as it is written."""

    formula: ast.Expr
    text: str
    span: Span


class View(Struct, frozen=True):
    """``view term, term``; ``texts``: the terms as they are written."""

    terms: tuple[ast.Expr, ...]
    texts: tuple[str, ...]
    span: Span


class HandlerBudget(Struct, frozen=True):
    """``at most bound handler``, of all processes together, or of each."""

    bound: ast.Expr
    handler: ast.Name
    per_process: bool
    span: Span


class FairHandlers(Struct, frozen=True):
    """``fair names``, or ``strongly fair names``."""

    strongly: bool
    names: tuple[ast.Name, ...]
    span: Span


class AnyOf(Struct, frozen=True):
    """``any of domain``, in a client's request."""

    domain: ast.Expr
    span: Span


class Claim(Struct, frozen=True):
    """``then what word``."""

    what: ast.Name
    word: ast.Name
    span: Span


class Scenario(Struct, frozen=True):
    """A scenario: its steps, those that it repeats forever, and the claims about the execution."""

    name: ast.Name
    steps: tuple[ast.Name, ...]
    again: tuple[ast.Name, ...]
    claims: tuple[Claim, ...]
    span: Span
