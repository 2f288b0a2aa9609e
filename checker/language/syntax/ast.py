"""Defines the syntax tree of a spec: names are not yet resolved, nothing has a type.

Patterns are expressions here; the type check turns them into patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.diagnostics import Span
from checker.language.syntax.ast_draws import Draws

LARGEST = 1_000_000_000
"""The largest number that can be written."""

# ---- expressions ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Integer:
    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class Truth:
    value: bool
    span: Span


@dataclass(frozen=True, slots=True)
class NoneWord:
    """``none``."""

    span: Span


@dataclass(frozen=True, slots=True)
class BoolWord:
    """``bool`` as a set of values."""

    span: Span


@dataclass(frozen=True, slots=True)
class Apply:
    """``name(args)``."""

    name: str
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ApplyOn:
    """``base.name(args)``."""

    base: Expr
    name: str
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FieldOf:
    base: Expr
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class IndexOf:
    base: Expr
    key: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Operator:
    """``op`` with one, two or (``and``, ``or``) more operands.

    ``not neg size and or => == != < <= > >= in not-in subset prefix union intersect minus + -
    ++ * div mod always eventually ~>``; ``not in`` is written ``"not in"``.
    """

    op: str
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RangeOf:
    lo: Expr
    hi: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Display:
    """``kind``: ``tuple``, ``set``, ``seq`` or ``bag``."""

    kind: str
    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RecordDisplay:
    items: tuple[tuple[str, Expr], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Binder:
    """``pattern in domain when where``; ``domain`` ``None``: that of the next binder."""

    pattern: Expr
    domain: Expr | None
    where: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Comprehension:
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SeqComprehension:
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``name(item for binders)``: ``sum``, ``min`` or ``max``."""

    name: str
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MapDisplay:
    key: Expr
    value: Expr
    binders: tuple[Binder, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Quantified:
    kind: str
    binders: tuple[Binder, ...]
    body: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Consistent:
    """``kind object``: of an execution, such as ``linearizable as Register``; ``kind`` ends in
    ``as``."""

    kind: str
    object: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr
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
)

# ---- types ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type's name; ``bool`` too."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class NatType:
    bound: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class RangeType:
    lo: Expr
    hi: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class EnumType:
    labels: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TupleType:
    items: tuple[Type, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RecordType:
    fields: tuple[Field, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CollectionType:
    """``kind``: ``option``, ``set``, ``seq`` or ``bag``."""

    kind: str
    item: Type
    cap: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class MapType:
    key: Type
    value: Type
    span: Span


Type = (
    NamedType | NatType | RangeType | EnumType | TupleType | RecordType | CollectionType | MapType
)


@dataclass(frozen=True, slots=True)
class Field:
    name: Name
    type: Type
    span: Span


# ---- statements -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    target: Expr
    op: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Send:
    """A send statement; ``receivers`` ``None``: all."""

    message: Expr
    receivers: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    target: Expr
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Block
    otherwise: Block
    span: Span


@dataclass(frozen=True, slots=True)
class Loop:
    """``for`` (``kind`` ``for``) or ``while some`` (``while``)."""

    kind: str
    pattern: Expr
    domain: Expr
    where: Expr | None
    body: Block
    span: Span


@dataclass(frozen=True, slots=True)
class Choose:
    pattern: Expr
    domain: Expr
    where: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Either:
    alternatives: tuple[tuple[Expr | None, Block], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Require:
    condition: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    pattern: Expr
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Var:
    """``var name : type = value``: a local that can be assigned."""

    name: Name
    type: Type | None
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Skip:
    span: Span


@dataclass(frozen=True, slots=True)
class Perform:
    idempotent: bool
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Timer:
    """``kind``: ``start`` or ``cancel``."""

    kind: str
    name: Name
    duration: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Atomic:
    body: Block
    span: Span


@dataclass(frozen=True, slots=True)
class Yield:
    """What follows is a step of its own; the same when typed."""

    span: Span


@dataclass(frozen=True, slots=True)
class Return:
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
    | Yield
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
        case Either(alternatives, _):
            return tuple(body for _, body in alternatives)
        case _:
            return ()


def statements_in(body: Block) -> Iterator[Stmt]:
    """Yields the statements of ``body``, also those inside others."""
    for stmt in body:
        yield stmt
        for inner in blocks_of(stmt):
            yield from statements_in(inner)
