"""Defines the transition system: variables, actions, properties, and the language of their bodies.

Everything here is a frozen record; sums are consumed by ``match`` closed with ``assert_never``.
Structure is kept: quantifiers, comprehensions and loops stay loops, so that the size of a system
does not grow with the number of processes or messages.

Meaning (the interpreter is the definition):

* A state assigns a value to every variable.  ``init`` is executed once from the variables'
  ``initial`` values; every resolution of its choices gives an initial state.
* A transition of a state: an action, a value for each parameter taken from its domain (later
  domains may mention earlier parameters) such that ``where`` and then ``guard`` hold, and one
  resolution of every ``Choose`` of ``body``.  ``Assume(false)`` and a choice from an empty domain
  remove that execution.  ``Fault`` and any value outside its range are runtime errors.
* After ``init`` and after each action's body, ``monitor`` is executed.
* An *execution* is a sequence of states from an initial one in which each step is a transition.
* An instance of an action is *subject to fairness* when ``promised`` holds (evaluated before the
  body, with the parameters bound).  It belongs to the *constraint* that its ``fairness`` names: a
  group and the values of a key.  A constraint is *enabled* in a state when one of its instances
  that are subject to fairness has a way to go there, or meets a runtime error; a step *takes* a
  constraint when some such instance of it makes that step.  A step that leaves the state as it is
  is a step like any other.
* An execution is *fair* when each weak constraint (justice) that is enabled from some point on is
  taken infinitely often, each strong one (compassion) that is enabled infinitely often is taken
  infinitely often, and each expression of ``justice`` holds infinitely often.  An execution may
  stay in a state forever where each constraint that is enabled is taken by some step from the state
  to itself, and all of ``justice`` holds: such a state is an *admissible end*.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from checker.diagnostics import Span
from checker.model.mark_kinds import FLIP as FLIP
from checker.model.mark_kinds import STOPS as STOPS
from checker.model.mark_kinds import WORLD as WORLD
from checker.model.mark_kinds import MarkKind as MarkKind
from checker.model.node import Node, value_class
from checker.model.types import BOOL, Type, Value
from checker.model.views import View

if TYPE_CHECKING:
    from checker.diagnostics.origin import Origin
    from checker.model.reading import Reading


class SourceLocation(Struct, frozen=True):
    """A position in a source file; lines and columns count from 1.

    ``called``: of what stands in a definition or a procedure, where that is called.
    """

    file: str
    line: int
    column: int
    called: SourceLocation | None = None

    @property
    def caller(self) -> SourceLocation:
        """Where the outermost call that leads here stands; itself outside of definitions."""
        return self if self.called is None else self.called.caller

    @property
    def calls(self) -> str:
        """Where the calls stand that lead here, innermost first, in words; empty without any."""
        found, call = [], self.called
        while call is not None:
            found.append(f"{call.line}:{call.column}")
            call = call.called
        return f" (reached by the call at line {', '.join(found)})" if found else ""


class Op(StrEnum):
    """Pure operations of :class:`Apply`.

    Integer operations compute in unbounded integers (interval arithmetic gives the result's
    ``IntT``); a range is checked where an integer is stored: by ``Assign`` and ``Declare``, and by
    any construction of a value that holds it (``TUPLE``, ``SOME``, ``SET``, ``INSERT``, ``SEQ``,
    ``APPEND``, ``CONCAT``, ``BAG_ADD``, ``FILL``, ``Make``, ``Comprehension``, ``MapOf``).  The
    types of integers are the only ones that may differ between an operand and where it is held,
    and between the two sides of ``EQ``, of ``IN`` and of ``PREFIX``; and processes of a role (an
    ``AtomT`` with another ``first``) are the same values as the processes of the whole when they
    are used as a key.
    ``DIV`` and ``MOD`` are floor division and remainder; a zero divisor is a runtime error.
    """

    NOT = "not"
    AND = "and"  # n-ary, left to right, lazy
    OR = "or"  # n-ary, left to right, lazy
    ITE = "ite"  # condition, then, else; lazy
    EQ = "=="
    LT = "<"
    LE = "<="
    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "div"
    MOD = "mod"
    TUPLE = "tuple"
    SOME = "some"
    IS_SOME = "is_some"
    GET = "get"  # of an option; none is a fault
    SET = "set"  # the set of the arguments
    IN = "in"  # item, set | seq | bag
    UNION = "union"
    INTERSECT = "intersect"
    MINUS = "minus"
    SUBSET = "subset"  # a subset of, or equal to, b
    INSERT = "insert"  # set, item
    REMOVE = "remove"  # set, item (absent: unchanged)
    CARD = "card"  # of a set
    MIN = "min"  # of a set of integers; empty is a fault
    MAX = "max"
    SEQ = "seq"  # the sequence of the arguments
    LEN = "len"  # of a seq or bag
    HEAD = "head"  # empty is a fault
    LAST = "last"  # empty is a fault
    TAIL = "tail"  # empty is a fault
    APPEND = "append"  # seq, item; beyond the capacity of the RESULT type is a fault
    CONCAT = "concat"  # seq, seq
    DELETE_AT = "delete_at"  # seq, index counted from 0
    TAKE = "take"  # seq, how many of the first items; more than there are is a fault
    DROP = "drop"  # seq, how many of the first items to leave out; more than there are is a fault
    INDEX_OF = "index"  # seq, item: where it is first, counted from 0; absent is a fault
    PREFIX = "prefix"  # a seq that another begins with, or is equal to
    BAG_ADD = "bag_add"  # bag, item; beyond the capacity is a fault
    BAG_REMOVE = "bag_remove"  # bag, item: one copy (absent: unchanged)
    BAG_COUNT = "bag_count"  # bag, item
    RANK = "rank"  # of an atom: its position counted from 1
    FILL = "fill"  # the map (see the result type) whose every entry is the argument


@value_class
class Const(Node):
    type: Type
    value: Value


@value_class
class Local(Node):
    """A parameter of the action, a name bound by an enclosing expression, or a declared local."""

    type: Type
    name: str


@value_class
class Read(Node):
    """The current value of a state variable."""

    type: Type
    variable: str


@value_class
class Index(Node):
    """``base[key]`` of a map (key of the map's key type), or of a seq (an integer from 0).

    An index outside the map's keys or the sequence's length is a fault.
    """

    type: Type
    base: Expr
    key: Expr
    place: SourceLocation | None = None


@value_class
class Item(Node):
    """Component ``position`` of a tuple or record."""

    type: Type
    base: Expr
    position: int


@value_class
class Apply(Node):
    type: Type
    op: Op
    args: tuple[Expr, ...]
    place: SourceLocation | None = None


@value_class
class Make(Node):
    """A value of a variant: case number ``case`` with its fields in order."""

    type: Type
    case: int
    args: tuple[Expr, ...]


@value_class
class IsCase(Node):
    """Whether a variant's value was made by case number ``case``."""

    base: Expr
    case: int
    type: Type = BOOL


@value_class
class CaseField(Node):
    """Field ``position`` of a variant's value that is known to be of case ``case``."""

    type: Type
    base: Expr
    case: int
    position: int


@value_class
class Let(Node):
    type: Type
    name: str
    value: Expr
    body: Expr


class Quantifier(StrEnum):
    FORALL = "forall"
    EXISTS = "exists"
    COUNT = "count"  # how many members of the domain satisfy the body
    SUM = "sum"  # of the body, a number, over the members of the domain


@value_class
class Quant(Node):
    """``kind name in domain: body``; ranges over each copy of the elements of a seq or bag."""

    kind: Quantifier
    name: str
    domain: Domain
    body: Expr
    type: Type


@value_class
class Comprehension(Node):
    """``{ item for name in domain when where }``, or ``[ … ]`` in the order of the domain: ``type``
    tells.

    It is a set, a bag with one copy of each item (a large set), or a sequence.  More items than the
    capacity of the type are a fault.
    """

    type: Type
    name: str
    domain: Domain
    where: Expr
    item: Expr
    place: SourceLocation | None = None


@value_class
class MapOf(Node):
    """The map that takes every key ``name`` of the result type's key type to ``body``."""

    type: Type
    name: str
    body: Expr


Expr = (
    Const
    | Local
    | Read
    | Index
    | Item
    | Apply
    | Make
    | IsCase
    | CaseField
    | Let
    | Quant
    | Comprehension
    | MapOf
)


@value_class
class Universe(Node):
    """All values of ``item``, in ascending rank."""

    item: Type


@value_class
class Members(Node):
    """The members of a set, or the elements of a seq (in order) or bag (each element once)."""

    of: Expr
    item: Type


@value_class
class Subsets(Node):
    """All subsets of the set ``of``; ``item`` is the type of those subsets."""

    of: Expr
    item: Type


Domain = Universe | Members | Subsets


@value_class
class Key(Node):
    """A step of a path: the entry of a map with keys ``key_type``, or of a seq (``None``)."""

    key: Expr
    key_type: Type | None = None


@value_class
class Pos(Node):
    """A step of a path: a component of a tuple or record."""

    position: int


@value_class
class Target(Node):
    """An assignable place: a state variable or declared local, and a path into it."""

    type: Type
    name: str
    is_state: bool
    path: tuple[Key | Pos, ...] = ()


@value_class
class Assign(Node):
    """Stores ``value``; a value that the target's type does not hold is a fault."""

    target: Target
    value: Expr
    place: SourceLocation | None = None


@value_class
class Declare(Node):
    """Introduces (or re-initialises) a mutable local; visible until the action ends."""

    name: str
    type: Type
    value: Expr


@value_class
class If(Node):
    condition: Expr
    then: Block
    otherwise: Block = ()


@value_class
class For(Node):
    """Executes ``body`` for each member of ``domain``, evaluated once before the loop, in order.

    ``any_order``: the order makes no difference, so an engine may take any.
    """

    name: str
    domain: Domain
    body: Block
    any_order: bool = False


@value_class
class While(Node):
    """Executes ``body`` while ``condition`` holds.

    An iteration that begins as an earlier one did (the loop could go on forever), and more than
    ``limit`` iterations, are a runtime error.  ``grows``: the guessed capacity that ``limit`` comes
    from.  Such a loop continues by choice: an execution that returns to where an earlier iteration
    began (the state, and the loop-carried locals: :func:`checker.model.tree.loop_carried`) has
    gained nothing by it, so it is removed.
    """

    condition: Expr
    body: Block
    limit: int
    place: SourceLocation | None = None
    grows: str | None = None


@value_class
class Choose(Node):
    """``name`` is any member of ``domain`` with ``where``: by chance where it has a ``weight``;
    ``place``: then, of the coin."""

    name: str
    domain: Domain
    where: Expr
    weight: Expr | None = None
    place: SourceLocation | None = None


@value_class
class Assume(Node):
    """Removes this execution of the action unless ``condition`` holds."""

    condition: Expr


@value_class
class Fault(Node):
    """A runtime error; ``grows``: the guessed capacity that is too small."""

    code: str
    message: str
    place: SourceLocation | None = None
    grows: str | None = None


@value_class
class Emit(Node):
    """An effect, still to be lowered by a pass: performs the :class:`EffectDef` of that name.

    ``atomic``: in place also where effects are steps; ``glued``: no crash falls right before it.
    """

    effect: str
    args: tuple[Expr, ...]
    place: SourceLocation | None = None
    atomic: bool = False
    glued: bool = False


@value_class
class Mark(Node):
    """An event that a trace shows: entry ``mark`` of ``TransitionSystem.marks`` with arguments.

    It changes no state.  Interpreters collect marks; every engine reports which marks were reached.
    """

    mark: int
    args: tuple[Expr, ...] = ()


Stmt = Assign | Declare | If | For | While | Choose | Assume | Fault | Emit | Mark
Block = tuple[Stmt, ...]


class VariableKind(StrEnum):
    LOCAL = "local"  # one entry for each process of a role: a map from processes
    SHARED = "shared"
    LINK = "link"  # messages in flight
    WORLD = "world"  # crashes, client positions, effects still to come
    HISTORY = "history"  # only where a property reads it
    GHOST = "ghost"  # the same, as the spec declares it; nothing but ghosts depends on it


class Variable(Struct, frozen=True):
    """A state variable.  ``title`` is its name in traces, e.g. ``seen`` for ``rb.seen``."""

    name: str
    type: Type
    initial: Value
    kind: VariableKind
    title: str = ""


@value_class
class Param(Node):
    name: str
    domain: Domain
    where: Expr


class ActionKind(StrEnum):
    STEP = "step"  # a process takes a condition
    REQUEST = "request"  # a client's next request
    RECEIVE = "receive"  # a link delivers
    LOSE = "lose"  # a link loses
    CRASH = "crash"
    EFFECT = "effect"  # one effect of a handler, where effects are steps of their own
    RECOVER = "recover"
    TIMEOUT = "timeout"
    DETECT = "detect"  # a failure detector, or an oracle layer, makes an output
    FORGE = "forge"  # a process receives what a Byzantine one has fabricated
    WORLD = "world"  # no process's step: partitions, rounds, clocks, detectors that settle


class FairnessKind(StrEnum):
    WEAK = "weak"
    STRONG = "strong"


class Fairness(Struct, frozen=True):
    """The constraint to which the instances of an action that are subject to fairness belong.

    ``key`` mentions the action's parameters and the state before the step; constraints with the
    same ``group`` and key are one, whichever the action (their kinds must agree).  ``text`` words
    the constraint, with ``{0}``, ``{1}`` … for the rendered values of the key, e.g.
    ``{0}, while it is correct, takes a step whenever it can go on doing so``.
    """

    group: str
    key: tuple[Expr, ...] = ()
    kind: FairnessKind = FairnessKind.WEAK
    text: str = ""


class Condition(Struct, frozen=True):
    """A conjunct of an action's guard as its spec has it: ``text``, which is true where ``holds``.

    ``terms``: the parts of it whose values explain why it is false, each with its text; ``span``:
    its source range.
    """

    text: str
    holds: Expr
    terms: tuple[tuple[str, Expr], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Action:
    """An action (see the module's docstring) with a unique ``name``.
    ``fairness`` ``None``: each instance that is subject to fairness is a weak constraint of its own
    (group: the action's name, key: its parameters); see :func:`fairness_of`.  ``conditions``: what
    the spec demands, in its words; no engine uses it.  ``actor``: whose step it is, if any's.
    """

    name: str
    kind: ActionKind
    params: tuple[Param, ...]
    guard: Expr
    body: Block
    promised: Expr
    place: SourceLocation | None = None
    fairness: Fairness | None = None
    conditions: tuple[Condition, ...] = field(default=(), compare=False, repr=False)
    actor: Expr | None = field(default=None, compare=False, repr=False)


def fairness_of(action: Action) -> Fairness:
    """Returns the constraint of an action's instances that are subject to fairness."""
    if action.fairness is not None:
        return action.fairness
    key = tuple(Local(domain_item(p.domain), p.name) for p in action.params)
    return Fairness(action.name, key)


# ---- properties -------------------------------------------------------------------------------


class PropertyKind(StrEnum):
    INVARIANT = "invariant"  # violated by any reachable state in which ``bad`` holds
    LIVENESS = "liveness"  # violated by any fair execution that ``automaton`` accepts


class Holds(Struct, frozen=True):
    """Proposition number ``index`` of the property is true now."""

    index: int


class Connective(Struct, frozen=True):
    """``op`` is ``not`` (one part), ``and`` or ``or``."""

    op: str
    parts: tuple[Formula, ...]


class Modal(Struct, frozen=True):
    """``op`` is ``always`` or ``eventually``, from now on."""

    op: str
    part: Formula


Formula = Holds | Connective | Modal
"""Linear temporal logic (Pnueli 1977) over a property's propositions."""


class AutomatonEdge(Struct, frozen=True):
    """Taken by reading a state in which every proposition of ``yes`` holds and none of ``no``."""

    source: int
    target: int
    yes: frozenset[int]
    no: frozenset[int]


class Automaton(Struct, frozen=True):
    """A generalised Büchi automaton; state 0 is initial and has read nothing yet.

    An execution s0 s1 … is accepted when some path q0 = 0, q1, q2 …, with an edge from qi to qi+1
    that reads si, visits each set of ``accepting`` infinitely often.
    """

    states: int
    edges: tuple[AutomatonEdge, ...]
    accepting: tuple[frozenset[int], ...]


class Given(Struct, frozen=True):
    """A property's premise about whole executions: ``automaton``, over the property's propositions,
    accepts the executions that satisfy it for the parameters; ``text``: in words."""

    automaton: Automaton
    text: str


class Way(Struct, frozen=True):
    """One of several alternatives of a goal that must hold eventually: ``text``, where ``holds``,
    for some values of the names around it; ``besides``: the others, in words.  ``wanted``: it is
    more than a negation."""

    holds: Expr
    text: str
    besides: tuple[str, ...]
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class Property:
    """A property to check.  ``premise``: vacuous unless some explored state satisfies it.

    Of ``LIVENESS``: for every assignment of ``params`` every fair execution must satisfy
    ``formula``; ``automaton`` accepts the violations.  ``propositions`` mention the state and the
    parameters; ``bad`` is not used.  ``given``: vacuous unless some fair execution satisfies it for
    some assignment; ``ways``: those of its goals.  ``reading``: its wording; no engine uses it.
    ``part_of``: the property that the check names, where this is its safety or its liveness part.
    """

    name: str
    kind: PropertyKind
    bad: Expr
    premise: Expr
    definition: str
    assumptions: tuple[str, ...] = ()
    place: SourceLocation | None = None
    params: tuple[Param, ...] = ()
    propositions: tuple[Expr, ...] = ()
    formula: Formula | None = None
    automaton: Automaton | None = None
    given: Given | None = None
    ways: tuple[Way, ...] = ()
    reading: Reading | None = field(default=None, compare=False, repr=False)
    part_of: str = ""
    origin: Origin | None = field(default=None, compare=False, repr=False)

    @property
    def asked(self) -> str:
        """The name by which the check asks for it."""
        return self.part_of or self.name

    @property
    def is_bound(self) -> bool:
        """Whether it only says that the bound ``definition`` is never exceeded."""
        return self.name.startswith(BEYOND)


class Justice(Struct, frozen=True):
    """``holds`` is true infinitely often in every admitted execution; ``text``: in words."""

    holds: Expr
    text: str


class MarkInfo(Struct, frozen=True):
    """The meaning of a mark; ``names`` and ``types`` are of its arguments.

    ``required``: never reached means vacuous; ``returns``: by which indication a request returns;
    ``family``: the text for all instances of a family of layers (empty: ``text``).
    """

    kind: MarkKind
    text: str
    names: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    required: bool = False
    place: SourceLocation | None = None
    returns: str = ""
    family: str = ""


class EffectKind(StrEnum):
    SEND = "send"  # args: receivers (a set of processes), message
    STORE = "store"  # args: the value: a write to stable storage, or to shared state
    ASSIGN = "assign"  # args: the value: no effect, but read by properties after a crash
    TIMER = "timer"  # no effect either: a timer is started or cancelled
    GHOST = "ghost"  # no effect either: ghost code, which belongs to the effect before it
    VISIBLE = "visible"  # a delivery to the application: visible to properties


class EffectDef(Struct, frozen=True):
    """The definition of an effect.  The first parameter of every effect is the acting process.

    For ``SEND`` the second parameter is the set of receivers, and ``body`` sends to all of them.
    """

    name: str
    kind: EffectKind
    params: tuple[tuple[str, Type], ...]
    body: Block


class TransitionSystem(Struct, frozen=True):
    """The complete model of one check: finite, closed, verified."""

    name: str
    processes: tuple[str, ...]
    variables: tuple[Variable, ...]
    init: Block
    actions: tuple[Action, ...]
    monitor: Block
    properties: tuple[Property, ...]
    marks: tuple[MarkInfo, ...]
    justice: tuple[Justice, ...] = ()
    view: View | None = None

    def variable(self, name: str) -> Variable:
        """Returns the variable called ``name``; raises ``KeyError`` where there is none."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise KeyError(name)

    def parts_of(self, name: str) -> tuple[Property, ...]:
        """Returns what the check asks for as ``name``, the safety part first; perhaps nothing."""
        return tuple(prop for prop in self.properties if prop.asked == name)

    def violated_part(self, name: str, *, lasso: bool) -> Property | None:
        """Returns the part of ``name`` that a lasso, or else a finite run, violates."""
        kinds = (PropertyKind.LIVENESS, PropertyKind.INVARIANT)
        parts = self.parts_of(name)
        fitting = [prop for prop in parts if prop.kind is kinds[0 if lasso else 1]]
        return next(iter(fitting or parts), None)

    @property
    def asked_properties(self) -> tuple[Property, ...]:
        """The properties that the check asks for: all but those about its bounds."""
        return tuple(prop for prop in self.properties if not prop.is_bound)

    def open_properties(self, violated: Collection[str]) -> tuple[Property, ...]:
        """Returns those of ``asked_properties`` of which no part is among ``violated``."""
        decided = {prop.asked for prop in self.properties if prop.name in violated}
        return tuple(prop for prop in self.asked_properties if prop.asked not in decided)


BEYOND = "@beyond "  # what the names of properties that are bounds begin with
CAUGHT_UP = ", after what was still to come"
"""The end of the name of an action in which the copies that its process still has to send leave
without events."""

CRASHING = ", crashing inside"
"""Suffix of the name of the variant of an action whose process crashes inside it."""

WHILE_DOWN = "lose while down"
"""Prefix of the names of losses while an end is down, which no fairness assumption excludes, and
which a crash explains."""

PAUSING = ", pausing inside"
"""Suffix of the name of the variant of an action whose process pauses inside it."""

AWAITED = ", after the await at "
"""What precedes the place in the name of an action by which a process goes on behind ``await``."""

TRUE = Const(BOOL, True)
FALSE = Const(BOOL, False)


def domain_item(domain: Domain) -> Type:
    """Returns the type of the members of ``domain``."""
    match domain:
        case Universe(item) | Members(item=item) | Subsets(item=item):
            return item
        case _:
            assert_never(domain)


def domain_source(domain: Domain) -> Expr | None:
    """Returns the expression that a domain evaluates, if any."""
    return None if isinstance(domain, Universe) else domain.of
