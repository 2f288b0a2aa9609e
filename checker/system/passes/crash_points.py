"""Crashes inside a handler.

A process may crash before, after, or inside a handler at effect i; effects before i have happened,
effect i and those behind it have not, and of a multicast any subset of the receivers may have been
reached.  Local computation comes first and is complete; the effects are played one by one.

Crashing before or after a handler is the plain crash action.  Of the points inside, those before a
send are left out where the links are asynchronous and unbounded: a message that a crashed process
has sent may stay undelivered for ever, so for every property "sent and never delivered" is the
same as "never sent".  What remains are the points just before an effect that properties can see
(an indication to the application), after at least one other effect.
"""

from __future__ import annotations

from dataclasses import replace

from checker.system import build, ir
from checker.system.build import fresh
from checker.system.instantiate.actions import crash_statements
from checker.system.instantiate.world import Draft, World
from checker.system.ir import FALSE, TRUE, Block, EffectKind
from checker.system.passes.rewrite import emits, replace_emits
from checker.system.types import BOOL


def add(world: World) -> None:
    """Adds, for each draft that can be interrupted, its interrupted twin."""
    if world.crash_bound == 0:
        return
    for draft in list(world.drafts):
        if draft.process is None or draft.atomic or not _matters(world, draft):
            continue
        world.drafts.append(interrupted(world, draft))


def partial_sends_matter(world: World) -> bool:
    """Whether "sent, never delivered" can be told from "never sent"."""
    return world.check.capacity is not None


def _matters(world: World, draft: Draft) -> bool:
    found = emits(draft.action.body)
    if partial_sends_matter(world):
        return bool(found)
    return any(world.effects[e.effect].kind is EffectKind.VISIBLE for e in found[1:])


def interrupted(world: World, draft: Draft) -> Draft:
    """The twin of ``draft`` whose process crashes at one of its effects."""
    done, some = ir.Local(BOOL, fresh("_done")), ir.Local(BOOL, fresh("_some"))

    def by(emit: ir.Emit) -> Block:
        return (ir.If(build.negation(done), _cut(world, emit, done, some)),)

    action = draft.action
    assert draft.process is not None
    room = build.below(build.size(world.crashed()), build.integer(world.crash_bound))
    process = ir.Local(world.proc, fresh("_process"))
    body = (
        ir.Declare(process.name, world.proc, draft.process),
        ir.Declare(done.name, BOOL, FALSE),
        ir.Declare(some.name, BOOL, FALSE),
        *replace_emits(action.body, by),
        ir.Assume(done),
        *crash_statements(world, process),
    )
    twin = replace(
        action,
        name=f"{action.name}, crashing inside",
        guard=build.conj(room, action.guard),
        body=body,
        promised=FALSE,
    )
    return Draft(twin, draft.process, draft.atomic)


def _cut(world: World, emit: ir.Emit, done: ir.Local, some: ir.Local) -> Block:
    """The effect, or the crash just before it (for a multicast: in the middle of it)."""
    is_send = world.effects[emit.effect].kind is EffectKind.SEND
    happened = ir.Assign(ir.Target(BOOL, some.name, False), TRUE)
    if is_send and not partial_sends_matter(world):
        return (emit, happened)
    here = ir.Local(BOOL, fresh("_here"))
    crash: list[ir.Stmt] = [ir.Assign(ir.Target(BOOL, done.name, False), TRUE)]
    if is_send:
        sender, receivers, message = emit.args
        part = ir.Local(receivers.type, fresh("_reached"))
        crash.append(ir.Choose(part.name, ir.Subsets(receivers, receivers.type), TRUE))
        crash.append(replace(emit, args=(sender, part, message)))
    else:
        crash.insert(0, ir.Assume(some))
    return (
        ir.Choose(here.name, ir.Universe(BOOL), TRUE),
        ir.If(here, tuple(crash), (emit, happened)),
    )
