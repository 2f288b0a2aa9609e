"""Defines the syntax tree of a spec: names are not yet resolved, nothing has a type.

Patterns are expressions here; the type check turns them into patterns.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax.ast_draws import Draws

LARGEST = 1_000_000_000
"""The largest number that can be written."""

# ---- expressions ------------------------------------------------------------------------------


class Name(Struct, frozen=True):
    text: str
    span: Span


class Integer(Struct, frozen=True):
    value: int
    span: Span


class Truth(Struct, frozen=True):
    value: bool
    span: Span


class NoneWord(Struct, frozen=True):
    """``none``."""

    span: Span


class BoolWord(Struct, frozen=True):
    """``bool`` as a set of values."""

    span: Span


class Apply(Struct, frozen=True):
    """``name(args)``."""

    name: str
    args: tuple[Expr, ...]
    span: Span


class ApplyOn(Struct, frozen=True):
    """``base.name(args)``."""

    base: Expr
    name: str
    args: tuple[Expr, ...]
    span: Span


class FieldOf(Struct, frozen=True):
    base: Expr
    name: str
    span: Span


class IndexOf(Struct, frozen=True):
    base: Expr
    key: Expr
    span: Span


class Operator(Struct, frozen=True):
    """``op`` with one, two or (``and``, ``or``) more operands.

    ``not neg size and or => == != < <= > >= in not-in subset prefix union intersect minus + -
    ++ * div mod always eventually ~> ??``; ``not in`` is written ``"not in"``.
    """

    op: str
    args: tuple[Expr, ...]
    span: Span


class RangeOf(Struct, frozen=True):
    lo: Expr
    hi: Expr
    span: Span


class Display(Struct, frozen=True):
    """``kind``: ``tuple``, ``set``, ``seq`` or ``bag``."""

    kind: str
    items: tuple[Expr, ...]
    span: Span


class RecordDisplay(Struct, frozen=True):
    items: tuple[tuple[str, Expr], ...]
    span: Span


class Binder(Struct, frozen=True):
    """``pattern in domain when where``; ``domain`` ``None``: that of the next binder."""

    pattern: Expr
    domain: Expr | None
    where: Expr | None
    span: Span


class Comprehension(Struct, frozen=True):
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


class SeqComprehension(Struct, frozen=True):
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


class Aggregate(Struct, frozen=True):
    """``name(item for binders)``: ``sum``, ``min`` or ``max``."""

    name: str
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


class MapDisplay(Struct, frozen=True):
    key: Expr
    value: Expr
    binders: tuple[Binder, ...]
    span: Span


class Quantified(Struct, frozen=True):
    kind: str
    binders: tuple[Binder, ...]
    body: Expr
    span: Span


class Consistent(Struct, frozen=True):
    """``kind object``: of an execution, such as ``linearizable as Register``; ``kind`` ends in
    ``as``."""

    kind: str
    object: Name
    span: Span


class Conditional(Struct, frozen=True):
    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span


class Blank(Struct, frozen=True):
    """A hole, ``??``: an expression that is still to be found, one of ``options`` where it has
    any.  ``left ?? right`` is an operator whose ``op`` is ``??``."""

    options: tuple[Expr, ...]
    span: Span


Expr = (
    Name
    | Integer
    | Truth
    | NoneWord
    | BoolWord
    | Apply
    | ApplyOn
    | FieldOf
    | IndexOf
    | Operator
    | RangeOf
    | Display
    | RecordDisplay
    | Comprehension
    | SeqComprehension
    | Aggregate
    | MapDisplay
    | Quantified
    | Consistent
    | Conditional
    | Blank
)

# ---- types ------------------------------------------------------------------------------------


class NamedType(Struct, frozen=True):
    """A type's name; ``bool`` too."""

    name: str
    span: Span


class NatType(Struct, frozen=True):
    bound: Expr | None
    span: Span


class RangeType(Struct, frozen=True):
    lo: Expr
    hi: Expr
    span: Span


class EnumType(Struct, frozen=True):
    labels: tuple[Name, ...]
    span: Span


class TupleType(Struct, frozen=True):
    items: tuple[Type, ...]
    span: Span


