"""Defines types and patterns of typed protocols; see :mod:`checker.language.syntax.typed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from msgspec import Struct

if TYPE_CHECKING:
    from checker.language.syntax.typed_expr import Expr


class Bool(Struct, frozen=True):
    pass


class Int(Struct, frozen=True):
    """``lo..hi``.  ``None, None``: an integer in an expression.  ``hi`` alone missing: a ``Nat``
    whose bound is a guessed capacity."""

    lo: Expr | None = None
    hi: Expr | None = None


class Enum(Struct, frozen=True):
    """``name`` is the alias it was declared with, or empty; equal labels make equal types."""

    name: str
    labels: tuple[str, ...]


class Proc(Struct, frozen=True):
    """Any process of the protocol."""


class Msg(Struct, frozen=True):
    """An opaque payload of the layer above."""


class Message(Struct, frozen=True):
    """One of this protocol's own messages."""


class Tuple(Struct, frozen=True):
    items: tuple[Type, ...]
    names: tuple[str, ...] = ()


class Option(Struct, frozen=True):
    item: Type


class Set(Struct, frozen=True):
    item: Type


class Map(Struct, frozen=True):
    key: Type
    value: Type


class Seq(Struct, frozen=True):
    item: Type
    cap: Expr | None = None


class Bag(Struct, frozen=True):
    item: Type
    cap: Expr | None = None


Type = Bool | Int | Enum | Proc | Msg | Message | Tuple | Option | Set | Map | Seq | Bag
TYPES = get_args(Type)
"""The classes of types."""


# ---- patterns ---------------------------------------------------------------------------------


class Bind(Struct, frozen=True):
    type: Type
    name: str


class Ignore(Struct, frozen=True):
    type: Type


class Equals(Struct, frozen=True):
    type: Type
    value: Expr


class Match(Struct, frozen=True):
    """A message constructor of this protocol."""

    type: Type
    message: str
    fields: tuple[Pattern, ...]


class Parts(Struct, frozen=True):
    """A tuple, item by item."""

    type: Type
    items: tuple[Pattern, ...]


Pattern = Bind | Ignore | Equals | Match | Parts
