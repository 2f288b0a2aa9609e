"""Bounds the faults of one role: ``faults crash <= 1 of broker``.

A clause about a role limits how many of its members have the fault; a clause without a role limits
all processes together.  If all clauses of a kind are about roles, processes of other roles do not
have that fault.
"""

from __future__ import annotations

from checker.instantiate.world import CRASHES, POWER_FAILURES, WIPES, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, member, negation
from checker.model.ir import TRUE, Block, Expr, Op, VariableKind
from checker.model.types import BOOL, IntT, SetT

STOPS = {"crash": "crashes", "power": "power failures", "wipe": "lost disks"}
"""The kinds of stops, with their names."""
COUNTS = {"crash": CRASHES, "power": POWER_FAILURES, "wipe": WIPES}
"""The variables that count the stops of each kind, if processes recover."""


def may_fail(world: World, kind: str, faulty: Expr, process: Expr) -> Expr:
    """Returns whether ``process`` may become faulty, in addition to the processes ``faulty``."""
    limits = []
    for clause in clauses(world, kind):
        room = build.below(_number(world, clause, faulty), build.integer(_bound(world, clause)))
        limits.append(disj(negation(member(process, _role(world, clause))), room))
    return conj(is_affected(world, kind, process), *limits)


def all_within(world: World, kind: str, faulty: Expr) -> Expr:
    """Returns whether the bounds allow all of ``faulty`` to be faulty together."""
    limits = [
        build.at_most(_number(world, clause, faulty), build.integer(_bound(world, clause)))
        for clause in clauses(world, kind)
    ]
    if not is_partial(world, kind):
        return conj(*limits)
    inside = ir.Apply(BOOL, Op.SUBSET, (faulty, _affected(world, kind)))
    return conj(inside, *limits)


def declare_crash_counts(world: World) -> None:
    """Declares the variables that count stops for each bound of a role, if processes recover."""
    for kind, title in STOPS.items():
        for clause in clauses(world, kind) if world.recovers else ():
            count, title_ = IntT(0, _bound(world, clause)), f"{title} of {clause.role}"
            world.add(_count(clause), count, 0, VariableKind.WORLD, title_)


def may_stop(world: World, kind: str, victim: Expr) -> Expr:
    """Returns whether a stop of ``victim`` of this kind is within the bounds of its role."""
    if not world.recovers:
        return may_fail(world, kind, world.crashed(), victim)
    limits = []
    for clause in clauses(world, kind):
        room = build.below(world.read(_count(clause)), build.integer(_bound(world, clause)))
        limits.append(disj(negation(member(victim, _role(world, clause))), room))
    return conj(is_affected(world, kind, victim), *limits)


def count_stop(world: World, kind: str, victim: Expr) -> Block:
    """Returns the statements that count a stop of ``victim``, if processes recover."""
    found: list[ir.Stmt] = []
    for clause in clauses(world, kind) if world.recovers else ():
        note = build.one_more(world.read(_count(clause)))
        found.append(ir.If(member(victim, _role(world, clause)), (note,)))
    return tuple(found)


def may_recover(world: World, process: Expr) -> Expr:
    """Returns whether ``process`` may recover from a crash."""
    roles = world.check.recovering
    if not roles:
        return TRUE
    members = frozenset[int]().union(*(world.processes(role) for role in roles))
    return member(process, ir.Const(SetT(world.proc), members))


def clauses(world: World, kind: str) -> list[typed.RoleFault]:
    return [clause for clause in world.check.role_faults if clause.kind == kind]


def is_partial(world: World, kind: str) -> bool:
    """Tells whether only members of some roles can be faulty in this way."""
    return any(clause.alone for clause in clauses(world, kind))


def is_affected(world: World, kind: str, process: Expr) -> Expr:
    return member(process, _affected(world, kind)) if is_partial(world, kind) else TRUE


def _affected(world: World, kind: str) -> Expr:
    """Returns the members of all roles for which there is a clause."""
    roles = (world.processes(clause.role) for clause in clauses(world, kind))
    return ir.Const(SetT(world.proc), frozenset[int]().union(*roles))


def _role(world: World, clause: typed.RoleFault) -> Expr:
    return ir.Const(SetT(world.proc), world.processes(clause.role))


def _number(world: World, clause: typed.RoleFault, faulty: Expr) -> Expr:
    return build.size(ir.Apply(faulty.type, Op.INTERSECT, (faulty, _role(world, clause))))


def _bound(world: World, clause: typed.RoleFault) -> int:
    assert clause.bound is not None
    return world.bound(clause.bound)


def _count(clause: typed.RoleFault) -> str:
    return f"{COUNTS[clause.kind]} {clause.role}"
