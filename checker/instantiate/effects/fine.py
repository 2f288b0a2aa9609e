"""Makes every effect, and every copy of a multicast, a step of its own.

A handler leaves its effects in a queue of its process (``pending``); the process does nothing else
until the queue is empty.  A crash empties it.  Handlers that assign shared state, send requests to
an oracle or send over bounded or connected links stay one step.  What follows an ``atomic`` mark
and is glued to it happens in one step, and so do assignments with no effect between them.  Ghost
code happens in the step of the effect before it, of a multicast in that of its first copy.  What
stands before the
first effect happens in the step of the handler: no crash separates it from the fact that the
handler has begun, which a ghost or a budget tells.  What properties observe of all that is in
:mod:`.between_handlers`.
"""

from __future__ import annotations

from collections.abc import Callable

from checker.instantiate import fairness
from checker.instantiate.effects.between_handlers import noting
from checker.instantiate.effects.coarse import carry_out
from checker.instantiate.effects.unhindered import unhindered_drafts
from checker.instantiate.world import ATOMIC, PENDING, REQUEST, Draft, World, mark
from checker.model import build, ir
from checker.model.build import conj, equal, fresh
from checker.model.ir import (
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
)
from checker.model.transforms.rewrite import Lowered, emits, replace_emits
from checker.model.transforms.substitute import substitute
from checker.model.types import BOOL, Case, MapT, SeqT, SetT, VariantT, default
from checker.records import replace

OF_OTHERS = frozenset((EffectKind.ASSIGN, EffectKind.GHOST))
"""The kinds of what stands in the queue and is no step of its own."""


def declare(world: World) -> None:
    """Declares the queues; every effect must be known by now."""
    if all(effect.kind is EffectKind.GHOST for effect in world.effects.values()):
        return
    glued = (("glued", BOOL),) if ATOMIC in world.effects else ()
    cases = tuple(Case(e.name, e.params[1:] + glued) for e in world.effects.values())
    item = VariantT("effect", cases)
    queue = SeqT(item, world.capacity("effects of one handler", 4), "effects of one handler")
    type_ = MapT(world.proc, queue)
    world.add(PENDING, type_, default(type_), VariableKind.WORLD, "effects to come")


def lower_effects(world: World) -> Lowered:
    """Returns the drafts' actions with their effects queued, and the actions that execute the
    queues."""

    def by(emit: ir.Emit) -> Block:
        return carry_out(world, emit) if emit.atomic else _enqueue(world, emit)

    drafts = world.drafts
    if PENDING in world.variables:
        played = [e for e in world.effects.values() if e.kind not in OF_OTHERS]
        plays = [_play(world, effect) for effect in played]
        if _assignments(world):
            plays.append(_settle(world))
        twins = unhindered_drafts(world, drafts, _rest(world))
        drafts = [*noting(world, drafts), *plays, *noting(world, twins)]

    def lower(body: Block) -> Block:
        kinds = {world.effects[emit.effect].kind for emit in emits(body)}
        if kinds <= OF_OTHERS:  # no crash falls inside: assignments are saved at once
            return replace_emits(body, lambda emit: carry_out(world, emit))
        return replace_emits(body, by)

    actions = tuple(d.lowered(lower(d.action.body)) for d in drafts)
    return Lowered((*lower(tuple(world.init)), *_skip_initial_assignments(world)), actions)


def _skip_initial_assignments(world: World) -> Block:
    """Saves initial assignments at once: a crash undoes no assignment of `upon init` before its
    first effect."""
    if PENDING not in world.variables:
        return ()
    return tuple(stmt for process, _ in world.starts for stmt in _flush_assignments(world, process))


def _queue(world: World, process: Expr) -> Expr:
    return build.entry(world.read(PENDING), process)


