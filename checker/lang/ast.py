"""What a spec says, as written: names are not yet resolved, nothing has a type.

Patterns are expressions here; the check that follows turns them into patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker.diagnostics import Span

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
    """``bool`` where a set is meant."""

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

    ``not neg size and or => == != < <= > >= in not-in subset union intersect minus + - ++ * div
    mod always eventually ~>``; ``not in`` is written ``"not in"``.
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
    """``pattern in domain when where``; the domain may be left to the next binder."""

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
    | MapDisplay
    | Quantified
    | Conditional
)

# ---- types ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType:
    """``bool`` too."""

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
    """``receivers`` ``None``: all."""

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
    name: Name
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
    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Skip:
    span: Span


@dataclass(frozen=True, slots=True)
class Later:
    """A construct of the language that the tool doesn't have yet; ``what`` is its name."""

    what: str
    span: Span


Stmt = Assign | Send | Call | If | Loop | Choose | Either | Require | Let | Skip | Later
Block = tuple[Stmt, ...]

# ---- declarations -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Import:
    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class OperatorDecl:
    """``kind``: ``request`` or ``indication``."""

    kind: str
    name: Name
    fields: tuple[Field, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PropertyList:
    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TypeAlias:
    name: Name
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class PropertyDecl:
    """``text``: the formula as written, on one line."""

    name: Name
    document: str
    formula: Expr
    text: str
    span: Span


InterfaceItem = OperatorDecl | PropertyList | TypeAlias | PropertyDecl


@dataclass(frozen=True, slots=True)
class Interface:
    name: Name
    items: tuple[InterfaceItem, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    name: Name
    type: Type
    default: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Uses:
    name: Name
    of: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Message:
    name: Name
    fields: tuple[Field, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class State:
    name: Name
    type: Type | None
    initial: Expr | None
    shared: bool
    span: Span


@dataclass(frozen=True, slots=True)
class InitChoice:
    name: Name
    domain: Expr | None
    where: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class OnRequest:
    op: Name
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class OnReceive:
    message: Name
    args: tuple[Expr, ...]
    sender: Expr | None


@dataclass(frozen=True, slots=True)
class OnIndication:
    layer: Name
    op: Name
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class OnCondition:
    condition: Expr


@dataclass(frozen=True, slots=True)
class OnInit:
    pass


Event = OnRequest | OnReceive | OnIndication | OnCondition | OnInit | Later


@dataclass(frozen=True, slots=True)
class Handler:
    """``label``: the event as written, on one line; ``head``: where it is written."""

    label: str
    event: Event
    at: Expr | None
    when: Expr | None
    body: Block
    head: Span
    span: Span


RoleItem = State | InitChoice | Handler | Later


@dataclass(frozen=True, slots=True)
class Role:
    name: Name
    size: Expr
    items: tuple[RoleItem, ...]
    span: Span


ProtocolItem = RoleItem | Role | Uses | Message | PropertyDecl | TypeAlias


@dataclass(frozen=True, slots=True)
class Protocol:
    name: Name
    parameters: tuple[Parameter, ...]
    implements: Name | None
    requires: Expr | None
    items: tuple[ProtocolItem, ...]
    span: Span


# ---- checks -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Fault:
    kind: Name
    bound: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Link:
    kind: Name
    capacity: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class CrashPoints:
    where: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Client:
    process: Name
    verb: Name
    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Prove:
    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Expect:
    what: Name
    value: str | int
    value_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Allow:
    what: Name
    span: Span


CheckItem = Setting | Fault | Link | CrashPoints | Client | Prove | Expect | Allow | Later


@dataclass(frozen=True, slots=True)
class Check:
    name: Name
    protocol: Name
    items: tuple[CheckItem, ...]
    span: Span


Item = Import | Interface | Protocol | Check


@dataclass(frozen=True, slots=True)
class Spec:
    """A file."""

    file: str
    items: tuple[Item, ...]
