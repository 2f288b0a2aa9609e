"""Bounds how often handlers run: ``at most 2 elects``.

A handler whose budget is used up is not enabled, as if its guard were false; so no fairness is
assumed of it either.  What counts is that it begins: also one that a crash cuts.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj
from checker.model.ir import TRUE, Block, Expr, Op, VariableKind
from checker.model.types import IntT, MapT, default

BUDGET = "@taken"
"""What the names of the variables begin with that count how often handlers have run."""


def declare(world: World) -> None:
    """Declares how often each handler with a budget has run."""
    for budget in world.check.budgets:
        bound = world.bound(budget.bound)
        if bound < 0:
            message = f"invalid bound: at most {bound} times"
            raise refuse("E003", message, budget.span, "the bound is 0 or more")
        count = IntT(0, bound)
        type_ = MapT(world.proc, count) if budget.per_process else count
        title = f"{budget.handler}{' of each' * budget.per_process} so far"
        world.add(_name(budget), type_, default(type_), VariableKind.WORLD, title)


def is_left(world: World, handler: typed.Handler, process: Expr) -> Expr:
    """Returns whether ``process`` may run ``handler`` once more."""
    found: Expr = TRUE
    for budget in _of(world, handler):
        bound = build.integer(world.bound(budget.bound))
        found = conj(found, build.below(_so_far(world, budget, process), bound))
    return found


def count(world: World, handler: typed.Handler, process: Expr) -> Block:
    """Returns the statements that count that ``process`` runs ``handler``."""
    return tuple(_counting(world, budget, process) for budget in _of(world, handler))


def _counting(world: World, budget: typed.HandlerBudget, process: Expr) -> ir.Stmt:
    bound, so_far = world.bound(budget.bound), _so_far(world, budget, process)
    more = ir.Apply(IntT(1, bound + 1), Op.ADD, (so_far, build.integer(1)))
    path = (ir.Key(process, world.proc),) if budget.per_process else ()
    return ir.Assign(ir.Target(IntT(0, bound), _name(budget), True, path), more)


def _so_far(world: World, budget: typed.HandlerBudget, process: Expr) -> Expr:
    taken = world.read(_name(budget))
    return build.entry(taken, process) if budget.per_process else taken


def _of(world: World, handler: typed.Handler) -> Iterator[typed.HandlerBudget]:
    return (budget for budget in world.check.budgets if budget.handler == handler.label)


def _name(budget: typed.HandlerBudget) -> str:
    return f"{BUDGET} {budget.handler}{' per process' * budget.per_process}"
