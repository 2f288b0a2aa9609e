"""Defines typed statements, handlers and protocols; see :mod:`checker.language.syntax.typed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from checker.diagnostics import Span
from checker.diagnostics.origin import Origin
from checker.language.syntax.ast import Yield
from checker.language.syntax.ast_items import OnInit, OnRecover
from checker.language.syntax.typed_expr import Expr, StateRef
from checker.language.syntax.typed_types import Pattern, Type
from checker.records import replace

# ---- statements -------------------------------------------------------------------------------


class Assign(Struct, frozen=True):
    """``target := value``; ``+=`` and ``-=`` are already expanded in ``value``.

    ``target`` is a :class:`StateRef` (of self or shared), or a :class:`Local` that a :class:`Var`
    declares, under :class:`Part` and :class:`Entry`.
    """

    target: Expr
    value: Expr
    span: Span


class Send(Struct, frozen=True):
    """``receivers`` is a process or a set of processes."""

    message: Expr
    receivers: Expr
    span: Span


class Call(Struct, frozen=True):
    """A call; ``layer`` ``None``: an indication to the layer above; otherwise a request to that
    below.

    ``index``: which instance of an indexed layer.
    """

    layer: str | None
    op: str
    args: tuple[Expr, ...]
    span: Span
    index: Expr | None = None


class If(Struct, frozen=True):
    condition: Expr
    then: Block
    otherwise: Block
    span: Span


class For(Struct, frozen=True):
    pattern: Pattern
    domain: Expr
    where: Expr | None
    body: Block
    span: Span


class While(Struct, frozen=True):
    """``while some pattern in domain when where``."""

    pattern: Pattern
    domain: Expr
    where: Expr | None
    body: Block
    span: Span


class Weight(Struct, frozen=True):
    """``value: numerator / denominator``, of a choice by chance."""

    value: Expr
    numerator: Expr
    denominator: Expr | None
    span: Span


class Choose(Struct, frozen=True):
    """``weights``: of a choice by chance, none where each member of ``domain`` is as likely;
    ``None``: it is the adversary's."""

    pattern: Pattern
    domain: Expr
    where: Expr | None
    span: Span
    weights: tuple[Weight, ...] | None = None


class Either(Struct, frozen=True):
    """Alternatives: a guard (or ``None``) and a body each; ``names``: of each, empty for none."""

    alternatives: tuple[tuple[Expr | None, Block], ...]
    span: Span
    names: tuple[str, ...]


class Require(Struct, frozen=True):
    condition: Expr
    span: Span


class LetIn(Struct, frozen=True):
    pattern: Pattern
    value: Expr
    span: Span


class Var(Struct, frozen=True):
    """``var name : type = value``: a local that can be assigned."""

    name: str
    type: Type
    value: Expr
    span: Span


class Inlined(Struct, frozen=True):
    """A call of a procedure: its body, which sees nothing of what is around it but ``args``;
    ``declared``: the types of the parameters that are written with one."""

    name: str
    args: tuple[tuple[str, Expr], ...]
    body: Block
    span: Span
    declared: tuple[tuple[str, Type], ...] = ()


class Perform(Struct, frozen=True):
    """An act on the environment; ``idempotent``: the environment recognises its repetitions."""

    value: Expr
    idempotent: bool
    span: Span


class Timer(Struct, frozen=True):
    """``start name[key] after duration`` or ``cancel name[key]``; ``kind`` is ``start`` or
    ``cancel``.

    ``key`` ``None``: the timer has none.  ``duration`` ``None``: one unit.  Starting a running
    timer restarts it.
    """

    kind: str
    name: str
    key: Expr | None
    duration: Expr | None
    span: Span


class Atomic(Struct, frozen=True):
    """``atomic { … }``: all of its effects happen or none, also when the process crashes."""

    body: Block
    span: Span


class Sync(Struct, frozen=True):
    """``sync v else { … }``: what is on disk of the process's stable variables ``states`` is from
    now on what they are; ``otherwise`` runs where that fails."""

    states: tuple[StateRef, ...]
    otherwise: Block
    span: Span


class Ghost(Struct, frozen=True):
    """Ghost code: statements that change ghosts only, and all that reads ghosts in a handler; see
    :mod:`checker.language.typecheck.ghosts`."""

    body: Block
    span: Span


class Await(Struct, frozen=True):
    """What follows is an activity, which goes on once ``condition`` holds (``None``: at any
    time)."""

    condition: Expr | None
    span: Span


Stmt = (
    Assign
    | Send
    | Call
    | If
    | For
    | While
    | Choose
    | Either
    | Require
    | LetIn
    | Var
    | Inlined
    | Perform
    | Timer
    | Atomic
    | Sync
    | Ghost
    | Yield
    | Await
)
Block = tuple[Stmt, ...]


# ---- declarations -----------------------------------------------------------------------------


class Operator(Struct, frozen=True):
    """A request or an indication with its named, typed arguments.

    ``returns``: of a request, the indication by which it returns; ``None``: it does not return.
    """

    name: str
    fields: tuple[tuple[str, Type], ...]
    returns: str | None = None


class PropertyDef(Struct, frozen=True):
    """``document``: the textbook's definition, or empty; ``text``: the formula as written.

    ``lemma``: an ``invariant``: what its author claims to hold in every state, and may help to
    prove other things; its formula is ``always`` of what is written.  ``origin``: of a property
    that a check asks.
    """

    name: str
    document: str
    text: str
    formula: Expr
    span: Span
    lemma: bool = False
    origin: Origin | None = None


