"""Dispatches an event at a process to the handlers that take it."""

from __future__ import annotations

from checker.instantiate.protocol import activities, calls, receptions
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.handler_budgets import count, is_left
from checker.instantiate.protocol.indexed import match_index
from checker.instantiate.protocol.patterns import match_pattern, match_patterns
from checker.instantiate.protocol.statements import CallKey, Root, pick
from checker.instantiate.protocol.yields import lower_handler
from checker.instantiate.world import Instance, World, handler_mark
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, member, negation
from checker.model.ir import FALSE, TRUE, Block, Expr
from checker.model.transforms.rewrite import replace_emits
from checker.model.types import SetT
from checker.records import replace

NESTED = "calls within calls"
"""The capacity that bounds how often a handler may be entered before it returns."""

DEEPEST = 7
"""That capacity is not enlarged beyond this: such recursion does not terminate."""


def guard_of(
    role: typed.Role, handler: typed.Handler, env: Env, names: dict[str, Expr], match: Expr
) -> tuple[Expr, Env]:
    """Returns when ``handler`` takes an event whose pattern gave ``match`` and ``names``."""
    if match == FALSE:
        return FALSE, env
    world = env.world
    inner = env.bind_all(names)
    conditions = [match]
    assert env.self is not None
    if len(world.check.protocol.roles) > 1 and env.instance.above is None:
        members = ir.Const(SetT(world.proc), world.processes(role.name))
        conditions.insert(0, member(env.self, members))
    if handler.at is not None:
        conditions.append(build.equal(env.self, lower(handler.at, inner)))
    if handler.when is not None:
        conditions.append(lower(handler.when, inner))
    conditions.append(is_left(world, handler, env.self))
    conditions.append(activities.may_begin(world, env.instance, handler, inner.names, env.self))
    return conj(*conditions), inner


def run_handler(handler: typed.Handler, env: Env, names: dict[str, Expr], root: Root) -> Block:
    """Returns the body of ``handler`` behind its mark, or a runtime error where it has been
    entered, and not left, so often that the calls are cyclic."""
    world, at = env.world, env.instance
    key = (at.path, id(handler))
    place = world.place(handler.span)
    if key in root.running and root.running.count(key) >= world.capacity(NESTED, 1):
        return (_too_deep(world, handler, place),)
    mark = handler_mark(world, at, handler, names, root.self)
    inner = replace(root, running=(*root.running, key))
    body = lower_handler(handler, handler.body, env.bind_all(names), inner)
    return (mark, *count(world, handler, root.self), *whole(world, at, handler, body, root))


def _too_deep(world: World, handler: typed.Handler, place: ir.SourceLocation) -> ir.Fault:
    depth = world.capacity(NESTED, 1)
    grows = NESTED if depth < DEEPEST else None
    message = f"`{handler.label}` was entered {depth} times without returning"
    return ir.Fault("R006", f"{message}: calls form a cycle", place, grows)


def whole(world: World, at: Instance, handler: typed.Handler, body: Block, root: Root) -> Block:
    """Returns ``body`` of ``handler``; where effects are steps, some handlers stay one step."""
    if world.fine and not root.running and calls.is_one_step(world, at, handler):
        return replace_emits(body, lambda emit: (replace(emit, atomic=True),))
    return body


def dispatch(target: CallKey, args: tuple[Expr, ...], root: Root) -> Block:
    """Executes the handlers of a call; an indication is recorded for ``received`` first."""
    world = root.world
    at, handlers = calls.handlers_of(world, target)
    env = Env(world, at, root.self)
    before: Block = ()
    if target[1] == "indication":
        before = _note_received(world, at, root.self, args)
    ways = []
    for role, handler in handlers:
        event = handler.event
        assert isinstance(event, typed.OnRequest | typed.OnIndication)
        index = event.index if isinstance(event, typed.OnIndication) else None
        which, numbered = match_index(index, calls.instance_at(world, target[0]), env)
        if which == FALSE:
            continue
        match, names = match_patterns(event.patterns, args, env.bind_all(numbered))
        if match == FALSE:
            continue
        match, names = conj(which, match), {**numbered, **names}
        condition, _ = guard_of(role, handler, env, names, match)
        ways.append((condition, run_handler(handler, env, names, root)))
    return (*before, *choose_handler(ways))


