"""Defines typed expressions: every one has a ``type`` and a ``span``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax.typed_types import Pattern, Type

if TYPE_CHECKING:
    from checker.language.syntax.typed_code import Protocol


class Literal(Struct, frozen=True):
    """``value``: a bool, an int, or the index of an enum's label."""

    type: Type
    value: bool | int
    span: Span


class Nothing(Struct, frozen=True):
    """``none``; ``type`` is an :class:`Option`."""

    type: Type
    span: Span


class Local(Struct, frozen=True):
    """A name bound by a pattern, a quantifier, ``let``, ``choose`` or ``for``."""

    type: Type
    name: str
    span: Span


class Param(Struct, frozen=True):
    """``n``, ``f`` or a parameter of the protocol."""

    type: Type
    name: str
    span: Span


class Self(Struct, frozen=True):
    type: Type
    span: Span


class Named(Struct, frozen=True):
    """A process written by its name, such as ``p1`` (only in checks, properties, parameters)."""

    type: Type
    name: str
    span: Span


NOW, CLOCKS = "now", "@clocks"
"""What a process calls its clock, and in the place of a role: that of every process."""


class StateRef(Struct, frozen=True):
    """A state variable; ``role`` ``None``: shared state; ``owner`` ``None``: self's.

    The clock of a process is read by one whose role is :data:`CLOCKS`."""

    type: Type
    name: str
    role: str | None
    owner: Expr | None
    span: Span
    ghost: bool = False


class Processes(Struct, frozen=True):
    """All members of a role (``None``: of every role), a set of processes."""

    type: Type
    role: str | None
    span: Span


class All(Struct, frozen=True):
    """Every value of ``item``, as a set: ``bool``, the name of a type."""

    type: Type
    item: Type
    span: Span


class Range(Struct, frozen=True):
    """The set of integers ``lo..hi``."""

    type: Type
    lo: Expr
    hi: Expr
    span: Span


class Received(Struct, frozen=True):
    """``received(M(...))``: the distinct senders of matching messages; ``owner`` ``None``: self.

    Names that were free in the pattern are bound by the handler (see :class:`OnCondition`) and
    appear here as ``Equals(Local)``.
    """

    type: Type
    message: str
    patterns: tuple[Pattern, ...]
    owner: Expr | None
    span: Span


class Construct(Struct, frozen=True):
    """One of the protocol's own messages."""

    type: Type
    message: str
    args: tuple[Expr, ...]
    span: Span


class Display(Struct, frozen=True):
    """A tuple, record, set, seq or bag display; ``type`` tells which."""

    type: Type
    items: tuple[Expr, ...]
    span: Span


class Part(Struct, frozen=True):
    """Component of a tuple or record."""

    type: Type
    base: Expr
    position: int
    span: Span


class Entry(Struct, frozen=True):
    """``base[key]`` of a map, or of a seq (from 0)."""

    type: Type
    base: Expr
    key: Expr
    span: Span


class Operation(Struct, frozen=True):
    """``op`` applied to ``args``, by the types of the arguments:

    ``not and or => == != < <= > >= + - * div mod neg`` (``+ -`` also: set or bag and item,
    seq ``++`` seq, seq ``+`` item), ``in`` ``subset`` ``prefix`` ``union`` ``intersect`` ``minus``,
    ``size`` (of set, seq, bag, or a ``Received``), ``if`` (condition, then, else), and the
    functions ``some get is_some head last tail take drop index subsets min max sum rank count``,
    and ``slice`` (seq, first and last position).
    ``> >= != not-in`` are kept as written; lowering rewrites them.
    """

    type: Type
    op: str
    args: tuple[Expr, ...]
    span: Span


class Binder(Struct, frozen=True):
    """``pattern in domain when where``; names of the pattern are visible to the right."""

    pattern: Pattern
    domain: Expr
    where: Expr | None


class Quantified(Struct, frozen=True):
    """``kind`` is ``forall`` or ``exists``."""

    type: Type
    kind: str
    binders: tuple[Binder, ...]
    body: Expr
    span: Span


class Comprehension(Struct, frozen=True):
    """``{ item for binders }``, a set, or ``[ item for binder ]``, a seq: ``type`` tells."""

    type: Type
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


class Sum(Struct, frozen=True):
    """``sum(item for binders)``: a number."""

    type: Type
    item: Expr
    binders: tuple[Binder, ...]
    span: Span


class MapDisplay(Struct, frozen=True):
    """``{ k -> value for k in K }``; ``key`` is the name bound; ``K`` is all of the key type."""

    type: Type
    key: str
    value: Expr
    span: Span


class Fill(Struct, frozen=True):
    """One value for every entry of a map (``state v : map<K, V> = e``); ``type`` is the map's."""

    type: Type
    value: Expr
    span: Span


