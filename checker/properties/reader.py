"""Lowers expressions that only properties have: histories, their order, and correctness."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, fresh, member, negation
from checker.model.ir import Expr, Quantifier
from checker.model.types import BOOL, IntT, MapT, SeqT, TupleT
from checker.properties.consistency.observation import reads


class Reader(Struct, frozen=True):
    """Lowers the expressions that only properties may use.

    ``correct`` gives the meaning of `correct(p)` in the state where it is evaluated.
    """

    world: World
    correct: Callable[[Expr], Expr]

    def read(self, env: Env, expr: typed.Expr) -> Expr:
        """Returns ``expr`` as an expression over history variables; raises :class:`SpecError`
        (N210)."""
        world = self.world
        match expr:
            case typed.Correct(_, kind, process, _):
                return self._fault_status(kind, lower(process, env))
            case typed.History(_, _, op, owner, _):
                return self._mine(f"@history.{op}", owner, env)
            case typed.Operation(_, "in", (item, typed.History() as history), _):
                mine = self.read(env, history)
                return member(lower(item, env, build.element(mine.type)), mine)
            case typed.HistoryOrder(_, _, op, owner, first, second, _):
                mine = self._mine(f"@history.{op}", owner, env)
                return _before(mine, first, second, env)
            case typed.Repeated(_, _, op, owner, item, _):
                mine = self._mine(f"@repeated.{op}", owner, env)
                return member(lower(item, env, build.element(mine.type)), mine)
            case typed.Acts(_, kind, _):
                return world.read(f"@{kind}")
            case typed.Operation(_, "in", (item, typed.Acts() as acts), _):
                whole = self.read(env, acts)
                return member(lower(item, env, build.element(whole.type)), whole)
            case typed.RepeatedAct(_, kind, item, _):
                whole = world.read(f"@repeated.{kind}")
                return member(lower(item, env, build.element(whole.type)), whole)
            case typed.Opinion(_, kind, owner, _):
                return self._mine(f"@{kind}", owner, env)
            case typed.Consistent():
                return reads(world, expr)
            case typed.Causes(_, first, second, _):
                pairs = world.read("@causes")
                pair = build.element(pairs.type)
                assert isinstance(pair, TupleT)
                sides = (lower(first, env, pair.items[0]), lower(second, env, pair.items[1]))
                return member(ir.Apply(pair, ir.Op.TUPLE, sides), pairs)
            case _:
                raise refuse("N210", "this is not allowed here", expr.span)

    def _fault_status(self, kind: str, process: Expr) -> Expr:
        """Lowers whether a process is correct, faulty by now, or down now.

        The last two are about the present state; ``correct`` is whatever this reader was given, so
        ``faulty`` need not be its negation.
        """
        match kind:
            case "correct":
                return self.correct(process)
            case "faulty":
                return negation(self.world.correct(process))
            case _:
                return negation(self.world.alive(process))

    def _mine(self, name: str, owner: typed.Expr, env: Env) -> Expr:
        whole = self.world.read(name)
        assert isinstance(whole.type, MapT)
        return build.entry(whole, lower(owner, env))


def _before(mine: Expr, first: typed.Expr, second: typed.Expr, env: Env) -> Expr:
    """Builds that both are in the sequence, the first ``first`` before the first ``second``."""
    assert isinstance(mine.type, SeqT)
    item = mine.type.item
    x, y = lower(first, env, item), lower(second, env, item)
    positions = IntT(0, max(mine.type.cap - 1, 0))
    i, j = ir.Local(positions, fresh("_i")), ir.Local(positions, fresh("_j"))
    length = build.size(mine)

    def at(position: ir.Local) -> Expr:
        return ir.Index(item, mine, position)

    earlier = conj(build.below(j, i), build.equal(at(j), y))
    y_earlier = ir.Quant(Quantifier.EXISTS, j.name, ir.Universe(positions), earlier, BOOL)
    found = conj(
        build.below(i, length),
        build.equal(at(i), x),
        negation(build.equal(x, y)),
        negation(y_earlier),
    )
    some_x = ir.Quant(Quantifier.EXISTS, i.name, ir.Universe(positions), found, BOOL)
    return conj(member(y, mine), some_x)
