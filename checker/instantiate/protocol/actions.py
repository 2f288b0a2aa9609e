"""Drafts the actions of the protocols themselves: conditions, and the requests of clients."""

from __future__ import annotations

from checker.instantiate import fairness
from checker.instantiate.protocol import calls, receptions, returns
from checker.instantiate.protocol.dispatch import guard_of, run_handler
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.inputs import Request, arguments, column
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.spelled_conditions import spelled_conditions
from checker.instantiate.protocol.statements import Root, run_call
from checker.instantiate.protocol.type_sizes import enumerable
from checker.instantiate.world import CLIENT, REQUEST, Draft, Instance, World, mark
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, equal, fresh
from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Block,
    Expr,
    MarkKind,
    Param,
    VariableKind,
)
from checker.model.types import AtomT, IntT, MapT, SetT, default
from checker.records import replace


def self_param(world: World, role: typed.Role, instance: Instance) -> tuple[ir.Local, ir.Domain]:
    """Returns a parameter that ranges over the processes of ``role``."""
    local = ir.Local(world.proc, fresh("self"))
    members = world.processes(role.name if instance.above is None else None)
    if len(members) == len(world.sizes.processes):
        return local, ir.Universe(world.proc)
    return local, ir.Members(ir.Const(SetT(world.proc), members), world.proc)


def conditions(world: World) -> None:
    """Drafts an action for each ``upon condition``."""
    for instance in world.instances:
        for role in instance.protocol.roles:
            for handler in role.handlers:
                if isinstance(handler.event, typed.OnCondition):
                    _condition(world, instance, role, handler, handler.event)


def _condition(
    world: World,
    instance: Instance,
    role: typed.Role,
    handler: typed.Handler,
    event: typed.OnCondition,
) -> None:
    self, domain = self_param(world, role, instance)
    env = Env(world, instance, self)
    params = [Param(self.name, domain, world.may_step(self))]
    names: dict[str, Expr] = {}
    for name, type_ in event.free:
        found = receptions.type_of_free(instance, event.condition, name)
        local = ir.Local(found or world.type_of(type_, instance, f"_{name}"), fresh(name))
        if not enumerable(local.type):
            message = f"`{name}` has too many possible values to enumerate"
            raise refuse(
                "C202", message, handler.span, "store the received value in a state variable"
            )
        params.append(Param(local.name, ir.Universe(local.type), TRUE))
        names[name] = local
    condition = lower(event.condition, env.bind_all(names))
    guard, _ = guard_of(role, handler, env, names, condition)
    body = run_handler(handler, env, names, Root(world, self))
    name = unique(world, f"{instance.path}{role.name + '.' if role.name else ''}{handler.label}")
    place = world.place(handler.span)
    kind, constraint = ActionKind.STEP, fairness.step(self)
    clause = next((c for c in world.check.fair if c.handler == handler.label), None)
    if clause is not None:
        constraint = fairness.handler(f"{instance.path}{handler.label}", clause, self)
    promised = world.reliable(self) if handler.is_fair or clause is not None else FALSE
    said = spelled_conditions((event.condition, handler.when), env.bind_all(names))
    action = Action(name, kind, tuple(params), guard, body, promised, place, constraint, said)
    world.drafts.append(Draft(action, self))


def unique(world: World, name: str) -> str:
    """Returns ``name``, numbered where an action already has it."""
    taken = {d.action.name for d in world.drafts}
    if name not in taken:
        return name
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


# ---- clients ----------------------------------------------------------------------------------


def clients(world: World) -> None:
    """Drafts an action for each operator that clients request: a process's next request."""
    if world.check.protocol.implements is None:
        return
    declare_clients(world)
    by_op: dict[str, list[Request]] = {}
    for request in requests_of(world):
        by_op.setdefault(request[2].op, []).append(request)
    for op, requests in by_op.items():
        _request(world, op, requests)


def requests_of(world: World) -> list[Request]:
    """Returns all requests that clients make."""
    found: list[Request] = []
    made: dict[int, int] = {}
    for client in world.check.clients:
        for process in _who(world, client):
            found.append((process, made.get(process, 0), client))
            made[process] = made.get(process, 0) + 1
    return found


def declare_clients(world: World) -> None:
    """Declares how many requests each client has made, unless that is declared already."""
    requests = requests_of(world)
    if requests and CLIENT not in world.variables:
        turns = MapT(world.proc, IntT(0, 1 + max(turn for _, turn, _ in requests)))
        world.add(CLIENT, turns, default(turns), VariableKind.WORLD, "requests made")


