"""Lowers ``yield``: what follows it in a handler is a step of its own.

A process that has yielded does nothing else until it has continued.  The handlers that it has begun
are on a stack, the next to continue on top: a handler that is called and yields is above its
caller, whose rest then is a step of its own, too.  The values of the names that the rest of a
handler uses are on another stack for each place.  A crash clears all of them.
"""

from __future__ import annotations

from checker.instantiate import fairness
from checker.instantiate.protocol import activities, calls
from checker.instantiate.protocol.continuations import (
    going_on,
    kept_type,
    kept_values,
    label,
    used_names,
)
from checker.instantiate.protocol.expressions import Env
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.statements import Root, lower_block, lower_on
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import WAITING, Draft, Instance, Later, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, equal, fresh, negation
from checker.model.ir import (
    TRUE,
    Action,
    ActionKind,
    Block,
    Expr,
    Op,
    Param,
    VariableKind,
)
from checker.model.types import AtomT, IntT, MapT, SeqT, TupleT, default
from checker.records import replace


def declare(world: World) -> None:
    """Declares the stack of handlers that have begun; nothing where no handler yields."""
    labels = tuple(label(instance, stmt) for instance, stmt in _pauses(world))
    if not labels:
        return
    item = AtomT("begun", labels)
    queue = SeqT(item, world.capacity("handlers begun", 1), "handlers begun")
    type_ = MapT(world.proc, queue)
    world.add(WAITING, type_, default(type_), VariableKind.WORLD, "has begun")


def _pauses(world: World) -> list[tuple[Instance, typed.Yield | typed.Call]]:
    """Returns where a handler may pause: at a ``yield``, and behind a call of what yields."""
    if not any(isinstance(n, typed.Yield) for i in world.instances for n in nodes(i.protocol)):
        return []
    return [
        (instance, stmt)
        for instance in world.instances
        for role in instance.protocol.roles
        for handler in role.handlers
        for stmt in handler.body
        if isinstance(stmt, typed.Yield)
        or (isinstance(stmt, typed.Call) and calls.may_yield(world, instance, stmt))
    ]


def behind_asking(world: World, self: Expr, path: str) -> Expr:
    """Returns whether ``self`` waits to continue behind a call that sent a request to the oracle at
    ``path``: a layer in the oracle's place would continue before that."""
    if WAITING not in world.variables:
        return ir.FALSE
    stack = build.entry(world.read(WAITING), self)
    assert isinstance(stack.type, SeqT)
    top = ir.Apply(stack.type.item, Op.LAST, (stack,))
    behind = (
        equal(top, ir.Const(stack.type.item, _number(world, label(instance, stmt))))
        for instance, stmt in _pauses(world)
        if isinstance(stmt, typed.Call) and calls.ends_by_asking(world, instance, stmt, path)
    )
    some = negation(equal(build.size(stack), build.integer(0)))
    return conj(some, build.disj(*behind))


def depth(world: World, self: Expr) -> Expr | None:
    """Returns how many handlers of ``self`` wait to continue; ``None`` where no handler yields."""
    if WAITING not in world.variables:
        return None
    return build.size(build.entry(world.read(WAITING), self))


def _may_pause(world: World, at: Instance, stmt: object) -> bool:
    if WAITING not in world.variables:  # no handler yields
        return False
    return isinstance(stmt, typed.Call) and calls.may_yield(world, at, stmt)


def lower_handler(handler: typed.Handler, body: typed.Block, env: Env, root: Root) -> Block:
    """Lowers ``body`` of ``handler`` up to where it pauses, and pushes its continuation."""
    world = env.world
    for position, stmt in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(stmt, typed.Yield):
            first, inner = lower_on(body[:position], env, replace(root, follows=True))
            return (*first, *_put_off(handler, stmt, rest, inner))
        if isinstance(stmt, typed.Await):
            first, inner = lower_on(body[:position], env, replace(root, follows=True))
            return (*first, *activities.put_off(handler, stmt, rest, inner))
        if isinstance(stmt, typed.Call) and rest and _may_pause(world, env.instance, stmt):
            before, inner = lower_on(body[:position], env, replace(root, follows=True))
            return (*before, *_around(handler, stmt, rest, inner, root))
        _require_flat(env, stmt)
    return lower_block(body, env, root)


def _require_flat(env: Env, stmt: typed.Stmt) -> None:
    """Refuses (C202) a call of what yields inside of another statement."""
    for node in nodes(stmt):
        if node is not stmt and _may_pause(env.world, env.instance, node):
            assert isinstance(node, typed.Call)
            message = "this call yields, so it is allowed only at the top level"
            raise refuse("C202", message, node.span, "move it out of branches, loops and `atomic`")


