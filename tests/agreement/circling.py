"""Random systems with symmetric structure most of which run in circles: flags that are set and
reset, a leader that changes, numbers that begin again; in some, that is all that happens."""

from __future__ import annotations

from collections.abc import Sequence

from checker.model import ir
from checker.model.build import conj, entry, equal, negation
from checker.model.ir import Apply, Const, Expr, Local, Op
from checker.model.types import BOOL, OptionT
from checker.records import replace
from tests.agreement.alike import Alike

TURNED = ("ready", "done", "phase", "lead", "one")
"""The variables that such steps change."""


class Circling(Alike):
    """Draws such a system from ``draw``, which gives a number below its argument."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.calm = False
        self.elects = self.chance(60)
        if self.elects:
            self.types["lead"] = OptionT(self.process)
        turned = [name for name in TURNED if name in self.types]
        if self.elects:
            turned.remove("lead")
        self.turned = [self.pick(turned)] if self.chance(40) else turned
        self.only_turns = len(self.turned) == 1 and self.chance(50)

    def action(self, index: int) -> ir.Action:
        if self.elects and index == 0:
            return self._elect()
        if not self.only_turns and not self.chance(60):
            return super().action(index)
        p = Local(self.process, "p")
        self.names["p"] = self.process
        param = ir.Param("p", ir.Universe(self.process), self.alive())
        name = self.pick(self.turned)
        guards = [self.fact(0)] if self.chance(30) else []
        found = self._finished(index, [param], conj(*guards), [self._turn(name, p)])
        self.names.clear()
        return found

    def _elect(self) -> ir.Action:
        """Some process leads from now on."""
        p = Local(self.process, "p")
        self.names["p"] = self.process
        read = self.read("lead")
        param = ir.Param("p", ir.Universe(self.process), self.alive())
        mine = Apply(read.type, Op.SOME, (p,))
        body: list[ir.Stmt] = [ir.Assign(ir.Target(read.type, "lead", True), mine)]
        found = self._finished(0, [param], equal(read, Const(read.type, None)), body)
        self.names.clear()
        return found

    def _turn(self, name: str, p: Expr) -> ir.Stmt:
        read: Expr = self.read(name)
        if name == "one":
            return ir.Assign(ir.Target(self.process, name, True), p)
        if isinstance(read.type, OptionT):
            mine = equal(read, Apply(read.type, Op.SOME, (p,)))
            target = ir.Target(read.type, name, True)
            none = ir.Assign(target, Const(read.type, None))
            return ir.If(mine, (none,), (ir.Assign(target, Apply(read.type, Op.SOME, (p,))),))
        place = entry(read, p)
        target = ir.Target(place.type, name, True, (ir.Key(p, self.process),))
        if place.type == BOOL:
            return ir.Assign(target, negation(place))
        zero, one = (Const(place.type, i) for i in (0, 1))
        return ir.If(equal(place, zero), (ir.Assign(target, one),), (ir.Assign(target, zero),))

    def liveness(
        self, name: str, formula: ir.Formula | None, asked: Sequence[str] = ()
    ) -> ir.Property:
        """Most ask for what does not last for any process, such as to lead, or not to be ready."""
        found = super().liveness(name, formula, asked)
        if formula is not None or self.chance(30):
            return found
        x = Local(self.process, "x")
        self.names["x"] = self.process
        names = ["lead"] if self.elects else [n for n in TURNED if n in self.types]
        one = self._of(self.pick(names), x)
        other = self._of("ready", x) if self.chance(50) else self.fact(0)
        self.names.clear()
        return replace(found, propositions=(conj(one, other),))

    def _of(self, name: str, x: Expr) -> Expr:
        """A condition on ``x``, such as that it leads or does not."""
        read: Expr = self.read(name)
        if name == "one":
            holds = equal(read, x)
        elif isinstance(read.type, OptionT):
            holds = equal(read, Apply(read.type, Op.SOME, (x,)))
        else:
            place = entry(read, x)
            holds = place if place.type == BOOL else equal(place, Const(place.type, 1))
        return negation(holds) if self.chance(50) else holds
