"""Defines types and patterns of typed protocols; see :mod:`checker.language.syntax.typed`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.language.syntax.typed_expr import Expr


@dataclass(frozen=True, slots=True)
class Bool:
    pass


@dataclass(frozen=True, slots=True)
class Int:
    """``lo..hi``.  ``None, None``: an integer in an expression.  ``hi`` alone missing: a ``Nat``
    whose bound is a guessed capacity."""

    lo: Expr | None = None
    hi: Expr | None = None


@dataclass(frozen=True, slots=True)
class Enum:
    """``name`` is the alias it was declared with, or empty; equal labels make equal types."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proc:
    """Any process of the protocol."""


@dataclass(frozen=True, slots=True)
class Msg:
    """An opaque payload of the layer above."""


@dataclass(frozen=True, slots=True)
class Message:
    """One of this protocol's own messages."""


@dataclass(frozen=True, slots=True)
class Tuple:
    items: tuple[Type, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    item: Type


@dataclass(frozen=True, slots=True)
class Set:
    item: Type


@dataclass(frozen=True, slots=True)
class Map:
    key: Type
    value: Type


@dataclass(frozen=True, slots=True)
class Seq:
    item: Type
    cap: Expr | None = None


@dataclass(frozen=True, slots=True)
class Bag:
    item: Type
    cap: Expr | None = None


Type = Bool | Int | Enum | Proc | Msg | Message | Tuple | Option | Set | Map | Seq | Bag


# ---- patterns ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bind:
    type: Type
    name: str


@dataclass(frozen=True, slots=True)
class Ignore:
    type: Type


@dataclass(frozen=True, slots=True)
class Equals:
    type: Type
    value: Expr


@dataclass(frozen=True, slots=True)
class Match:
    """A message constructor of this protocol."""

    type: Type
    message: str
    fields: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """A tuple, item by item."""

    type: Type
    items: tuple[Pattern, ...]


Pattern = Bind | Ignore | Equals | Match | Parts
