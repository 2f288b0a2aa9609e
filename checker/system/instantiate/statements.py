"""Statements of handlers become statements of the transition system.

Calls between the layers of one process run inside the same transition, in queue order.  Where
running a call on the spot can't be told apart from queueing it (see :mod:`.calls`), it is run on
the spot; otherwise the calls wait in a local queue that is worked off when the handler is done.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

from checker.diagnostics import Span
from checker.lang import typed
from checker.system import build, ir
from checker.system.build import conj, fresh
from checker.system.instantiate import landmarks, walk
from checker.system.instantiate.expressions import Env, as_domain, bind_domain, lower, state_name
from checker.system.instantiate.sizes import refuse
from checker.system.instantiate.world import ATOMIC, Instance, World
from checker.system.ir import TRUE, Block, Expr, Target
from checker.system.passes.rewrite import emits, replace_emits
from checker.system.types import BOOL, IntT, MapT, SeqT, SetT, TupleT, Type, VariantT

ROUNDS = 1000
"""Rounds after which a loop is taken not to end."""

CallKey = tuple[str, str, str]
"""Path of the called instance, ``request`` or ``indication``, and the operator's name."""


@dataclass
class Root:
    """One event and all that runs in its transition; ``queue`` is the local queue's name or None.

    ``targets`` are the calls that may be queued, in the order of the queue's variant.  ``atomic``:
    some handler touches shared state, and which one runs is known only when the queue is served.
    ``together``: inside of an ``atomic`` block.
    """

    world: World
    self: Expr
    queue: str | None = None
    targets: list[CallKey] = field(default_factory=list)
    variant: VariantT | None = None
    atomic: bool = False
    together: bool = False


def lower_block(block: typed.Block, env: Env, root: Root) -> Block:
    """The statements of ``block``; names introduced by one are visible to those behind it."""
    return lower_on(block, env, root)[0]


def lower_on(block: typed.Block, env: Env, root: Root) -> tuple[Block, Env]:
    """The statements of ``block``, and what the names mean that are visible behind it."""
    result: list[ir.Stmt] = []
    for stmt in block:
        stmts, env = _statement(stmt, env, root)
        result.extend(stmts)
    return tuple(result), env


def _statement(stmt: typed.Stmt, env: Env, root: Root) -> tuple[Block, Env]:
    world = env.world
    match stmt:
        case typed.Assign(target, value, span):
            place = _target(target, env)
            stored = lower(value, env, place.type)
            assign = ir.Assign(place, stored, world.place(span))
            return (assign, *_written(place, env, span)), env
        case typed.Send():
            return (*landmarks.sent(env, stmt.message), _send(stmt, env)), env
        case typed.Call():
            told = [] if stmt.layer is None else [landmarks.sent(env, arg) for arg in stmt.args]
            return (*(m for marks in told for m in marks), *_call(stmt, env, root)), env
        case typed.If(condition, then, otherwise, _):
            yes = (*landmarks.branch(world, "then", stmt.span), *lower_block(then, env, root))
            no = lower_block(otherwise, env, root)
            no = (*landmarks.branch(world, "else", stmt.span), *no)
            return (ir.If(lower(condition, env), yes, no),), env
        case typed.For(pattern, domain, where, body, _):
            name, members, fits, inner = bind_domain(pattern, domain, where, env)
            stmts = lower_block(body, inner, root)
            stmts = (*landmarks.branch(world, "for", stmt.span), *stmts)
            if fits != TRUE:
                stmts = (ir.If(fits, stmts),)
            return (ir.For(name, members, stmts),), env
        case typed.While():
            return (_while(stmt, env, root),), env
        case typed.Choose(name, domain, where, _):
            members = as_domain(domain, env)
            local = ir.Local(ir.domain_item(members), fresh(name))
            inner = env.bind(name, local)
            wanted = TRUE if where is None else lower(where, inner)
            return (ir.Choose(local.name, members, wanted),), inner
        case typed.Either(alternatives, _):
            return _either(alternatives, env, root, stmt.span), env
        case typed.Require(condition, _):
            return (ir.Assume(lower(condition, env)),), env
        case typed.LetIn(name, value, _):
            lowered = lower(value, env)
            local = ir.Local(lowered.type, fresh(name))
            return (ir.Declare(local.name, local.type, lowered),), env.bind(name, local)
        case typed.Perform():
            return (_perform(stmt, env),), env
        case typed.Atomic():
            return _together(stmt, env, root), env
        case typed.Timer():
            from checker.system.instantiate.timing import operate

            return operate(stmt, env), env
        case typed.Yield(span):
            message = "`yield` can only stand at the top level of a handler"
            raise refuse("C202", message, span, "not in a branch, a loop or `atomic`")
        case _:
            assert_never(stmt)


