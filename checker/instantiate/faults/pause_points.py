"""Models pauses inside a handler.

A pause falls before an effect, a ``start`` or a ``cancel``.  Everything before it has happened, as
a crash there would leave it.  The rest waits in a queue of the process (``pending``), as it does if
effects are separate steps.  It is one step, which can be paused again.  The values in the queue are
computed when the handler begins: until it ends, no other process changes what its process reads.
So handlers that use shared state or call an oracle have no pauses inside.  In checks of
probabilities, neither have handlers that toss coins, since the adversary would see the outcomes too
early.

Two kinds of points are left out.  The first kind is before a send on a link without a capacity,
unless an assignment after it is visible: a message that leaves late is like one that arrives late,
unless connections break in between.  The second kind has nothing visible before it: the process
might as well start the handler later, unless the cause of the handler may be gone by then
(:func:`_beginning_matters`).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from checker.instantiate import fairness
from checker.instantiate.effects import fine
from checker.instantiate.faults import disks, pauses, stable_storage
from checker.instantiate.faults.crash_points import Left, first_effect_matters, partial_sends_matter
from checker.instantiate.oracles.oracles import ASKING, SPEAKS
from checker.instantiate.time import timing
from checker.instantiate.world import ATOMIC, PENDING, REQUEST, Draft, World, mark
from checker.model import build, ir
from checker.model.build import conj, disj, entry, equal, fresh, negation
from checker.model.ir import (
    CAUGHT_UP,
    CRASHING,
    FALSE,
    PAUSING,
    TRUE,
    Action,
    ActionKind,
    Block,
    EffectKind,
    Expr,
    MarkKind,
    Op,
    Param,
    VariableKind,
    fairness_of,
)
from checker.model.transforms.rewrite import emits, replace_emits
from checker.model.tree import nodes
from checker.model.types import BOOL, SeqT, VariantT
from checker.records import replace

GOING_ON = "go on"
"""The name of the action by which a paused process goes on."""

_NO_STOP = frozenset((EffectKind.ASSIGN, EffectKind.GHOST))
"""The kinds of effects that belong to the effect before them."""


def declare(world: World) -> None:
    """Declares the effects of timers, and the queue of pending effects."""
    if world.may_pause:
        timing.declare_effects(world)
        fine.declare(world)


def resume(world: World) -> None:
    """Drafts the step by which a paused process goes on with its pending effects."""
    if not world.may_pause or PENDING not in world.variables:
        return
    self = ir.Local(world.proc, fresh("self"))
    body = _goes_on(world, self)
    where = conj(world.alive(self), negation(world.idle(self)))
    params = (Param(self.name, ir.Universe(world.proc), where),)
    constraint = fairness.effect(self)
    promised = world.reliable(self)
    action = Action(GOING_ON, ActionKind.EFFECT, params, TRUE, body, promised, fairness=constraint)
    world.drafts.append(Draft(action, self))


def _goes_on(world: World, self: Expr) -> Block:
    return (mark(world, MarkKind.RESUME, "", ("process",), self), *_what_is_left(world, self))


def _what_is_left(world: World, self: Expr) -> Block:
    """Returns the effects in the queue of ``self``, with a possible pause or crash before each."""
    queue = entry(world.read(PENDING), self)
    assert isinstance(queue.type, SeqT) and isinstance(queue.type.item, VariantT)
    target = ir.Target(queue.type, PENDING, True, (ir.Key(self, world.proc),))
    rest, held = ir.Local(queue.type, fresh("_rest")), ir.Local(queue.type.item, fresh("_effect"))
    each: list[ir.Stmt] = []
    for index, effect in enumerate(world.effects.values()):
        args = tuple(
            ir.CaseField(type_, held, index, place)
            for place, (_, type_) in enumerate(effect.params[1:])
        )
        plain = ir.Emit(effect.name, (self, *args))
        again: Block = (plain,)
        if ATOMIC in world.effects:
            glued = ir.CaseField(BOOL, held, index, len(args))
            again = (ir.If(glued, (replace(plain, glued=True),), again),)
        name = stable_storage.variable_of(effect.name)
        if name is not None:
            assign = ir.Assign(stable_storage.target(world, name, self), args[0])
            again = stable_storage.on_its_own(world, name, self, (assign, *again))
        each.append(ir.If(ir.IsCase(held, index), again))
    return (
        ir.Declare(rest.name, rest.type, queue),
        ir.Assign(target, ir.Const(queue.type, ())),
        ir.For(held.name, ir.Members(rest, held.type), tuple(each)),
    )


def add(world: World, starts: Iterable[tuple[Expr, Block]]) -> None:
    """Adds a pausing variant for each draft that can be paused, and for ``starts``, the initial
    actions of processes.  Preserves the fairness of processes that may pause without a bound."""
    if not world.may_pause:
        return
    drafts = list(world.drafts)
    for index, (process, body) in enumerate(starts):
        if _may_stop(world, body, body):
            world.starts[index] = (process, _start(world, index, body))
    without_end = world.check.pauses is None  # of some processes, whatever bounds others have
    if without_end:
        world.drafts += [twin for draft in drafts for twin in _caught_up(world, draft)]
    takes_steps = list(world.drafts)
    for draft in drafts:
        action = draft.action
        whole = action.name.endswith(CRASHING) or not _may_stop(world, action, action.body)
        if draft.process is not None and not whole:
            world.drafts.append(_pausing_variant(world, draft, draft.process))
    pauses.end_lateness(world, takes_steps)


def _caught_up(world: World, draft: Draft) -> list[Draft]:
    """Returns the variant of ``draft`` for a paused process, which first finishes its pending
    effects.

    So unbounded pauses disable no fairness constraint: an action that is enabled between handlers
    is enabled all the time, as in :mod:`checker.instantiate.effects.unhindered`.
    """
    action, process = draft.action, draft.process
    if process is None or action.kind is ActionKind.EFFECT or action.promised == FALSE:
        return []
    ready = conj(*(param.where for param in action.params), action.guard)
    twin = replace(
        action,
        name=f"{action.name}{CAUGHT_UP}",
        params=tuple(replace(param, where=TRUE) for param in action.params),
        guard=conj(world.alive(process), negation(world.idle(process))),
        body=(*_goes_on(world, process), ir.Assume(ready), *action.body),
        fairness=fairness_of(action),
    )
    return [Draft(twin, process)]


def _stops_before(world: World, emit: ir.Emit) -> bool:
    """Tells whether a pause may fall right before ``emit``."""
    of_request = emit.effect.startswith(REQUEST)
    return not (emit.glued or of_request or world.effects[emit.effect].kind in _NO_STOP)


def _may_stop(world: World, handler: object, body: Block) -> bool:
    """Tells whether a pause may fall inside ``body`` of ``handler``: not if the handler uses state
    that other processes change."""
    for node in nodes(handler):
        match node:
            case ir.Read(_, name) | ir.Target(_, name, True):
                if world.variables[name].kind is VariableKind.SHARED:
                    return False
            case ir.Choose(name, weight=weight):
                tossed = weight is not None and world.check.chance
                if tossed or name.startswith(SPEAKS):
                    return False
            case ir.Emit(effect=name) if name.startswith((ASKING, disks.FAIL)):
                return False
            case _:
                pass
    return any(_stops_before(world, emit) for emit in emits(body))


def _pausing_variant(world: World, draft: Draft, process: Expr) -> Draft:
    """Returns the variant of ``draft`` whose process pauses before one of its effects.

    A paused process that continues carries out an effect before it pauses again, so it eventually
    finishes.
    """
    action = draft.action
    moved = action.name == GOING_ON or not _beginning_matters(world)
    twin = replace(
        action,
        name=f"{action.name}{PAUSING}",
        guard=conj(pauses.room(world, process), action.guard),
        body=_pausing(world, process, action.body, moved=moved),
    )
    return Draft(twin, process)


def _beginning_matters(world: World) -> bool:
    """Tells whether a pause right at the beginning of a handler differs from one before it: if a
    crash there would, or if the network may hold up or lose the message that starts the handler."""
    kept_away = world.may_split or bool(world.check.cuts) or world.may_disconnect
    return first_effect_matters(world) or kept_away


def _start(world: World, index: int, body: Block) -> Block:
    """Returns the initial actions of a process, or those of ``body`` up to a pause."""
    process, whole = world.starts[index]
    stops = ir.Local(BOOL, fresh("_stops"))
    where = disj(negation(stops), pauses.room(world, process))
    return (
        ir.Choose(stops.name, ir.Universe(BOOL), where),
        ir.If(stops, _pausing(world, process, body), whole),
    )


def _pausing(world: World, who: Expr, body: Block, *, moved: bool = False) -> Block:
    """Returns ``body`` up to a pause of ``who``, with the rest in its queue; ``moved``: only if
    something has happened before the pause."""
    process = ir.Local(world.proc, fresh("_process"))
    some = ir.Local(BOOL, fresh("_some")) if moved else None
    matters = ir.Local(BOOL, fresh("_matters"))
    stop = _Stop(world, ir.Local(BOOL, fresh("_stopped")), some, Left(world, process, body))
    return (
        ir.Declare(process.name, world.proc, who),
        ir.Declare(stop.stopped.name, BOOL, FALSE),
        *(() if some is None else (ir.Declare(some.name, BOOL, FALSE),)),
        *stop.left.before(),
        *pauses.no_longer_late(world, process),
        *replace_emits(body, stop.at),
        *_matters(world, process, matters),
        ir.Assume(conj(stop.stopped, matters)),
        *stop.left.after(),
        *pauses.spend(world, process),
    )


def _matters(world: World, process: Expr, matters: ir.Local) -> Block:
    """Returns statements that set ``matters`` to whether the pause is distinguishable from one at
    another point."""
    queue = entry(world.read(PENDING), process)
    assert isinstance(queue.type, SeqT)
    some = negation(equal(build.size(queue), build.integer(0)))
    if partial_sends_matter(world) or world.may_disconnect:
        return (ir.Declare(matters.name, BOOL, some),)
    held, begun = ir.Local(queue.type.item, fresh("_effect")), ir.Local(BOOL, fresh("_begun"))

    def of(item: Expr, *kinds: EffectKind) -> Expr:
        effects = enumerate(world.effects.values())
        return disj(*(ir.IsCase(item, i) for i, e in effects if e.kind in kinds))

    head = ir.Apply(queue.type.item, Op.HEAD, (queue,))
    at_send = of(head, EffectKind.SEND)
    told = disj(negation(at_send), of(held, *_NO_STOP))
    first = ir.If(
        negation(disj(begun, of(held, EffectKind.SEND))),
        (_set(begun), ir.If(told, (_set(matters),))),
    )
    return (
        ir.Declare(matters.name, BOOL, FALSE),
        ir.Declare(begun.name, BOOL, FALSE),
        ir.If(some, (ir.For(held.name, ir.Members(queue, held.type), (first,)),)),
    )


class _Stop(Struct, frozen=True):
    """Splits the effects of a handler where its process pauses.

    ``stopped``: the process has paused; ``some``: something has happened before (``None``: that is
    not required); ``left``: the values that the process had assigned by then.
    """

    world: World
    stopped: ir.Local
    some: ir.Local | None
    left: Left

    def at(self, emit: ir.Emit) -> Block:
        """Returns ``emit``, or, after the pause, the statement that appends it to the queue."""
        noted = () if self.some is None else (_set(self.some),)
        happens = (emit, *self.left.note_assignment(emit), *noted)
        either = ir.If(self.stopped, fine.put_off(self.world, emit), happens)
        if not _stops_before(self.world, emit):
            return (either,)
        here = ir.Local(BOOL, fresh("_here"))
        moved = TRUE if self.some is None else self.some
        where = disj(negation(here), conj(negation(self.stopped), moved))
        return (
            ir.Choose(here.name, ir.Universe(BOOL), where),
            ir.If(here, (_set(self.stopped),)),
            either,
        )


def _set(flag: ir.Local) -> ir.Stmt:
    return ir.Assign(ir.Target(BOOL, flag.name, False), TRUE)
