"""Builds the contract of an oracle layer: its interface's properties over its own histories."""

from __future__ import annotations

from msgspec import Struct, field

from checker.instantiate.oracles import crash_prophecy
from checker.instantiate.oracles.clauses import Clause, bound_by, clause_of, request_of
from checker.instantiate.protocol import calls
from checker.instantiate.protocol.expressions import Env, exists, lower
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.type_sizes import enumerable, is_bounded
from checker.instantiate.protocol.walk import histories_in, nodes
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, entry, equal, fresh, member, negation
from checker.model.ir import TRUE, Block, Expr, Param, Quantifier, VariableKind
from checker.model.types import BOOL, IntT, MapT, SeqT, TupleT, Type, cardinality, default

Event = tuple[str, str]
"""``request`` or ``indication``, and the operator's name."""

FEW = 4
"""Up to this many values are tried one by one."""


class Contract(Struct):
    """What an oracle has to satisfy, and the histories that it keeps to do so."""

    world: World
    instance: Instance
    clauses: tuple[Clause, ...]
    sets: set[Event] = field(default_factory=set)
    sequences: set[Event] = field(default_factory=set)
    repeated: set[Event] = field(default_factory=set)

    @property
    def title(self) -> str:
        return self.instance.path.rstrip(".")

    # ---- what is remembered -------------------------------------------------------------------

    def find(self) -> None:
        """Records which histories the clauses read."""
        for clause in self.clauses:
            for part in (*clause.binders, clause.premise, clause.goal):
                for node in nodes(part) if part is not None else ():
                    match node:
                        case typed.HistoryOrder(_, kind, op):
                            self.sequences.add((kind, op))
                        case typed.Repeated(_, kind, op):
                            self.repeated.add((kind, op))
                            self.sets.add((kind, op))
                        case _:
                            pass
                for history, ordered in histories_in(part):
                    if isinstance(history, typed.History):
                        event = (history.kind, history.op)
                        (self.sequences if ordered else self.sets).add(event)
            if self._of_all(clause):
                self.sets |= set(self._requests())

    def _requests(self) -> list[Event]:
        interface = self.instance.protocol.implements
        assert interface is not None
        return [("request", o.name) for o in interface.requests]

    def _of_all(self, clause: Clause) -> bool:
        """Tells whether the clause guarantees something independently of requests."""
        histories = typed.History | typed.HistoryOrder | typed.Repeated
        given = (*clause.binders, clause.premise)
        return clause.later and not any(isinstance(n, histories) for n in nodes(given))

    def _name(self, event: Event) -> str:
        return f"{self.instance.path}@{event[0]}.{event[1]}"

    def _twice(self, event: Event) -> str:
        return f"{self.instance.path}@repeated.{event[1]}"

    def _item(self, event: Event) -> Type:
        fields = calls.fields_of(self.world, (self.instance.path, *event))
        if len(fields) == 1:
            return fields[0][1]
        return TupleT(tuple(t for _, t in fields))

    def declare(self) -> None:
        """Declares the histories, and the crash prophecy where it makes a difference."""
        parts = ((c.premise, c.goal, *c.binders) for c in self.clauses if not c.later)
        if self._totally_ordered() or any(
            isinstance(n, typed.Correct) for p in parts for n in nodes(p)
        ):
            crash_prophecy.declare(self.world)
        for event in sorted(self.sets | self.sequences):
            item, name = self._item(event), self._name(event)
            if event in self.sequences:
                inner: Type = SeqT(item, self.world.capacity(name, 4), name)
            else:
                inner = self.world.set_of(item, f"{name}.size")
            self._variable(name, inner, f"{self.title}: {event[1]}")
        for event in sorted(self.repeated):
            name = self._twice(event)
            inner = self.world.set_of(self._item(event), f"{name}.size")
            self._variable(name, inner, f"{self.title}: {event[1]} twice")

    def _variable(self, name: str, inner: Type, title: str) -> None:
        type_ = MapT(self.world.proc, inner)
        self.world.add(name, type_, default(type_), VariableKind.HISTORY, title)

    def note_event(self, kind: str, op: str, self_: Expr, args: tuple[Expr, ...]) -> Block:
        """Returns statements that record a request or an indication."""
        event = (kind, op)
        if event not in self.sets | self.sequences:
            return ()
        item_type = self._item(event)
        if len(args) == 1:
            item: Expr = build.coerce(args[0], item_type)
        else:
            assert isinstance(item_type, TupleT)
            parts = tuple(build.coerce(a, t) for a, t in zip(args, item_type.items, strict=True))
            item = ir.Apply(item_type, ir.Op.TUPLE, parts)
        result: Block = ()
        if event in self.repeated:
            seen = self._mine(self._name(event), self_)
            again = self._put(self._twice(event), self_, item)
            result += (ir.If(member(item, seen), (again,)),)
        return (*result, self._put(self._name(event), self_, item))

    def _mine(self, name: str, process: Expr) -> Expr:
        return entry(self.world.read(name), process)

    def _put(self, name: str, self_: Expr, item: Expr) -> ir.Stmt:
        mine = self._mine(name, self_)
        if isinstance(mine.type, SeqT):
            return build.assign(mine, ir.Apply(mine.type, ir.Op.APPEND, (mine, item)))
        return build.assign(mine, build.with_item(mine, item))

    # ---- what has to hold ---------------------------------------------------------------------

    def violations(self) -> list[Expr]:
        """Returns for each safety property whether it is violated now; and whether two processes
        can't reach a common order any more."""
        found = [self._bad(c) for c in self.clauses if not c.later]
        return found + [self._has_diverged(op) for op in sorted(self._totally_ordered())]

    def _totally_ordered(self) -> set[str]:
        """Returns the indications that reach all correct processes, and any two in the same
        order."""
        agreed: set[str] = set()
        ordered: set[str] = set()
        for clause in self.clauses:
            premise, goal = _indications(clause.premise), _indications(clause.goal)
            if clause.later:
                agreed |= premise & goal
            elif isinstance(clause.goal, typed.HistoryOrder):
                ordered |= premise & goal
        return agreed & ordered

    def _has_diverged(self, op: str) -> Expr:
        """Returns whether, of two processes that are up, one has delivered ``y`` without ``x``, and
        the other has delivered ``x`` and not ``y``, or ``y`` after ``x``.

        If no process crashes from now on both deliver both, in different orders: an implementation
        of such a contract does not reach that state.
        """
        world = self.world
        one, other = ir.Local(world.proc, fresh("_p")), ir.Local(world.proc, fresh("_q"))
        name = self._name(("indication", op))
        mine, theirs = self._mine(name, one), self._mine(name, other)
        item = build.element(mine.type)
        x, y = ir.Local(item, fresh("_x")), ir.Local(item, fresh("_y"))
        behind = build.disj(negation(member(y, mine)), _before(mine, x, y))
        body = ir.Quant(Quantifier.EXISTS, y.name, ir.Members(theirs, item), behind, BOOL)
        missing = conj(negation(member(x, theirs)), body)
        some = ir.Quant(Quantifier.EXISTS, x.name, ir.Members(mine, item), missing, BOOL)
        both = (world.correct(one), world.correct(other))
        unless = (crash_prophecy.is_spared(world, one), crash_prophecy.is_spared(world, other))
        result: Expr = conj(*both, *unless, some)
        for local in (other, one):
            everybody = ir.Universe(world.proc)
            result = ir.Quant(Quantifier.EXISTS, local.name, everybody, result, BOOL)
        return result

    def obligations(self) -> list[tuple[Clause, Expr]]:
        """Returns for each liveness property whether it has a pending obligation now."""
        found = []
        for clause in self.clauses:
            if clause.later:
                asked = self._some_asked() if self._of_all(clause) else TRUE
                found.append((clause, conj(asked, self._bad(clause))))
        return found

    def _some_asked(self) -> Expr:
        """Returns whether any process has made a request (``TRUE`` where there are no requests)."""
        if not self._requests():
            return TRUE
        process = ir.Local(self.world.proc, fresh("_p"))
        some: list[Expr] = []
        for event in self._requests():
            asked = self._mine(self._name(event), process)
            some.append(negation(equal(build.size(asked), build.integer(0))))
        everybody = ir.Universe(self.world.proc)
        return ir.Quant(Quantifier.EXISTS, process.name, everybody, build.disj(*some), BOOL)

    def _bad(self, clause: Clause) -> Expr:
        env = Env(self.world, self.instance, None, {}, _Reader(self, clause.later).read)

        def bad(inner: Env) -> Expr:
            premise = TRUE if clause.premise is None else lower(clause.premise, inner)
            return conj(premise, negation(lower(clause.goal, inner)))

        return exists(clause.binders, env, bad)

    # ---- possible indications -----------------------------------------------------------------

    def requested_argument(
        self, op: str, position: int, self_: Expr, args: list[Expr]
    ) -> tuple[list[Param], Expr] | None:
        """Returns, where a property requires that an argument of ``op`` was requested, parameters
        that range over the requests, and the argument."""
        wanted = args[position].type
        if enumerable(wanted) and is_bounded(wanted) and cardinality(wanted) <= FEW:
            return None
        for clause in self.clauses:
            if clause.later or clause.premise is not None:
                continue
            for binder in clause.binders:
                bound = bound_by(binder, op, len(args))
                if bound is None or bound[1 + position] is None:
                    continue
                meaning = dict(zip(bound, (self_, *args), strict=True))
                name = bound[1 + position]
                assert name is not None
                found = request_of(clause.goal, name)
                if found is not None:
                    return self._among(found, name, meaning)
        return None

    def _among(
        self, found: tuple[typed.Expr, typed.History], name: str, meaning: dict[str | None, Expr]
    ) -> tuple[list[Param], Expr]:
        """Returns the value called ``name`` within an entry of the history that must contain it."""
        item, history = found
        params: list[Param] = []

        def means(expr: typed.Expr) -> Expr | None:
            if not isinstance(expr, typed.Local):
                return None
            return meaning.get(expr.name)

        owner = means(history.owner)
        if owner is None:
            some = ir.Local(self.world.proc, fresh("_asked_by"))
            params.append(Param(some.name, ir.Universe(self.world.proc), TRUE))
            owner = some
        asked = self._mine(self._name(("request", history.op)), owner)
        local = ir.Local(build.element(asked.type), fresh("_asked"))
        domain = ir.Members(asked, local.type)
        if not isinstance(item, typed.Display):
            return [*params, Param(local.name, domain, TRUE)], local
        where: list[Expr] = []
        value: Expr = local
        for index, part in enumerate(item.items):
            component = build.item(local, index)
            if isinstance(part, typed.Local) and part.name == name:
                value = component
            elif means(part) is not None:
                where.append(equal(component, means(part) or TRUE))
        return [*params, Param(local.name, domain, conj(*where))], value


