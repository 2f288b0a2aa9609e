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
