"""The syntax tree of questions about chance; see :mod:`checker.language.syntax.ast_items`."""

from __future__ import annotations

from dataclasses import dataclass

from checker.diagnostics import Span
from checker.language.syntax import ast


@dataclass(frozen=True, slots=True)
class ChancePath:
    """``goal`` (a formula), or ``keeps until goal`` (of states); ``steps``: of ``within``,
    those of ``handler``, or all (``None``)."""

    goal: ast.Expr
    keeps: ast.Expr | None
    steps: ast.Expr | None
    handler: ast.Name | None


@dataclass(frozen=True, slots=True)
class ChanceBound:
    """``at least numerator / denominator``, or ``at most``."""

    at_least: bool
    numerator: ast.Expr
    denominator: ast.Expr | None


@dataclass(frozen=True, slots=True)
class ChanceQuestion:
    """A question about chance; ``text``: as it is written, on one line.

    ``bound``: ``None`` for ``almost surely``.  ``counts``: whether expected steps are asked for
    (the handler of ``path`` is the one whose steps count).  ``some``: for some adversary, and not
    for all.
    """

    path: ChancePath
    bound: ChanceBound | None
    counts: bool
    some: bool
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class ProveChance:
    questions: tuple[ChanceQuestion, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectChance:
    question: ChanceQuestion
    word: ast.Name
    span: Span
