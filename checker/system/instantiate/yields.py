"""``yield``: what follows it in a handler is a step of its own.

A process that has yielded does nothing else until it has gone on.  Which handlers it has begun is
in a queue, oldest first; the values of the names that the rest of a handler uses are in another
one for each ``yield``.  A crash forgets both.
"""

from __future__ import annotations

from dataclasses import replace

from checker.lang import typed
from checker.system import build, ir
from checker.system.build import conj, equal, fresh, negation
from checker.system.instantiate import fairness
from checker.system.instantiate.expressions import Env
from checker.system.instantiate.sizes import refuse
from checker.system.instantiate.statements import Root, lower_block, lower_on, with_queue
from checker.system.instantiate.walk import nodes
from checker.system.instantiate.world import WAITING, Draft, Instance, Later, World
from checker.system.ir import (
    TRUE,
    Action,
    ActionKind,
    Block,
    Expr,
    MarkInfo,
    MarkKind,
    Op,
    Param,
    VariableKind,
)
from checker.system.types import AtomT, IntT, MapT, SeqT, TupleT, Type, default


def declare(world: World) -> None:
    """Declares the queue of handlers that have begun; nothing where nobody yields."""
    labels = tuple(_label(instance, stmt) for instance, _, stmt in _yields(world))
    if not labels:
        return
    item = AtomT("begun", labels)
    queue = SeqT(item, world.capacity("handlers begun", 1), "handlers begun")
    type_ = MapT(world.proc, queue)
    world.add(WAITING, type_, default(type_), VariableKind.WORLD, "has begun")


def _yields(world: World) -> list[tuple[Instance, typed.Handler, typed.Yield]]:
    return [
        (instance, handler, stmt)
        for instance in world.instances
        for role in instance.protocol.roles
        for handler in role.handlers
        for stmt in handler.body
        if isinstance(stmt, typed.Yield)
    ]


def _label(instance: Instance, stmt: typed.Yield) -> str:
    return f"{instance.path}line {stmt.span.line}:{stmt.span.column}"


def lower_handler(handler: typed.Handler, body: typed.Block, env: Env, root: Root) -> Block:
    """``body`` of ``handler`` up to its first ``yield``, and the note that it is to go on."""
    for position, stmt in enumerate(body):
        if isinstance(stmt, typed.Yield):
            first, inner = lower_on(body[:position], env, root)
            return (*first, *_put_off(handler, stmt, body[position + 1 :], inner))
    return lower_block(body, env, root)


def _put_off(handler: typed.Handler, stmt: typed.Yield, rest: typed.Block, env: Env) -> Block:
    world, self = env.world, env.self
    assert self is not None
    waiting = world.read(WAITING)
    queue = build.entry(waiting, self)
    assert isinstance(queue.type, SeqT) and isinstance(queue.type.item, AtomT)
    label = queue.type.item.labels.index(_label(env.instance, stmt))
    used = {n.name: n for n in nodes(rest) if isinstance(n, typed.Local) and n.name in env.names}
    variable = f"{WAITING}.{label}"
    name = variable if used else None
    if label not in world.later:
        place = world.place(stmt.span)
        later = Later(label, env.instance, handler, rest, place, tuple(used), name)
        world.later[label] = later
        if used:
            types = (_kept_type(world, env, n, variable) for n in used.values())
            item = TupleT(tuple(types))
            kept = MapT(world.proc, SeqT(item, queue.type.cap, queue.type.grows))
            title = f"kept over {_label(env.instance, stmt)}"
            world.add(variable, kept, default(kept), VariableKind.WORLD, title)
    path = (ir.Key(self, world.proc),)
    constant = ir.Const(queue.type.item, label)
    append = ir.Apply(queue.type, Op.APPEND, (queue, constant), world.place(stmt.span))
    result: list[ir.Stmt] = [ir.Assign(ir.Target(queue.type, WAITING, True, path), append)]
    if used:
        mine = build.entry(world.read(variable), self)
        assert isinstance(mine.type, SeqT) and isinstance(mine.type.item, TupleT)
        values = [env.names[n] for n in used]
        for value, wanted in zip(values, mine.type.item.items, strict=True):
            if not _holds(wanted, value.type):
                message = "a value can't be kept over this `yield`: its type changes"
                raise refuse("C202", message, stmt.span, "keep it in a state variable")
        parts = zip(values, mine.type.item.items, strict=True)
        kept_now = ir.Apply(mine.type.item, Op.TUPLE, tuple(build.coerce(v, t) for v, t in parts))
        more = ir.Apply(mine.type, Op.APPEND, (mine, kept_now))
        result.append(ir.Assign(ir.Target(mine.type, variable, True, path), more))
    return tuple(result)