class RecordType(Struct, frozen=True):
    fields: tuple[Field, ...]
    span: Span


class CollectionType(Struct, frozen=True):
    """``kind``: ``option``, ``set``, ``seq`` or ``bag``."""

    kind: str
    item: Type
    cap: Expr | None
    span: Span


class MapType(Struct, frozen=True):
    key: Type
    value: Type
    span: Span


Type = (
    NamedType | NatType | RangeType | EnumType | TupleType | RecordType | CollectionType | MapType
)


class Field(Struct, frozen=True):
    name: Name
    type: Type
    span: Span


# ---- statements -------------------------------------------------------------------------------


class Assign(Struct, frozen=True):
    target: Expr
    op: str
    value: Expr
    span: Span


class Send(Struct, frozen=True):
    """A send statement; ``receivers`` ``None``: all."""

    message: Expr
    receivers: Expr | None
    span: Span


class Call(Struct, frozen=True):
    target: Expr
    args: tuple[Expr, ...]
    span: Span


class If(Struct, frozen=True):
    condition: Expr
    then: Block
    otherwise: Block
    span: Span


class Loop(Struct, frozen=True):
    """``for`` (``kind`` ``for``) or ``while some`` (``while``)."""

    kind: str
    pattern: Expr
    domain: Expr
    where: Expr | None
    body: Block
    span: Span


class Choose(Struct, frozen=True):
    pattern: Expr
    domain: Expr
    where: Expr | None
    span: Span


class Either(Struct, frozen=True):
    """``names``: of each of the ``alternatives``, where it has one."""

    alternatives: tuple[tuple[Expr | None, Block], ...]
    span: Span
    names: tuple[Name | None, ...]


class Require(Struct, frozen=True):
    condition: Expr
    span: Span


class Let(Struct, frozen=True):
    pattern: Expr
    value: Expr
    span: Span


class Var(Struct, frozen=True):
    """``var name : type = value``: a local that can be assigned."""

    name: Name
    type: Type | None
    value: Expr
    span: Span


class Skip(Struct, frozen=True):
    span: Span


class Perform(Struct, frozen=True):
    idempotent: bool
    value: Expr
    span: Span


class Timer(Struct, frozen=True):
    """``kind``: ``start`` or ``cancel``; ``key``: which one, of a timer with keys."""

    kind: str
    name: Name
    key: Expr | None
    duration: Expr | None
    span: Span


class Atomic(Struct, frozen=True):
    body: Block
    span: Span


class Sync(Struct, frozen=True):
    """``sync v, w else { … }``; ``names``: empty where it is about all stable state."""

    names: tuple[Name, ...]
    otherwise: Block
    span: Span


class Yield(Struct, frozen=True):
    """What follows is a step of its own; the same when typed."""

    span: Span


class Await(Struct, frozen=True):
    """What follows is an activity: a step of its own, which other handlers precede or not, once
    ``condition`` holds (``None``: at any time)."""

    condition: Expr | None
    span: Span


class Return(Struct, frozen=True):
    """The result of an object's operation."""

    value: Expr
    span: Span


Stmt = (
    Assign
    | Send
    | Call
    | If
    | Loop
    | Choose
    | Draws
    | Either
    | Require
    | Let
    | Var
    | Skip
    | Perform
    | Timer
    | Atomic
    | Sync
    | Yield
    | Await
    | Return
)
Block = tuple[Stmt, ...]


def blocks_of(stmt: Stmt) -> tuple[Block, ...]:
    """Returns the blocks in a statement."""
    match stmt:
        case If(_, then, otherwise, _):
            return then, otherwise
        case Loop(body=body) | Atomic(body=body):
            return (body,)
        case Sync(otherwise=otherwise):
            return (otherwise,)
        case Either(alternatives):
            return tuple(body for _, body in alternatives)
        case _:
            return ()


def statements_in(body: Block) -> Iterator[Stmt]:
    """Yields the statements of ``body``, also those inside others."""
    for stmt in body:
        yield stmt
        for inner in blocks_of(stmt):
            yield from statements_in(inner)
