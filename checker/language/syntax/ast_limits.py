"""The syntax tree of what limits the states of a check; see
:mod:`checker.language.syntax.ast_items`."""

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
