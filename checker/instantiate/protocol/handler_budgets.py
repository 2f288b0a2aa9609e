"""Bounds how often handlers run: ``at most 2 elects``; alternatives: see :mod:`.alternatives`.

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
PER_PROCESS = " per process"
"""What the name ends with of a variable that counts for each process."""


def declare(world: World) -> None:
    """Declares how often each handler with a budget has run, and each alternative was taken."""
    for budget in world.check.budgets:
        bound = world.bound(budget.bound)
        if bound < 0:
            message = f"invalid bound: at most {bound} times"
            raise refuse("E003", message, budget.span, "the bound is 0 or more")
        count = IntT(0, bound)
        type_ = MapT(world.proc, count) if budget.per_process else count
        title = f"{budget.handler}{' of each' * budget.per_process} so far"
        kind = VariableKind.SHARED if budget.alternative else VariableKind.WORLD
        world.add(variable(budget), type_, default(type_), kind, title)


def is_left(world: World, handler: typed.Handler, process: Expr) -> Expr:
    """Returns whether ``process`` may run ``handler`` once more."""
    found: Expr = TRUE
    for budget in _of(world, handler):
        found = conj(found, has_left(world, budget, process))
    return found


def has_left(world: World, budget: typed.HandlerBudget, process: Expr) -> Expr:
    """Returns whether ``process`` has something left of ``budget``."""
    bound = build.integer(world.bound(budget.bound))
    return build.below(_so_far(world, budget, process), bound)


def count(world: World, handler: typed.Handler, process: Expr) -> Block:
    """Returns the statements that count that ``process`` runs ``handler``."""
    return tuple(counting(world, budget, process) for budget in _of(world, handler))


def counting(world: World, budget: typed.HandlerBudget, process: Expr) -> ir.Stmt:
    """Returns the statement by which ``process`` uses ``budget`` once."""
    bound, so_far = world.bound(budget.bound), _so_far(world, budget, process)
    more = ir.Apply(IntT(1, bound + 1), Op.ADD, (so_far, build.integer(1)))
    path = (ir.Key(process, world.proc),) if budget.per_process else ()
    return ir.Assign(ir.Target(IntT(0, bound), variable(budget), True, path), more)


def _so_far(world: World, budget: typed.HandlerBudget, process: Expr) -> Expr:
    taken = world.read(variable(budget))
    return build.entry(taken, process) if budget.per_process else taken


def _of(world: World, handler: typed.Handler) -> Iterator[typed.HandlerBudget]:
    budgets = (budget for budget in world.check.budgets if not budget.alternative)
    return (budget for budget in budgets if budget.handler == handler.label)


def variable(budget: typed.HandlerBudget) -> str:
    """Returns the name of the variable that counts how often ``budget`` was used."""
    return f"{BUDGET} {budget.handler}{PER_PROCESS * budget.per_process}"
