"""The syntax tree of some clauses of a check; see :mod:`checker.language.syntax.ast_items`."""

from __future__ import annotations

from dataclasses import dataclass

from checker.diagnostics import Span
from checker.language.syntax import ast


@dataclass(frozen=True, slots=True)
class StateBound:
    """``bound formula``; ``text``: the formula as it is written."""

    formula: ast.Expr
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class View:
    """``view term, term``; ``texts``: the terms as they are written."""

    terms: tuple[ast.Expr, ...]
    texts: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class HandlerBudget:
    """``at most bound handler``, of all processes together, or of each."""

    bound: ast.Expr
    handler: ast.Name
    per_process: bool
    span: Span


@dataclass(frozen=True, slots=True)
class AnyOf:
    """``any of domain``, in a client's request."""

    domain: ast.Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Claim:
    """``then what word``."""

    what: ast.Name
    word: ast.Name
    span: Span


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario: its steps, those that it repeats forever, and the claims about the execution."""

    name: ast.Name
    steps: tuple[ast.Name, ...]
    again: tuple[ast.Name, ...]
    claims: tuple[Claim, ...]
    span: Span
