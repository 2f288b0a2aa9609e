"""Lowers ``await``: the rest of the handler becomes an activity, and the process is free meanwhile.

Each ``await`` has a bag for the activities of a process that wait there.  An item holds the values
of the names that the rest of the handler uses.  An activity continues in one step, up to the next
``await``, if its process may start a step and the condition of the ``await`` is true.  A crash
clears the bags.

A message or a request starts its handler even while an activity of that handler is under way.  A
condition does not with the same values of its names, and a timer does not with the same key: a
condition that stays true would start activities without end.  So the activities of these handlers
are also recorded in a set, although the bags determine it.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.instantiate import fairness
from checker.instantiate.protocol import calls, continuations, receptions
from checker.instantiate.protocol.continuations import begun_with, kept_type, kept_values
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.spelled_conditions import spelled_conditions
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import ACTIVITY, UNDER_WAY, Draft, Instance, Later, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import entry, fresh, negation
from checker.model.ir import AWAITED, TRUE, Action, ActionKind, Block, Expr, Op, Param, VariableKind
from checker.model.types import BOOL, AtomT, BagT, MapT, TupleT, Type, default

GROWS = "activities at one place"
"""The name of the capacity of the bags."""


def declare(world: World) -> None:
    """Declares the variables that record which handlers of conditions and timers are under way;
    refuses (C202) calls that may ``await`` if more statements of the caller follow."""
    for instance in world.instances:
        for role in instance.protocol.roles:
            for handler in role.handlers:
                _require_last(world, instance, handler)
                if _begins_by_itself(handler) and _awaits(handler):
                    _declare_begun(world, instance, handler)


def _begins_by_itself(handler: typed.Handler) -> bool:
    return isinstance(handler.event, typed.OnCondition | typed.OnTimeout)


def _awaits(handler: typed.Handler) -> bool:
    return any(isinstance(stmt, typed.Await) for stmt in handler.body)


def _declare_begun(world: World, instance: Instance, handler: typed.Handler) -> None:
    name = _begun(instance, handler)
    types = _types_begun_with(world, instance, handler)
    type_ = world.set_of(TupleT(types), f"{name}.size") if types else BOOL
    whole = MapT(world.proc, type_)
    title = f"{instance.path}{handler.label} under way"
    world.add(name, whole, default(whole), VariableKind.WORLD, title)


def _types_begun_with(world: World, instance: Instance, handler: typed.Handler) -> tuple[Type, ...]:
    """Returns the types of the names with which ``handler`` starts (:func:`begun_with`)."""
    match handler.event:
        case typed.OnCondition(condition, free):
            return tuple(
                receptions.type_of_free(instance, condition, each)
                or world.type_of(declared, instance, f"_{each}")
                for each, declared in free
            )
        case typed.OnTimeout():
            keys = receptions.type_of_key(world, instance, handler)
            return () if keys is None else (keys,)
        case _:
            return ()


def _begun(instance: Instance, handler: typed.Handler) -> str:
    return f"{UNDER_WAY}{instance.path}line {handler.span.line}:{handler.span.column}"


# ---- calls ------------------------------------------------------------------------------------


def _require_last(world: World, instance: Instance, handler: typed.Handler) -> None:
    """Refuses (C202) a call that may ``await``, unless it is the last statement of ``handler``."""
    for call in _followed(handler.body):
        if _may_await(world, instance, call):
            message = "this call may `await`, so it must be the last statement of the handler"
            hint = "move what follows it to another handler, or send a message to `self`"
            raise refuse("C202", message, call.span, hint)


def _followed(body: typed.Block) -> Iterator[typed.Call]:
    """Yields the calls in ``body`` that another statement follows, or may follow."""
    code = [stmt for stmt in body if not isinstance(stmt, typed.Ghost)]
    for position, stmt in enumerate(code):
        is_last = position == len(code) - 1
        match stmt:
            case typed.Call() if is_last:
                pass
            case typed.If(_, then, otherwise, _) if is_last:
                yield from (*_followed(then), *_followed(otherwise))
            case typed.Either(alternatives, _) if is_last:
                for _, alternative in alternatives:
                    yield from _followed(alternative)
            case typed.Inlined(body=inner) if is_last:
                yield from _followed(inner)
            case _:
                yield from (node for node in nodes(stmt) if isinstance(node, typed.Call))


def _may_await(world: World, instance: Instance, call: typed.Call) -> bool:
    return any(_awaits(handler) for handler in calls.run_by_call(world, instance, call))


# ---- what waits -------------------------------------------------------------------------------


def may_begin(
    world: World, instance: Instance, handler: typed.Handler, names: dict[str, Expr], self: Expr
) -> Expr:
    """Returns whether ``self`` may start ``handler`` with ``names``: a condition or a timer may not
    while an activity that it started with the same ones is under way."""
    begun = _begun(instance, handler)
    if begun not in world.variables:
        return TRUE
    mine = entry(world.read(begun), self)
    return negation(mine if mine.type == BOOL else build.member(_own(handler, names), mine))


def _own(handler: typed.Handler, names: dict[str, Expr]) -> Expr:
    """Returns the tuple of the values with which a condition or a timer has started its handler."""
    values = tuple(names[name] for name in begun_with(handler))
    return ir.Apply(TupleT(tuple(v.type for v in values)), Op.TUPLE, values)


def _note_begun(
    world: World,
    instance: Instance,
    handler: typed.Handler,
    names: dict[str, Expr],
    self: Expr,
    *,
    begins: bool,
) -> Block:
    begun = _begun(instance, handler)
    if begun not in world.variables:
        return ()
    mine = entry(world.read(begun), self)
    if mine.type == BOOL:
        after: Expr = ir.Const(BOOL, begins)
    else:
        change = build.with_item if begins else build.without_item
        after = change(mine, _own(handler, names))
    return (build.assign(mine, after),)


def put_off(handler: typed.Handler, stmt: typed.Await, rest: typed.Block, env: Env) -> Block:
    """Returns the statements that put ``rest``, which follows ``stmt`` in ``handler``, into the
    bag."""
    world, self = env.world, env.self
    assert self is not None
    place = world.place(stmt.span)
    used = continuations.used_names(handler, (stmt, rest), env)
    key = (env.instance.path, stmt.span)
    if key not in world.activities:
        variable = f"{ACTIVITY}{continuations.label(env.instance, stmt)}"
        item: Type = AtomT("activity", ("waits",))
        if used:
            item = kept_type(env, used, variable)
        bags = MapT(world.proc, BagT(item, world.capacity(GROWS, 1), GROWS))
        title = f"activities after `await` at {continuations.label(env.instance, stmt)}"
        world.add(variable, bags, default(bags), VariableKind.WORLD, title)
        world.activities[key] = Later(
            None, env.instance, handler, rest, place, tuple(used), variable, stmt.condition
        )
    later = world.activities[key]
    assert later.variable is not None
    mine = entry(world.read(later.variable), self)
    assert isinstance(mine.type, BagT)
    kept: Expr = ir.Const(mine.type.item, 0)
    if used:
        assert isinstance(mine.type.item, TupleT)
        kept = kept_values(stmt, used, mine.type.item, env)
    more = ir.Apply(mine.type, Op.BAG_ADD, (mine, kept), place)
    put = build.assign(mine, more)
    begins = _note_begun(world, env.instance, handler, env.names, self, begins=True)
    return (put, *begins)


# ---- what goes on -----------------------------------------------------------------------------


def go_on(world: World, later: Later) -> None:
    """Drafts the step by which an activity continues with the statements in ``later``."""
    assert later.variable is not None
    self = ir.Local(world.proc, fresh("self"))
    mine = entry(world.read(later.variable), self)
    assert isinstance(mine.type, BagT)
    held = ir.Local(mine.type.item, fresh("_kept"))
    names: dict[str, Expr] = {n: build.item(held, i) for i, n in enumerate(later.names)}
    env = Env(world, later.instance, self, names)
    ready = TRUE if later.condition is None else lower(later.condition, env)
    taken = build.assign(mine, build.without_item(mine, held))
    ended = _note_begun(world, later.instance, later.handler, names, self, begins=False)
    body = continuations.going_on(world, later, names, self, "await")
    params = (
        Param(self.name, ir.Universe(world.proc), world.may_step(self)),
        Param(held.name, ir.Members(mine, mine.type.item), ready),
    )
    action = Action(
        f"{later.instance.path}{later.handler.label}{AWAITED}"
        f"line {later.place.line}:{later.place.column}",
        ActionKind.STEP,
        params,
        TRUE,
        (taken, *ended, *body),
        world.reliable(self),
        later.place,
        fairness.activity(later, self, held),
        spelled_conditions((later.condition,), env),
    )
    world.drafts.append(Draft(action, self))