class Interface(Struct, frozen=True):
    name: str
    requests: tuple[Operator, ...]
    indications: tuple[Operator, ...]
    properties: tuple[PropertyDef, ...]
    span: Span


class OnRequest(Struct, frozen=True):
    op: str
    patterns: tuple[Pattern, ...]


class OnReceive(Struct, frozen=True):
    message: str
    patterns: tuple[Pattern, ...]
    sender: Pattern


class OnIndication(Struct, frozen=True):
    """``index``: of an indexed layer, which instance it comes from."""

    layer: str
    op: str
    patterns: tuple[Pattern, ...]
    index: Pattern | None = None


class OnCondition(Struct, frozen=True):
    """``free``: names that ``received`` patterns bind existentially, with their types."""

    condition: Expr
    free: tuple[tuple[str, Type], ...]


class OnTimeout(Struct, frozen=True):
    """``timer`` ``None``: the anonymous timer, which every process has and which always runs: it
    expires at the end of each round, of each unit of time, or (asynchronous) at any time.

    ``key``: the name that the handler gives to the key, and its type, where the timer has keys.
    """

    timer: str | None
    key: tuple[str, Type] | None


class OnDisconnected(Struct, frozen=True):
    """The process is told that a connection is gone; ``process``: that to whom it was."""

    process: Pattern


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
    """``label`` is the handler's name, or else the event as written, e.g. ``upon receive COMMIT``;
    ``at``: at which process.

    ``is_fair``: fairness applies: a process at which it is continuously enabled eventually executes
    it, or another such handler; ``False``: it ``may``, and never has to.
    """

    label: str
    event: Event
    at: Expr | None
    when: Expr | None
    body: Block
    span: Span
    is_fair: bool = True


class StateDecl(Struct, frozen=True):
    """``initial`` ``None``: the type's default (false, the least, the first, empty, none).
    ``stable``: it survives a crash; ``synced``: each assignment is synced at once; ``ghost``:
    nothing that happens depends on it."""

    name: str
    type: Type
    initial: Expr | None
    span: Span
    stable: bool = False
    ghost: bool = False
    synced: bool = False


class InitChoice(Struct, frozen=True):
    """``name`` starts as any member of ``domain`` (``None``: of its type) that satisfies ``where``
    (which sees it as a local of that name)."""

    name: str
    domain: Expr | None
    where: Expr | None
    span: Span


class Role(Struct, frozen=True):
    """``size`` ``None``: ``n``.  The one role of a protocol without roles is called ``""``.
    ``lead``: the role with whose members the members die; empty where there is none."""

    name: str
    size: Expr | None
    states: tuple[StateDecl, ...]
    choices: tuple[InitChoice, ...]
    handlers: tuple[Handler, ...]
    span: Span
    lead: str = ""


class MessageDecl(Struct, frozen=True):
    name: str
    fields: tuple[tuple[str, Type], ...]
    span: Span


class Layer(Struct, frozen=True):
    """A layer below: its default implementation unless the check gives another.

    ``protocol`` ``None``: no protocol, or more than one, implements it; or the interface is a
    failure detector's.  Then the check gives it, or names the detector. ``index``: the type of the
    indices of a family of instances, created on first use.
    """

    name: str
    protocol: Protocol | None
    span: Span
    interface: Interface | None = None
    index: Type | None = None


class Parameter(Struct, frozen=True):
    name: str
    type: Type
    default: Expr | None
    span: Span


class Change(Struct, frozen=True):
    """What a variant changes: it ``replaces``, ``removes`` or ``adds`` (``kind``) ``what``, which
    stands at ``before`` in the original, and at ``after`` in the variant."""

    kind: str
    what: str
    before: Span | None
    after: Span | None


class Variant(Struct, frozen=True):
    """How a protocol differs from the protocol ``of``; ``base``: how that differs from another."""

    of: str
    changes: tuple[Change, ...]
    base: Variant | None = None


class Protocol(Struct, frozen=True):
    """``shipped``: part of the tool's library rather than of the user's files.  ``acts``: the type
    of the acts of the protocol or a layer below it; ``None``: it performs nothing.  ``variant``:
    how it differs from the protocol that it is written as a variant of."""

    name: str
    parameters: tuple[Parameter, ...]
    implements: Interface | None
    requires: Expr | None
    roles: tuple[Role, ...]
    shared: tuple[StateDecl, ...]
    choices: tuple[InitChoice, ...]
    messages: tuple[MessageDecl, ...]
    layers: tuple[Layer, ...]
    properties: tuple[PropertyDef, ...]
    span: Span
    shipped: bool = False
    acts: Type | None = None
    invariants: tuple[PropertyDef, ...] = ()
    variant: Variant | None = None


def with_blocks(node: Any, change: Callable[[Block], Block]) -> Any:
    """Returns a statement or a handler with ``change`` applied to its own blocks; any other node as
    it is."""
    match node:
        case If(_, then, otherwise, _):
            return replace(node, then=change(then), otherwise=change(otherwise))
        case Sync(otherwise=otherwise):
            return replace(node, otherwise=change(otherwise))
        case Either(alternatives):
            return replace(node, alternatives=tuple((g, change(b)) for g, b in alternatives))
        case (
            Handler(body=body)
            | For(body=body)
            | While(body=body)
            | Inlined(body=body)
            | Atomic(body=body)
        ):
            return replace(node, body=change(body))
        case _:
            return node
