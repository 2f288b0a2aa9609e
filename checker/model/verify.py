"""Verifies that a transition system is closed and well typed, before any engine uses it."""

from __future__ import annotations

from typing import assert_never

from checker.model import ir
from checker.model.evaluate import misfit
from checker.model.ir import TransitionSystem
from checker.model.tree import parts
from checker.model.types import BagT, BoolT, IntT, MapT, SeqT, VariantT


class MalformedSystem(AssertionError):
    """Raised for an ill-formed system: an internal error, never one of a spec."""


def verify(system: TransitionSystem) -> TransitionSystem:
    """Returns ``system`` itself; raises :class:`MalformedSystem` with the first error."""
    names = [v.name for v in system.variables]
    _require(len(set(names)) == len(names), "two variables of one name")
    for variable in system.variables:
        fits = misfit(variable.type, variable.initial, None) is None
        _require(fits, f"{variable.name}: the initial value does not fit its type")
    actions = [a.name for a in system.actions]
    _require(len(set(actions)) == len(actions), f"two actions of one name: {actions}")
    check = _Checker(system)
    check.block(system.init, frozenset())
    check.block(system.monitor, frozenset())
    for action in system.actions:
        bound: frozenset[str] = frozenset()
        for param in action.params:
            check.domain(param.domain, bound)
            bound |= {param.name}
            check.truth(param.where, bound)
        check.truth(action.guard, bound)
        check.truth(action.promised, bound)
        check.block(action.body + system.monitor, bound)
        for key in ir.fairness_of(action).key:
            check.expression(key, bound)
    for justice in system.justice:
        check.truth(justice.holds, frozenset())
    for prop in system.properties:
        check.question(prop)
    return system


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise MalformedSystem(message)


class _Checker:
    """Checks statements and expressions with the names that are bound at their position."""

    def __init__(self, system: TransitionSystem) -> None:
        self.types = {v.name: v.type for v in system.variables}
        self.marks = len(system.marks)

    def question(self, prop: ir.Property) -> None:
        self.truth(prop.bad, frozenset())
        self.truth(prop.premise, frozenset())
        bound: frozenset[str] = frozenset()
        for param in prop.params:
            self.domain(param.domain, bound)
            bound |= {param.name}
            self.truth(param.where, bound)
        for proposition in prop.propositions:
            self.truth(proposition, bound)
        if prop.kind is ir.PropertyKind.LIVENESS:
            _require(prop.formula is not None, f"{prop.name} has no formula")
            _require(prop.automaton is not None, f"{prop.name} has no automaton")

    def block(self, block: ir.Block, bound: frozenset[str]) -> frozenset[str]:
        for stmt in block:
            bound = self.statement(stmt, bound)
        return bound

    def statement(self, stmt: ir.Stmt, bound: frozenset[str]) -> frozenset[str]:
        match stmt:
            case ir.Assign(target, value):
                self.target(target, bound)
                self.expression(value, bound)
            case ir.Declare(name, _, value):
                self.expression(value, bound)
                return bound | {name}
            case ir.If(condition, then, otherwise):
                self.truth(condition, bound)
                self.block(then, bound)
                self.block(otherwise, bound)
            case ir.For(name, domain, body):
                self.domain(domain, bound)
                self.block(body, bound | {name})
            case ir.While(condition, body):
                self.truth(condition, bound)
                self.block(body, bound)
            case ir.Choose(name, domain, where):
                self.domain(domain, bound)
                self.truth(where, bound | {name})
                if stmt.weight is not None:
                    self.expression(stmt.weight, bound | {name})
                return bound | {name}
            case ir.Assume(condition):
                self.truth(condition, bound)
            case ir.Mark(mark, args):
                _require(0 <= mark < self.marks, f"there is no mark {mark}")
                for arg in args:
                    self.expression(arg, bound)
            case ir.Emit(effect):
                raise MalformedSystem(f"the effect {effect} was not lowered")
            case ir.Fault():
                pass
            case _:
                assert_never(stmt)
        return bound

    def target(self, target: ir.Target, bound: frozenset[str]) -> None:
        if target.is_state:
            _require(target.name in self.types, f"there is no variable {target.name}")
        else:
            _require(target.name in bound, f"{target.name} is not declared")
        for step in target.path:
            if isinstance(step, ir.Key):
                self.expression(step.key, bound)

    def domain(self, domain: ir.Domain, bound: frozenset[str]) -> None:
        if isinstance(domain, ir.Members | ir.Subsets):
            self.expression(domain.of, bound)

    def truth(self, expr: ir.Expr, bound: frozenset[str]) -> None:
        _require(isinstance(expr.type, BoolT), f"a condition of type {expr.type}")
        self.expression(expr, bound)

    def expression(self, expr: ir.Expr, bound: frozenset[str]) -> None:
        match expr:
            case ir.Const(type_, value):
                _require(misfit(type_, value, None) is None, f"{value!r} is not of {type_}")
            case ir.Local(_, name):
                _require(name in bound, f"{name} is not bound")
            case ir.Read(type_, variable):
                _require(self.types.get(variable) == type_, f"{variable} has another type")
            case ir.Quant(kind, name, domain, body):
                self.domain(domain, bound)
                ask = self.expression if kind is ir.Quantifier.SUM else self.truth
                ask(body, bound | {name})
            case ir.Comprehension(_, name, domain, where, item):
                self.domain(domain, bound)
                self.truth(where, bound | {name})
                self.expression(item, bound | {name})
            case ir.MapOf(_, name, body):
                self.expression(body, bound | {name})
            case ir.Let(_, name, value, body):
                self.expression(value, bound)
                self.expression(body, bound | {name})
            case ir.Index() | ir.Item() | ir.Apply() | ir.Make() | ir.IsCase() | ir.CaseField():
                self.shape(expr)
                for part in parts(expr):
                    self.expression(part, bound)
            case _:
                assert_never(expr)

    def shape(self, expr: ir.Expr) -> None:
        match expr:
            case ir.Index(type_, base):
                fits = isinstance(base.type, MapT) and base.type.value == type_
                fits = fits or (isinstance(base.type, SeqT) and base.type.item == type_)
                _require(fits, f"an entry of {base.type} is not a {type_}")
            case ir.Make(type_, case, args):
                _require(isinstance(type_, VariantT), "a message that is no variant")
                assert isinstance(type_, VariantT)
                _require(len(type_.cases[case].fields) == len(args), "fields that don't match")
            case ir.Apply(_, ir.Op.EQ, (left, right)):
                same = left.type == right.type or any(
                    isinstance(left.type, kind) and isinstance(right.type, kind)
                    for kind in (IntT, BagT)
                )
                _require(same, f"{left.type} and {right.type} are compared")
            case _:
                pass
