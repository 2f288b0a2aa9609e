"""Typed protocols: every name resolved, every expression with its type, sizes still symbolic.

This is what the rest of the tool knows of the language.  Sizes (``n``, ``f``, bounds of ranges,
role sizes, capacities) are expressions over :class:`Param`; :mod:`checker.lang.elaborate` closes
them with the values that a check gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.diagnostics import Diagnostic, Span

# ---- types ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bool:
    pass


@dataclass(frozen=True, slots=True)
class Int:
    """``lo..hi``.  ``None, None``: an integer in an expression.  ``hi`` alone missing: a ``Nat``
    whose bound the tool finds."""

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
    """Payload that the layer above gives: opaque here."""


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

# ---- expressions ------------------------------------------------------------------------------
# Every expression has ``type`` and ``span``.


@dataclass(frozen=True, slots=True)
class Literal:
    """``value``: a bool, an int, or the index of an enum's label."""

    type: Type
    value: bool | int
    span: Span


@dataclass(frozen=True, slots=True)
class Nothing:
    """``none``; ``type`` is an :class:`Option`."""

    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Local:
    """A name bound by a pattern, a quantifier, ``let``, ``choose`` or ``for``."""

    type: Type
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Param:
    """``n``, ``f`` or a parameter of the protocol."""

    type: Type
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Self:
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Named:
    """A process written by its name, such as ``p1`` (only in checks, properties, parameters)."""

    type: Type
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class StateRef:
    """A state variable; ``role`` ``None``: shared state; ``owner`` ``None``: self's."""

    type: Type
    name: str
    role: str | None
    owner: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Processes:
    """All members of a role (``None``: of every role), a set of processes."""

    type: Type
    role: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class All:
    """Every value of ``item``, as a set: ``bool``, the name of a type."""

    type: Type
    item: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Range:
    """The set of integers ``lo..hi``."""

    type: Type
    lo: Expr
    hi: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Received:
    """``received(M(...))``: the distinct senders of matching messages; ``owner`` ``None``: self.

    Names that were free in the pattern are bound by the handler (see :class:`OnCondition`) and
    appear here as ``Equals(Local)``.
    """

    type: Type
    message: str
    patterns: tuple[Pattern, ...]
    owner: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Construct:
    """One of the protocol's own messages."""

    type: Type
    message: str
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Display:
    """A tuple, record, set, seq or bag written out; ``type`` tells which."""

    type: Type
    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Part:
    """Component of a tuple or record."""

    type: Type
    base: Expr
    position: int
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """``base[key]`` of a map, or of a seq (from 0)."""

    type: Type
    base: Expr
    key: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Operation:
    """``op`` applied to ``args``, by the types of the arguments:

    ``not and or => == != < <= > >= + - * div mod neg`` (``+ -`` also: set or bag and item,
    seq ``++`` seq, seq ``+`` item), ``in`` ``subset`` ``union`` ``intersect`` ``minus``,
    ``size`` (of set, seq, bag, or a ``Received``), ``if`` (condition, then, else), and the
    functions ``some get is_some head last tail subsets min max rank count``.
    ``> >= != not-in`` are kept as written; lowering rewrites them.
    """

    type: Type
    op: str
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Binder:
    """``pattern in domain when where``; names of the pattern are visible to the right."""

    pattern: Pattern
    domain: Expr
    where: Expr | None


@dataclass(frozen=True, slots=True)
class Quantified:
    """``kind`` is ``forall`` or ``exists``."""

    type: Type
    kind: str
    binders: tuple[Binder, ...]
    body: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Comprehension:
    """``{ item for binders }``: a set."""

    type: Type
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MapDisplay:
    """``{ k -> value for k in K }``; ``key`` is the name bound; ``K`` is all of the key type."""

    type: Type
    key: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Fill:
    """One value for every entry of a map (``state v : map<K, V> = e``); ``type`` is the map's."""

    type: Type
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class History:
    """``delivered(p)``, ``broadcast(p)``, ``decided(p)``, …: a seq of what happened at ``owner``.

    ``kind`` is ``request`` or ``indication`` of the interface, ``op`` its name there.  An entry is
    the tuple of the arguments, or the one argument itself.
    """

    type: Type
    kind: str
    op: str
    owner: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class HistoryOrder:
    """``before(p, x, y)``: at ``owner`` the first ``x`` came before the first ``y`` (both came).

    ``broadcast_before(p, x, y)`` is the same with kind ``request``.
    """

    type: Type
    kind: str
    op: str
    owner: Expr
    first: Expr
    second: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Repeated:
    """``repeated(p, x)``: ``x`` was indicated to ``owner`` more than once."""

    type: Type
    kind: str
    op: str
    owner: Expr
    item: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Causes:
    """``causes(x, y)``: the broadcast ``x`` is in the causal past of the broadcast ``y`` (HT94).

    Both are pairs of broadcaster and payload.
    """

    type: Type
    first: Expr
    second: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Correct:
    """``correct(p)`` (kind ``correct``: in this run), ``crashed(p)`` (by now), or ``faulty(p)``: by
    now it has crashed, or it is Byzantine, or has omitted to send or receive something."""

    type: Type
    kind: str
    process: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Acts:
    """``performed``: what was performed, in order, each time; ``effects`` (kind ``effects``): the
    same without idempotent acts that were performed before.  ``type`` is a :class:`Seq`."""

    type: Type
    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class RepeatedAct:
    """``repeated(performed, x)`` or ``repeated(effects, x)``: ``x`` is there more than once."""

    type: Type
    kind: str
    item: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Opinion:
    """``suspected(p)``: the processes that the detector at ``owner`` suspects now, or
    ``trusted(p)`` (kind ``trusted``): the one that it trusts now, or none.  ``type`` is a set."""

    type: Type
    kind: str
    owner: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Temporal:
    """``always e``, ``eventually e`` (one argument), ``e ~> e`` (two); only in properties, where
    they nest, stand under Boolean operators and under quantifiers over fixed domains."""

    type: Type
    op: str
    args: tuple[Expr, ...]
    span: Span