def _around(
    handler: typed.Handler, call: typed.Call, rest: typed.Block, env: Env, root: Root
) -> Block:
    """Lowers a call of what may yield: its caller's continuation is pushed first, and continues at
    once where nothing has yielded."""
    world, self = env.world, env.self
    assert self is not None
    noted = _put_off(handler, call, rest, env)
    stack = build.entry(world.read(WAITING), self)
    assert isinstance(stack.type, SeqT)
    depth = ir.Local(IntT(0, stack.type.cap), fresh("_depth"))
    called = lower_block((call,), env, replace(root, follows=True))
    mine = world.later[_number(world, label(env.instance, call))]
    back = _drop_continuation(world, self, mine)
    going_on = lower_handler(handler, rest, env, root)
    here = equal(build.size(stack), depth)
    return (
        *noted,
        ir.Declare(depth.name, depth.type, build.size(stack)),
        *called,
        ir.If(here, (*back, *going_on)),
    )


def _number(world: World, text: str) -> int:
    waiting = world.read(WAITING).type
    assert isinstance(waiting, MapT) and isinstance(waiting.value, SeqT)
    assert isinstance(waiting.value.item, AtomT)
    return waiting.value.item.labels.index(text)


def _drop_continuation(world: World, self: Expr, later: Later) -> Block:
    """Pops the handler that continues, and the names that it has saved."""
    names = [WAITING] if later.variable is None else [WAITING, later.variable]
    result: list[ir.Stmt] = []
    for name in names:
        stack = build.entry(world.read(name), self)
        assert isinstance(stack.type, SeqT)
        top = ir.Apply(IntT(-1, stack.type.cap - 1), Op.SUB, (build.size(stack), build.integer(1)))
        rest = ir.Apply(stack.type, Op.DELETE_AT, (stack, top))
        result.append(build.assign(stack, rest))
    return tuple(result)


def _put_off(
    handler: typed.Handler, stmt: typed.Yield | typed.Call, rest: typed.Block, env: Env
) -> Block:
    world, self = env.world, env.self
    assert self is not None
    waiting = world.read(WAITING)
    queue = build.entry(waiting, self)
    assert isinstance(queue.type, SeqT) and isinstance(queue.type.item, AtomT)
    number = _number(world, label(env.instance, stmt))
    used = used_names(handler, rest, env)
    variable = f"{WAITING}.{number}"
    name = variable if used else None
    if number not in world.later:
        place = world.place(stmt.span)
        later = Later(number, env.instance, handler, rest, place, tuple(used), name)
        world.later[number] = later
        if used:
            item = kept_type(env, used, variable)
            kept = MapT(world.proc, SeqT(item, queue.type.cap, queue.type.grows))
            title = f"kept over {label(env.instance, stmt)}"
            world.add(variable, kept, default(kept), VariableKind.WORLD, title)
    constant = ir.Const(queue.type.item, number)
    append = ir.Apply(queue.type, Op.APPEND, (queue, constant), world.place(stmt.span))
    result: list[ir.Stmt] = [build.assign(queue, append)]
    if used:
        mine = build.entry(world.read(variable), self)
        assert isinstance(mine.type, SeqT) and isinstance(mine.type.item, TupleT)
        kept_now = kept_values(stmt, used, mine.type.item, env)
        more = ir.Apply(mine.type, Op.APPEND, (mine, kept_now))
        result.append(build.assign(mine, more))
    return tuple(result)


def go_on(world: World) -> None:
    """Drafts, for each ``yield`` and each ``await``, the step that continues behind it."""
    done: set[int] = set()
    while True:
        found = (*(world.later[n] for n in sorted(world.later)), *world.activities.values())
        later = next((each for each in found if id(each) not in done), None)
        if later is None:
            return
        done.add(id(later))
        (activities.go_on if later.label is None else _continuation)(world, later)


def _continuation(world: World, later: Later) -> None:
    self = ir.Local(world.proc, fresh("self"))
    stack = build.entry(world.read(WAITING), self)
    assert isinstance(stack.type, SeqT)
    some = negation(equal(build.size(stack), build.integer(0)))
    top = ir.Apply(stack.type.item, Op.LAST, (stack,))
    ours = equal(top, ir.Const(stack.type.item, later.label))
    where = conj(world.alive(self), world.honest(self), world.idle(self), some, ours)
    body: list[ir.Stmt] = []
    names: dict[str, Expr] = {}
    if later.variable is not None:
        mine = build.entry(world.read(later.variable), self)
        assert isinstance(mine.type, SeqT)
        held = ir.Local(mine.type.item, fresh("_kept"))
        body.append(ir.Declare(held.name, held.type, ir.Apply(held.type, Op.LAST, (mine,))))
        names = {name: build.item(held, i) for i, name in enumerate(later.names)}
    body.extend(_drop_continuation(world, self, later))
    body.extend(going_on(world, later, names, self, "yield"))
    text = f"{later.instance.path}{later.handler.label}"
    name = f"{text}, after the yield at line {later.place.line}:{later.place.column}"
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
