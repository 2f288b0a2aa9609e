"""Crashes inside a handler.

A process may crash before, after, or inside a handler at effect i; effects before i have happened,
effect i and those behind it have not, and of a multicast any subset of the receivers may have been
reached.  Local computation comes first and is complete; the effects are played one by one.  Effects
that are glued to those before them (``atomic``) have no crash point of their own.

Crashing before or after a handler is the plain crash action.  Of the points inside, those before a
send are left out where the links are unbounded: a message that a crashed process has sent may stay
undelivered for ever, and is lost while the sender is down where processes come back, so for every
property "sent and never delivered" is the same as "never sent".  What remains are the points just
before an effect that properties can see (an indication to the application, an act) and before a
write to stable storage, after which the process would remember more.

Just before the FIRST effect a crash is the same as one before the handler, unless a property reads
local state (the handler's assignments are complete), links are bounded (the message that caused it
is off the channel) or processes come back (what caused it does not come again).  What ``upon init``
does has nothing before it, so there every such point counts.

Where processes come back, a request and the first effect of what handles it are as one: a request
that a crash cuts off before anything was done about it counts as never made.

What a process has assigned to a stable variable it sees at once; what a crash leaves there is what
was written by then.
"""

from __future__ import annotations

from dataclasses import replace

from checker.system import build, ir
from checker.system.build import fresh
from checker.system.instantiate import landmarks
from checker.system.instantiate.crashes import crash_statements, on_its_own, room
from checker.system.instantiate.world import ATOMIC, Draft, World
from checker.system.ir import CRASHING, FALSE, TRUE, Block, EffectKind
from checker.system.passes.rewrite import emits, replace_emits
from checker.system.types import BOOL, AtomT, MapT, default


def add(world: World) -> None:
    """Adds, for each draft that can be interrupted, its interrupted twin."""
    if world.crash_bound == 0:
        return
    for draft in list(world.drafts):
        if draft.process is None or not _matters(world, draft.action.body):
            continue
        world.drafts.append(interrupted(world, draft))
    for index, (process, body) in enumerate(world.starts):
        found = _points(body)
        if any(_visible(world, e) for e in found) or (found and partial_sends_matter(world)):
            world.starts[index] = (process, _start(world, process, body))


def partial_sends_matter(world: World) -> bool:
    """Whether "sent, never delivered" can be told from "never sent"."""
    return any(link.capacity is not None for link in world.links)


def first_effect_matters(world: World) -> bool:
    """Whether a crash at a handler's first effect can be told from one before the handler."""
    return bool(world.read_by_properties) or partial_sends_matter(world) or world.recovers


def _points(body: Block) -> list[ir.Emit]:
    """The effects of ``body`` before which a crash can fall, in program order."""
    return [e for e in emits(body) if not e.atomic and not e.glued]


def _visible(world: World, emit: ir.Emit) -> bool:
    return world.effects[emit.effect].kind is not EffectKind.SEND


def _matters(world: World, body: Block) -> bool:
    found = _points(body)
    if partial_sends_matter(world):
        return bool(found)
    if not first_effect_matters(world):
        # An effect in a loop may come after itself, and after those that are written behind it.
        found = found[1:] + _points(_loops(body))
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
        name=f"{action.name}{CRASHING}",
        guard=build.conj(room(world, draft.process), action.guard),
        body=_crashing(world, draft.process, action.body, first_effect_matters(world)),
        promised=FALSE,
    )
    return Draft(twin, draft.process)


def _start(world: World, process: ir.Expr, body: Block) -> Block:
    """What ``process`` does before everything else, or as much of it as it lives to do."""
    dies = ir.Local(BOOL, fresh("_dies"))
    where = build.disj(build.negation(dies), room(world, process))
    crashing = _crashing(world, process, body, True)
    return (
        ir.Choose(dies.name, ir.Universe(BOOL), where),
        ir.If(dies, crashing, body),
    )


