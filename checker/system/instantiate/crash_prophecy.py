"""Prophecy of crashes: processes of which an oracle knows that they will crash.

What a property promises between correct processes only does not bind an oracle towards one that
crashes later: of regular consensus, say, a process may be told another decision than the others and
crash after it has passed that on.  No state tells who will crash.  So it may be foreseen of any
process, as long as crashes are left, at any time and without anybody noticing; from then on an
oracle owes it nothing, and it does crash in the end (an :class:`ir.Justice` of the system).
"""

from __future__ import annotations

from checker.system import build, ir
from checker.system.build import conj, disj, fresh, member, negation
from checker.system.instantiate.world import Draft, World, mark
from checker.system.ir import TRUE, Action, ActionKind, Expr, Justice, MarkKind, Param, VariableKind
from checker.system.types import BOOL, SetT

DOOMED = "@doomed"
TITLE = "foreseen to crash"

FORESEEN = "oracles foresee that {0} will crash"
"""The mark of a crash that is foreseen."""


def declare(world: World) -> None:
    """Some oracle's contract speaks of correct processes: notes who will not be one.

    Where crashed processes may come back nothing is declared: there whoever is up may be correct.
    """
    if world.crash_bound == 0 or world.recovers or DOOMED in world.variables:
        return
    world.add(DOOMED, SetT(world.proc), frozenset(), VariableKind.WORLD, TITLE)


def is_spared(world: World, process: Expr) -> Expr:
    """Whether nothing is foreseen of ``process``."""
    if DOOMED not in world.variables:
        return TRUE
    return negation(member(process, world.read(DOOMED)))


def room(world: World, victim: Expr) -> Expr:
    """Whether ``victim`` may crash although others have to."""
    if DOOMED not in world.variables:
        return TRUE
    return disj(member(victim, world.read(DOOMED)), _may_crash_more(world))


def _may_crash_more(world: World) -> Expr:
    """Whether one more process may crash than have, or are foreseen to."""
    doomed = world.read(DOOMED)
    either = ir.Apply(doomed.type, ir.Op.UNION, (world.crashed(), doomed))
    return build.below(build.size(either), build.integer(world.crash_bound))


def draft(world: World) -> None:
    """Drafts that a crash is foreseen."""
    if DOOMED not in world.variables:
        return
    process = ir.Local(world.proc, fresh("process"))
    where = conj(
        world.alive(process),
        world.honest(process),
        world.may_fail(process),
        is_spared(world, process),
        _may_crash_more(world),
    )
    doomed = world.read(DOOMED)
    body = (
        mark(world, MarkKind.WORLD, FORESEEN, ("process",), process),
        ir.Assign(ir.Target(doomed.type, DOOMED, True), build.with_item(doomed, process)),
    )
    params = (Param(process.name, ir.Universe(world.proc), where),)
    action = Action("foresee", ActionKind.WORLD, params, TRUE, body, ir.FALSE)
    world.drafts.append(Draft(action, None))


def justice(world: World) -> list[Justice]:
    """What is foreseen comes true."""
    if DOOMED not in world.variables:
        return []
    gone = ir.Apply(BOOL, ir.Op.SUBSET, (world.read(DOOMED), world.crashed()))
    return [Justice(gone, "who is foreseen to crash does so in the end")]
