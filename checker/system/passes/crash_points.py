"""Crashes inside a handler.

A process may crash before, after, or inside a handler at effect i; effects before i have happened,
effect i and those behind it have not, and of a multicast any subset of the receivers may have been
reached.  Local computation comes first and is complete; the effects are played one by one.

Crashing before or after a handler is the plain crash action.  Of the points inside, those before a
send are left out where the links are asynchronous and unbounded: a message that a crashed process
has sent may stay undelivered for ever, so for every property "sent and never delivered" is the
same as "never sent".  What remains are the points just before an effect that properties can see
(an indication to the application).  Just before the FIRST effect a crash is the same as one before
the handler, unless a property reads local state (the handler's assignments are complete) or links
are bounded (the message that caused it is off the channel).  What ``upon init`` does has nothing
before it, so there every such point counts.
"""

from __future__ import annotations

from dataclasses import replace

from checker.system import build, ir
from checker.system.build import fresh
from checker.system.instantiate.crashes import crash_statements, room
from checker.system.instantiate.world import Draft, World
from checker.system.ir import FALSE, TRUE, Block, EffectKind
from checker.system.passes.rewrite import emits, replace_emits
from checker.system.types import BOOL


def add(world: World) -> None:
    """Adds, for each draft that can be interrupted, its interrupted twin."""
    if world.crash_bound == 0:
        return
    for draft in list(world.drafts):
        if draft.process is None or not _matters(world, draft.action.body):
            continue
        world.drafts.append(interrupted(world, draft))
    for index, (process, body) in enumerate(world.starts):
        found = [e for e in emits(body) if not e.atomic]
        if any(_visible(world, e) for e in found) or (found and partial_sends_matter(world)):
            world.starts[index] = (process, _start(world, process, body))


def partial_sends_matter(world: World) -> bool:
    """Whether "sent, never delivered" can be told from "never sent"."""
    return world.check.capacity is not None


def first_effect_matters(world: World) -> bool:
    """Whether a crash at a handler's first effect can be told from one before the handler."""
    return bool(world.read_by_properties) or partial_sends_matter(world)


def _visible(world: World, emit: ir.Emit) -> bool:
    return world.effects[emit.effect].kind is EffectKind.VISIBLE


def _matters(world: World, body: Block) -> bool:
    found = [e for e in emits(body) if not e.atomic]
    if partial_sends_matter(world):
        return bool(found)
    if not first_effect_matters(world):
        # An effect in a loop may come after itself, and after those that are written behind it.
        found = found[1:] + [e for e in emits(_loops(body)) if not e.atomic]
    return any(_visible(world, e) for e in found)


def _loops(block: Block) -> Block:
    """The loops of ``block``, also those inside branches."""
    found: Block = ()
    for stmt in block:
        if isinstance(stmt, ir.For | ir.While):
            found += (stmt,)
        elif isinstance(stmt, ir.If):
            found += _loops(stmt.then) + _loops(stmt.otherwise)
    return found


def interrupted(world: World, draft: Draft) -> Draft:
    """The twin of ``draft`` whose process crashes at one of its effects."""
    action = draft.action
    assert draft.process is not None
    twin = replace(
        action,
        name=f"{action.name}, crashing inside",
        guard=build.conj(room(world), action.guard),
        body=_crashing(world, draft.process, action.body, first_effect_matters(world)),
        promised=FALSE,
    )
    return Draft(twin, draft.process)


def _start(world: World, process: ir.Expr, body: Block) -> Block:
    """What ``process`` does before everything else, or as much of it as it lives to do."""
    dies = ir.Local(BOOL, fresh("_dies"))
    where = build.disj(build.negation(dies), room(world))
    crashing = _crashing(world, process, body, True)
    return (
        ir.Choose(dies.name, ir.Universe(BOOL), where),
        ir.If(dies, crashing, body),
    )


def _crashing(world: World, who: ir.Expr, body: Block, first_too: bool) -> Block:
    """``body`` with a crash of ``who`` at one of its effects."""
    done, some = ir.Local(BOOL, fresh("_done")), ir.Local(BOOL, fresh("_some"))

    def by(emit: ir.Emit) -> Block:
        if emit.atomic:
            return (emit,)
        return (ir.If(build.negation(done), _cut(world, emit, done, some)),)

    process = ir.Local(world.proc, fresh("_process"))
    return (
        ir.Declare(process.name, world.proc, who),
        ir.Declare(done.name, BOOL, FALSE),
        ir.Declare(some.name, BOOL, TRUE if first_too else FALSE),
        *replace_emits(body, by),
        ir.Assume(done),
        *crash_statements(world, process),
    )


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
