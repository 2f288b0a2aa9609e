"""Encodes bodies as formulas: all executions of a block at once.

A nondeterministic choice is a fresh input; the branches of an ``If`` or a loop are merged where it
ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import z3
from msgspec import Struct, field

from checker.engines.symbolic.evaluation import Evaluation
from checker.engines.symbolic.operations import arbitrary_value, without
from checker.engines.symbolic.symbolic_values import SymbolicSeq, SymbolicSet, equal, merge
from checker.engines.symbolic.terms import (
    Truth,
    both,
    conjunction,
    disjunction,
    implication,
    negation,
)
from checker.model import ir
from checker.model.tree import loop_carried, statements
from checker.model.types import BagT, SetT
from checker.records import replace
from checker.results.answer import Unsupported

ROUNDS = 200
"""The largest number of iterations of a ``While`` that are unrolled."""

FREE_SUBSETS = 6
"""Subsets of so many members are enumerated; of more, each member is an input of its own."""


Begun = tuple[dict[str, Any], dict[str, Any]]
"""The start of a loop iteration: the state, and locals."""


class Inputs(Struct):
    """The inputs of one instance, counted; ``pool``: all that there are, by name.

    Only one of several instances is executed, so all of them take theirs from the same pool.
    """

    pool: dict[str, z3.ExprRef] = field(default_factory=dict)
    count: int = 0
    name: str = "input"

    def truth(self) -> z3.BoolRef:
        """Returns a further truth value."""
        return self._next(1) == 1

    def one_of(self, count: int) -> list[Truth]:
        """Returns conditions of which at most one holds, for each of ``count`` things."""
        if count == 1:
            return [True]
        code = self._next((count - 1).bit_length())
        return [code == index for index in range(count)]

    def _next(self, bits: int) -> z3.BitVecRef:
        name = f"{self.name}.{self.count}.{bits}"
        self.count += 1
        found = self.pool.setdefault(name, z3.BitVec(name, bits))
        assert isinstance(found, z3.BitVecRef)
        return found


class Body(Evaluation):
    """The symbolic execution of a sequence of statements; ``names``: parameters and declared
    locals.

    ``possible``: returns whether a condition is satisfiable, as far as that is known (``True``
    where not).
    """

    names: dict[str, Any] = field(default_factory=dict)
    inputs: Inputs = field(default_factory=Inputs)
    possible: Callable[[Truth], bool] = lambda _: True

    def assume(self, condition: Truth, guard: Truth) -> None:
        """Excludes executions in which ``guard`` holds and ``condition`` does not."""
        self.alive = both(self.alive, implication(guard, condition))

    def run(self, block: ir.Block, guard: Truth = True) -> None:
        """Executes ``block`` where ``guard`` holds."""
        for stmt in block:
            if guard is False or self.alive is False:
                return
            self._statement(stmt, guard)

    def _statement(self, stmt: ir.Stmt, guard: Truth) -> None:
        match stmt:
            case ir.Assign(target, value):
                new = self.value(value, self.names, guard)
                self._assign(target, self.require_fit(target.type, new, guard, value.type), guard)
            case ir.Declare(name, type_, value):
                new = self.value(value, self.names, guard)
                self.names[name] = self.require_fit(type_, new, guard, value.type)
            case ir.If(condition, then, otherwise):
                holds = self.value(condition, self.names, guard)
                self._branch(holds, then, otherwise, guard)
            case ir.For(name, domain, body):
                for member, when in self.members(domain, self.names, guard):
                    self._branch(when, body, (), guard, {name: member})
            case ir.While():
                self._rounds(stmt, guard)
            case ir.Choose(name, domain, where):
                self.names[name] = self.pick(domain, name, where, guard)
            case ir.Assume(condition):
                self.assume(self.value(condition, self.names, guard), guard)
            case ir.Fault():
                self.fail(True, guard)
                self.assume(False, guard)
            case ir.Mark(_, args):
                for arg in args:
                    if not isinstance(arg, ir.Local | ir.Const | ir.Read):
                        self.value(arg, self.names, guard)
            case ir.Emit():
                raise AssertionError("Emit is not executed here")
            case _:
                assert_never(stmt)

    def _branch(
        self,
        condition: Truth,
        then: ir.Block,
        otherwise: ir.Block,
        guard: Truth,
        bound: dict[str, Any] | None = None,
    ) -> None:
        if isinstance(condition, bool):
            if condition:
                self.names.update(bound or {})
            self.run(then if condition else otherwise, guard)
            return
        before = dict(self.state), dict(self.names)
        self.names.update(bound or {})
        self.run(then, both(guard, condition))
        after = self.state, self.names
        self.state, self.names = before
        if otherwise:
            self.state, self.names = dict(self.state), dict(self.names)
            self.run(otherwise, both(guard, negation(condition)))
        for table, other in zip(after, (self.state, self.names), strict=True):
            for name, value in table.items():
                if name in other:
                    other[name] = merge(condition, value, other[name])
                else:
                    other[name] = value

    def _rounds(self, loop: ir.While, guard: Truth) -> None:
        """Unrolls until a further iteration is not possible.

        An iteration that begins as an earlier one did is an error, or infeasible.  Where the body
        has no choice it would be followed by further ones, so there is none when the iterations
        end.
        """
        emptied = _match_emptying_loop(loop)
        if emptied is not None:
            bag, item = emptied
            self.state[bag] = without(self.state[bag], self.value(item, self.names, guard))
            return
        begun: list[Begun] = []
        chooses = any(isinstance(s, ir.Choose) for s in statements(loop.body))
        handed = None if loop.grows is None else loop_carried(loop)
        for number in range(ROUNDS):
            condition = self.value(loop.condition, self.names, guard)
            guard = both(guard, condition)
            going = both(self.alive, guard)
            if going is False or (
                number and not self.possible(both(going, negation(self.failure())))
            ):
                break
            if chooses:
                names = self.names.items()
                held = {n: v for n, v in names if handed is None or n in handed}
                now = dict(self.state), held
                again = disjunction(_same_start(now, then) for then in begun)
                if loop.grows is None:
                    self.fail(again, guard)
                self.assume(negation(again), guard)
                begun.append(now)
            if number >= loop.limit:
                self.fail(True, guard)
                self.assume(False, guard)
                break
            self._round(condition, loop.body, guard)
        else:
            raise Unsupported(f"a loop may take more than {ROUNDS} iterations")

    def _round(self, condition: Truth, body: ir.Block, guard: Truth) -> None:
        before = dict(self.state), dict(self.names)
        self.run(body, guard)
        if condition is True:
            return
        after = self.state, self.names
        self.state, self.names = before
        for table, other in zip(after, before, strict=True):
            for name, value in table.items():
                other[name] = merge(condition, value, other[name]) if name in other else value

    # -- assignment -----------------------------------------------------------------------------

    def _assign(self, target: ir.Target, value: Any, guard: Truth) -> None:
        table = self.state if target.is_state else self.names
        table[target.name] = self._update(table[target.name], target, 0, value, guard)

    def _update(self, old: Any, target: ir.Target, depth: int, value: Any, guard: Truth) -> Any:
        """Returns ``old`` with the part at ``target.path[depth:]`` replaced by ``value``."""
        if depth == len(target.path):
            return value
        entries: list[tuple[int, Truth]]
        match target.path[depth]:
            case ir.Pos(position):
                entries = [(position, True)]
            case ir.Key(key, key_type):
                found = self.value(key, self.names, guard)
                entries, there = self.entries(old, found, key_type)
                self.fail(negation(there), guard)
            case other:
                assert_never(other)
        parts = list(old.slots if isinstance(old, SymbolicSeq) else old)
        for rank, when in entries:
            inner = self._update(parts[rank], target, depth + 1, value, both(guard, when))
            parts[rank] = merge(when, inner, parts[rank])
        return (
            SymbolicSeq(old.length, tuple(parts)) if isinstance(old, SymbolicSeq) else tuple(parts)
        )

    # -- choices --------------------------------------------------------------------------------

    def pick(self, domain: ir.Domain, name: str, where: ir.Expr, guard: Truth) -> Any:
        """Returns any member of ``domain`` that satisfies ``where``; infeasible if none does."""
        if isinstance(domain, ir.Subsets):
            assert isinstance(domain.item, SetT)
            of = self.value(domain.of, self.names, guard)
            if len(of.when) > FREE_SUBSETS:
                return self._any_subset(of, name, where, guard)
        return self.one_of(domain, self.members(domain, self.names, guard), name, where, guard)

    def one_of(
        self,
        domain: ir.Domain,
        members: list[tuple[Any, Truth]],
        name: str,
        where: ir.Expr,
        guard: Truth,
    ) -> Any:
        """Returns one of ``members``, those of ``domain``, that satisfies ``where``; an arbitrary
        value where none does, which is infeasible."""
        ways: list[tuple[Any, Truth]] = []
        for member, when in members:
            inner = {**self.names, name: member}
            fine = both(when, self.value(where, inner, both(guard, when)))
            if fine is not False:
                ways.append((member, fine))
        if not ways:
            self.assume(False, guard)
            return arbitrary_value(domain.item)
        is_it = self.inputs.one_of(len(ways))
        self.assume(disjunction(both(i, w) for i, (_, w) in zip(is_it, ways, strict=True)), guard)
        found = ways[-1][0]
        for condition, (member, _) in zip(reversed(is_it[:-1]), reversed(ways[:-1]), strict=True):
            found = merge(condition, member, found)
        return found

    def _any_subset(self, of: SymbolicSet, name: str, where: ir.Expr, guard: Truth) -> SymbolicSet:
        there = {k: self.inputs.truth() for k, w in of.when.items() if w is not False}
        self.assume(conjunction(implication(there[k], of.when[k]) for k in there), guard)
        found = SymbolicSet(dict(there))
        self.assume(self.value(where, {**self.names, name: found}, guard), guard)
        return found


def _same_start(now: Begun, then: Begun) -> Truth:
    """Returns whether two iterations begin in the same state."""
    if now[1].keys() != then[1].keys():
        return False
    return conjunction(
        equal(value, there[name])
        for here, there in zip(now, then, strict=True)
        for name, value in here.items()
    )


def _match_emptying_loop(loop: ir.While) -> tuple[str, ir.Expr] | None:
    """Returns the bag, and the item, where this loop only takes out every copy of it."""
    match loop:
        case ir.While(
            ir.Apply(op=ir.Op.IN, args=(ir.Local() as item, ir.Read(BagT(cap=cap), variable))),
            (ir.Assign(ir.Target(name=name, is_state=True, path=()), value),),
            limit,
        ):
            expected = ir.Apply(value.type, ir.Op.BAG_REMOVE, (ir.Read(value.type, name), item))
            plain = isinstance(value, ir.Apply) and replace(value, place=None) == expected
            if plain and name == variable and cap <= limit:
                return variable, item
    return None