def _note_received(world: World, at: Instance, self: Expr, args: tuple[Expr, ...]) -> Block:
    """Returns the record that ``received`` keeps of an indication that carries a message of
    ``at``."""
    messages = [a for a in args if a.type == at.messages]
    senders = [a for a in args if a.type == world.proc]
    if not messages or not senders:
        return ()
    return receptions.record(world, at, self, senders[0], messages[0])


def choose_handler(ways: list[tuple[Expr, Block]]) -> Block:
    """Chooses any handler whose condition holds; does nothing where none does."""
    if not ways:
        return ()
    if _exclusive([condition for condition, _ in ways]):
        return tuple(ir.If(condition, body) for condition, body in ways)
    none = negation(disj(*(condition for condition, _ in ways)))
    return pick((*ways, (none, ())), "_handler")


def _exclusive(conditions: list[Expr]) -> bool:
    """Tells whether the conditions test distinct cases of one message, so that at most one
    holds."""
    tags = [tag for tag in map(_tag, conditions) if tag is not None]
    if len(conditions) == 1:
        return True
    distinct = len({t.case for t in tags}) == len(conditions)
    return distinct and len({t.base for t in tags}) == 1


def _tag(condition: Expr) -> ir.IsCase | None:
    """Returns the message case that ``condition`` tests in a conjunct, if any."""
    parts: tuple[Expr, ...] = (condition,)
    if isinstance(condition, ir.Apply) and condition.op is ir.Op.AND:
        parts = condition.args
    return next((p for p in parts if isinstance(p, ir.IsCase)), None)


def run_unconditional(
    world: World, at: Instance, self: Expr, kind: type[typed.OnInit | typed.OnRecover]
) -> Block:
    """Executes at ``self`` the handlers of ``at`` for an event of ``kind``, one after another."""
    found: list[ir.Stmt] = []
    for role in at.protocol.roles:
        elsewhere = isinstance(self, ir.Const) and self.value not in world.processes(role.name)
        if at.above is None and elsewhere:
            continue
        for handler in role.handlers:
            if isinstance(handler.event, kind):
                root = Root(world, self, follows=True)
                env = Env(world, at, self)
                condition, _ = guard_of(role, handler, env, {}, TRUE)
                found.append(ir.If(condition, run_handler(handler, env, {}, root)))
    return tuple(found)


def disconnected(world: World, at: Instance, self: Expr, peer: Expr) -> Block:
    """Tells ``at`` that the connection to ``peer`` is gone: executes any handler that matches."""
    env = Env(world, at, self)
    root = Root(world, self, follows=True)
    ways = []
    for role in at.protocol.roles:
        for handler in role.handlers:
            if isinstance(handler.event, typed.OnDisconnected):
                match, names = match_pattern(handler.event.process, peer, env)
                if match == FALSE:
                    continue
                condition, _ = guard_of(role, handler, env, names, match)
                ways.append((condition, run_handler(handler, env, names, root)))
    return choose_handler(ways)


def receive(world: World, at: Instance, self: Expr, sender: Expr, message: Expr) -> Block:
    """Receives a message of ``at``: records it, then executes any handler that matches."""
    env = Env(world, at, self)
    found = [
        (role, handler)
        for role in at.protocol.roles
        for handler in role.handlers
        if isinstance(handler.event, typed.OnReceive)
    ]
    root = Root(world, self)
    ways = []
    for role, handler in found:
        event = handler.event
        assert isinstance(event, typed.OnReceive)
        whole = typed.Match(typed.Message(), event.message, event.patterns)
        match, names = match_pattern(whole, message, env)
        also, more = match_pattern(event.sender, sender, env.bind_all(names))
        if FALSE in (match, also):
            continue
        names = {**names, **more}
        condition, _ = guard_of(role, handler, env, names, conj(match, also))
        ways.append((condition, run_handler(handler, env, names, root)))
    body: Block = ()
    for tag, group in _by_message(ways):
        chosen = choose_handler(group)
        body += (ir.If(tag, chosen),) if tag != TRUE else chosen
    return (*receptions.record(world, at, self, sender, message), *body)


def _by_message(ways: list[tuple[Expr, Block]]) -> list[tuple[Expr, list[tuple[Expr, Block]]]]:
    """Groups the alternatives by the message case that they require."""
    groups: dict[Expr, list[tuple[Expr, Block]]] = {}
    for condition, body in ways:
        groups.setdefault(_tag(condition) or TRUE, []).append((condition, body))
    return list(groups.items())
