"""Defines the syntax tree of declarations and checks; see :mod:`checker.language.syntax.ast`."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax import ast
from checker.language.syntax.ast_chance import ExpectChance, ProveChance
from checker.language.syntax.ast_clauses import (
    AnyOf,
    FairHandlers,
    HandlerBudget,
    Scenario,
    StateBound,
    View,
)
from checker.language.syntax.ast_objects import Object, Returned


class Import(Struct, frozen=True):
    path: str
    span: Span


class OperatorDecl(Struct, frozen=True):
    """``kind``: ``request`` or ``indication``; ``returns``: how a request returns, if it does."""

    kind: str
    name: ast.Name
    fields: tuple[ast.Field, ...]
    returns: Returned | None
    span: Span


class PropertyList(Struct, frozen=True):
    names: tuple[ast.Name, ...]
    span: Span


class TypeAlias(Struct, frozen=True):
    name: ast.Name
    type: ast.Type
    span: Span


class Constant(Struct, frozen=True):
    name: ast.Name
    type: ast.Type | None
    value: ast.Expr
    span: Span


class Definition(Struct, frozen=True):
    """``define name(fields): type = value``."""

    name: ast.Name
    fields: tuple[ast.Field, ...]
    type: ast.Type
    value: ast.Expr
    span: Span


class Argument(Struct, frozen=True):
    """A parameter of a procedure; without a type it has that of what it is called with."""

    name: ast.Name
    type: ast.Type | None
    span: Span


class Procedure(Struct, frozen=True):
    name: ast.Name
    parameters: tuple[Argument, ...]
    body: ast.Block
    span: Span


class PropertyDecl(Struct, frozen=True):
    """``text``: the formula as written, on one line; ``lemma``: an ``invariant``."""

    name: ast.Name
    document: str
    formula: ast.Expr
    text: str
    span: Span
    lemma: bool = False


InterfaceItem = OperatorDecl | PropertyList | TypeAlias | PropertyDecl


class Interface(Struct, frozen=True):
    name: ast.Name
    items: tuple[InterfaceItem, ...]
    span: Span


class Parameter(Struct, frozen=True):
    name: ast.Name
    type: ast.Type
    default: ast.Expr | None
    span: Span


class Uses(Struct, frozen=True):
    """``index``: of a family of layers, the type of its indices."""

    name: ast.Name
    index: ast.Type | None
    of: ast.Name
    span: Span


class Message(Struct, frozen=True):
    name: ast.Name
    fields: tuple[ast.Field, ...]
    span: Span


class State(Struct, frozen=True):
    name: ast.Name
    type: ast.Type | None
    initial: ast.Expr | None
    shared: bool
    stable: bool
    span: Span
    ghost: bool = False
    synced: bool = False


class InitChoice(Struct, frozen=True):
    name: ast.Name
    domain: ast.Expr | None
    where: ast.Expr | None
    span: Span


class OnRequest(Struct, frozen=True):
    op: ast.Name
    args: tuple[ast.Expr, ...]


class OnReceive(Struct, frozen=True):
    message: ast.Name
    args: tuple[ast.Expr, ...]
    sender: ast.Expr | None


class OnIndication(Struct, frozen=True):
    layer: ast.Name
    index: ast.Expr | None
    op: ast.Name
    args: tuple[ast.Expr, ...]


class OnCondition(Struct, frozen=True):
    condition: ast.Expr


class OnInit(Struct, frozen=True):
    """The same when typed, as is :class:`OnRecover`."""


class TimerKey(Struct, frozen=True):
    """``[name : type]``, behind the name of a timer; ``type`` ``None``: a process."""

    name: ast.Name
    type: ast.Type | None
    span: Span


class OnTimeout(Struct, frozen=True):
    timer: ast.Name | None
    key: TimerKey | None


class OnRecover(Struct, frozen=True):
    pass


class OnDisconnected(Struct, frozen=True):
    process: ast.Expr


Event = (
    OnRequest
    | OnReceive
    | OnIndication
    | OnCondition
    | OnInit
    | OnTimeout
    | OnRecover
    | OnDisconnected
)


class Handler(Struct, frozen=True):
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


class Role(Struct, frozen=True):
    """``lead``: the role with whose members the members die, if any."""

    name: ast.Name
    size: ast.Expr
    lead: ast.Name | None
    items: tuple[RoleItem, ...]
    span: Span


ProtocolItem = RoleItem | Role | Uses | Message | PropertyDecl | TypeAlias | Constant


class Protocol(Struct, frozen=True):
    name: ast.Name
    parameters: tuple[Parameter, ...]
    implements: ast.Name | None
    requires: ast.Expr | None
    items: tuple[ProtocolItem, ...]
    span: Span


# ---- variants ---------------------------------------------------------------------------------


class WithoutName(Struct, frozen=True):
    """``without name``: whatever the original calls so."""

    name: ast.Name
    span: Span


class WithoutChoice(Struct, frozen=True):
    """``without init choose name``."""

    name: ast.Name
    span: Span


class WithoutHandler(Struct, frozen=True):
    """``without upon …``; ``label``: as that of a :class:`Handler`."""

    label: str
    event: Event
    at: ast.Expr | None
    when: ast.Expr | None
    span: Span


Without = WithoutName | WithoutChoice | WithoutHandler


class WithoutStatement(Struct, frozen=True):
    """``without statement``; ``text``: the statement as it is written."""

    statement: ast.Stmt
    text: str
    span: Span


class Replacement(Struct, frozen=True):
    """``replace old with new``; ``text`` and ``new_text``: the two as they are written."""

    old: ast.Expr
    new: ast.Expr
    text: str
    new_text: str
    span: Span


Edit = WithoutStatement | Replacement
"""A change of the one statement or expression that is written so."""


class HandlerHead(Struct, frozen=True):
    """``upon …`` without a body; ``label``: as that of a :class:`Handler`."""

    label: str
    event: Event
    at: ast.Expr | None
    when: ast.Expr | None
    span: Span


class EditsIn(Struct, frozen=True):
    """``inside where { … }``: changes inside of one handler, procedure or definition."""

    where: ast.Name | HandlerHead
    edits: tuple[Edit, ...]
    span: Span


class RoleChange(Struct, frozen=True):
    """The changes of a variant to a role.  ``size``: its new size, or the size of a new role;
    ``lead``: the role with which it dies from now on."""

    name: ast.Name
    size: ast.Expr | None
    lead: ast.Name | None
    items: tuple[RoleItem | Without | Edit | EditsIn, ...]
    span: Span


VariantItem = (
    RoleItem | RoleChange | Uses | Message | PropertyDecl | TypeAlias | Without | Edit | EditsIn
)


class Variant(Struct, frozen=True):
    """``variant name of original``: the original with other items; see
    :mod:`checker.language.typecheck.variants`."""

    name: ast.Name
    parameters: tuple[Parameter, ...]
    of: ast.Name
    requires: ast.Expr | None
    items: tuple[VariantItem, ...]
    span: Span


# ---- checks -----------------------------------------------------------------------------------


class Setting(Struct, frozen=True):
    name: ast.Name
    value: ast.Expr
    span: Span


class Every(Struct, frozen=True):
    """``for all names when condition``."""

    names: tuple[ast.Name, ...]
    when: ast.Expr | None
    span: Span


class Fault(Struct, frozen=True):
    """``kind <= bound of role``, or ``kind <= bound of role -> receiver``."""

    kind: ast.Name
    bound: ast.Expr | None
    role: ast.Name | None
    receiver: ast.Name | None
    span: Span


class Link(Struct, frozen=True):
    kind: ast.Name
    capacity: int | None
    span: Span


class LinkRule(Struct, frozen=True):
    """``links sender -> receiver kinds``."""

    sender: ast.Name
    receiver: ast.Name
    kinds: tuple[Link, ...]
    span: Span


class Timing(Struct, frozen=True):
    """``word``: ``noise`` or ``drift`` or empty; ``value``: the number behind it; ``until``: what
    clocks show at most."""

    kind: ast.Name
    word: str
    value: ast.Expr | None
    until: ast.Expr | None
    span: Span


class Mistakes(Struct, frozen=True):
    """``bound of role``, of the noise of a detector."""

    bound: ast.Expr
    role: ast.Name | None
    span: Span


class Detector(Struct, frozen=True):
    eventually: bool
    kind: ast.Name
    noise: tuple[Mistakes, ...] | None
    span: Span


class Given(Struct, frozen=True):
    """``given layer as what``."""

    layer: ast.Name
    what: ast.Name
    span: Span


class CrashPoints(Struct, frozen=True):
    where: ast.Name
    span: Span


class Client(Struct, frozen=True):
    process: ast.Name
    verb: ast.Name
    items: tuple[ast.Expr | AnyOf, ...]
    span: Span


class Prove(Struct, frozen=True):
    """The names may be of the form ``x over y`` or ``x as y``."""

    names: tuple[ast.Name, ...]
    span: Span


class Expect(Struct, frozen=True):
    """``without``: words that no step of the counterexample may fit."""

    what: ast.Name
    value: str | int
    value_span: Span
    without: ast.Name | None
    span: Span


class Allow(Struct, frozen=True):
    what: ast.Name
    span: Span


class Mutant(Struct, frozen=True):
    """``mutant name { … }``: the items of a variant of the check's protocol, and what is
    expected of it in the world of the check."""

    name: ast.Name
    items: tuple[VariantItem | Expect | ExpectChance, ...]
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
    | FairHandlers
    | Allow
    | Scenario
    | Mutant
)


class Check(Struct, frozen=True):
    name: ast.Name
    protocol: ast.Name
    items: tuple[CheckItem, ...]
    span: Span


Item = Import | Interface | Object | Protocol | Variant | Check | TypeAlias | Constant | Definition


class Spec(Struct, frozen=True):
    """The syntax tree of a file."""

    file: str
    items: tuple[Item, ...]
