"""Random transition systems of every kind of type, expression, domain and statement."""

from __future__ import annotations

from checker.model import ir
from checker.model import types as t
from checker.model.ir import Apply, Const, Op
from checker.model.types import BOOL, Type
from checker.properties.buchi_automaton import refuting
from tests.agreement.expressions import PART, SIGNED, SMALL, STATE_TYPES, WIDE_TYPES, Expressions
from tests.recurring import never_for_ever


class Generator(Expressions):
    """Draws statements, actions and systems."""

    # -- statements -----------------------------------------------------------------------------

    def block(self, size: int, depth: int) -> ir.Block:
        names, mutable = dict(self.names), set(self.mutable)
        block = tuple(self.statement(depth) for _ in range(size))
        self.names, self.mutable = names, mutable
        return block

    def statement(self, depth: int) -> ir.Stmt:
        kind = self.draw(100)
        if kind < 40 or depth <= 0:
            return self._assign(depth)
        if kind < 48:
            return self._declare(depth)
        if kind < 60:
            then = self.block(1 + self.draw(2), depth - 1)
            return ir.If(self.expr(BOOL, depth), then, self.block(self.draw(2), depth - 1))
        if kind < 70:
            return self._for(depth)
        if kind < 75:
            body = self.block(1, depth - 1)
            return ir.While(self.expr(BOOL, depth), body, 1 + self.draw(3))
        if kind < 87:
            return self._choose(depth)
        if kind < 92:
            return ir.Assume(self.expr(BOOL, depth))
        if kind < 94:
            return ir.If(self.expr(BOOL, depth), (ir.Fault("F", "bad luck"),))
        self.marks += 1
        return ir.Mark(self.marks - 1, (self.expr(PART, 1),) if self.chance(30) else ())

    def _assign(self, depth: int) -> ir.Stmt:
        locals_ = [n for n in self.names if n in self.mutable]
        if locals_ and self.chance(25):
            name, is_state = self.pick(locals_), False
            type_ = self.names[name]
        else:
            variable = self.pick(self.variables)
            name, type_, is_state = variable.name, variable.type, True
        path: tuple[ir.Key | ir.Pos, ...] = ()
        while self.chance(60):
            match type_:
                case t.MapT(key, value):
                    found = self.integer(depth) if key == SIGNED else self.expr(key, depth)
                    path, type_ = (*path, ir.Key(found, key)), value
                case t.TupleT(items):
                    position = self.draw(len(items))
                    path, type_ = (*path, ir.Pos(position)), items[position]
                case t.SeqT(item):
                    path, type_ = (*path, ir.Key(self.integer(depth))), item
                case _:
                    break
        target = ir.Target(type_, name, is_state, path)
        if type_ in (SMALL, SIGNED) and self.chance(30):
            return ir.Assign(target, self.integer(depth))
        if type_ in WIDE_TYPES and isinstance(type_, t.SetT) and is_state and not path:
            item = self.expr(type_.item, 1)
            return ir.Assign(target, Apply(type_, Op.INSERT, (ir.Read(type_, name), item)))
        return ir.Assign(target, self.expr(type_, depth))

    def _declare(self, depth: int) -> ir.Stmt:
        type_ = self.pick(STATE_TYPES)
        value = self.integer(depth) if type_ == SMALL else self.expr(type_, depth)
        name = self.fresh()
        self.names[name] = type_
        self.mutable.add(name)
        return ir.Declare(name, type_, value)

    def _for(self, depth: int) -> ir.Stmt:
        domain, type_ = self.domain(depth)
        name, body = self.bound(type_, lambda: self.block(1 + self.draw(2), depth - 1))
        return ir.For(name, domain, body)

    def _choose(self, depth: int) -> ir.Stmt:
        domain, type_ = self.domain(depth)
        name = self.fresh()
        self.names[name] = type_
        where = self.expr(BOOL, depth) if self.chance(50) else ir.TRUE
        return ir.Choose(name, domain, where)

    # -- systems --------------------------------------------------------------------------------

    def variable(self, index: int, type_: Type) -> ir.Variable:
        return ir.Variable(f"v{index}", type_, self.value(type_), ir.VariableKind.SHARED)

    def action(self, index: int) -> ir.Action:
        if index < 1 or self.chance(30):
            return self._stepper(index)
        params = []
        self.safe = self.chance(75)
        for _ in range(self.draw(3)):
            domain, type_ = self.domain(1)
            name = self.fresh()
            self.names[name] = type_
            where = self.expr(BOOL, 1) if self.chance(40) else ir.TRUE
            params.append(ir.Param(name, domain, where))
        guard = self.expr(BOOL, 2) if self.chance(50) else ir.TRUE
        body = self.block(1 + self.draw(3), 2)
        simple = self.pick((ir.TRUE, ir.TRUE, ir.FALSE))
        promised = simple if self.chance(50) else self.expr(BOOL, 2)
        fairness = self.fairness()
        self.names, self.mutable, self.safe = {}, set(), False
        return ir.Action(
            f"a{index}", ir.ActionKind.STEP, tuple(params), guard, body, promised, None, fairness
        )

    def fairness(self) -> ir.Fairness | None:
        """A constraint that actions share, with a key of what is in scope, or one of its own."""
        if self.chance(40):
            return None
        group = self.pick(("weak", "strong"))
        kind = ir.FairnessKind.WEAK if group == "weak" else ir.FairnessKind.STRONG
        key = (self.expr(PART, 1),) if self.chance(60) else (Const(PART, 1),)
        return ir.Fairness(group, key, kind, "{0} moves")

    def _stepper(self, index: int) -> ir.Action:
        """Gives one variable any of its values, or any that satisfies a condition."""
        small = [v for v in self.variables if _bits(v.type) <= 4 and not _bags(v.type)]
        variable = self.pick(small)
        self.names["x"] = variable.type
        self.safe = True
        where = self.expr(BOOL, 2) if self.chance(50) else ir.TRUE
        more = (self.statement(1),) if self.chance(50) else ()
        self.names, self.mutable, self.safe = {}, set(), False
        target = ir.Target(variable.type, variable.name, True)
        body = (ir.Assign(target, ir.Local(variable.type, "x")), *more)
        param = ir.Param("x", ir.Universe(variable.type), where)
        promised = self.pick((ir.TRUE, ir.FALSE))
        fairness = None
        if self.chance(60):
            self.names["x"], self.safe = variable.type, True
            fairness = self.fairness()
            self.names, self.safe = {}, False
        return ir.Action(
            f"a{index}", ir.ActionKind.STEP, (param,), ir.TRUE, body, promised, None, fairness
        )

    def question(self, index: int) -> ir.Property:
        """The first one is about all states, the others about what stays as it is forever."""
        self.safe = True
        bad, premise = self.expr(BOOL, 3), self.expr(BOOL, 2)
        self.safe = False
        if index:
            return never_for_ever(f"p{index}", bad, premise)
        return ir.Property("p0", ir.PropertyKind.INVARIANT, bad, premise, "")

    def liveness(self, index: int, formula: ir.Formula) -> ir.Property:
        """A question about whole runs, with a parameter in its two propositions."""
        name = self.fresh()
        domain = ir.Universe(PART)
        self.safe = True
        self.names[name] = PART
        propositions = (self.expr(BOOL, 2), self.expr(BOOL, 2))
        where = ir.TRUE
        self.names, self.safe = {}, False
        return ir.Property(
            f"p{index}",
            ir.PropertyKind.LIVENESS,
            ir.FALSE,
            ir.TRUE,
            "",
            params=(ir.Param(name, domain, where),),
            propositions=propositions,
            formula=formula,
            automaton=refuting(formula),
        )

    def justice(self) -> tuple[ir.Justice, ...]:
        self.safe = True
        found = tuple(ir.Justice(self.expr(BOOL, 2), "again") for _ in range(self.draw(2)))
        self.safe = False
        return found if self.chance(40) else ()

    def system(self, formula: ir.Formula | None = None) -> ir.TransitionSystem:
        """A system; with ``formula`` its last property asks it of whole runs."""
        types: list[Type] = []
        bits = 0
        for _ in range(2 + self.draw(5)):
            type_ = self.pick(STATE_TYPES)
            if bits + _bits(type_) <= 12:
                types.append(type_)
                bits += _bits(type_)
        types.append(BOOL)
        if self.chance(50):
            types.append(self.pick(WIDE_TYPES))
        self.variables = tuple(self.variable(i, type_) for i, type_ in enumerate(types))
        init = self.block(1, 1) if self.chance(50) else ()
        self.names, self.mutable = {}, set()
        actions = tuple(self.action(i) for i in range(2 + self.draw(4)))
        monitor = self.block(1, 1) if self.chance(25) else ()
        properties = tuple(self.question(i) for i in range(3))
        if self.chance(20):
            properties = properties[:1]
        justice: tuple[ir.Justice, ...] = ()
        if formula is not None:
            properties = (properties[0], self.liveness(len(properties), formula))
            justice = self.justice()
        marks = tuple(ir.MarkInfo(ir.MarkKind.BRANCH, "") for _ in range(self.marks))
        return ir.TransitionSystem(
            "random", (), self.variables, init, actions, monitor, properties, marks, justice
        )


def _bags(type_: Type) -> bool:
    return isinstance(type_, t.BagT)


def _bits(type_: Type) -> int:
    if isinstance(type_, t.BagT):
        return 2 + 2 * type_.cap
    return (t.cardinality(type_) - 1).bit_length()
