"""Random systems whose processes and payloads are alike, most of the time.

Small protocols in spirit: flags that are only ever set, handlers that run once, messages on their
way, crashes within a budget, losses and other steps that go round, histories that only properties
read.  Now and then a process is named, or two are compared in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from checker.model import ir
from checker.model.build import at_most, below, conj, disj, entry, equal, item, member, negation
from checker.model.build import size as card
from checker.model.ir import TRUE, Apply, Const, Expr, Local, Op, Quant, Quantifier, Read
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
    default,
)
from checker.model.verify import verify
from checker.properties.buchi_automaton import refuting
from tests.recurring import never_for_ever

T = TypeVar("T")
KINDS = dict.fromkeys(("net", "sent"), ir.VariableKind.LINK) | dict.fromkeys(
    ("phase", "heard", "last", "line"), ir.VariableKind.LOCAL
)
"""Of variables; all others are shared."""
PHASE = IntT(0, 2)
CALM = ("ready", "done", "got", "heard", "net", "sent", "crashed", "phase")
"""What a calm system is made of: nothing in it is ever taken back but messages."""


@dataclass
class Alike:
    """Draws a system from ``draw``, which gives a number below its argument."""

    draw: Callable[[int], int]
    names: dict[str, Type] = field(default_factory=dict)
    marks: int = 0
    serial: int = 0

    def __post_init__(self) -> None:
        count = self.pick((2, 3, 3))
        self.process = AtomT("proc", tuple(f"p{i + 1}" for i in range(count)))
        self.payload = AtomT("Msg", ("a", "b")[: 1 + self.draw(2)])
        self.envelope = TupleT((self.process, self.payload))
        self.odd, self.bounded = self.chance(15), self.chance(10)
        self.calm = self.chance(45)
        p, m = self.process, self.payload
        pool: list[tuple[str, Type]] = [
            ("ready", MapT(p, BOOL)),
            ("done", MapT(p, BOOL)),
            ("phase", MapT(p, PHASE)),
            ("got", MapT(p, SetT(m))),
            ("heard", MapT(p, SetT(p))),
            ("net", BagT(self.envelope, 2 + self.draw(2))),
            ("sent", SetT(self.envelope)),
            ("crashed", SetT(p)),
            ("count", PHASE),
            ("on", BOOL),
            ("lead", OptionT(p)),
            ("last", MapT(p, OptionT(m))),
            ("line", MapT(p, SeqT(m, 2))),
            ("one", p),
            ("pairs", SetT(TupleT((p, p)))),
        ]
        if self.calm:
            pool = [(n, t) for n, t in pool if n in CALM]
        kept = [pool.pop(self.draw(len(pool))) for _ in range(3 + self.draw(3))]
        if self.chance(60):
            kept += [(n, t) for n, t in pool if n == "net"]
        self.types = dict(kept)
        self.types["seen"] = MapT(p, SetT(m))
        self.types["ready"] = MapT(p, BOOL)

    # -- choices --------------------------------------------------------------------------------

    def pick(self, options: Sequence[T]) -> T:
        return options[self.draw(len(options))]

    def chance(self, percent: int) -> bool:
        return self.draw(100) < percent

    def fresh(self) -> str:
        self.serial += 1
        return f"n{self.serial}"

    def read(self, name: str) -> Read:
        return Read(self.types[name], name)

    def some(self, type_: Type) -> Expr:
        """Something of an atom's type: a name in scope, or else a constant."""
        found: list[Expr] = [Local(t, n) for n, t in self.names.items() if t == type_]
        for name, t in self.names.items():
            if isinstance(t, TupleT):
                items = enumerate(t.items)
                found += [item(Local(t, name), i) for i, inner in items if inner == type_]
        if type_ == self.types.get("one") and self.chance(20):
            found.append(self.read("one"))
        if not found or (self.odd and self.chance(20)):
            assert isinstance(type_, AtomT)
            return Const(type_, self.draw(len(type_.labels)))
        return self.pick(found)

    def has(self, type_: Type) -> bool:
        return any(
            t == type_ or (isinstance(t, TupleT) and type_ in t.items) for t in self.names.values()
        )

    # -- conditions -----------------------------------------------------------------------------

    def fact(self, depth: int = 1, state: Sequence[str] = ()) -> Expr:
        """A condition on the state and the names in scope; it never fails."""
        kind = self.draw(10)
        if kind < 2:
            return negation(self.fact(depth, state))
        if depth > 0 and kind < 5:
            return self._quantified(depth, state)
        if depth > 0 and kind < 6:
            join = self.pick((conj, disj))
            return join(self.fact(depth - 1, state), self.fact(depth - 1, state))
        if kind == 6 and self.has(self.process):
            if self.odd and self.chance(30):
                return below(self.some(self.process), self.some(self.process))
            return equal(self.some(self.process), self.some(self.process))
        return self._about(self.pick(tuple(state) or tuple(self.types)), state)

    def _quantified(self, depth: int, state: Sequence[str]) -> Expr:
        type_ = self.pick((self.process, self.process, self.payload))
        name = self.fresh()
        self.names[name] = type_
        body = self.fact(depth - 1, state)
        del self.names[name]
        kind = self.pick((Quantifier.FORALL, Quantifier.EXISTS))
        if self.chance(20):
            bound = len(type_.labels)
            count = Quant(Quantifier.COUNT, name, ir.Universe(type_), body, IntT(0, bound))
            return at_most(Const(PHASE, 1 + self.draw(2)), count)
        return Quant(kind, name, ir.Universe(type_), body, BOOL)

    def _about(self, name: str, state: Sequence[str]) -> Expr:
        read: Expr = self.read(name)
        if isinstance(read.type, MapT):
            if not self.has(self.process):
                return self._quantified(1, state)
            read = entry(read, self.some(self.process))
        match read.type:
            case IntT():
                return at_most(Const(PHASE, 1 + self.draw(2)), read)
            case AtomT():
                return equal(read, self.some(read.type))
            case OptionT():
                return Apply(BOOL, Op.IS_SOME, (read,))
            case SetT() | SeqT() | BagT() as type_:
                if isinstance(type_.item, AtomT) and self.chance(60) and self.has(type_.item):
                    return member(self.some(type_.item), read)
                return at_most(Const(PHASE, 1 + self.draw(2)), card(read))
            case _:
                return read

    # -- statements -----------------------------------------------------------------------------

    def statement(self, depth: int = 1) -> ir.Stmt:
        kind = self.draw(20)
        if depth > 0 and kind < 3:
            otherwise = (self.statement(0),) if self.chance(30) else ()
            return ir.If(self.fact(), (self.statement(0),), otherwise)
        if depth > 0 and kind < 5:
            name = self.fresh()
            self.names[name] = self.process
            body = (self.statement(0),)
            del self.names[name]
            return ir.For(name, ir.Universe(self.process), body)
        if kind == 5:
            self.marks += 1
            return ir.Mark(self.marks - 1)
        if kind == 6 and depth > 0 and self.chance(15):
            return ir.If(self.fact(), (ir.Fault("F", "bad luck"),))
        names = (*self.types, "ready", "seen")
        return self._change("net" if "net" in names and self.chance(30) else self.pick(names))

    def _change(self, name: str) -> ir.Stmt:
        read: Expr = self.read(name)
        path: tuple[ir.Key, ...] = ()
        if isinstance(read.type, MapT):
            key = self.some(self.process)
            path, read = (ir.Key(key, self.process),), entry(read, key)
        target = ir.Target(read.type, name, True, path)
        match read.type:
            case IntT():
                more = Apply(IntT(1, 3), Op.ADD, (read, Const(IntT(1, 1), 1)))
                step = ir.Assign(target, more)
                again = ir.Assign(target, Const(PHASE, 0))
                return ir.If(
                    below(read, Const(PHASE, 2)), (step,), self.often(again, 0 if self.calm else 10)
                )
            case AtomT() as atom:
                return ir.Assign(target, self.some(atom))
            case OptionT(AtomT() as atom):
                value: Expr = Apply(read.type, Op.SOME, (self.some(atom),))
                return ir.Assign(target, value)
            case SetT(inner):
                grows = name == "seen" or self.calm or self.chance(80)
                op = Op.INSERT if grows else Op.REMOVE
                return ir.Assign(target, Apply(read.type, op, (read, self.value(inner))))
            case BagT(inner, cap):
                if not self.calm and self.chance(20):
                    return ir.Assign(
                        target, Apply(read.type, Op.BAG_REMOVE, (read, self.value(inner)))
                    )
                added = Apply(read.type, Op.BAG_ADD, (read, self.value(inner)))
                if self.bounded:
                    return ir.Assign(target, added)
                return ir.If(
                    below(card(read), Const(IntT(0, cap), cap)), (ir.Assign(target, added),)
                )
            case SeqT(AtomT() as atom, cap):
                added = Apply(read.type, Op.APPEND, (read, self.some(atom)))
                full = below(card(read), Const(IntT(0, cap), cap))
                return ir.If(full, (ir.Assign(target, added),))
            case _:
                value = Const(BOOL, self.calm or not self.chance(12))
                return ir.Assign(target, value)

    def often(self, stmt: ir.Stmt, percent: int) -> ir.Block:
        return (stmt,) if self.chance(percent) else ()

    def value(self, type_: Type) -> Expr:
        if isinstance(type_, TupleT):
            return Apply(type_, Op.TUPLE, tuple(self.some(t) for t in type_.items))
        return self.some(type_)

    # -- actions --------------------------------------------------------------------------------

    def action(self, index: int) -> ir.Action:
        kind = self.draw(10)
        if "net" in self.types and kind < 5:
            return self._link(index) if kind < 4 else self._loss(index)
        if "crashed" in self.types and kind in (5, 6):
            return self._crash(index)
        if "line" in self.types and kind == 7:
            return self._queue(index)
        params = [ir.Param("p", ir.Universe(self.process), self.alive())]
        self.names["p"] = self.process
        if self.chance(40):
            params.append(ir.Param("m", ir.Universe(self.payload), TRUE))
            self.names["m"] = self.payload
        if self.chance(25):
            params.append(ir.Param("q", ir.Universe(self.process), TRUE))
            self.names["q"] = self.process
        guards, body = [self.fact(0)] if self.chance(35) else [], list[ir.Stmt]()
        if self.chance(60):  # once
            name = self.pick([n for n in ("ready", "done") if n in self.types])
            place = entry(self.read(name), Local(self.process, "p"))
            guards.append(negation(place))
            key = ir.Key(Local(self.process, "p"), self.process)
            body.append(ir.Assign(ir.Target(BOOL, name, True, (key,)), TRUE))
        if self.chance(15):
            self.names["x"] = self.process
            body.append(ir.Choose("x", ir.Universe(self.process), self.fact(0)))
        if self.chance(5):
            body.append(ir.Assume(self.fact(0)))
        body += [self.statement() for _ in range(1 + self.draw(2))]
        found = self._finished(index, params, conj(*guards), body)
        self.names.clear()
        return found

    def alive(self) -> Expr:
        if "crashed" not in self.types or self.chance(30):
            return TRUE
        return negation(member(Local(self.process, "p"), self.read("crashed")))

    def _link(self, index: int) -> ir.Action:
        net = self.read("net")
        param = ir.Param("e", ir.Members(net, self.envelope), TRUE)
        self.names["e"] = self.envelope
        body: list[ir.Stmt] = []
        if self.chance(85):
            gone = Apply(net.type, Op.BAG_REMOVE, (net, Local(self.envelope, "e")))
            body.append(ir.Assign(ir.Target(net.type, "net", True), gone))
        body += [self.statement() for _ in range(1 + self.draw(2))]
        alive = TRUE
        if "crashed" in self.types and self.chance(70):
            to = item(Local(self.envelope, "e"), 0)
            alive = negation(member(to, self.read("crashed")))
        found = self._finished(index, [param], alive, body)
        self.names.clear()
        return found

    def _queue(self, index: int) -> ir.Action:
        """Takes the first message out of a process's queue."""
        p = Local(self.process, "p")
        line = entry(self.read("line"), p)
        assert isinstance(line.type, SeqT)
        self.names.update(p=self.process, m=self.payload)
        there = ir.Param("p", ir.Universe(self.process), below(Const(PHASE, 0), card(line)))
        first = Apply(line.type.item, Op.HEAD, (line,))
        target = ir.Target(line.type, "line", True, (ir.Key(p, self.process),))
        body: list[ir.Stmt] = [
            ir.Declare("m", self.payload, first),
            ir.Assign(target, Apply(line.type, Op.TAIL, (line,))),
            *(self.statement() for _ in range(1 + self.draw(2))),
        ]
        del self.names["m"]
        found = self._finished(index, [there], self.alive(), body)
        self.names.clear()
        return found

    def _loss(self, index: int) -> ir.Action:
        net = self.read("net")
        param = ir.Param("e", ir.Members(net, self.envelope), TRUE)
        gone = Apply(net.type, Op.BAG_REMOVE, (net, Local(self.envelope, "e")))
        body = (ir.Assign(ir.Target(net.type, "net", True), gone),)
        kind = ir.ActionKind.STEP
        return ir.Action(f"lose{index}", kind, (param,), TRUE, body, ir.FALSE)

    def _crash(self, index: int) -> ir.Action:
        crashed, p = self.read("crashed"), Local(self.process, "p")
        param = ir.Param("p", ir.Universe(self.process), negation(member(p, crashed)))
        guard = below(card(crashed), Const(PHASE, 1))
        value = Apply(crashed.type, Op.INSERT, (crashed, p))
        body = (ir.Assign(ir.Target(crashed.type, "crashed", True), value),)
        kind = ir.ActionKind.STEP
        return ir.Action(f"crash{index}", kind, (param,), guard, body, ir.FALSE)

    def _finished(
        self, index: int, params: list[ir.Param], guard: Expr, body: list[ir.Stmt]
    ) -> ir.Action:
        self.names.pop("x", None)
        promised = self.pick((TRUE, TRUE, TRUE, ir.FALSE))
        if "crashed" in self.types and self.chance(60) and self.has(self.process):
            promised = negation(member(self.some(self.process), self.read("crashed")))
        elif self.chance(15):
            promised = self.fact(0)
        fairness = None
        if self.chance(50):
            group = self.pick(("step", "step", "strong", f"own{index}"))
            kind = ir.FairnessKind.STRONG if group == "strong" else ir.FairnessKind.WEAK
            key = (self.some(self.process),)
            fairness = ir.Fairness(group, key, kind, "{0} moves")
        kind_ = ir.ActionKind.STEP
        return ir.Action(
            f"a{index}", kind_, tuple(params), guard, tuple(body), promised, None, fairness
        )

    # -- systems --------------------------------------------------------------------------------

    def liveness(
        self, name: str, formula: ir.Formula | None, asked: Sequence[str] = ()
    ) -> ir.Property:
        """With a parameter, that lasts for no process (or ``formula``)."""
        self.names["x"] = self.process
        propositions = (self.fact(1, asked), self.fact(1, asked))
        where = TRUE
        self.names.clear()
        if formula is None:
            formula = ir.Modal(
                "always", ir.Modal("eventually", ir.Connective("not", (ir.Holds(0),)))
            )
            propositions = propositions[:1]
        return ir.Property(
            name,
            ir.PropertyKind.LIVENESS,
            ir.FALSE,
            TRUE,
            "",
            params=(ir.Param("x", ir.Universe(self.process), where),),
            propositions=propositions,
            formula=formula,
            automaton=refuting(formula),
        )

    def init(self) -> ir.Block:
        found: list[ir.Stmt] = []
        if "one" in self.types or self.chance(10):
            self.names["i"] = self.process
            found.append(ir.Choose("i", ir.Universe(self.process), TRUE))
            found.append(self._change("one" if "one" in self.types else "ready"))
            self.names.clear()
        return tuple(found)

    def system(self, formula: ir.Formula | None = None) -> ir.TransitionSystem:
        """A system; the last property asks ``formula`` where it is given."""
        kind = ir.VariableKind.SHARED
        asked = [self.pick(tuple(self.types)), "seen"] if self.calm else []
        variables = tuple(
            ir.Variable(n, t, default(t), KINDS.get(n, kind)) for n, t in self.types.items()
        )
        init = self.init()
        actions = tuple(self.action(i) for i in range(3 + self.draw(3)))
        properties = [
            ir.Property("p0", ir.PropertyKind.INVARIANT, self.fact(2, asked), self.fact(), ""),
            never_for_ever("p1", self.fact(2, asked), self.fact()),
            self.liveness("p2", None, asked),
        ]
        if formula is not None:
            properties[2] = self.liveness("p2", formula)
        elif self.chance(30):
            properties = properties[:1]
        justice: tuple[ir.Justice, ...] = ()
        if self.chance(10) and len(properties) > 1:
            justice = (ir.Justice(self.fact(), "again"),)
        marks = tuple(ir.MarkInfo(ir.MarkKind.BRANCH, "") for _ in range(self.marks))
        return verify(
            ir.TransitionSystem(
                "alike",
                self.process.labels,
                variables,
                init,
                actions,
                (),
                tuple(properties),
                marks,
                justice,
            )
        )
