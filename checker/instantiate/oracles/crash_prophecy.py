"""Models a crash prophecy: an oracle foresees that processes will crash.

What a property guarantees between correct processes only does not bind an oracle towards a process
that crashes later: in regular consensus, say, a process may receive another decision than the
others, pass it on and then crash.  No state determines who will crash.  So a crash may be foreseen
of any process, as long as crashes are left, at any time and unobservably; from then on no
obligation of an oracle includes that process, and it does crash eventually (an :class:`ir.Justice`
of the system).
"""

from __future__ import annotations

from checker.instantiate.faults import role_bounds
from checker.instantiate.variable_names import DOOMED
from checker.instantiate.world import Draft, World, mark
from checker.model import build, ir
from checker.model.build import conj, disj, fresh, member, negation
from checker.model.ir import TRUE, Action, ActionKind, Expr, Justice, MarkKind, Param, VariableKind
from checker.model.types import BOOL, SetT

TITLE = "foreseen to crash"
"""The mark of a foreseen crash."""


def declare(world: World) -> None:
    """Declares the foreseen crashes, where an oracle's contract mentions correct processes.

    Where crashed processes may recover nothing is declared: there any process that is up may be
    correct.
    """
    if world.crash_bound == 0 or world.recovers or DOOMED in world.variables:
        return
    world.add(DOOMED, SetT(world.proc), frozenset(), VariableKind.WORLD, TITLE)


def is_spared(world: World, process: Expr) -> Expr:
    """Returns whether no crash of ``process`` is foreseen."""
    if DOOMED not in world.variables:
        return TRUE
    return negation(member(process, world.read(DOOMED)))


def room(world: World, victim: Expr) -> Expr:
    """Returns whether ``victim`` may crash within the bound, given that foreseen crashes must
    happen."""
    if DOOMED not in world.variables:
        return TRUE
    return disj(member(victim, world.read(DOOMED)), _may_crash_more(world, victim))


def _may_crash_more(world: World, victim: Expr) -> Expr:
    """Returns whether one more process, ``victim``, may crash beyond those that have crashed or are
    foreseen to."""
    doomed = world.read(DOOMED)
    either = ir.Apply(doomed.type, ir.Op.UNION, (world.crashed(), doomed))
    more = build.below(build.size(either), build.integer(world.crash_bound))
    return conj(more, role_bounds.may_fail(world, "crash", either, victim))


def draft(world: World) -> None:
    """Drafts the action by which a crash is foreseen."""
    if DOOMED not in world.variables:
        return
    process = ir.Local(world.proc, fresh("process"))
    where = conj(
        world.alive(process),
        world.honest(process),
        world.may_fail(process),
        is_spared(world, process),
        _may_crash_more(world, process),
    )
    doomed = world.read(DOOMED)
    body = (
        mark(world, MarkKind.FORESEE, "", ("process",), process),
        build.assign(doomed, build.with_item(doomed, process)),
    )
    params = (Param(process.name, ir.Universe(world.proc), where),)
    action = Action("foresee", ActionKind.WORLD, params, TRUE, body, ir.FALSE)
    world.drafts.append(Draft(action, None))


def justice(world: World) -> list[Justice]:
    """Returns the justice constraint that foreseen crashes happen."""
    if DOOMED not in world.variables:
        return []
    gone = ir.Apply(BOOL, ir.Op.SUBSET, (world.read(DOOMED), world.crashed()))
    return [Justice(gone, "who is foreseen to crash eventually does so")]
