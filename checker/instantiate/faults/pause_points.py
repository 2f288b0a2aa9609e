"""Models pauses inside a handler.

A pause falls before an effect, a ``start`` or a ``cancel``.  Everything before it has happened, as
a crash there would leave it.  The rest waits in a queue of the process (``pending``), as it does if
effects are separate steps.  It is one step, which can be paused again.  The values in the queue are
computed when the handler begins: until it ends, no other process changes what its process reads.
So handlers that use shared state or call an oracle have no pauses inside.  In checks of
probabilities, neither have handlers that toss coins, since the adversary would see the outcomes too
early.

Two kinds of points are left out.  The first kind is before a *quiet* effect, unless an assignment
after it is visible.  A send on a link without a capacity is quiet, since a message that leaves late
is like one that arrives late, unless connections break in between.  Without clocks, a start or a
cancellation of a timer is quiet, too: only its process can notice it.  The second kind has nothing
visible before it: the process might as well start the handler later, unless the handler would then
differ (:func:`_beginning_matters`).

If no handler has a point left, nothing is declared, and handlers stay single steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from checker.instantiate import fairness
from checker.instantiate.effects import fine
from checker.instantiate.faults import disks, joint_stops, pauses, stable_storage
from checker.instantiate.faults.crash_points import (
    Left,
    Part,
    cause_matters,
    partial_sends_matter,
    told,
    without_resets,
)
from checker.instantiate.oracles.oracles import ASKING, SPEAKS
from checker.instantiate.time import timing
from checker.instantiate.world import ATOMIC, PENDING, REQUEST, Draft, World
from checker.language.syntax.typed import CLOCKS
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
from checker.model.transforms.rewrite import replace_emits
from checker.model.tree import nodes
from checker.model.types import BOOL, SeqT, VariantT
from checker.records import replace

GOING_ON = "go on"
"""The name of the action by which a paused process goes on."""

_NO_STOP = frozenset((EffectKind.ASSIGN, EffectKind.GHOST))
"""The kinds of effects that belong to the effect before them."""


def declare(world: World) -> None:
    """Declares the effects of timers, and the queue of pending effects."""
    if world.may_pause_inside:
        timing.declare_effects(world)
        fine.declare(world)


def resume(world: World) -> None:
    """Drafts the step by which a paused process goes on with its pending effects."""
    if not world.may_pause_inside or PENDING not in world.variables:
        return
    self = ir.Local(world.proc, fresh("self"))
    body = _goes_on(world, self)
    where = conj(world.alive(self), negation(world.idle(self)))
    where = conj(joint_stops.is_lead(world, self), where)
    params = (Param(self.name, ir.Universe(world.proc), where),)
    constraint = fairness.effect(self)
    promised = world.reliable(self)
    if world.sizes.leads:
        none = joint_stops.of_each(world, self, lambda each: negation(world.reliable(each)))
        promised = negation(none)
    action = Action(GOING_ON, ActionKind.EFFECT, params, TRUE, body, promised, fairness=constraint)
    world.drafts.append(Draft(action, self))


def _goes_on(world: World, self: Expr) -> Block:
    """Returns what ``self`` does when it goes on, and then those that pause together with it."""
    found = [*joint_stops.marks(world, MarkKind.RESUME, "", self), *_what_is_left(world, self)]
    for follower, exists in joint_stops.followers(world, self):
        found.append(ir.If(exists, _what_is_left(world, follower)))
    return tuple(found)


def _what_is_left(world: World, self: Expr) -> Block:
    """Returns the effects in the queue of ``self``, with a possible pause or crash before each."""
    queue = entry(world.read(PENDING), self)
    assert isinstance(queue.type, SeqT) and isinstance(queue.type.item, VariantT)
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
        build.assign(queue, ir.Const(queue.type, ())),
        ir.For(held.name, ir.Members(rest, held.type), tuple(each)),
    )


def add(world: World, starts: Iterable[tuple[Expr, Block]]) -> None:
    """Adds a pausing variant for each draft that can be paused, and for ``starts``, the initial
    actions of processes.  Preserves the fairness of processes that may pause without a bound."""
    if not world.may_pause:
        return
    drafts = list(world.drafts)
    for index, (process, body) in enumerate(starts):
        if _may_stop(world, body, body, moved=False):
            world.starts[index] = (process, _start(world, index, body))
            world.pauses_inside = True
    without_end = world.check.pauses is None  # of some processes, whatever bounds others have
    if without_end and world.may_pause_inside:
        world.drafts += [twin for draft in drafts for twin in _caught_up(world, draft)]
    takes_steps = list(world.drafts)
    for draft in drafts:
        action = draft.action
        moved = action.name == GOING_ON or not _beginning_matters(world, action)
        whole = action.name.endswith(CRASHING) or not _may_stop(world, action, action.body, moved)
        if draft.process is not None and not whole:
            world.drafts.append(_pausing_variant(world, draft, draft.process, moved))
            world.pauses_inside |= action.name != GOING_ON
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
        body=(*_caught_up_with(world, process), ir.Assume(ready), *action.body),
        fairness=fairness_of(action),
    )
    return [Draft(twin, process)]


def _caught_up_with(world: World, process: Expr) -> Block:
    """Returns what is done where ``process`` goes on."""
    if not world.sizes.leads:
        return _goes_on(world, process)
    lead = ir.Local(world.proc, fresh("_lead"))
    return (ir.Declare(lead.name, world.proc, world.lead(process)), *_goes_on(world, lead))


def _stops_before(world: World, emit: ir.Emit) -> bool:
    """Tells whether a pause may fall right before ``emit``."""
    of_request = emit.effect.startswith(REQUEST)
    return not (emit.glued or of_request or world.effects[emit.effect].kind in _NO_STOP)


def _may_stop(world: World, handler: object, body: Block, moved: bool) -> bool:
    """Tells whether a pause inside ``body`` of ``handler`` may be noticed: not if the handler uses
    state that other processes change.  ``moved``: only pauses after another effect count."""
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
    return _has_point(world, body, _told(world, body), [not moved])


def _has_point(world: World, body: Block, telling: frozenset[int], behind: list[bool]) -> bool:
    """Tells whether a pause is noticed before some effect of ``body``.  ``behind`` holds whether
    another effect comes before ``body``, and afterwards whether one comes before what follows it.
    ``telling``: the quiet effects before which a pause is noticed."""
    quiet, found = _quiet(world), False
    for stmt in _by_case(body):
        match stmt:
            case ir.Emit():
                is_quiet = world.effects[stmt.effect].kind in quiet and id(stmt) not in telling
                found = found or (behind[0] and _stops_before(world, stmt) and not is_quiet)
                behind[0] = True
            case ir.If(_, then, otherwise):
                other = [behind[0]]
                found = _has_point(world, then, telling, behind) or found
                found = _has_point(world, otherwise, telling, other) or found
                behind[0] = behind[0] or other[0]
            case ir.For(body=inner) | ir.While(body=inner):
                found = _has_point(world, (*inner, *inner), telling, behind) or found
            case _:
                pass
    return found


def _told(world: World, body: Block) -> frozenset[int]:
    """Returns the identities of the quiet effects after which an assignment may be visible before
    the next effect that is not quiet."""
    quiet = _quiet(world)

    def part_of(emit: ir.Emit) -> Part:
        kind = world.effects[emit.effect].kind
        if kind in _NO_STOP:
            return Part.TELLS
        return Part.QUIET if kind in quiet else Part.ENDS

    return told(body, part_of, _by_case)


def _by_case(block: Block) -> Block:
    """Returns ``block`` with neighbouring branches for different cases of one value as
    alternatives: those that handle different messages."""
    found = list[ir.Stmt]()
    for stmt in block:
        last = found[-1] if found else None
        match stmt, last:
            case ir.If(ir.IsCase(value), _, ()), ir.If(ir.IsCase(other), _, _) if value == other:
                found[-1] = _with_case(last, stmt)
            case _:
                found.append(stmt)
    return tuple(found)


def _with_case(first: ir.If, more: ir.If) -> ir.If:
    """Returns ``first``, a branch for one case of a value, with ``more``, for one of that value."""
    if first.condition == more.condition:
        return replace(first, then=(*first.then, *more.then))
    return replace(first, otherwise=_by_case((*first.otherwise, more)))


def _quiet(world: World) -> frozenset[EffectKind]:
    """Returns the kinds of effects before which a pause is noticed only through an assignment after
    them."""
    sends = not (partial_sends_matter(world) or world.may_disconnect)
    timers = timing.kind(world) != "clocks"
    kinds = {EffectKind.SEND: sends, EffectKind.TIMER: timers}
    return frozenset(kind for kind, is_quiet in kinds.items() if is_quiet)


def _pausing_variant(world: World, draft: Draft, process: Expr, moved: bool) -> Draft:
    """Returns the variant of ``draft`` whose process pauses before one of its effects (``moved``:
    not before the first).

    A paused process that continues carries out an effect before it pauses again, so it eventually
    finishes.
    """
    action = draft.action
    before, body = without_resets(action)
    twin = replace(
        action,
        name=f"{action.name}{PAUSING}",
        guard=conj(pauses.room(world, process), action.guard),
        body=(*before, *_pausing(world, process, body, moved=moved)),
    )
    return Draft(twin, process)


def _beginning_matters(world: World, action: Action) -> bool:
    """Tells whether a pause right at the beginning of a handler differs from one before it: where
    the handler reads a clock, which goes on; where a crash there would differ; and where what lets
    it begin is a message that a link may keep away, or lose, or whose place another one takes."""
    reads_clock = any(isinstance(n, ir.Read) and n.variable == CLOCKS for n in nodes(action))
    if reads_clock or cause_matters(world):
        return True
    on_its_way = partial_sends_matter(world) or world.may_be_shut or world.may_disconnect
    return on_its_way and action.kind in (ActionKind.RECEIVE, ActionKind.FORGE)


def _start(world: World, index: int, body: Block) -> Block:
    """Returns the initial actions of a process, or those of ``body`` up to a pause."""
    process, whole = world.starts[index]
    stops = ir.Local(BOOL, fresh("_stops"))
    may = pauses.room(world, process)
    if world.sizes.leads:  # not while another that pauses together with it does
        may = conj(world.idle(process), may)
    where = disj(negation(stops), may)
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
    """Returns statements that set ``matters`` to whether an observer could tell the pause from one
    at another point."""
    if not _quiet(world):
        some = negation(joint_stops.of_each(world, process, world.has_none_pending))
        return (ir.Declare(matters.name, BOOL, some),)
    return (
        ir.Declare(matters.name, BOOL, FALSE),
        *joint_stops.each(world, process, lambda each: _note_whether(world, each, matters)),
    )


def _note_whether(world: World, process: Expr, matters: ir.Local) -> Block:
    """Returns statements that set ``matters`` if an observer could tell so by what is left of
    ``process``."""
    queue = entry(world.read(PENDING), process)
    assert isinstance(queue.type, SeqT)
    some = negation(equal(build.size(queue), build.integer(0)))
    quiet = _quiet(world)
    held, begun = ir.Local(queue.type.item, fresh("_effect")), ir.Local(BOOL, fresh("_begun"))

    def of(item: Expr, kinds: frozenset[EffectKind]) -> Expr:
        effects = enumerate(world.effects.values())
        return disj(*(ir.IsCase(item, i) for i, e in effects if e.kind in kinds))

    head = ir.Apply(queue.type.item, Op.HEAD, (queue,))
    noticed = disj(negation(of(head, quiet)), of(held, _NO_STOP))
    first = ir.If(
        negation(disj(begun, of(held, quiet))),
        (_set(begun), ir.If(noticed, (_set(matters),))),
    )
    return (
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