def put_off(world: World, emit: ir.Emit) -> Block:
    """Returns the statement that appends ``emit``, with the values of its arguments, to the queue
    of its process."""
    effect = world.effects[emit.effect]
    process, *given = emit.args
    mine = _queue(world, process)
    assert isinstance(mine.type, SeqT) and isinstance(mine.type.item, VariantT)
    index = list(world.effects).index(emit.effect)
    types = (t for _, t in effect.params[1:])
    fields = tuple(build.coerce(a, t) for a, t in zip(given, types, strict=True))
    if ATOMIC in world.effects:
        fields += (ir.Const(BOOL, emit.glued),)
    made = ir.Make(mine.type.item, index, fields)
    append = build.assign(mine, ir.Apply(mine.type, Op.APPEND, (mine, made)), emit.place)
    if effect.kind is EffectKind.SEND:
        some = build.negation(equal(build.size(fields[0]), build.integer(0)))
        return (ir.If(some, (append,)),)
    return (append,)


def _enqueue(world: World, emit: ir.Emit) -> Block:
    effect = world.effects[emit.effect]
    process, *given = emit.args
    mine = _queue(world, process)
    assert isinstance(mine.type, SeqT)
    append = put_off(world, emit)
    if effect.kind is EffectKind.SEND:
        ends = ("from", "to", "message")
        types = (t for _, t in effect.params[1:])
        args = (process, *(build.coerce(a, t) for a, t in zip(given, types, strict=True)))
        return (mark(world, MarkKind.SEND, "send", ends, *args, place=emit.place), *append)
    if effect.kind in OF_OTHERS:
        held = ir.Local(mine.type.item, fresh("_effect"))
        before = ir.Members(mine, held.type)
        own = build.negation(_is_any(world, held, OF_OTHERS))
        waits = ir.Quant(ir.Quantifier.EXISTS, held.name, before, own, BOOL)
        return (ir.If(waits, append, carry_out(world, emit)),)
    return append


def _play(world: World, effect: ir.EffectDef) -> Draft:
    process = ir.Local(world.proc, fresh("self"))
    mine = _queue(world, process)
    ready = _is(world, mine, effect)
    body = _steps(world, effect, process)
    if effect.name.startswith(REQUEST):
        # No crash falls behind the request itself; see `crash_points`.
        body = (*body, *_flush_assignments(world, process))
        if world.crash_bound:
            body = (*body, ir.If(_is_nonempty(mine), _first(world, process)))
    return _draft(world, f"effect {effect.name}", process, ready, body)


def _first(world: World, process: Expr) -> Block:
    """Returns the action body that executes the first effect in the queue."""
    mine = _queue(world, process)
    first: Block = ()
    for other in world.effects.values():
        if not other.name.startswith(REQUEST) and other.kind not in OF_OTHERS:
            first = (ir.If(_is(world, mine, other), _steps(world, other, process), first),)
    return first


def _settle(world: World) -> Draft:
    """Saves what a process has assigned between two effects as what a crash would leave."""
    process = ir.Local(world.proc, fresh("self"))
    mine = _queue(world, process)
    ready = build.disj(*(_is(world, mine, effect) for effect in _assignments(world)))
    return _draft(world, "effect assignments", process, ready, _flush_assignments(world, process))


def _draft(world: World, name: str, process: ir.Local, ready: Expr, body: Block) -> Draft:
    mine = _queue(world, process)
    where = conj(world.alive(process), _is_nonempty(mine), ready)
    params = (Param(process.name, ir.Universe(world.proc), where),)
    kind, constraint = ActionKind.EFFECT, fairness.effect(process)
    return Draft(Action(name, kind, params, TRUE, body, TRUE, fairness=constraint), process)


def _assignments(world: World) -> list[ir.EffectDef]:
    return [e for e in world.effects.values() if e.kind is EffectKind.ASSIGN]


def _is_nonempty(mine: Expr) -> Expr:
    return build.negation(equal(build.size(mine), build.integer(0)))


