"""The syntax tree of choices by chance; see :mod:`checker.language.syntax.ast`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.diagnostics import Span

if TYPE_CHECKING:
    from checker.language.syntax.ast import Expr


@dataclass(frozen=True, slots=True)
class Weight:
    """``value: numerator / denominator``, of a choice by chance."""

    value: Expr
    numerator: Expr
    denominator: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Draw:
    """``choose pattern in domain by chance when where``: each member is as likely."""

    pattern: Expr
    domain: Expr
    where: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class WeighedDraw:
    """``choose pattern by chance { weights }``."""

    pattern: Expr
    weights: tuple[Weight, ...]
    span: Span


Draws = Draw | WeighedDraw