Expr = (
    Literal
    | Nothing
    | Local
    | Param
    | Self
    | Named
    | StateRef
    | Processes
    | All
    | Range
    | Received
    | Construct
    | Display
    | Part
    | Entry
    | Operation
    | Quantified
    | Comprehension
    | MapDisplay
    | Fill
    | History
    | HistoryOrder
    | Repeated
    | Causes
    | Correct
    | Acts
    | RepeatedAct
    | Opinion
    | Temporal
)

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

# ---- statements -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """``target := value``; ``+=`` and ``-=`` are already spelled out in ``value``.

    ``target`` is a :class:`StateRef` (of self or shared) under :class:`Part` and :class:`Entry`.
    """

    target: Expr
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Send:
    """``receivers`` is a process or a set of processes."""

    message: Expr
    receivers: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """``layer`` ``None``: an indication to above; otherwise a request to the layer below.

    ``index``: which instance of an indexed layer.
    """

    layer: str | None
    op: str
    args: tuple[Expr, ...]
    span: Span
    index: Expr | None = None


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Block
    otherwise: Block
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    pattern: Pattern
    domain: Expr
    where: Expr | None
    body: Block
    span: Span


@dataclass(frozen=True, slots=True)
class While:
    """``while some pattern in domain when where``."""

    pattern: Pattern
    domain: Expr
    where: Expr | None
    body: Block
    span: Span


@dataclass(frozen=True, slots=True)
class Choose:
    name: str
    domain: Expr
    where: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Either:
    """Alternatives: a guard (or ``None``) and a body each."""

    alternatives: tuple[tuple[Expr | None, Block], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Require:
    condition: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class LetIn:
    name: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Perform:
    """An act on the outside world; ``idempotent``: the world recognises it when it comes again."""

    value: Expr
    idempotent: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Timer:
    """``start name after duration`` or ``cancel name``; ``kind`` is ``start`` or ``cancel``.

    ``duration`` ``None``: one unit.  Starting a timer that runs starts it anew.
    """

    kind: str
    name: str
    duration: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Atomic:
    """``atomic { … }``: of its effects all happen or none, also when the process crashes."""

    body: Block
    span: Span


@dataclass(frozen=True, slots=True)
class Yield:
    """What follows is a step of its own."""

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
    | Perform
    | Timer
    | Atomic
    | Yield
)
Block = tuple[Stmt, ...]

# ---- declarations -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operator:
    """A request or an indication with its named, typed arguments."""

    name: str
    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True, slots=True)
class PropertyDef:
    """``document``: the textbook's definition, or empty; ``text``: the formula as written."""

    name: str
    document: str
    text: str
    formula: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Interface:
    name: str
    requests: tuple[Operator, ...]
    indications: tuple[Operator, ...]
    properties: tuple[PropertyDef, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class OnRequest:
    op: str
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class OnReceive:
    message: str
    patterns: tuple[Pattern, ...]
    sender: Pattern


@dataclass(frozen=True, slots=True)
class OnIndication:
    """``index``: of an indexed layer, which instance it comes from."""

    layer: str
    op: str
    patterns: tuple[Pattern, ...]
    index: Pattern | None = None


@dataclass(frozen=True, slots=True)
class OnCondition:
    """``free``: names that ``received`` patterns bind existentially, with their types."""

    condition: Expr
    free: tuple[tuple[str, Type], ...]


@dataclass(frozen=True, slots=True)
class OnInit:
    pass


@dataclass(frozen=True, slots=True)
class OnTimeout:
    """``timer`` ``None``: the timer without a name, which every process has and which always runs:
    it is over at the end of each round, of each unit of time, or (asynchronous) at any time."""

    timer: str | None


@dataclass(frozen=True, slots=True)
class OnRecover:
    pass


Event = OnRequest | OnReceive | OnIndication | OnCondition | OnInit | OnTimeout | OnRecover


@dataclass(frozen=True, slots=True)
class Handler:
    """``label`` is the event as written, e.g. ``upon receive COMMIT``; ``at``: at which process."""

    label: str
    event: Event
    at: Expr | None
    when: Expr | None
    body: Block
    span: Span


@dataclass(frozen=True, slots=True)
class StateDecl:
    """``initial`` ``None``: the type's default (false, the least, the first, empty, none).
    ``stable``: it survives a crash."""

    name: str
    type: Type
    initial: Expr | None
    span: Span
    stable: bool = False


@dataclass(frozen=True, slots=True)
class InitChoice:
    """``name`` starts as any member of ``domain`` (``None``: of its type) that satisfies ``where``
    (which sees it as a local of that name)."""

    name: str
    domain: Expr | None
    where: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Role:
    """``size`` ``None``: ``n``.  The one role of a protocol without roles is called ``""``."""

    name: str
    size: Expr | None
    states: tuple[StateDecl, ...]
    choices: tuple[InitChoice, ...]
    handlers: tuple[Handler, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MessageDecl:
    name: str
    fields: tuple[tuple[str, Type], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer below: what implements it unless the check gives something else.

    ``protocol`` ``None``: no protocol, or more than one, implements it; or the interface is a
    failure detector's.  Then the check gives it, or says which detector there is.
    ``index``: the type of the indices of a family of instances, made on first use.
    """

    name: str
    protocol: Protocol | None
    span: Span
    interface: Interface | None = None
    index: Type | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: Type
    default: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Protocol:
    """``shipped``: it comes with the tool's interfaces rather than from the user's files.
    ``acts``: the type of what it, or a layer below it, performs; ``None``: it performs nothing."""

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


@dataclass(frozen=True, slots=True)
class Client:
    """``process`` makes ``requests`` in order: each an operator's name and its argument texts.

    Arguments are closed expressions; payloads of type ``Msg`` are :class:`Named`.
    """

    process: str
    op: str
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Expectation:
    """``what``: a property, ``states`` or ``trace``; ``value``: a verdict's word or a number."""

    what: str
    value: str | int
    span: Span


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class LinkRule:
    """Links from one role to another that are not like the others: ``links a -> b lossy``."""

    sender: str
    receiver: str
    kinds: tuple[str, ...]
    capacity: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class Timing:
    """``kind``: ``asynchronous``, ``synchronous``, ``partial`` or ``clocks``; ``drift``: ticks by
    which two clocks may differ; ``noise``: timeouts that may come too early before a ``partial``
    system becomes synchronous (``None``: any number)."""

    kind: str
    drift: Expr | None
    noise: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Detector:
    """``kind``: ``P``, ``S`` or ``Omega``; ``noise``: wrong words it may say before it settles
    (``None``: any number)."""

    kind: str
    eventually: bool
    noise: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Given:
    """``given layer as oracle`` (``protocol`` ``None``) or ``given layer as Q``; ``layer`` is the
    name of a layer at any depth, or of the interface that it has."""

    layer: str
    protocol: Protocol | None
    span: Span


@dataclass(frozen=True, slots=True)
class Check:
    """One question.

    ``crash``: the bound of ``faults crash <= e`` or ``None``, and ``recover`` whether crashed
    processes may come back (then the bound is of crashes, not of processes); ``omission``,
    ``byzantine``: bounds of processes; ``partitions``: how often the network may split; ``links``:
    the kinds as written, ``("perfect",)`` where none is; ``capacity``: of ``bounded k``;
    ``prove``: the properties asked, each resolved (the protocol's own, its interface's, or by name
    from a shipped interface, or made, as ``exactly_once over effects``);
    ``crash_points``: ``inside`` or ``between_handlers``; ``allow_unused``: handlers that never run
    do not make a verdict vacuous.  Properties that only ``expect`` names are in ``prove`` too.
    ``warnings``: what is possible, but can't be meant.
    """

    name: str
    protocol: Protocol
    settings: tuple[Setting, ...]
    crash: Expr | None
    links: tuple[str, ...]
    capacity: int | None
    clients: tuple[Client, ...]
    prove: tuple[PropertyDef, ...]
    expect: tuple[Expectation, ...]
    span: Span
    crash_points: str = "inside"
    allow_unused: bool = False
    recover: bool = False
    omission: Expr | None = None
    byzantine: Expr | None = None
    partitions: Expr | None = None
    link_rules: tuple[LinkRule, ...] = ()
    timing: Timing | None = None
    detector: Detector | None = None
    given: tuple[Given, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Module:
    """A file: its own protocols and checks, in order."""

    file: str
    interfaces: tuple[Interface, ...] = field(default=())
    protocols: tuple[Protocol, ...] = field(default=())
    checks: tuple[Check, ...] = field(default=())
