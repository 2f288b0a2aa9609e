"""Declares the histories that properties read, each in the least detailed form that suffices.

=================  ==========================================================================
variable           declared when a property
=================  ==========================================================================
``@history.op``    tests membership: a set; reads order, number or position: a sequence
``@repeated.op``   reads ``repeated(p, x)``
``@past``          reads ``causes(x, y)``: the causal past of each process (HT94)
``@causes``        the same: pairs of broadcasts, the first in the past of the second
``@suspected``     reads whom a process suspects now; ``@trusted`` in the same way
``@linearizable…`` asks it: see :mod:`checker.properties.consistency`
=================  ==========================================================================

Acts are global to all processes: ``@performed`` and ``@effects``, sets or sequences by the same
rule, and ``@repeated.performed`` and ``@repeated.effects`` (see :class:`Acts`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.instantiate.protocol import returns
from checker.instantiate.protocol.walk import histories_in, nodes
from checker.instantiate.world import REQUEST, World
from checker.language.syntax import typed
from checker.language.typecheck.histories import history_name
from checker.model import build, ir
from checker.model.build import entry, fresh, member
from checker.model.ir import Block, EffectDef, EffectKind, Expr, VariableKind
from checker.model.types import MapT, SeqT, SetT, TupleT, Type, default
from checker.properties.acts import Acts
from checker.properties.consistency.observation import Observation, observation_of, variable_of

Event = tuple[str, str]
"""``request`` or ``indication``, and the operator's name."""


