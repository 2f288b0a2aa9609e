"""Random systems that ask for safety only, and keep what was sent in a set, most of the time.

Now and then the set is counted, asked whether something is not in it, or taken from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.model import ir
from checker.model.build import equal, item, member, negation
from checker.model.ir import TRUE, Apply, Expr, Local, Op
from checker.model.types import BagT, SetT, Type, cardinality, default
from checker.model.verify import verify
from tests.agreement.alike import KINDS, Alike

SENT = "sent"


@dataclass
class Keeping(Alike):
    """``sent`` is a set, or a bag that represents a large one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        most = cardinality(self.envelope)
        self.types[SENT] = self.pick((SetT(self.envelope), BagT(self.envelope, most)))
        self.curious = self.chance(30)

    def _about(self, name: str, state: Sequence[str]) -> Expr:
        if name == SENT and not self.curious:
            name = "seen"
        return super()._about(name, state)

    def _change(self, name: str) -> ir.Stmt:
        if name != SENT:
            return super()._change(name)
        sent, what = self.read(SENT), self.value(self.envelope)
        kind = self.draw(20)
        if kind == 0:
            return self._kept(negation(equal(self._there(), self.some(self.process))))
        if kind == 1:
            return self._store(self._removed(sent, what))
        return self._store(self._added(sent, what))

    def _there(self) -> Expr:
        return item(Local(self.envelope, "e"), 0)

    def _kept(self, where: Expr) -> ir.Stmt:
        """Of all that was sent only what satisfies ``where`` stays."""
        sent = self.read(SENT)
        domain = ir.Members(sent, self.envelope)
        return self._store(
            ir.Comprehension(sent.type, "e", domain, where, Local(self.envelope, "e"))
        )

    def _store(self, value: Expr) -> ir.Stmt:
        return ir.Assign(ir.Target(self.types[SENT], SENT, True), value)

    def _added(self, sent: Expr, what: Expr) -> Expr:
        if isinstance(sent.type, SetT):
            return Apply(sent.type, Op.INSERT, (sent, what))
        more = Apply(sent.type, Op.BAG_ADD, (sent, what))
        return Apply(sent.type, Op.ITE, (member(what, sent), sent, more))

    def _removed(self, sent: Expr, what: Expr) -> Expr:
        op = Op.REMOVE if isinstance(sent.type, SetT) else Op.BAG_REMOVE
        return Apply(sent.type, op, (sent, what))

    def action(self, index: int) -> ir.Action:
        kind = self.draw(10)
        if kind < 4:
            return self._reception(index)
        if kind < 6:
            return self._sending(index)
        return super().action(index)

    def _reception(self, index: int) -> ir.Action:
        param = ir.Param("r", ir.Members(self.read(SENT), self.envelope), TRUE)
        self.names["r"] = self.envelope
        body = [self.statement() for _ in range(1 + self.draw(2))]
        if self.chance(10):
            body.append(self._store(self._removed(self.read(SENT), Local(self.envelope, "r"))))
        guard = self.fact(0) if self.chance(40) else TRUE
        found = self._finished(index, [param], guard, body)
        self.names.clear()
        return found

    def _sending(self, index: int) -> ir.Action:
        """Nothing but sending, perhaps one of two things."""
        params = [
            ir.Param("p", ir.Universe(self.process), self.alive()),
            ir.Param("m", ir.Universe(self.payload), TRUE),
        ]
        self.names.update(p=self.process, m=self.payload)
        guard, body = self.fact(0), list[ir.Stmt]()
        if self.chance(30):
            self.names["x"] = self.process
            body.append(ir.Choose("x", ir.Universe(self.process), TRUE))
        body.append(self._store(self._added(self.read(SENT), self.value(self.envelope))))
        if self.chance(20):
            body.append(self.statement())
        found = self._finished(index, params, guard, body)
        self.names.clear()
        return found

    def system(self, formula: ir.Formula | None = None) -> ir.TransitionSystem:
        """A system; ``formula`` is not asked."""
        init = self.init()
        actions = tuple(self.action(i) for i in range(3 + self.draw(3)))
        properties = tuple(
            ir.Property(f"p{i}", ir.PropertyKind.INVARIANT, self.fact(2), self.fact(), "")
            for i in range(1 + self.draw(2))
        )
        kinds: dict[str, Type] = self.types
        variables = tuple(
            ir.Variable(n, t, default(t), KINDS.get(n, ir.VariableKind.SHARED))
            for n, t in kinds.items()
        )
        marks = tuple(ir.MarkInfo(ir.MarkKind.BRANCH, "") for _ in range(self.marks))
        labels = self.process.labels
        return verify(
            ir.TransitionSystem("keeping", labels, variables, init, actions, (), properties, marks)
        )
