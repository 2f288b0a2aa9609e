"""Holds the system under construction: processes, layers, variables, marks, drafts of actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from checker.diagnostics import Span
from checker.instantiate.protocol.sizes import evaluate_size, refuse
from checker.instantiate.protocol.type_sizes import fitting, has_bag, small
from checker.instantiate.sizes import Sizes
from checker.instantiate.variable_names import BYZANTINE, IMMUNE
from checker.language.link_kinds import LinkKind
from checker.language.syntax import typed
from checker.model import ir
from checker.model.build import conj, disj, entry, equal, fresh, member, negation, size
from checker.model.ir import (
    FALSE,
    TRUE,
    Block,
    Expr,
    MarkInfo,
    MarkKind,
    SourceLocation,
    VariableKind,
)
from checker.model.reading import Specification
from checker.model.types import (
    BOOL,
    AtomT,
    BagT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
)
from checker.records import replace

if TYPE_CHECKING:
    from checker.instantiate.faults.disks import Disk

# Auxiliary variables: no name of a spec starts with @.
CRASHED, CLIENT, NETWORK = "@crashed", "@client", "@network"
PENDING, INTERRUPTED = "@pending", "@interrupted"
CRASHES, OMITTING = "@crashes", "@omitting"
POWER_FAILURES, WIPES = "@power", "@wipes"
SPLIT, SPLITS, WAITING = "@split", "@splits", "@waiting"
CUT, CUTS = "@cut", "@cuts"
RESETS = "@resets"
ACTIVITY, UNDER_WAY = "@activity ", "@under_way "
"""What the names begin with of variables that hold what is left of handlers behind ``await``."""
ATOMIC = "atomic"
"""The effect that precedes those which happen together or not at all."""
VARYING = "var "
"""What the names of locals begin with that statements of the spec assign."""
REQUEST = "request."
"""Prefix of the names of the effects that record requests of clients."""


ORACLE = "oracle"
"""Marks the instance of a layer that is the most general automaton of its interface."""


class Instance(Struct, frozen=True):
    """One protocol in the stack; ``path`` is empty for the top, e.g. ``rb.beb.`` below.

    ``above`` is the instance that uses it, ``payload`` the meaning of ``Msg`` in it, ``messages``
    its own messages (``None`` where it has none).  ``index`` is its index in a family.  ``oracle``:
    it is no protocol but an oracle: a failure detector of this kind, or the most general automaton
    of the interface (``ORACLE``).
    """

    path: str
    protocol: typed.Protocol
    above: Instance | None
    name_above: str
    payload: Type
    messages: VariantT | None
    index: ir.Const | None = None
    oracle: str = ""

    @property
    def family(self) -> str:
        """Returns the path of all instances of its family, e.g. ``cons[_].beb.``."""
        if self.above is None:
            return ""
        return f"{self.above.family}{self.name_above}{'[_]' * (self.index is not None)}."


class Draft(Struct):
    """An action whose effects are still :class:`ir.Emit`; ``process`` is the acting process, if
    any."""

    action: ir.Action
    process: Expr | None

    def lowered(self, body: ir.Block) -> ir.Action:
        """Returns the action with its final ``body``, which says whose step it is."""
        return replace(self.action, body=body, actor=self.process)


class Link(Struct, frozen=True):
    """The links between some pairs of processes, which are of one kind (or of several combined).

    ``variable``: the messages in flight on them; ``where``: the pairs (sets of senders and of
    receivers), or any pair but those of ``others``; ``name`` is empty where all links are of one
    kind.  ``within``: only processes that stop together, or only others.
    """

    name: str
    variable: str
    kind: LinkKind
    capacity: int | None
    pairs: tuple[tuple[frozenset[int], frozenset[int]], ...] = ()
    others: tuple[tuple[frozenset[int], frozenset[int]], ...] = ()
    place: SourceLocation | None = None
    within: bool | None = None


class Later(Struct, frozen=True):
    """What is left of a handler behind a ``yield`` or an ``await``.

    ``rest``, and the names that it uses, saved in ``variable`` (where there are any); behind
    ``await`` it waits for ``condition``, and has no ``label``.
    """

    label: int | None
    instance: Instance
    handler: typed.Handler
    rest: typed.Block
    place: SourceLocation
    names: tuple[str, ...]
    variable: str | None
    condition: typed.Expr | None = None


class Observed(NamedTuple):
    """An observation of operations: its first value after one has returned, and the object."""

    first_returned: int
    of: Specification


class World(Struct):
    """The state of an instantiation.

    ``stored``: the variables whose assignments are effects, since a crash can lose them; ``seen``:
    the volatile ones that a property may read of a process that has crashed; ``coverage``: whether
    branches and crash points are marked; ``bounds``: those of the check, as invariants.
    ``pauses_inside``: in what has been drafted a process may pause inside a handler; ``whole``: it
    is known that no process can.  ``observed``: for the variable of each observation of operations
    what it is about; ``followed``: the variables in which properties follow prefixes of executions;
    ``monitor``: what assigns these in each state.
    """

    check: typed.Check
    sizes: Sizes
    capacities: Mapping[str, int]
    fine: bool
    proc: AtomT
    instances: list[Instance] = field(default_factory=list)
    variables: dict[str, ir.Variable] = field(default_factory=dict)
    marks: list[MarkInfo] = field(default_factory=list)
    effects: dict[str, ir.EffectDef] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    init: list[ir.Stmt] = field(default_factory=list)
    starts: list[tuple[Expr, Block]] = field(default_factory=list)
    received: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    read_by_properties: set[str] = field(default_factory=set)
    grown: dict[str, int] = field(default_factory=dict)
    uses_shared: bool = False
    network: Type | None = None
    links: list[Link] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    coverage: bool = False
    observed: dict[str, Observed] = field(default_factory=dict)
    later: dict[int, Later] = field(default_factory=dict)
    activities: dict[tuple[str, Span], Later] = field(default_factory=dict)
    bounds: tuple[ir.Property, ...] = ()
    ghost_code: list[ir.EffectDef] = field(default_factory=list)
    monitor: list[ir.Stmt] = field(default_factory=list)
    followed: set[str] = field(default_factory=set)
    disks: list[Disk] = field(default_factory=list)
    pauses_inside: bool = False
    whole: bool = False

    # ---- names and places ---------------------------------------------------------------------

    def place(self, span: Span) -> SourceLocation:
        called = None if span.called is None else self.place(span.called)
        return SourceLocation(span.file, span.line, span.column, called)

    def mark(self, info: MarkInfo) -> int:
        """Returns the index of ``info``, added where it is new."""
        if info in self.marks:
            return self.marks.index(info)
        self.marks.append(info)
        return len(self.marks) - 1

    def add(self, name: str, type_: Type, initial: Value, kind: VariableKind, title: str) -> Expr:
        """Declares a variable and returns the expression that reads it."""
        assert name not in self.variables, f"{name} is declared twice"
        self.variables[name] = ir.Variable(name, type_, initial, kind, title)
        return self.read(name)

    def read(self, name: str) -> Expr:
        return ir.Read(self.variables[name].type, name)

    def capacity(self, name: str, guess: int) -> int:
        """Returns the present value of a guessed capacity."""
        size = self.capacities.get(name, guess)
        self.grown[name] = size
        return size

    # ---- processes ----------------------------------------------------------------------------

    def role_type(self, role: str | None) -> AtomT:
        """Returns the type of the processes of a role, as keys of its variables."""
        size = self.sizes.role(role)
        if size.size == len(self.sizes.processes):
            return self.proc
        labels = self.sizes.processes[size.first : size.first + size.size]
        return AtomT(f"{size.name}", labels, size.first)

    def processes(self, role: str | None) -> frozenset[int]:
        size = self.sizes.role(role)
        return frozenset(range(size.first, size.first + size.size))

    def bound(self, expr: typed.Expr | None) -> int:
        """Returns the bound of a kind of faults."""
        return 0 if expr is None else evaluate_size(expr, self.sizes.values)

    @property
    def may_split(self) -> bool:
        """Tells whether the network may partition."""
        bound = self.check.partitions
        return self.check.splits and (bound is None or self.bound(bound) > 0)

    @property
    def may_pause(self) -> bool:
        """Tells whether a process may pause."""
        bound = self.check.pauses
        return self.check.pausing and (bound is None or self.bound(bound) > 0)

    @property
    def queues(self) -> bool:
        """Tells whether the effects of a handler may wait in a queue of its process."""
        return self.fine or self.may_pause_inside

    @property
    def may_pause_inside(self) -> bool:
        """Tells whether a process may pause inside a handler, as far as is known."""
        return self.may_pause and not self.whole

    @property
    def crash_bound(self) -> int:
        return self.bound(self.check.crash)

    @property
    def kill_bound(self) -> int:
        """Returns how many stops leave the disk, and what is still to be written, as they are."""
        others = self.check.power is not None or self.check.wipe is not None
        return self.bound(self.check.kill) if others else self.crash_bound

    @property
    def may_lose_power(self) -> bool:
        """Tells whether the power of a process may fail."""
        return self.bound(self.check.power) > 0

    @property
    def recovers(self) -> bool:
        """Tells whether a crashed process may recover."""
        return self.check.recover and self.crash_bound > 0

    def alive(self, process: Expr) -> Expr:
        """Returns whether ``process`` is up: it has not crashed, or it has recovered."""
        if self.crash_bound == 0:
            return TRUE
        return negation(member(process, self.crashed()))

    def lead(self, process: Expr) -> Expr:
        """Returns the process with which ``process`` stops: itself where it stops on its own."""
        if not self.sizes.leads:
            return process
        return entry(ir.Const(MapT(self.proc, self.proc), self.sizes.leads), process)

    def together(self, one: Expr, other: Expr) -> Expr:
        """Returns whether two processes stop together, and are not the same one."""
        if not self.sizes.leads:
            return FALSE
        same = ir.Apply(BOOL, ir.Op.EQ, (one, other))
        return conj(ir.Apply(BOOL, ir.Op.EQ, (self.lead(one), self.lead(other))), negation(same))

    def may_fail(self, process: Expr) -> Expr:
        """Returns whether no failure detector needs ``process`` as the one that is never faulty: it
        has settled on it, or has still to settle on someone, and nobody else is left."""
        if IMMUNE not in self.variables:
            return TRUE
        immune = self.read(IMMUNE)
        spared = negation(equal(immune, ir.Apply(immune.type, ir.Op.SOME, (process,))))
        if self.recovers:  # who is down may be up again when the detector settles
            return spared
        other = ir.Local(self.proc, fresh("_other"))
        apart = negation(disj(equal(other, process), self.together(other, process)))
        left = conj(apart, self.correct(other))
        exists = ir.Quant(ir.Quantifier.EXISTS, other.name, ir.Universe(self.proc), left, BOOL)
        return conj(spared, disj(ir.Apply(BOOL, ir.Op.IS_SOME, (immune,)), exists))

    def crashed(self) -> Expr:
        """Returns the processes that are down now."""
        return self._processes(CRASHED, "crashed")

    def honest(self, process: Expr) -> Expr:
        """Returns whether ``process`` follows its protocol: it is not Byzantine."""
        if not self.bound(self.check.byzantine):
            return TRUE
        return negation(member(process, self._processes(BYZANTINE, "byzantine")))

    def byzantine(self) -> Expr:
        return self._processes(BYZANTINE, "byzantine")

    def omitting(self) -> Expr:
        """Returns the processes that have omitted to send or to receive a message."""
        return self._processes(OMITTING, "omitting")

    def reliable(self, process: Expr) -> Expr:
        """Returns whether ``process`` is neither Byzantine nor omission-faulty."""
        if not self.bound(self.check.omission):
            return self.honest(process)
        return conj(self.honest(process), negation(member(process, self.omitting())))

    def correct(self, process: Expr) -> Expr:
        """Returns whether ``process`` is up and has not been faulty otherwise."""
        return conj(self.alive(process), self.reliable(process))

    def _processes(self, name: str, title: str) -> Expr:
        if name not in self.variables:
            self.add(name, SetT(self.proc), frozenset(), VariableKind.WORLD, title)
        return self.read(name)

    def is_shut(self, source: Expr, to: Expr) -> Expr:
        """Returns whether nothing gets from ``source`` to ``to`` now: a partition keeps the two
        apart, or the way is cut."""
        cuts = (name for name in self.variables if is_cut(name))
        shut = [member(to, entry(self.read(name), source)) for name in cuts]
        if SPLIT in self.variables:
            side = self.read(SPLIT)
            both = ir.Apply(BOOL, ir.Op.EQ, (member(source, side), member(to, side)))
            shut.append(negation(both))
        found = disj(*shut)
        return found if found == FALSE else conj(found, negation(self.together(source, to)))

    @property
    def may_be_shut(self) -> bool:
        """Tells whether the network may partition, or some way may be cut."""
        return SPLIT in self.variables or self.may_be_cut

    @property
    def may_be_cut(self) -> bool:
        """Tells whether some way may be cut."""
        return any(is_cut(name) for name in self.variables)

    @property
    def may_disconnect(self) -> bool:
        """Tells whether some connection may break."""
        connected = any(link.kind.connects for link in self.links)
        return connected and (self.bound(self.check.resets) > 0 or self.crash_bound > 0)

    def idle(self, process: Expr) -> Expr:
        """Returns whether ``process`` has no pending effects: it is not inside a handler.  Where
        handlers pause, neither is any process that stops together with it."""
        if PENDING not in self.variables:
            return TRUE
        if self.fine or not self.sizes.leads:
            return self.has_none_pending(process)
        one = ir.Local(self.proc, fresh("_together"))
        found = conj(
            equal(self.lead(one), self.lead(process)), negation(self.has_none_pending(one))
        )
        some = ir.Quant(ir.Quantifier.EXISTS, one.name, ir.Universe(self.proc), found, BOOL)
        return negation(some)

    def has_none_pending(self, process: Expr) -> Expr:
        """Returns whether the queue of ``process`` is empty."""
        return ir.Apply(BOOL, ir.Op.EQ, (size(entry(self.read(PENDING), process)), _ZERO))

    def is_settled(self, process: Expr) -> Expr:
        """Returns whether ``process`` is not inside a handler that has yielded."""
        if WAITING not in self.variables:
            return TRUE
        return ir.Apply(BOOL, ir.Op.EQ, (size(entry(self.read(WAITING), process)), _ZERO))

    def may_step(self, process: Expr) -> Expr:
        """Returns whether ``process`` may begin to handle something."""
        ready = conj(self.idle(process), self.is_settled(process))
        return conj(self.alive(process), self.honest(process), ready)

    # ---- types --------------------------------------------------------------------------------

    def type_of(self, type_: typed.Type, at: Instance, name: str, span: Span | None = None) -> Type:
        """Instantiates ``type_`` with its sizes; ``name`` identifies its guessed capacities.

        Raises :class:`SpecError` (C202, at ``span``) where a value has too many parts.
        """
        match type_:
            case typed.Bool():
                return BOOL
            case typed.Int(lo, hi):
                return self._integers(lo, hi, name)
            case typed.Enum(alias, labels):
                return AtomT(alias or "enum", labels)
            case typed.Proc():
                return self.proc
            case typed.Msg():
                return at.payload
            case typed.Message():
                assert at.messages is not None
                return at.messages
            case typed.Tuple(items, names):
                parts = (self.type_of(t, at, f"{name}.{i}", span) for i, t in enumerate(items))
                return TupleT(tuple(parts), names)
            case typed.Option(item):
                return OptionT(self.type_of(item, at, name, span))
            case typed.Set(item):
                return self.set_of(self.type_of(item, at, name, span), f"{name}.size")
            case typed.Map(key, value):
                keys = self.type_of(key, at, f"{name}.key", span)
                return fitting(MapT(keys, self.type_of(value, at, name, span)), span)
            case typed.Seq(item, cap) | typed.Bag(item, cap):
                inner = self.type_of(item, at, f"{name}.item", span)
                maker = SeqT if isinstance(type_, typed.Seq) else BagT
                if cap is not None:
                    return fitting(maker(inner, evaluate_size(cap, self.sizes.values)), span)
                return maker(inner, self.capacity(f"{name}.length", 4), f"{name}.length")

    def set_of(self, item: Type, name: str) -> Type:
        """Returns the type of sets of ``item``: dense where the universe is small."""
        if not has_bag(item) and small(item):
            return SetT(item)
        return BagT(item, self.capacity(name, 4), name)

    def _integers(self, lo: typed.Expr | None, hi: typed.Expr | None, name: str) -> IntT:
        low = 0 if lo is None else evaluate_size(lo, self.sizes.values)
        if hi is None:
            return IntT(low, self.capacity(name, 3), name)
        high = evaluate_size(hi, self.sizes.values)
        if high < low:
            raise refuse("E003", f"the range {low}..{high} is empty", hi.span)
        return IntT(low, high)


def is_cut(variable: str) -> bool:
    """Tells whether ``variable`` holds which ways are cut."""
    return variable.partition(" ")[0] == CUT


def is_effect(world: World, emit: ir.Emit) -> bool:
    """Tells whether a crash can fall beside ``emit``: not beside what belongs to something else."""
    kind = world.effects[emit.effect].kind
    return kind not in (ir.EffectKind.ASSIGN, ir.EffectKind.TIMER, ir.EffectKind.GHOST)


_ZERO = ir.Const(IntT(0, 0), 0)


def handler_mark(
    world: World, instance: Instance, handler: typed.Handler, names: dict[str, Expr], self: Expr
) -> ir.Mark:
    """Returns the mark of a handler: its label, the process and the names that it binds."""
    shown = {n: e for n, e in names.items() if not n.startswith("_")}
    info = MarkInfo(
        MarkKind.HANDLER,
        f"{instance.path}{handler.label}",
        ("self", *shown),
        tuple(e.type for e in (self, *shown.values())),
        required=not instance.protocol.shipped and _may_run(world, instance, handler),
        place=world.place(handler.span),
        family=f"{instance.family}{handler.label}",
    )
    return ir.Mark(world.mark(info), (self, *shown.values()))


def _may_run(world: World, instance: Instance, handler: typed.Handler) -> bool:
    """Returns whether the world of the check has the event of a handler: not every one has
    recoveries, or has them in every role."""
    if not isinstance(handler.event, typed.OnRecover):
        return True
    roles = [role.name for role in instance.protocol.roles if handler in role.handlers]
    anywhere = not world.check.recovering or "" in roles
    return world.recovers and (anywhere or not {*roles}.isdisjoint(world.check.recovering))


def register_handlers(world: World) -> None:
    """Registers every handler, also those that no action reaches, so that unused ones are
    reported."""
    self = ir.Local(world.proc, "self")
    for instance in world.instances:
        for role in instance.protocol.roles:
            for handler in role.handlers:
                handler_mark(world, instance, handler, {}, self)


def mark(
    world: World,
    kind: MarkKind,
    text: str,
    names: tuple[str, ...],
    *args: Expr,
    place: SourceLocation | None = None,
    returns: str = "",
) -> ir.Mark:
    types = tuple(a.type for a in args)
    info = MarkInfo(kind, text, names, types, place=place, returns=returns)
    return ir.Mark(world.mark(info), args)
