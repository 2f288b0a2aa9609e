"""Models pauses: a process stops for an arbitrary time, and then continues.

A garbage collection, a scheduler or the migration of a virtual machine may stop a process anywhere.
A paused process is correct: it keeps its state and its messages, and eventually continues.  So
between handlers a pause matters only to clocks, which otherwise wait until an expired timer is
handled (Dwork, Lynch and Stockmeyer 1988: the relative speed of processes is unbounded, however
good their clocks are).  A clock may tick while its process has an expired timer if the process is
late, or becomes late, which is one pause.  The next step of the process ends its lateness.  If the
number of pauses is not bounded, lateness need not be recorded.

Pauses inside a handler are in :mod:`.pause_points`.
"""

from __future__ import annotations

from collections.abc import Iterable

from checker.instantiate.faults import joint_stops, role_bounds
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import Draft, World
from checker.model import build, ir
from checker.model.build import conj, disj, member, negation
from checker.model.ir import TRUE, ActionKind, Block, Expr, MarkKind, Op, VariableKind
from checker.model.types import BOOL, IntT, SetT
from checker.records import replace

LATE, PAUSES = "@late", "@pauses"
"""Variables: the processes that are late since their last step; the number of pauses so far."""

# ---- variables --------------------------------------------------------------------------------


def declare(world: World) -> None:
    """Declares the counters of pauses, and the set of late processes.

    Raises :class:`SpecError` (C026) in lock step, where rounds wait for every process.
    """
    if not world.may_pause:
        return
    time = "asynchronous" if world.check.timing is None else world.check.timing.kind
    if time in ("synchronous", "partial"):
        message = f"`pause` has no meaning under `timing {time}`: a round waits for every process"
        hint = "write `timing clocks drift 1` or `timing asynchronous`, or leave out `pause`"
        raise refuse("C026", message, world.check.pause_span or world.check.span, hint)
    for variable, role, bound in counts(world):
        title = f"pauses of {role}" if role else "pauses"
        world.add(variable, IntT(0, bound), 0, VariableKind.WORLD, title)
    if counts(world) and time == "clocks":
        world.add(LATE, SetT(world.proc), frozenset(), VariableKind.WORLD, "late")


def counts(world: World) -> list[tuple[str, str, int]]:
    """Returns the counters of pauses: variable, role (empty: all processes), and bound."""
    found = []
    of_all = world.check.pauses
    if of_all is not None and not role_bounds.is_partial(world, "pause"):
        found.append((PAUSES, "", world.bound(of_all)))
    for clause in role_bounds.clauses(world, "pause"):
        if clause.bound is not None:
            found.append((f"{PAUSES} {clause.role}", clause.role, world.bound(clause.bound)))
    return found


def _is_of(world: World, role: str, process: Expr) -> Expr:
    if not role:
        return TRUE
    return member(process, ir.Const(SetT(world.proc), world.processes(role)))


def room(world: World, process: Expr) -> Expr:
    """Returns whether ``process`` may pause once more."""
    process = world.lead(process)
    limits = [
        disj(negation(_is_of(world, role, process)), build.below(world.read(v), build.integer(n)))
        for v, role, n in counts(world)
    ]
    return conj(role_bounds.is_affected(world, "pause", process), *limits)


def spend(world: World, process: Expr) -> Block:
    """Returns the statements by which ``process`` pauses, with the mark that shows it."""
    found: list[ir.Stmt] = [*joint_stops.marks(world, MarkKind.PAUSE, "", process)]
    process = world.lead(process)
    for variable, role, _ in counts(world):
        note = build.one_more(world.read(variable))
        ours = _is_of(world, role, process)
        found.append(note if ours == TRUE else ir.If(ours, (note,)))
    if LATE in world.variables:
        late = world.read(LATE)
        found.append(build.assign(late, build.with_item(late, process)))
    return tuple(found)


# ---- clocks -----------------------------------------------------------------------------------


def _newly(world: World, process: Expr, waits: Expr) -> Expr:
    """Returns whether ``process``, which ``waits`` to handle a timer, becomes late now."""
    if LATE not in world.variables:
        return waits
    return conj(waits, negation(member(world.lead(process), world.read(LATE))))


def one_ticks(world: World, process: Expr, waits: Expr) -> tuple[Expr, Block]:
    """Returns whether the clock of ``process`` may tick, and the statements by which the tick makes
    it late; ``waits``: the process has an expired timer to handle."""
    if not world.may_pause:
        return negation(waits), ()
    newly = _newly(world, process, waits)
    return disj(negation(newly), room(world, process)), (ir.If(newly, spend(world, process)),)


def all_tick(world: World, waits: Expr, process: ir.Local) -> tuple[Expr, Block]:
    """Returns whether all clocks may tick together if processes pause, and the statements by which
    the tick makes processes late; ``waits``: ``process`` has an expired timer to handle."""
    universe = ir.Universe(world.proc)
    newly = _newly(world, process, waits)
    lead = world.lead(process)
    affected = disj(negation(newly), role_bounds.is_affected(world, "pause", lead))
    limits: list[Expr] = [ir.Quant(ir.Quantifier.FORALL, process.name, universe, affected, BOOL)]
    for variable, role, bound in counts(world):
        of_role = conj(newly, _is_of(world, role, lead))
        those = ir.Comprehension(SetT(world.proc), process.name, universe, of_role, lead)
        left = ir.Apply(IntT(0, bound), Op.SUB, (build.integer(bound), world.read(variable)))
        limits.append(build.at_most(build.size(those), left))
    each = ir.If(newly, spend(world, process))
    return conj(*limits), (ir.For(process.name, universe, (each,)),)


# ---- the end of being late --------------------------------------------------------------------


def end_lateness(world: World, drafts: Iterable[Draft]) -> None:
    """Makes each step of a process, including its crash and its recovery, end its lateness."""
    if LATE not in world.variables:
        return
    for draft in drafts:
        action, process = draft.action, draft.process
        if action.kind is ActionKind.CRASH:
            process = ir.Local(world.proc, action.params[0].name)
        if process is not None:
            draft.action = replace(action, body=(*no_longer_late(world, process), *action.body))


def no_longer_late(world: World, process: Expr) -> Block:
    """Returns the statement that ends the lateness of ``process``."""
    if LATE not in world.variables:
        return ()
    late, lead = world.read(LATE), world.lead(process)
    return (build.assign(late, build.without_item(late, lead)),)