def contract_of(world: World, instance: Instance) -> Contract:
    """Returns the contract of an oracle's interface; raises :class:`SpecError` (C016) where it
    requires knowledge of the future, or mentions it in a way that no oracle can satisfy."""
    clauses = tuple(clause_of(world, instance, d) for d in instance.protocol.properties)
    contract = Contract(world, instance, clauses)
    contract.find()
    return contract


class _Reader(Struct, frozen=True):
    """Lowers what only properties may use, over the histories of an oracle."""

    contract: Contract
    later: bool

    def read(self, env: Env, expr: typed.Expr) -> Expr:
        world, contract = self.contract.world, self.contract
        match expr:
            case typed.Correct(_, kind, process, _):
                who = lower(process, env)
                if kind == "correct":
                    may_be = world.recovers and not self.later
                    now = world.reliable(who) if may_be else world.correct(who)
                    return conj(now, crash_prophecy.is_spared(world, who))
                return negation(world.alive(who) if kind == "crashed" else world.correct(who))
            case typed.History(_, kind, op, owner, _):
                return contract._mine(contract._name((kind, op)), lower(owner, env))
            case typed.Operation(_, "in", (item, typed.History() as history), _):
                mine = self.read(env, history)
                return member(lower(item, env, build.element(mine.type)), mine)
            case typed.Repeated(_, kind, op, owner, item, _):
                mine = contract._mine(contract._twice((kind, op)), lower(owner, env))
                return member(lower(item, env, build.element(mine.type)), mine)
            case typed.HistoryOrder(_, kind, op, owner, first, second, _):
                mine = contract._mine(contract._name((kind, op)), lower(owner, env))
                item_type = build.element(mine.type)
                return _before(mine, lower(first, env, item_type), lower(second, env, item_type))
            case _:
                raise refuse("N210", "an oracle can't evaluate this", expr.span)


def _indications(formula: typed.Expr | None) -> set[str]:
    """Returns the indications whose histories ``formula`` reads."""
    found: set[str] = set()
    for node in nodes(formula) if formula is not None else ():
        if isinstance(node, typed.History | typed.HistoryOrder) and node.kind == "indication":
            found.add(node.op)
    return found


def _before(mine: Expr, x: Expr, y: Expr) -> Expr:
    """Returns whether both are in a sequence, and the first ``x`` before the first ``y``."""
    assert isinstance(mine.type, SeqT)
    positions = IntT(0, max(mine.type.cap - 1, 0))
    i, j = ir.Local(positions, fresh("_i")), ir.Local(positions, fresh("_j"))

    def at(position: ir.Local, value: Expr) -> Expr:
        there = build.below(position, build.size(mine))
        return conj(there, equal(ir.Index(x.type, mine, position), value))

    def some(local: ir.Local, body: Expr) -> Expr:
        return ir.Quant(Quantifier.EXISTS, local.name, ir.Universe(positions), body, BOOL)

    y_first = some(j, conj(build.at_most(j, i), at(j, y)))
    return conj(member(y, mine), some(i, conj(at(i, x), negation(y_first))))
