"""Defines the syntax tree of declarations and checks; see :mod:`checker.language.syntax.ast`."""

from __future__ import annotations

from dataclasses import dataclass

from checker.diagnostics import Span
from checker.language.syntax import ast
from checker.language.syntax.ast_chance import ExpectChance, ProveChance
from checker.language.syntax.ast_clauses import AnyOf, HandlerBudget, Scenario, StateBound, View
from checker.language.syntax.ast_objects import Object, Returned


@dataclass(frozen=True, slots=True)
class Import:
    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class OperatorDecl:
    """``kind``: ``request`` or ``indication``; ``returns``: how a request returns, if it does."""

    kind: str
    name: ast.Name
    fields: tuple[ast.Field, ...]
    returns: Returned | None
    span: Span


@dataclass(frozen=True, slots=True)
class PropertyList:
    names: tuple[ast.Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TypeAlias:
    name: ast.Name
    type: ast.Type
    span: Span


@dataclass(frozen=True, slots=True)
class Constant:
    name: ast.Name
    type: ast.Type | None
    value: ast.Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Definition:
    """``define name(fields): type = value``."""

    name: ast.Name
    fields: tuple[ast.Field, ...]
    type: ast.Type
    value: ast.Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a procedure; without a type it has that of what it is called with."""

    name: ast.Name
    type: ast.Type | None
    span: Span


@dataclass(frozen=True, slots=True)
class Procedure:
    name: ast.Name
    parameters: tuple[Argument, ...]
    body: ast.Block
    span: Span


@dataclass(frozen=True, slots=True)
class PropertyDecl:
    """``text``: the formula as written, on one line; ``lemma``: an ``invariant``."""

    name: ast.Name
    document: str
    formula: ast.Expr
    text: str
    span: Span
    lemma: bool = False


InterfaceItem = OperatorDecl | PropertyList | TypeAlias | PropertyDecl


@dataclass(frozen=True, slots=True)
class Interface:
    name: ast.Name
    items: tuple[InterfaceItem, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    name: ast.Name
    type: ast.Type
    default: ast.Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Uses:
    """``index``: of a family of layers, the type of its indices."""

    name: ast.Name
    index: ast.Type | None
    of: ast.Name
    span: Span


@dataclass(frozen=True, slots=True)
class Message:
    name: ast.Name
    fields: tuple[ast.Field, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class State:
    name: ast.Name
    type: ast.Type | None
    initial: ast.Expr | None
    shared: bool
    stable: bool
    span: Span
    ghost: bool = False


@dataclass(frozen=True, slots=True)
class InitChoice:
    name: ast.Name
    domain: ast.Expr | None
    where: ast.Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class OnRequest:
    op: ast.Name
    args: tuple[ast.Expr, ...]


@dataclass(frozen=True, slots=True)
class OnReceive:
    message: ast.Name
    args: tuple[ast.Expr, ...]
    sender: ast.Expr | None


@dataclass(frozen=True, slots=True)
class OnIndication:
    layer: ast.Name
    index: ast.Expr | None
    op: ast.Name
    args: tuple[ast.Expr, ...]


@dataclass(frozen=True, slots=True)
class OnCondition:
    condition: ast.Expr


@dataclass(frozen=True, slots=True)
class OnInit:
    """The same when typed, as is :class:`OnRecover`."""


@dataclass(frozen=True, slots=True)
class OnTimeout:
    timer: ast.Name | None


@dataclass(frozen=True, slots=True)
class OnRecover:
    pass


Event = OnRequest | OnReceive | OnIndication | OnCondition | OnInit | OnTimeout | OnRecover


@dataclass(frozen=True, slots=True)
class Handler:
    """``label``: the event as written, on one line, from ``upon`` on; ``head``: its location.
    ``may``: the location of the word that exempts the handler from fairness.  ``name``: that behind
    ``as``."""

    label: str
    event: Event
    at: ast.Expr | None
    when: ast.Expr | None
    body: ast.Block
    head: Span
    span: Span
    may: Span | None = None
    name: ast.Name | None = None


RoleItem = State | InitChoice | Handler | Definition | Procedure


@dataclass(frozen=True, slots=True)
class Role:
    name: ast.Name
    size: ast.Expr
    items: tuple[RoleItem, ...]
    span: Span


ProtocolItem = RoleItem | Role | Uses | Message | PropertyDecl | TypeAlias | Constant


@dataclass(frozen=True, slots=True)
class Protocol:
    name: ast.Name
    parameters: tuple[Parameter, ...]
    implements: ast.Name | None
    requires: ast.Expr | None
    items: tuple[ProtocolItem, ...]
    span: Span


# ---- variants ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WithoutName:
    """``without name``: whatever the original calls so."""

    name: ast.Name
    span: Span


@dataclass(frozen=True, slots=True)
class WithoutChoice:
    """``without init choose name``."""

    name: ast.Name
    span: Span


@dataclass(frozen=True, slots=True)
class WithoutHandler:
    """``without upon …``; ``label``: as that of a :class:`Handler`."""

    label: str
    event: Event
    at: ast.Expr | None
    when: ast.Expr | None
    span: Span


Without = WithoutName | WithoutChoice | WithoutHandler


@dataclass(frozen=True, slots=True)
class RoleChange:
    """What a variant changes in a role; ``size``: another size, or that of a role that is new."""

    name: ast.Name
    size: ast.Expr | None
    items: tuple[RoleItem | Without, ...]
    span: Span


VariantItem = RoleItem | RoleChange | Uses | Message | PropertyDecl | TypeAlias | Without


@dataclass(frozen=True, slots=True)
class Variant:
    """``variant name of original``: the original with other items; see
    :mod:`checker.language.typecheck.variants`."""

    name: ast.Name
    parameters: tuple[Parameter, ...]
    of: ast.Name
    requires: ast.Expr | None
    items: tuple[VariantItem, ...]
    span: Span


# ---- checks -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    name: ast.Name
    value: ast.Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Every:
    """``for all names when condition``."""

    names: tuple[ast.Name, ...]
    when: ast.Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Fault:
    """``kind <= bound of role``."""

    kind: ast.Name
    bound: ast.Expr | None
    role: ast.Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Link:
    kind: ast.Name
    capacity: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class LinkRule:
    """``links sender -> receiver kinds``."""

    sender: ast.Name
    receiver: ast.Name
    kinds: tuple[Link, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Timing:
    """``word``: ``noise`` or ``drift`` or empty; ``value``: the number behind it."""

    kind: ast.Name
    word: str
    value: ast.Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Mistakes:
    """``bound of role``, of the noise of a detector."""

    bound: ast.Expr
    role: ast.Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Detector:
    eventually: bool
    kind: ast.Name
    noise: tuple[Mistakes, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Given:
    """``given layer as what``."""

    layer: ast.Name
    what: ast.Name
    span: Span


@dataclass(frozen=True, slots=True)
class CrashPoints:
    where: ast.Name
    span: Span


@dataclass(frozen=True, slots=True)
class Client:
    process: ast.Name
    verb: ast.Name
    items: tuple[ast.Expr | AnyOf, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Prove:
    """The names may be of the form ``x over y`` or ``x as y``."""

    names: tuple[ast.Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Expect:
    what: ast.Name
    value: str | int
    value_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Allow:
    what: ast.Name
    span: Span


CheckItem = (
    Setting
    | Every
    | PropertyDecl
    | Fault
    | Link
    | LinkRule
    | Timing
    | Detector
    | Given
    | CrashPoints
    | Client
    | Prove
    | Expect
    | ProveChance
    | ExpectChance
    | StateBound
    | View
    | HandlerBudget
    | Allow
    | Scenario
)


@dataclass(frozen=True, slots=True)
class Check:
    name: ast.Name
    protocol: ast.Name
    items: tuple[CheckItem, ...]
    span: Span


Item = Import | Interface | Object | Protocol | Variant | Check | TypeAlias | Constant | Definition


@dataclass(frozen=True, slots=True)
class Spec:
    """The syntax tree of a file."""

    file: str
    items: tuple[Item, ...]
