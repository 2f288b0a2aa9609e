"""Resolves which handlers a call between the layers of a process reaches.

A call executes them in place (see :mod:`.dispatch`).
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.graphs import reached
from checker.instantiate.faults import disks
from checker.instantiate.protocol.alternatives import is_counted
from checker.instantiate.protocol.stack import family
from checker.instantiate.protocol.statements import CallKey
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed
from checker.model.types import Type


def callees(world: World, caller: Instance, call: typed.Call) -> list[CallKey]:
    """Returns the possible targets of ``call``: one, or any member of a family; none: the
    application."""
    if call.layer is None:
        return [] if caller.above is None else [(caller.path, "indication", call.op)]
    found = family(world, caller, call.layer)
    if isinstance(call.index, typed.Literal):
        found = [i for i in found if i.index is not None and i.index.value == call.index.value]
    return [(i.path, "request", call.op) for i in found]


def callee(world: World, caller: Instance, call: typed.Call) -> CallKey | None:
    """Returns a possible target of ``call``; ``None``: the application."""
    if call.layer is not None:
        return family(world, caller, call.layer)[0].path, "request", call.op
    found = callees(world, caller, call)
    return found[0] if found else None


def to_oracle(world: World, target: CallKey) -> bool:
    """Tells whether ``target`` is a request to an oracle: an effect rather than a call."""
    return target[1] == "request" and bool(instance_at(world, target[0]).oracle)


def operator(world: World, caller: Instance, call: typed.Call) -> tuple[tuple[str, Type], ...]:
    """Returns names and types of the arguments of ``call``."""
    target = callee(world, caller, call)
    if target is None:
        return fields_of(world, (caller.path, "indication", call.op))
    return fields_of(world, target)


def fields_of(world: World, target: CallKey) -> tuple[tuple[str, Type], ...]:
    """Returns the arguments of the request to, or indication of, the instance named by
    ``target``."""
    path, kind, op = target
    instance = instance_at(world, path)
    interface = instance.protocol.implements
    assert interface is not None
    operators = interface.requests if kind == "request" else interface.indications
    found = next(o for o in operators if o.name == op)
    return tuple((n, world.type_of(t, instance, f"{path}{op}.{n}")) for n, t in found.fields)


def instance_at(world: World, path: str) -> Instance:
    return next(i for i in world.instances if i.path == path)


def handlers_of(
    world: World, target: CallKey
) -> tuple[Instance, list[tuple[typed.Role, typed.Handler]]]:
    """Returns the instance that handles ``target`` and its handlers for it, in order."""
    path, kind, op = target
    called = instance_at(world, path)
    at = called if kind == "request" else called.above
    assert at is not None
    found = []
    for role in at.protocol.roles:
        for handler in role.handlers:
            match handler.event:
                case typed.OnRequest(name, _) if kind == "request" and name == op:
                    found.append((role, handler))
                case typed.OnIndication(layer, name, _) if (
                    kind == "indication" and name == op and layer == called.name_above
                ):
                    found.append((role, handler))
                case _:
                    pass
    return at, found


def calls_in(world: World, at: Instance, handler: typed.Handler) -> list[CallKey]:
    """Yields every call to another layer that ``handler`` may make."""
    found: list[CallKey] = []
    for node in nodes(handler.body):
        if isinstance(node, typed.Call):
            for target in callees(world, at, node):
                found.extend(callees_of(world, target))
    return found


def callees_of(world: World, target: CallKey) -> list[CallKey]:
    """Returns the targets that a call reaches: itself, or the possible immediate answers of an
    oracle."""
    if not to_oracle(world, target):
        return [target]
    interface = instance_at(world, target[0]).protocol.implements
    assert interface is not None
    return [(target[0], "indication", operator.name) for operator in interface.indications]


def reachable(world: World, at: Instance, handlers: list[typed.Handler]) -> list[CallKey]:
    """Returns every call that may happen in a transition that starts with one of ``handlers``."""

    def after(call: CallKey) -> Iterator[CallKey]:
        inner, following = handlers_of(world, call)
        return (target for _, handler in following for target in calls_in(world, inner, handler))

    first = (target for handler in handlers for target in calls_in(world, at, handler))
    return sorted(reached(first, after))


def may_yield(world: World, at: Instance, call: typed.Call) -> bool:
    """Tells whether a handler that ``call`` of ``at`` may transitively execute yields."""
    handlers = run_by_call(world, at, call)
    return any(isinstance(stmt, typed.Yield) for handler in handlers for stmt in handler.body)


def run_by_call(world: World, at: Instance, call: typed.Call) -> list[typed.Handler]:
    """Returns the handlers that ``call`` of ``at`` may execute, transitively."""
    targets = [t for target in callees(world, at, call) for t in callees_of(world, target)]
    return [handler for target in targets for handler in _run_by(world, target)]


def _run_by(world: World, target: CallKey) -> list[typed.Handler]:
    """Returns the handlers that ``target`` may execute, transitively."""
    at, handlers = handlers_of(world, target)
    first = [h for _, h in handlers]
    further = (handlers_of(world, t)[1] for t in reachable(world, at, first))
    return [*first, *(h for found in further for _, h in found)]


def ends_by_asking(
    world: World, at: Instance, call: typed.Call, path: str, seen: frozenset[CallKey] = frozenset()
) -> bool:
    """Tells whether ``call`` of ``at`` may have a request to the oracle at ``path`` as its last
    act."""
    for target in callees(world, at, call):
        if to_oracle(world, target):
            if target[0] == path:
                return True
        elif target not in seen:
            inner, handlers = handlers_of(world, target)
            for last in (handler.body[-1] for _, handler in handlers if handler.body):
                if isinstance(last, typed.Call) and ends_by_asking(
                    world, inner, last, path, seen | {target}
                ):
                    return True
    return False


def is_one_step(world: World, at: Instance, handler: typed.Handler) -> bool:
    """Tells whether ``handler`` stays one step under fine steps: it, or a handler that it calls,
    assigns shared state, whose intermediate values other processes would read; or sends a request
    to an oracle, which may answer immediately; or sends over bounded links, where other processes
    could make room between two copies, or over connections, which could break there; or syncs what
    may fail to be synced, as others count."""
    together = any(link.capacity is not None or link.kind.connects for link in world.links)
    called = (handlers_of(world, target) for target in reachable(world, at, [handler]))
    everything = [(at, handler), *((i, h) for i, handlers in called for _, h in handlers)]
    return any(
        (isinstance(node, typed.Assign) and _is_shared(node.target))
        or is_counted(world, node)
        or (isinstance(node, typed.Send) and together)
        or (isinstance(node, typed.Call) and _asks_oracle(world, instance, node))
        or disks.may_fail(world, instance, node)
        for instance, one in everything
        for node in nodes(one.body)
    )


def _asks_oracle(world: World, at: Instance, call: typed.Call) -> bool:
    return any(to_oracle(world, target) for target in callees(world, at, call))


def _is_shared(target: typed.Expr) -> bool:
    while isinstance(target, typed.Part | typed.Entry):
        target = target.base
    return isinstance(target, typed.StateRef) and target.role is None and not target.ghost
