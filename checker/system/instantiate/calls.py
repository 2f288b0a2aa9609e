"""Which handlers a call reaches, and whether it may run on the spot.

Queue order says: a call's handlers run when the calling handler is done, first called, first run.
Running a call on the spot gives the same when nothing can tell: no effect of the caller follows
it, and either nothing at all follows it, or the callee is a leaf (it makes no calls, so it can't
touch the caller's state).
"""

from __future__ import annotations

from checker.lang import typed
from checker.system.instantiate.expressions import state_name
from checker.system.instantiate.stack import family
from checker.system.instantiate.statements import CallKey
from checker.system.instantiate.walk import nodes
from checker.system.instantiate.world import Instance, World
from checker.system.types import Case, Type, VariantT

HandlerKey = tuple[str, int]
"""Path of an instance and the identity of one of its handlers."""


def callees(world: World, caller: Instance, call: typed.Call) -> list[CallKey]:
    """Where ``call`` may go: one place, or any member of a family; none: to the application."""
    if call.layer is None:
        return [] if caller.above is None else [(caller.path, "indication", call.op)]
    found = family(world, caller, call.layer)
    if isinstance(call.index, typed.Literal):
        found = [i for i in found if i.index is not None and i.index.value == call.index.value]
    return [(i.path, "request", call.op) for i in found]


def callee(world: World, caller: Instance, call: typed.Call) -> CallKey | None:
    """Where ``call`` goes, or some place where it may go; ``None``: to the application."""
    if call.layer is not None:
        return family(world, caller, call.layer)[0].path, "request", call.op
    found = callees(world, caller, call)
    return found[0] if found else None


def to_oracle(world: World, target: CallKey) -> bool:
    """Whether ``target`` is a request to an oracle: an effect rather than a call."""
    return target[1] == "request" and bool(instance_at(world, target[0]).oracle)


def operator(world: World, caller: Instance, call: typed.Call) -> tuple[tuple[str, Type], ...]:
    """Names and types of the arguments of ``call``."""
    target = callee(world, caller, call)
    if target is None:
        return fields_of(world, (caller.path, "indication", call.op))
    return fields_of(world, target)


def fields_of(world: World, target: CallKey) -> tuple[tuple[str, Type], ...]:
    """Arguments of the request to, or the indication of, the instance named by ``target``."""
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
    """The instance that handles ``target`` and its handlers for it, in order."""
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
    """Every call to another layer that ``handler`` may make."""
    found: list[CallKey] = []
    for node in nodes(handler.body):
        if isinstance(node, typed.Call):
            targets = callees(world, at, node)
            found.extend(t for t in targets if not to_oracle(world, t))
    return found


def reachable(world: World, at: Instance, handlers: list[typed.Handler]) -> list[CallKey]:
    """Every call that may happen in a transition that starts with one of ``handlers``."""
    found: list[CallKey] = []
    todo = [(at, h) for h in handlers]
    while todo:
        instance, handler = todo.pop()
        for target in calls_in(world, instance, handler):
            if target not in found:
                found.append(target)
                inner, next_handlers = handlers_of(world, target)
                todo.extend((inner, h) for _, h in next_handlers)
    return sorted(found)


def is_leaf(world: World, target: CallKey) -> bool:
    """Whether handling ``target`` makes no further calls."""
    at, handlers = handlers_of(world, target)
    return all(not calls_in(world, at, h) for _, h in handlers)


def on_the_spot(world: World, at: Instance, handlers: list[typed.Handler]) -> bool:
    """Whether all calls of a transition that starts with ``handlers`` may run on the spot."""
    fine: set[HandlerKey] = set()

    def visit(instance: Instance, handler: typed.Handler, open_: frozenset[HandlerKey]) -> bool:
        key = (instance.path, id(handler))
        if key in fine:
            return True
        if key in open_ or not _fits(world, instance, handler.body, False, False):
            return False
        for target in calls_in(world, instance, handler):
            inner, more = handlers_of(world, target)
            if not all(visit(inner, h, open_ | {key}) for _, h in more):
                return False
        fine.add(key)
        return True

    return all(visit(at, handler, frozenset()) for handler in handlers)


def _fits(world: World, at: Instance, block: typed.Block, effects: bool, anything: bool) -> bool:
    """Whether each call of ``block`` may run on the spot.

    ``effects``: an effect of this handler may follow the block; ``anything``: some statement may.
    """
    for position, stmt in enumerate(block):
        rest = block[position + 1 :]
        effects_follow = effects or any(has_effect(world, at, s) for s in rest)
        follows = anything or bool(rest)
        if isinstance(stmt, typed.Call):
            for target in callees(world, at, stmt):
                if to_oracle(world, target):
                    continue
                if effects_follow or (follows and not is_leaf(world, target)):
                    return False
        for inner, is_loop in _inner_blocks(stmt):
            again = is_loop and any(has_effect(world, at, s) for s in inner)
            if not _fits(world, at, inner, effects_follow or again, follows or is_loop):
                return False
    return True


def atomic(world: World, at: Instance, handler: typed.Handler) -> bool:
    """Whether ``handler`` touches shared state, or one of the handlers that it calls does."""
    called = (handlers_of(world, target) for target in reachable(world, at, [handler]))
    everything = [handler, *(h for _, handlers in called for _, h in handlers)]
    return any(
        isinstance(node, typed.StateRef) and node.role is None
        for one in everything
        for node in nodes(one)
    )


def has_effect(world: World, at: Instance, stmt: typed.Stmt) -> bool:
    """Whether ``stmt`` may send, perform, store, indicate to the application, or ask an oracle
    (calls to other layers don't count)."""
    for node in nodes(stmt):
        if isinstance(node, typed.Send | typed.Perform):
            return True
        if isinstance(node, typed.Assign) and stores(world, at, node):
            return True
        if isinstance(node, typed.Call):
            target = callee(world, at, node)
            if target is None or to_oracle(world, target):
                return True
    return False


def stores(world: World, at: Instance, stmt: typed.Assign) -> bool:
    """Whether ``stmt`` is a write to stable storage that is an effect of its own."""
    target = stmt.target
    while isinstance(target, typed.Part | typed.Entry):
        target = target.base
    if not isinstance(target, typed.StateRef):
        return False
    return state_name(target, at) in world.stable


def _inner_blocks(stmt: typed.Stmt) -> list[tuple[typed.Block, bool]]:
    match stmt:
        case typed.If(_, then, otherwise, _):
            return [(then, False), (otherwise, False)]
        case typed.For(body=body) | typed.While(body=body):
            return [(body, True)]
        case typed.Either(alternatives, _):
            return [(body, False) for _, body in alternatives]
        case typed.Atomic(body, _):
            return [(body, False)]
        case _:
            return []


def variant_of(world: World, targets: list[CallKey]) -> VariantT:
    """The queue's item type: a case for each call."""
    cases = tuple(
        Case(f"{path}{op}", fields_of(world, (path, kind, op))) for path, kind, op in targets
    )
    return VariantT("call", cases)