def _kept_type(world: World, env: Env, local: typed.Local, variable: str) -> Type:
    """What a name may stand for: its declared type where that says more than this one value."""
    now = env.names[local.name].type
    if isinstance(now, IntT) and isinstance(local.type, typed.Int) and local.type.lo is not None:
        return build.hull(now, world.type_of(local.type, env.instance, f"{variable}.{local.name}"))
    return now


def _holds(wanted: Type, found: Type) -> bool:
    if isinstance(wanted, IntT) and isinstance(found, IntT):
        return True
    return build.hull(wanted, found) == wanted


def go_on(world: World) -> None:
    """Drafts, for each ``yield``, the step that goes on behind it."""
    done: set[int] = set()
    while set(world.later) - done:
        label = min(set(world.later) - done)
        done.add(label)
        _continuation(world, world.later[label])


def _continuation(world: World, later: Later) -> None:
    from checker.system.instantiate.dispatch import new_root, whole

    self = ir.Local(world.proc, fresh("self"))
    queue = build.entry(world.read(WAITING), self)
    assert isinstance(queue.type, SeqT)
    path = (ir.Key(self, world.proc),)
    some = negation(equal(build.size(queue), build.integer(0)))
    head = ir.Apply(queue.type.item, Op.HEAD, (queue,))
    ours = equal(head, ir.Const(queue.type.item, later.label))
    where = conj(world.alive(self), world.honest(self), world.idle(self), some, ours)
    pop = ir.Apply(queue.type, Op.TAIL, (queue,))
    body: list[ir.Stmt] = [ir.Assign(ir.Target(queue.type, WAITING, True, path), pop)]
    names: dict[str, Expr] = {}
    if later.variable is not None:
        mine = build.entry(world.read(later.variable), self)
        assert isinstance(mine.type, SeqT)
        held = ir.Local(mine.type.item, fresh("_kept"))
        body.append(ir.Declare(held.name, held.type, ir.Apply(held.type, Op.HEAD, (mine,))))
        rest = ir.Apply(mine.type, Op.TAIL, (mine,))
        body.append(ir.Assign(ir.Target(mine.type, later.variable, True, path), rest))
        names = {name: build.item(held, i) for i, name in enumerate(later.names)}
    handler = replace(later.handler, body=later.rest)
    root = new_root(world, self, later.instance, [handler])
    env = Env(world, later.instance, self, names)
    inner = lower_handler(handler, later.rest, env, root)
    inner = whole(world, later.instance, handler, inner, root)
    body += [_told(world, later, names, self), *with_queue(root, inner)]
    label = f"{later.instance.path}{later.handler.label}"
    name = f"{label}, after the yield at line {later.place.line}:{later.place.column}"
    params = (Param(self.name, ir.Universe(world.proc), where),)
    action = Action(
        name,
        ActionKind.EFFECT,
        params,
        TRUE,
        tuple(body),
        world.reliable(self),
        later.place,
        fairness.effect(self),
    )
    world.drafts.append(Draft(action, self))


def _told(world: World, later: Later, names: dict[str, Expr], self: Expr) -> ir.Mark:
    shown = {n: e for n, e in names.items() if not n.startswith("_")}
    info = MarkInfo(
        MarkKind.HANDLER,
        f"{later.instance.path}{later.handler.label}, after `yield`",
        ("self", *shown),
        tuple(e.type for e in (self, *shown.values())),
        required=not later.instance.protocol.shipped,
        place=later.place,
    )
    return ir.Mark(world.mark(info), (self, *shown.values()))