def _target(expr: typed.Expr, env: Env) -> Target:
    match expr:
        case typed.StateRef():
            name = state_name(expr, env.instance)
            whole = env.world.read(name).type
            if expr.role is None:
                return Target(whole, name, True)
            assert isinstance(whole, MapT) and env.self is not None
            return Target(whole.value, name, True, (ir.Key(env.self, whole.key),))
        case typed.Part(_, base, position, _):
            outer = _target(base, env)
            assert isinstance(outer.type, TupleT)
            path = (*outer.path, ir.Pos(position))
            return Target(outer.type.items[position], outer.name, True, path)
        case typed.Entry(_, base, key, _):
            outer = _target(base, env)
            return _entry_target(outer, key, env)
        case _:
            raise TypeError("this can't be assigned")


def _entry_target(outer: Target, key: typed.Expr, env: Env) -> Target:
    match outer.type:
        case MapT(key_type, value):
            step = ir.Key(lower(key, env, key_type), key_type)
            return Target(value, outer.name, True, (*outer.path, step))
        case SeqT(item):
            return Target(item, outer.name, True, (*outer.path, ir.Key(lower(key, env))))
        case other:
            raise TypeError(f"{other} has no entries")


def _send(stmt: typed.Send, env: Env) -> ir.Stmt:
    from checker.system.instantiate.links import wrapped

    world = env.world
    receivers = lower(stmt.receivers, env)
    if not isinstance(receivers.type, SetT):
        receivers = ir.Apply(SetT(world.proc), ir.Op.SET, (receivers,))
    message = wrapped(world, env.instance, lower(stmt.message, env))
    assert env.self is not None
    return ir.Emit("send", (env.self, receivers, message), world.place(stmt.span))


def _perform(stmt: typed.Perform, env: Env) -> ir.Stmt:
    world = env.world
    effect = "perform idempotent" if stmt.idempotent else "perform"
    params = world.effects[effect].params
    assert env.self is not None
    value = lower(stmt.value, env, params[1][1])
    return ir.Emit(effect, (env.self, value), world.place(stmt.span))


def _together(stmt: typed.Atomic, env: Env, root: Root) -> Block:
    """The block of ``stmt``, of whose effects all happen or none: a crash falls before them."""
    world, self = env.world, env.self
    body = lower_block(stmt.body, env, replace(root, together=True))
    body = replace_emits(body, lambda emit: (replace(emit, glued=True),))
    if world.crash_bound == 0 or not emits(body):
        return body
    assert self is not None
    return (ir.Emit(ATOMIC, (self,), world.place(stmt.span)), *body)


def _written(target: Target, env: Env, span: Span) -> Block:
    """The effect by which an assignment to a stable variable reaches the disk."""
    world, self = env.world, env.self
    if target.name not in world.stable:
        return ()
    assert self is not None
    value = build.entry(world.read(target.name), self)
    return (ir.Emit(f"store.{target.name}", (self, value), world.place(span)),)


def _while(stmt: typed.While, env: Env, root: Root) -> ir.Stmt:
    """``while some``: as long as there is a member, take any."""
    name, members, condition, inner = bind_domain(stmt.pattern, stmt.domain, stmt.where, env)
    some = ir.Quant(ir.Quantifier.EXISTS, name, members, condition, BOOL)
    body = (
        ir.Choose(name, members, condition),
        *landmarks.branch(env.world, "while", stmt.span),
        *lower_block(stmt.body, inner, root),
    )
    return ir.While(some, body, ROUNDS, env.world.place(stmt.span))


def _either(
    alternatives: tuple[tuple[typed.Expr | None, typed.Block], ...],
    env: Env,
    root: Root,
    span: Span,
) -> Block:
    guards = [TRUE if g is None else lower(g, env) for g, _ in alternatives]
    bodies = [
        (
            *landmarks.branch(env.world, f"alternative {number}", span),
            *lower_block(body, env, root),
        )
        for number, (_, body) in enumerate(alternatives, start=1)
    ]
    return pick(tuple(zip(guards, bodies, strict=True)), "_either")


def pick(ways: tuple[tuple[Expr, Block], ...], name: str) -> Block:
    """Any one of ``ways`` whose guard holds; where none does, this way of running ends."""
    index = ir.Local(IntT(0, len(ways) - 1), fresh(name))
    is_way = [build.equal(index, ir.Const(index.type, i)) for i in range(len(ways))]
    where: Expr = TRUE
    if any(guard != TRUE for guard, _ in ways):
        pairs = zip(is_way, ways, strict=True)
        where = build.disj(*(conj(chosen, guard) for chosen, (guard, _) in pairs))
    stmts: Block = ()
    for chosen, (_, body) in reversed(list(zip(is_way, ways, strict=True))):
        stmts = (ir.If(chosen, body, stmts),) if stmts or body else ()
    return (ir.Choose(index.name, ir.Universe(index.type), where), *stmts)