def _flush_assignments(world: World, process: Expr) -> Block:
    """Executes the assignments at the head of the queue."""
    found = _assignments(world)
    if not found:
        return ()
    mine = _queue(world, process)
    assert isinstance(mine.type, SeqT)
    head = ir.Apply(mine.type.item, Op.HEAD, (mine,))
    held = ir.Local(mine.type.item, fresh("_effect"))
    pop = build.assign(mine, ir.Apply(mine.type, Op.TAIL, (mine,)))
    plays = tuple(_plays(world, process, held, found))
    body = (ir.Declare(held.name, held.type, head), pop, *plays)
    wanted = build.disj(*(_is(world, mine, effect) for effect in found))
    return (ir.While(conj(_is_nonempty(mine), wanted), body, 1000),)


def _is(world: World, mine: Expr, effect: ir.EffectDef) -> Expr:
    """Returns whether ``effect`` is the first one in the queue, which is not empty."""
    assert isinstance(mine.type, SeqT)
    head = ir.Apply(mine.type.item, Op.HEAD, (mine,))
    return ir.IsCase(head, list(world.effects).index(effect.name))


def _steps(world: World, effect: ir.EffectDef, process: Expr) -> Block:
    """Executes ``effect``, which is the first one in the queue; of a multicast one copy."""
    mine = _queue(world, process)
    assert isinstance(mine.type, SeqT)
    index = list(world.effects).index(effect.name)
    held = ir.Local(mine.type.item, fresh("_effect"))
    args = tuple(ir.CaseField(t, held, index, i) for i, (_, t) in enumerate(effect.params[1:]))
    pop = build.assign(mine, ir.Apply(mine.type, Op.TAIL, (mine,)))
    steps: Block
    ghosts = _flush_ghosts(world, process, ir.FALSE)
    if effect.name == ATOMIC:
        steps = (pop, _together(world, process, mine, pop), *ghosts)
    elif effect.kind is EffectKind.SEND:
        steps = _one_copy(world, effect, index, process, args, mine, pop)
    else:
        steps = (pop, *_at_once(world, effect, process, args), *ghosts)
    head = ir.Apply(mine.type.item, Op.HEAD, (mine,))
    return (ir.Declare(held.name, held.type, head), *steps)


def _at_once(world: World, effect: ir.EffectDef, process: Expr, args: tuple[Expr, ...]) -> Block:
    return carry_out(world, ir.Emit(effect.name, (process, *args)))


def _together(world: World, process: Expr, mine: Expr, pop: ir.Stmt) -> ir.Stmt:
    """Executes what is glued to the effect that has just left the queue."""
    assert isinstance(mine.type, SeqT)
    item = mine.type.item
    assert isinstance(item, VariantT)
    head = ir.Apply(item, Op.HEAD, (mine,))
    held = ir.Local(item, fresh("_effect"))
    stuck: list[Expr] = []
    for index, effect in enumerate(world.effects.values()):
        last = len(effect.params) - 1
        stuck.append(conj(ir.IsCase(head, index), ir.CaseField(BOOL, head, index, last)))
    body = (ir.Declare(held.name, item, head), pop, *_plays(world, process, held))
    return ir.While(conj(_is_nonempty(mine), build.disj(*stuck)), body, 1000)


def _rest(world: World) -> Callable[[Expr], Block]:
    """Returns what executes all pending effects of a process at once."""

    def plays(process: Expr) -> Block:
        mine = _queue(world, process)
        assert isinstance(mine.type, SeqT)
        held = ir.Local(mine.type.item, fresh("_effect"))
        each = tuple(_plays(world, process, held))
        loop = ir.For(held.name, ir.Members(mine, mine.type.item), each)
        return (loop, build.assign(mine, ir.Const(mine.type, ())))

    return plays