def _who(world: World, client: typed.Client) -> list[int]:
    labels = world.sizes.processes
    if client.process == "all":
        return list(range(len(labels)))
    if client.process not in labels:
        hint = "processes: " + ", ".join(labels)
        raise refuse("E003", f"there is no process `{client.process}`", client.process_span, hint)
    return [labels.index(client.process)]


def _request(world: World, op: str, requests: list[tuple[int, int, typed.Client]]) -> None:
    top = world.instances[0]
    labels = tuple(f"{world.sizes.processes[p]}#{turn + 1}" for p, turn, _ in requests)
    which = ir.Local(AtomT("request", labels), fresh("request"))
    target = ("", "request", op)
    fields = calls.fields_of(world, target)
    self = column(which, world.proc, [ir.Const(world.proc, p) for p, _, _ in requests])
    turn = column(which, world.read(CLIENT).type, [build.integer(t) for _, t, _ in requests])
    args = arguments(world, op, requests, which, [type_ for _, type_ in fields])
    held = ir.Local(world.proc, fresh("self"))
    bound = tuple(ir.Local(t, fresh(n)) for n, t in fields)
    clock = world.read(CLIENT)
    assert isinstance(clock.type, MapT)
    _, handlers = calls.handlers_of(world, target)
    if not handlers:
        message = f"`{top.protocol.name}` has no handler for the request `{op}`"
        raise refuse("C203", message, requests[0][2].span, f"add `upon request {op}(…)`")
    body = (
        ir.Declare(held.name, world.proc, self),
        *(ir.Declare(b.name, b.type, a) for b, a in zip(bound, args, strict=True)),
        _advance(clock, held),
        mark(
            world,
            MarkKind.REQUEST,
            op,
            ("self", *(n for n, _ in fields)),
            held,
            *bound,
            returns=returns.returned_by(world, op),
        ),
        *_request_effect(world, top, op, (held, *bound), [h for _, h in handlers]),
        *run_call(target, bound, Root(world, held)),
    )
    ways = _ways_to_accept(world, handlers, self, tuple(args))
    takes = build.disj(*(condition for condition, _, _ in ways))
    (_, handler, inner), *others = ways
    said = () if others else spelled_conditions((handler.when,), inner)
    ready = conj(world.may_step(self), returns.waits_for_none(world, self))
    where = conj(ready, equal(build.entry(clock, self), turn), takes)
    params = (Param(which.name, ir.Universe(which.type), where),)
    name, promised = unique(world, f"request {op}"), world.reliable(self)
    constraint = fairness.client(self)
    kind = ActionKind.REQUEST
    action = Action(name, kind, params, TRUE, body, promised, None, constraint, said)
    world.drafts.append(Draft(action, self))


def _request_effect(
    world: World, top: Instance, op: str, args: tuple[Expr, ...], taking: list[typed.Handler]
) -> Block:
    """Returns the effect that records the request, in the same step as its handler where there is
    one."""
    emit = ir.Emit(f"{REQUEST}{op}", args)
    if world.fine and any(calls.is_one_step(world, top, handler) for handler in taking):
        emit = replace(emit, atomic=True)
    return (emit,)


def _advance(clock: Expr, self: Expr) -> ir.Stmt:
    assert isinstance(clock.type, MapT) and isinstance(clock.type.value, IntT)
    mine, after = build.entry(clock, self), clock.type.value
    plus = ir.Apply(IntT(after.lo + 1, after.hi + 1), ir.Op.ADD, (mine, build.integer(1)))
    return build.assign(mine, plus)


def _ways_to_accept(
    world: World,
    handlers: list[tuple[typed.Role, typed.Handler]],
    self: Expr,
    args: tuple[Expr, ...],
) -> list[tuple[Expr, typed.Handler, Env]]:
    """Returns each handler of a request with the condition on which it accepts it now, and the
    names that it binds; the client waits until one accepts it."""
    from checker.instantiate.protocol.patterns import match_patterns

    ways = []
    for role, handler in handlers:
        assert isinstance(handler.event, typed.OnRequest)
        env = Env(world, world.instances[0], self)
        match, names = match_patterns(handler.event.patterns, args, env)
        condition, inner = guard_of(role, handler, env, names, match)
        ways.append((condition, handler, inner))
    return ways
