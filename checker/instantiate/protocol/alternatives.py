"""Bounds how often named alternatives are taken: ``either as fails { … }``, ``at most 2 fails``.

An alternative whose budget is used up is not there.  How often it was taken is written like shared
state, where its body begins: a crash inside the handler before that undoes it; and a handler that
may take it is not paused inside, and is one step where effects are.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.instantiate.faults import stable_storage
from checker.instantiate.protocol import handler_budgets
from checker.instantiate.protocol.expressions import Env
from checker.instantiate.world import World, mark
from checker.language.syntax import typed
from checker.model.build import conj
from checker.model.ir import TRUE, Block, Expr, MarkKind, SourceLocation


def is_left(env: Env, name: str) -> Expr:
    """Returns whether the alternative ``name`` may be taken once more."""
    found: Expr = TRUE
    assert env.self is not None
    for budget in _of(env.world, name):
        found = conj(found, handler_budgets.has_left(env.world, budget, env.self))
    return found


def taking(env: Env, name: str, place: SourceLocation) -> Block:
    """Returns the statements that show and count that the alternative ``name`` is taken."""
    world, self = env.world, env.self
    assert self is not None
    if not name:
        return ()
    counted: Block = ()
    for budget in _of(world, name):
        variable = handler_budgets.variable(budget)
        written = stable_storage.emit_assignment(world, variable, self, place)
        counted += (handler_budgets.counting(world, budget, self), *written)
    return (mark(world, MarkKind.ALTERNATIVE, name, ("self",), self, place=place), *counted)


def is_counted(world: World, stmt: object) -> bool:
    """Tells whether ``stmt`` has an alternative with a budget."""
    if not isinstance(stmt, typed.Either):
        return False
    return any(True for name in stmt.names for _ in _of(world, name))


def _of(world: World, name: str) -> Iterator[typed.HandlerBudget]:
    return (b for b in world.check.budgets if b.alternative and b.handler == name)