def _plays(
    world: World, process: Expr, held: ir.Local, among: list[ir.EffectDef] | None = None
) -> list[ir.Stmt]:
    """Executes the effect ``held``, one ``among`` these; a multicast to all of its remaining
    receivers."""
    plays: list[ir.Stmt] = []
    for index, effect in enumerate(world.effects.values()):
        if among is not None and effect not in among:
            continue
        types = enumerate(t for _, t in effect.params[1:])
        args = tuple(ir.CaseField(t, held, index, i) for i, t in types)
        if effect.kind is EffectKind.SEND:
            names = [n for n, _ in effect.params]
            locals_ = [ir.Local(a.type, fresh("_arg")) for a in args]
            given = zip(locals_, args, strict=True)
            declared = tuple(ir.Declare(x.name, x.type, a) for x, a in given)
            meaning: dict[str, Expr] = dict(zip(names, (process, *locals_), strict=True))
            play = (*declared, *substitute(effect.body, meaning))
        else:
            play = _at_once(world, effect, process, args)
        plays.append(ir.If(ir.IsCase(held, index), play))
    return plays


def _one_copy(
    world: World,
    effect: ir.EffectDef,
    index: int,
    process: Expr,
    args: tuple[Expr, ...],
    mine: Expr,
    pop: ir.Stmt,
) -> Block:
    receivers, message = args
    to = ir.Local(world.proc, fresh("to"))
    rest = build.without_item(receivers, to)
    assert isinstance(mine.type, SeqT)
    whole = build.target_of(mine)
    first = replace(whole, type=mine.type.item, path=(*whole.path, ir.Key(build.integer(0))))
    fields: tuple[Expr, ...] = (rest, message)
    if ATOMIC in world.effects:
        fields += (ir.FALSE,)
    left = ir.Assign(first, ir.Make(mine.type.item, index, fields))
    last = equal(rest, ir.Const(rest.type, frozenset()))
    copy = ir.Apply(SetT(world.proc), Op.SET, (to,))
    one = ir.Local(copy.type, fresh("_copy"))
    what = ir.Local(message.type, fresh("_message"))
    names = [n for n, _ in effect.params]
    meaning: dict[str, Expr] = dict(zip(names, (process, one, what), strict=True))
    return (
        ir.Choose(to.name, ir.Members(receivers, world.proc), TRUE),
        ir.Declare(one.name, one.type, copy),
        ir.Declare(what.name, what.type, message),
        ir.If(last, (pop,), (left,)),
        mark(world, MarkKind.COPY, "copy", ("from", "to", "message"), process, to, what),
        *substitute(effect.body, meaning),
        *_flush_ghosts(world, process, build.negation(last)),
    )


def _is_any(world: World, held: Expr, kinds: frozenset[EffectKind]) -> Expr:
    """Returns whether ``held`` is an effect of one of ``kinds``."""
    effects = enumerate(world.effects.values())
    return build.disj(*(ir.IsCase(held, i) for i, effect in effects if effect.kind in kinds))


def _flush_ghosts(world: World, process: Expr, begun: Expr) -> Block:
    """Executes the ghost code of the effect that has just left the queue, or whose first copy has
    (``begun``: the others are still at its head)."""
    found = [e for e in world.effects.values() if e.kind is EffectKind.GHOST]
    if not found:
        return ()
    mine = _queue(world, process)
    assert isinstance(mine.type, SeqT)
    held = ir.Local(mine.type.item, fresh("_effect"))
    kept = ir.Local(mine.type, fresh("_kept"))
    ours, head = ir.Local(BOOL, fresh("_ours")), ir.Local(BOOL, fresh("_head"))

    def put(flag: ir.Local, value: Expr) -> ir.Stmt:
        return build.assign(flag, value)

    ghost = _is_any(world, held, frozenset((EffectKind.GHOST,)))
    other = build.negation(build.disj(head, _is_any(world, held, OF_OTHERS)))
    keep = put(kept, ir.Apply(mine.type, Op.APPEND, (kept, held)))
    stays = (ir.If(other, (put(ours, ir.FALSE),)), keep)
    each = ir.If(conj(ours, ghost), tuple(_plays(world, process, held, found)), stays)
    return (
        ir.Declare(kept.name, kept.type, ir.Const(mine.type, ())),
        ir.Declare(ours.name, BOOL, TRUE),
        ir.Declare(head.name, BOOL, begun),
        ir.For(held.name, ir.Members(mine, held.type), (each, put(head, ir.FALSE))),
        build.assign(mine, kept),
    )