class History(Struct, frozen=True):
    """``delivered(p)``, ``broadcast(p)``, ``decided(p)``, …: the seq of these events at ``owner``.

    ``kind`` is ``request`` or ``indication`` of the interface, ``op`` its name there.  An entry is
    the tuple of the arguments, or the only argument itself.
    """

    type: Type
    kind: str
    op: str
    owner: Expr
    span: Span


class HistoryOrder(Struct, frozen=True):
    """``before(p, x, y)``: at ``owner`` the first ``x`` came before the first ``y`` (both came).

    ``broadcast_before(p, x, y)`` is the same with kind ``request``.  ``named``: the history is
    written out, ``before(delivered(p), x, y)``.
    """

    type: Type
    kind: str
    op: str
    owner: Expr
    first: Expr
    second: Expr
    span: Span
    named: bool = False


class Repeated(Struct, frozen=True):
    """``repeated(p, x)``: ``x`` was indicated to ``owner``, or with kind ``request`` requested by
    it, more than once.  ``named``: the history is written out, ``repeated(delivered(p), x)``."""

    type: Type
    kind: str
    op: str
    owner: Expr
    item: Expr
    span: Span
    named: bool = False


class Causes(Struct, frozen=True):
    """``causes(x, y)``: the broadcast ``x`` is in the causal past of the broadcast ``y`` (HT94).

    Both are pairs of broadcaster and payload.
    """

    type: Type
    first: Expr
    second: Expr
    span: Span


class Correct(Struct, frozen=True):
    """``correct(p)`` (kind ``correct``: in this execution), ``crashed(p)`` (by now), or
    ``faulty(p)``: by now it has crashed, or it is Byzantine, or has omitted to send or receive
    something."""

    type: Type
    kind: str
    process: Expr
    span: Span


class Acts(Struct, frozen=True):
    """``performed``: the acts in order, with repetitions; ``effects`` (kind ``effects``): the same
    without repetitions of idempotent acts.  ``type`` is a :class:`Seq`."""

    type: Type
    kind: str
    span: Span


class RepeatedAct(Struct, frozen=True):
    """``repeated(performed, x)`` or ``repeated(effects, x)``: ``x`` occurs more than once."""

    type: Type
    kind: str
    item: Expr
    span: Span


class Opinion(Struct, frozen=True):
    """``suspected(p)``: the processes that the detector at ``owner`` suspects now, or
    ``trusted(p)`` (kind ``trusted``): the process that it trusts now, or none.  ``type`` is a
    set."""

    type: Type
    kind: str
    owner: Expr
    span: Span


class Recursive:
    """A definition that calls itself: its parameters and its body, in which such calls remain.

    It is no node, so that what goes through a tree comes to an end.
    """

    def __init__(self, name: str, params: tuple[tuple[str, Type], ...]) -> None:
        self.name = name
        self.params = params
        self.body: Expr | None = None


class Again(Struct, frozen=True):
    """A call of a definition inside of itself, which is written out when a check is instantiated;
    ``owner``: as in :class:`StateRef`, of all that the definition reads."""

    type: Type
    definition: Recursive
    args: tuple[Expr, ...]
    owner: Expr | None
    span: Span


class SequentialObject:
    """A sequential specification with the types of its user: ``protocol`` handles each operation as
    a request, and indicates its result under the same name.

    It is no node, so that what goes through a formula does not go through its code.
    """

    def __init__(self, name: str, protocol: Protocol, span: Span) -> None:
        self.name = name
        self.protocol = protocol
        self.span = span


class Consistent(Struct, frozen=True):
    """The operations that clients have called, and seen return, up to now, are those of a correct
    ``object``, in the sense of ``kind``: ``linearizable``, ``sequentially_consistent``, ``regular``
    or ``safe``.  ``asks`` ``returned``: whether any operation has returned, which is its
    premise."""

    type: Type
    kind: str
    object: SequentialObject
    span: Span
    asks: str = "holds"


class Temporal(Struct, frozen=True):
    """``always e``, ``eventually e`` (one argument), ``e ~> e`` (two); only in properties, where
    they nest, and occur under Boolean operators and under quantifiers over rigid domains.
    ``initially e``, of a state predicate, stands inside of no other."""

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
    | Sum
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
    | Again
    | Consistent
    | Temporal
)


def changes(node: object) -> TypeGuard[Expr]:
    """Tells whether ``node`` itself, apart from its parts, may differ between two states of an
    execution."""
    match node:
        case StateRef() | Received() | History() | HistoryOrder() | Repeated() | Causes():
            return True
        case Acts() | RepeatedAct() | Opinion() | Consistent():
            return True
        case Correct(kind=kind):
            return kind != "correct"
        case _:
            return False
