"""The syntax tree of questions about chance; see :mod:`checker.language.syntax.ast_items`."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax import ast


class ChancePath(Struct, frozen=True):
    """``goal`` (a formula), or ``keeps until goal`` (of states); ``steps``: of ``within``,
    those of ``handler``, or all (``None``)."""

    goal: ast.Expr
    keeps: ast.Expr | None
    steps: ast.Expr | None
    handler: ast.Name | None


class ChanceBound(Struct, frozen=True):
    """``at least numerator / denominator``, or ``at most``."""

    at_least: bool
    numerator: ast.Expr
    denominator: ast.Expr | None


class ChanceQuestion(Struct, frozen=True):
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


class ProveChance(Struct, frozen=True):
    questions: tuple[ChanceQuestion, ...]
    span: Span


class ExpectChance(Struct, frozen=True):
    question: ChanceQuestion
    word: ast.Name
    span: Span