# ---- calls ------------------------------------------------------------------------------------


def _call(stmt: typed.Call, env: Env, root: Root) -> Block:
    from checker.system.instantiate.calls import callees, fields_of
    from checker.system.instantiate.indexed import any_member

    world = env.world
    if stmt.layer is None and env.instance.above is None:
        fields = operator_types(world, env.instance, stmt)
        args = tuple(lower(a, env, t) for a, t in zip(stmt.args, fields, strict=True))
        assert env.self is not None
        return (ir.Emit(f"indicate.{stmt.op}", (env.self, *args), world.place(stmt.span)),)
    ways: list[tuple[CallKey, Block]] = []
    for target in callees(world, env.instance, stmt):
        types = [t for _, t in fields_of(world, target)]
        args = tuple(lower(a, env, t) for a, t in zip(stmt.args, types, strict=True))
        ways.append((target, _one_call(stmt, target, args, env, root)))
    return any_member(stmt, ways, env)


def _one_call(
    stmt: typed.Call, target: CallKey, args: tuple[Expr, ...], env: Env, root: Root
) -> Block:
    """The call of one instance: run now, or later, or an effect where it is an oracle."""
    from checker.system.instantiate.calls import to_oracle
    from checker.system.instantiate.oracles import request

    place = env.world.place(stmt.span)
    if to_oracle(env.world, target):
        return request(env.world, target, root.self, args, place)
    if root.queue is None:
        held, names = _held(args)
        return (*held, *run_call(target, names, root))
    if root.together:
        message = "what is called here runs after the handler, so not within `atomic`"
        hint = "let the call be the last statement of the handler"
        raise refuse("C202", message, stmt.span, hint)
    assert root.variant is not None
    queue = _queue_type(root)
    made = ir.Make(root.variant, root.targets.index(target), args)
    local = ir.Local(queue, root.queue)
    appended = ir.Apply(queue, ir.Op.APPEND, (local, made), place)
    return (ir.Assign(ir.Target(queue, root.queue, False), appended),)


def _held(args: tuple[Expr, ...]) -> tuple[Block, tuple[Expr, ...]]:
    """Arguments have the value of the moment of the call, whatever is assigned later."""
    stmts: list[ir.Stmt] = []
    names: list[Expr] = []
    for arg in args:
        if any(isinstance(node, ir.Read) for node in walk.nodes(arg)):
            local = ir.Local(arg.type, fresh("_arg"))
            stmts.append(ir.Declare(local.name, local.type, arg))
            names.append(local)
        else:
            names.append(arg)
    return tuple(stmts), tuple(names)


def _queue_type(root: Root) -> SeqT:
    assert root.variant is not None
    name = "calls in one transition"
    return SeqT(root.variant, root.world.capacity(name, 4), name)


def operator_types(world: World, at: Instance, stmt: typed.Call) -> tuple[Type, ...]:
    """Types of the arguments of a call that ``at`` makes."""
    from checker.system.instantiate.calls import operator

    return tuple(t for _, t in operator(world, at, stmt))


def run_call(target: CallKey, args: tuple[Expr, ...], root: Root) -> Block:
    """The handlers of a call, run now."""
    from checker.system.instantiate.dispatch import dispatch

    return dispatch(target, args, root)


def with_queue(root: Root, body: Block) -> Block:
    """``body`` with its queue declared before it and worked off after it."""
    if root.queue is None or root.variant is None:
        return body
    type_ = _queue_type(root)
    local = ir.Local(type_, root.queue)
    call = ir.Local(root.variant, fresh("_call"))
    work: list[ir.Stmt] = [
        ir.Declare(call.name, call.type, ir.Apply(root.variant, ir.Op.HEAD, (local,))),
        ir.Assign(ir.Target(type_, root.queue, False), ir.Apply(type_, ir.Op.TAIL, (local,))),
    ]
    for index, target in enumerate(root.targets):
        case = root.variant.cases[index]
        args = tuple(ir.CaseField(t, call, index, i) for i, (_, t) in enumerate(case.fields))
        work.append(ir.If(ir.IsCase(call, index), run_call(target, args, root)))
    pending = build.negation(build.equal(build.size(local), build.integer(0)))
    return (
        ir.Declare(root.queue, type_, ir.Const(type_, ())),
        *body,
        ir.While(pending, tuple(work), ROUNDS),
    )