def _crashing(world: World, who: ir.Expr, body: Block, first_too: bool) -> Block:
    """``body`` with a crash of ``who`` at one of its effects."""
    done, some = ir.Local(BOOL, fresh("_done")), ir.Local(BOOL, fresh("_some"))
    process = ir.Local(world.proc, fresh("_process"))
    disk = _Disk(world, process, body)

    def by(emit: ir.Emit) -> Block:
        if emit.atomic:
            return (emit, *disk.written(emit))
        happens = (emit, *disk.written(emit))
        if emit.glued:
            begun = ir.Assign(ir.Target(BOOL, some.name, False), TRUE)
            return (ir.If(build.negation(done), (*happens, begun)),)
        return (ir.If(build.negation(done), _cut(world, emit, happens, done, some)),)

    return (
        ir.Declare(process.name, world.proc, who),
        ir.Declare(done.name, BOOL, FALSE),
        ir.Declare(some.name, BOOL, TRUE if first_too else FALSE),
        *disk.before(),
        *replace_emits(body, by),
        ir.Assume(done),
        *disk.after(),
        *crash_statements(world, process),
    )


def _cut(world: World, emit: ir.Emit, happens: Block, done: ir.Local, some: ir.Local) -> Block:
    """The effect, or the crash just before it (for a multicast: in the middle of it)."""
    is_send = world.effects[emit.effect].kind is EffectKind.SEND
    if world.recovers and emit.effect.startswith("request."):
        happens += (ir.Assign(ir.Target(BOOL, some.name, False), FALSE),)
    elif emit.effect != ATOMIC:
        happens += (ir.Assign(ir.Target(BOOL, some.name, False), TRUE),)
    if is_send and not partial_sends_matter(world):
        return happens
    here = ir.Local(BOOL, fresh("_here"))
    crash: list[ir.Stmt] = [
        *landmarks.point(world, emit.effect, emit.args, emit.place),
        ir.Assign(ir.Target(BOOL, done.name, False), TRUE),
    ]
    if is_send:
        sender, receivers, message = emit.args
        part = ir.Local(receivers.type, fresh("_reached"))
        nobody = build.equal(part, ir.Const(part.type, frozenset()))
        counts = build.disj(some, build.negation(nobody)) if world.recovers else TRUE
        crash.append(ir.Choose(part.name, ir.Subsets(receivers, receivers.type), counts))
        crash.append(replace(emit, args=(sender, part, message)))
    else:
        crash.insert(0, ir.Assume(some))
    return (
        ir.Choose(here.name, ir.Universe(BOOL), TRUE),
        ir.If(here, tuple(crash), happens),
    )


class _Disk:
    """What is on disk at each point of a handler, for the stable variables that it assigns."""

    def __init__(self, world: World, process: ir.Local, body: Block) -> None:
        self.world, self.process = world, process
        effects = dict.fromkeys(e.effect for e in emits(body))
        names = [e.removeprefix("store.") for e in effects if e.startswith("store.")]
        self.copies = {n: ir.Local(self._whole(n).value, fresh("_disk")) for n in names}

    def _whole(self, name: str) -> MapT:
        type_ = self.world.read(name).type
        assert isinstance(type_, MapT)
        return type_

    def _entry(self, name: str) -> tuple[AtomT, ir.Expr, ir.Target]:
        whole = self._whole(name)
        assert isinstance(whole.key, AtomT)
        path = (ir.Key(self.process, whole.key),)
        mine = build.entry(self.world.read(name), self.process)
        return whole.key, mine, ir.Target(whole.value, name, True, path)

    def before(self) -> Block:
        """Notes what is there before the handler."""
        result: list[ir.Stmt] = []
        for name, copy in self.copies.items():
            key, mine, _ = self._entry(name)
            result.append(ir.Declare(copy.name, copy.type, ir.Const(copy.type, default(copy.type))))
            note = ir.Assign(ir.Target(copy.type, copy.name, False), mine)
            result.extend(on_its_own(self.world, key, self.process, (note,)))
        return tuple(result)

    def written(self, emit: ir.Emit) -> Block:
        """Notes what a write leaves there."""
        copy = self.copies.get(emit.effect.removeprefix("store."))
        if copy is None:
            return ()
        return (ir.Assign(ir.Target(copy.type, copy.name, False), emit.args[1]),)

    def after(self) -> Block:
        """Takes back what was assigned and not written."""
        result: list[ir.Stmt] = []
        for name, copy in self.copies.items():
            key, _, target = self._entry(name)
            back = ir.Assign(target, copy)
            result.extend(on_its_own(self.world, key, self.process, (back,)))
        return tuple(result)
