"""The syntax tree of choices by chance; see :mod:`checker.language.syntax.ast`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checker.diagnostics import Span

if TYPE_CHECKING:
    from checker.language.syntax.ast import Expr


class Weight(Struct, frozen=True):
    """``value: numerator / denominator``, of a choice by chance."""

    value: Expr
    numerator: Expr
    denominator: Expr | None
    span: Span


class Draw(Struct, frozen=True):
    """``choose pattern in domain by chance when where``: each member is as likely."""

    pattern: Expr
    domain: Expr
    where: Expr | None
    span: Span


class WeighedDraw(Struct, frozen=True):
    """``choose pattern by chance { weights }``."""

    pattern: Expr
    weights: tuple[Weight, ...]
    span: Span


Draws = Draw | WeighedDraw
