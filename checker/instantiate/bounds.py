"""Restricts a system to the states within the bounds of its check.

A state beyond a bound is a state like any other, but no step leads on from it: each guard demands
the bounds, so all that is derived from guards (what commutes, what is dead, what is symmetric)
takes them into account.  A justice condition demands that an execution be within the bounds
infinitely often, so none that ends beyond one is fair: it neither violates a property of whole
executions nor satisfies its premise.  Whether a bound is exceeded at all is an invariant of the
system beside its properties, which every engine and every reduction decides as those.

Where effects are steps of their own, whoever is inside a handler finishes it: handlers of one step
end in a state beyond a bound, too.
"""

from __future__ import annotations

from checker.instantiate.faults import joint_stops
from checker.instantiate.world import PENDING, World
from checker.language.syntax import typed
from checker.model import ir
from checker.model.build import conj, disj, negation
from checker.model.ir import BEYOND, Action, ActionKind, Expr, Justice, Property, TransitionSystem
from checker.records import replace

STAYS = "runs that leave the bound are not followed: each stays within {0}"


def asked_of_states(check: typed.Check) -> tuple[typed.PropertyDef, ...]:
    """Returns the bounds of ``check`` as properties of the system."""
    return tuple(replace(bound, name=f"{BEYOND}{bound.name}") for bound in check.bounds)


def within_bounds(
    world: World, system: TransitionSystem, bounds: tuple[Property, ...]
) -> TransitionSystem:
    """Returns ``system`` without the steps from states that are beyond one of ``bounds``."""
    if not bounds:
        return system
    inside = conj(*(negation(bound.bad) for bound in bounds))
    text = " and ".join(bound.definition for bound in bounds)
    return replace(
        system,
        actions=tuple(_within(world, action, inside) for action in system.actions),
        justice=(*system.justice, Justice(inside, STAYS.format(f"`{text}`"))),
    )


def _within(world: World, action: Action, inside: Expr) -> Action:
    if world.fine and PENDING in world.variables:
        if action.kind is ActionKind.EFFECT:
            return action
        if action.kind is ActionKind.CRASH:
            victim = ir.Local(world.proc, action.params[0].name)
            inside = disj(inside, negation(joint_stops.of_each(world, victim, world.idle)))
    return replace(action, guard=conj(inside, action.guard))