@dataclass
class Histories:
    """Collects which histories the properties of a check need, and declares them."""

    world: World
    sets: set[Event] = field(default_factory=set)
    sequences: set[Event] = field(default_factory=set)
    repeated: set[Event] = field(default_factory=set)
    causal: bool = False
    opinions: set[str] = field(default_factory=set)
    observations: dict[str, Observation] = field(default_factory=dict)
    acts: Acts = field(init=False)

    def __post_init__(self) -> None:
        self.acts = Acts(self.world)

    def need(self, formula: typed.Expr) -> None:
        """Records the histories that ``formula`` reads."""
        for node in nodes(formula):
            match node:
                case typed.HistoryOrder(_, kind, op):
                    self.sequences.add((kind, op))
                case typed.Repeated(_, kind, op):
                    self.repeated.add((kind, op))
                    self.sets.add((kind, op))
                case typed.Causes():
                    self.causal = True
                case typed.Opinion(_, kind):
                    self.opinions.add(kind)
                case typed.Consistent() if variable_of(node) not in self.observations:
                    self.observations[variable_of(node)] = observation_of(self.world, node)
                case _:
                    pass
        self.acts.need(formula)
        for history, ordered in histories_in(formula):
            if isinstance(history, typed.History):
                (self.sequences if ordered else self.sets).add((history.kind, history.op))

    # ---- variables ----------------------------------------------------------------------------

    def operators(self) -> list[tuple[Event, tuple[tuple[str, Type], ...]]]:
        """Returns every request and indication of the top interface with its arguments."""
        top = self.world.instances[0]
        interface = top.protocol.implements
        if interface is None:
            return []
        found = []
        for kind, group in (("request", interface.requests), ("indication", interface.indications)):
            for op in group:
                types = tuple(
                    (n, self.world.type_of(t, top, f"{op.name}.{n}")) for n, t in op.fields
                )
                found.append(((kind, op.name), types))
        return found

    def item_type(self, event: Event) -> Type:
        """Returns the type of an entry: the tuple of the arguments, or the only argument."""
        fields = dict(self.operators())[event]
        if len(fields) == 1:
            return fields[0][1]
        return TupleT(tuple(t for _, t in fields))

    def declare(self) -> None:
        """Declares the history variables and the effects that extend them."""
        for event in sorted(self.sets | self.sequences):
            item = self.item_type(event)
            name = f"@history.{event[1]}"
            if event in self.sequences:
                inner: Type = SeqT(item, self.world.capacity(name, 4), name)
            else:
                inner = self.world.set_of(item, f"{name}.size")
            self._variable(name, inner, history_name(event[1]))
        for event in sorted(self.repeated):
            inner = self.world.set_of(self.item_type(event), f"@repeated.{event[1]}.size")
            self._variable(f"@repeated.{event[1]}", inner, f"{history_name(event[1])} twice")
        if self.causal:
            broadcast = self.causal_item()
            past = self.world.set_of(broadcast, "past.size")
            self._variable("@past", past, "causal past")
            pairs = self.world.set_of(TupleT((broadcast, broadcast)), "causes.size")
            self.world.add("@causes", pairs, default(pairs), VariableKind.HISTORY, "causes")
        for kind in sorted(self.opinions):
            self._variable(f"@{kind}", SetT(self.world.proc), kind)
        for observation in self.observations.values():
            observation.declare()
        for event, fields in self.operators():
            self._effect(event, fields)
        self.acts.declare()

    def _variable(self, name: str, inner: Type, title: str) -> None:
        type_ = MapT(self.world.proc, inner)
        self.world.add(name, type_, default(type_), VariableKind.HISTORY, title)

    def causal_item(self) -> TupleT:
        """Returns the type of a broadcast: its sender and its payload."""
        (_, request), *_ = (o for o in self.operators() if o[0][0] == "request")
        return TupleT((self.world.proc, request[0][1]))

    # ---- updates ------------------------------------------------------------------------------

    def _effect(self, event: Event, fields: tuple[tuple[str, Type], ...]) -> None:
        kind, op = event
        self_ = ir.Local(self.world.proc, "_self")
        args = tuple(ir.Local(t, f"{n}") for n, t in fields)
        if len(args) == 1:
            item: Expr = args[0]
        else:
            item = ir.Apply(TupleT(tuple(a.type for a in args)), ir.Op.TUPLE, args)
        body: Block = ()
        if event in self.repeated:
            body += self._note_repeated(op, self_, item)
        if event in self.sets | self.sequences:
            body += self._note(f"@history.{op}", self_, item)
        if self.causal:
            body += self._note_causes(kind, self_, args, item)
        if kind == "indication" and len(args) == 1:
            body += self._note_opinion(op, self_, item)
        body += self._note_operation(kind, op, self_, item if args else None)
        name = f"{REQUEST if kind == 'request' else 'indicate.'}{op}"
        params = (("_self", self.world.proc), *((a.name, a.type) for a in args))
        self.world.effects[name] = EffectDef(name, EffectKind.VISIBLE, params, body)

    def _mine(self, name: str, self_: Expr) -> Expr:
        whole = self.world.read(name)
        assert isinstance(whole.type, MapT)
        mine = entry(whole, self_)
        return mine

    def _note(self, name: str, self_: Expr, item: Expr) -> Block:
        mine = self._mine(name, self_)
        if isinstance(mine.type, SeqT):
            new: Expr = ir.Apply(mine.type, ir.Op.APPEND, (mine, item))
        else:
            new = build.with_item(mine, item)
        return (build.assign(mine, new),)

    def _note_opinion(self, op: str, self_: Expr, process: Expr) -> Block:
        """Records a failure detector's output: whom ``self_`` suspects, or trusts, from now on."""
        if op in ("suspect", "restore") and "suspected" in self.opinions:
            mine = self._mine("@suspected", self_)
            change = build.with_item if op == "suspect" else build.without_item
            return (build.assign(mine, change(mine, process)),)
        if op == "trust" and "trusted" in self.opinions:
            mine = self._mine("@trusted", self_)
            return (build.assign(mine, ir.Apply(mine.type, ir.Op.SET, (process,))),)
        return ()

    def _note_operation(self, kind: str, op: str, self_: Expr, result: Expr | None) -> Block:
        """Notes that an operation is called, or returns with ``result``."""
        if kind == "request":
            notes = (o.at_request(op, self_) for o in self.observations.values())
            return (*returns.at_request(self.world, op, self_), *(s for b in notes for s in b))
        notes = (o.at_return(op, self_, result) for o in self.observations.values())
        return (*returns.at_return(self.world, op, self_), *(s for b in notes for s in b))

    def _note_repeated(self, op: str, self_: Expr, item: Expr) -> Block:
        seen = self._mine(f"@history.{op}", self_)
        return (ir.If(member(item, seen), self._note(f"@repeated.{op}", self_, item)),)

    def _note_causes(self, kind: str, self_: Expr, args: tuple[ir.Local, ...], item: Expr) -> Block:
        mine = self._mine("@past", self_)
        causes = self.world.read("@causes")
        pair_type = build.element(causes.type)
        causal = self.causal_item()
        whole = build.target_of(causes)
        if kind == "request":
            this: Expr = ir.Apply(causal, ir.Op.TUPLE, (self_, args[0]))
            earlier = ir.Local(causal, fresh("_earlier"))
            pair = ir.Apply(pair_type, ir.Op.TUPLE, (earlier, this))
            add = ir.Assign(whole, build.with_item(causes, pair))
            loop = ir.For(earlier.name, ir.Members(mine, causal), (add,))
            return (loop, build.assign(mine, build.with_item(mine, this)))
        if item.type != causal:
            return ()
        pair_local = ir.Local(pair_type, fresh("_pair"))
        before = build.item(pair_local, 0)
        grow = build.assign(mine, build.with_item(mine, before))
        relevant = build.equal(build.item(pair_local, 1), item)
        loop = ir.For(pair_local.name, ir.Members(causes, pair_type), (ir.If(relevant, (grow,)),))
        return (loop, build.assign(mine, build.with_item(mine, item)))
