"""Lowers statements of handlers to statements of the transition system.

A call between the layers of one process executes the handlers that take it in place.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from checker.instantiate.faults import disks, stable_storage
from checker.instantiate.protocol import alternatives, coverage_marks, draws, ghosts, walk
from checker.instantiate.protocol.expressions import (
    Env,
    bind_domain,
    lower,
    shown_name,
    state_name,
)
from checker.instantiate.protocol.patterns import match_pattern
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.type_sizes import as_written
from checker.instantiate.world import ATOMIC, VARYING, Instance, World, is_effect
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import coerce, conj, fits_in, fresh, stored
from checker.model.ir import TRUE, Block, Expr, Target
from checker.model.transforms.rewrite import emits, replace_emits
from checker.model.types import BOOL, IntT, MapT, SeqT, SetT, TupleT, Type
from checker.polling import poll
from checker.records import replace

ROUNDS = 1000
"""A loop with more iterations than this is assumed not to terminate."""

CallKey = tuple[str, str, str]
"""Path of the called instance, ``request`` or ``indication``, and the operator's name."""


HandlerKey = tuple[str, int]
"""Path of an instance and the identity of one of its handlers."""


class Root(Struct, frozen=True):
    """One event at the process ``self`` and all that is executed in its transition.

    ``running``: the handlers that have begun and not ended, outermost first.  ``follows``: whether
    anything in this transition follows what is being lowered; ``together``: it is in an ``atomic``
    block.
    """

    world: World
    self: Expr
    running: tuple[HandlerKey, ...] = ()
    follows: bool = False
    together: bool = False


def lower_block(block: typed.Block, env: Env, root: Root) -> Block:
    """Lowers the statements of ``block``; names bound by one are visible to those behind it."""
    poll()
    return lower_on(block, env, root)[0]


def lower_on(block: typed.Block, env: Env, root: Root) -> tuple[Block, Env]:
    """Lowers the statements of ``block``; also returns the environment behind it."""
    result: list[ir.Stmt] = []
    for position, stmt in enumerate(block):
        here = root
        behind = any(not isinstance(each, typed.Ghost) for each in block[position + 1 :])
        if behind or isinstance(stmt, typed.For | typed.While):
            here = replace(root, follows=True)
        stmts, env = _statement(stmt, env, here)
        result.extend(stmts)
    return tuple(result), env


def _statement(stmt: typed.Stmt, env: Env, root: Root) -> tuple[Block, Env]:
    world = env.world
    match stmt:
        case typed.Assign():
            return _assign(stmt, env, root), env
        case typed.Send():
            return (*coverage_marks.message_mark(env, stmt.message), _send(stmt, env)), env
        case typed.Call():
            told = (
                []
                if stmt.layer is None
                else [coverage_marks.message_mark(env, arg) for arg in stmt.args]
            )
            return (*(m for marks in told for m in marks), *_call(stmt, env, root)), env
        case typed.If(condition, then, otherwise, _):
            yes = (*coverage_marks.branch(world, "then", stmt.span), *lower_block(then, env, root))
            no = lower_block(otherwise, env, root)
            no = (*coverage_marks.branch(world, "else", stmt.span), *no)
            return (ir.If(lower(condition, env), yes, no),), env
        case typed.For():
            return (_for(stmt, env, root),), env
        case typed.While():
            return (_while(stmt, env, root),), env
        case typed.Choose():
            return draws.choose(stmt, env)
        case typed.Either():
            return _either(stmt, env, root), env
        case typed.Require(condition, _):
            return (ir.Assume(lower(condition, env)),), env
        case typed.LetIn(pattern, value, _):
            lowered = lower(value, env)
            local = ir.Local(lowered.type, fresh(shown_name(pattern)))
            _, names = match_pattern(pattern, local, env)
            return (ir.Declare(local.name, local.type, lowered),), env.bind_all(names)
        case typed.Var():
            return _var(stmt, env)
        case typed.Inlined():
            return _inlined(stmt, env, root), env
        case typed.Perform():
            return (_perform(stmt, env),), env
        case typed.Atomic():
            return _together(stmt, env, root), env
        case typed.Sync():
            return _sync(stmt, env, root), env
        case typed.Ghost():
            return (_ghost(stmt, env, root),), env
        case typed.Timer():
            from checker.instantiate.time.timing import operate

            return operate(stmt, env), env
        case typed.Yield(span) | typed.Await(_, span):
            word = type(stmt).__name__.lower()
            message = f"`{word}` is allowed only at the top level of a handler"
            raise refuse("C202", message, span, "move it out of branches, loops and `atomic`")
        case _:
            assert_never(stmt)


def _assign(stmt: typed.Assign, env: Env, root: Root) -> Block:
    world, place, span = env.world, _target(stmt.target, env), stmt.span
    value = lower(stmt.value, env, place.type)
    held: Block = ()
    key: Expr | None = None
    if len(place.path) > 1 and stable_storage.has_entries(world, place.name):
        first, step, *inner = place.path
        assert isinstance(step, ir.Key) and step.key_type is not None
        local = ir.Local(step.key_type, fresh("_key"))
        held, key = (ir.Declare(local.name, local.type, step.key),), local
        place = replace(place, path=(first, replace(step, key=local), *inner))
    assign = ir.Assign(place, value, world.place(span))
    note = stable_storage.emit_assignment(world, place.name, env.self, world.place(span), key)
    if root.together or not disks.is_synced(world, place.name):
        return (*held, assign, *note)
    assert env.self is not None
    return (*held, assign, *note, *disks.sync(world, (place.name,), env.self, (), span))


def _sync(stmt: typed.Sync, env: Env, root: Root) -> Block:
    if root.together:
        message = "what an `atomic` block stores is complete at its end only"
        raise refuse("C202", message, stmt.span, "write `sync` behind the block")
    assert env.self is not None
    names = tuple(state_name(state, env.instance) for state in stmt.states)
    otherwise = lower_block(stmt.otherwise, env, root)
    return disks.sync(env.world, names, env.self, otherwise, stmt.span)


def _for(stmt: typed.For, env: Env, root: Root) -> ir.Stmt:
    name, members, fits, inner = bind_domain(stmt.pattern, stmt.domain, stmt.where, env)
    body = lower_block(stmt.body, inner, root)
    body = (*coverage_marks.branch(env.world, "for", stmt.span), *body)
    return ir.For(name, members, body if fits == TRUE else (ir.If(fits, body),))


def _var(stmt: typed.Var, env: Env) -> tuple[Block, Env]:
    """Lowers ``var``: its first value is stored as any other, so that its range is checked."""
    world = env.world
    label = f"{env.instance.path}line {stmt.span.line}:{stmt.span.column} {stmt.name}"
    type_ = world.type_of(stmt.type, env.instance, label, stmt.span)
    place = world.place(stmt.span)
    value = lower(stmt.value, env, type_)
    block, local = stored(f"{VARYING}{stmt.name}", type_, value, place)
    return block, env.bind(stmt.name, local)


def _inlined(stmt: typed.Inlined, env: Env, root: Root) -> Block:
    """Lowers the body of a procedure; its arguments have the values that they had at the call, and
    are in the types that are written."""
    held: list[ir.Stmt] = []
    inner = replace(env, names={})
    declared = dict(stmt.declared)
    for name, arg in stmt.args:
        type_: Type | None = None
        if name in declared:
            label = f"{env.instance.path}line {arg.span.line}:{arg.span.column} {name}"
            type_ = env.world.type_of(declared[name], env.instance, label, arg.span)
        value = lower(arg, env, type_)
        stmts, local = _held(name, value, type_ or value.type, env.world.place(arg.span))
        held.extend(stmts)
        inner = inner.bind(name, local)
    return (*held, *lower_block(stmt.body, inner, root))


def _held(name: str, value: Expr, type_: Type, place: ir.SourceLocation) -> tuple[Block, ir.Local]:
    """Returns a local for ``value``; one that may be outside of ``type_`` is also stored in another
    one, so that its range is checked.  Nothing is compared with a bound that is guessed."""
    local = ir.Local(value.type, fresh(name))
    held: Block = (ir.Declare(local.name, local.type, value),)
    type_ = as_written(type_, value.type)
    if not fits_in(value.type, type_):
        checked, _ = stored(name, type_, coerce(local, type_), place)
        held = (*held, *checked)
    return held, local


def _ghost(stmt: typed.Ghost, env: Env, root: Root) -> ir.Stmt:
    """Lowers ghost code to an effect; its branches are none of the handler's."""
    world = env.world
    covered, world.coverage = world.coverage, False
    code = lower_block(stmt.body, env, root)
    world.coverage = covered
    return ghosts.effect(stmt, code, env)


def _target(expr: typed.Expr, env: Env) -> Target:
    match expr:
        case typed.StateRef():
            name = state_name(expr, env.instance)
            whole = env.world.read(name).type
            if expr.role is None:
                return Target(whole, name, True)
            assert isinstance(whole, MapT) and env.self is not None
            return Target(whole.value, name, True, (ir.Key(env.self, whole.key),))
        case typed.Local(_, name, _):
            local = env.names[name]
            assert isinstance(local, ir.Local)
            return Target(local.type, local.name, False)
        case typed.Part(_, base, position, _):
            outer = _target(base, env)
            assert isinstance(outer.type, TupleT)
            path = (*outer.path, ir.Pos(position))
            return Target(outer.type.items[position], outer.name, outer.is_state, path)
        case typed.Entry(_, base, key, _):
            outer = _target(base, env)
            return _entry_target(outer, key, env)
        case _:
            raise TypeError("this can't be assigned")


def _entry_target(outer: Target, key: typed.Expr, env: Env) -> Target:
    match outer.type:
        case MapT(key_type, value):
            step = ir.Key(lower(key, env, key_type), key_type)
            return Target(value, outer.name, outer.is_state, (*outer.path, step))
        case SeqT(item):
            return Target(item, outer.name, outer.is_state, (*outer.path, ir.Key(lower(key, env))))
        case other:
            raise TypeError(f"{other} has no entries")


def _send(stmt: typed.Send, env: Env) -> ir.Stmt:
    from checker.instantiate.network.links import wrap_message

    world = env.world
    receivers = lower(stmt.receivers, env)
    if not isinstance(receivers.type, SetT):
        receivers = ir.Apply(SetT(world.proc), ir.Op.SET, (receivers,))
    message = wrap_message(world, env.instance, lower(stmt.message, env))
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
    """Lowers the block of an atomic ``stmt``: all of its effects happen or none; a crash falls
    before them."""
    world, self = env.world, env.self
    body = lower_block(stmt.body, env, replace(root, together=True))
    if world.disks:
        assert self is not None
        found = (stable_storage.variable_of(emit.effect) for emit in emits(body))
        written = [name for name in dict.fromkeys(found) if name in world.stored]
        body = disks.together(world, self, body, written)
        for name in written:
            if disks.is_synced(world, name):
                body = (*body, *disks.sync(world, (name,), self, (), stmt.span))
    body = replace_emits(body, lambda emit: (replace(emit, glued=True),))
    if ATOMIC not in world.effects or not any(_is_cut_off(world, emit) for emit in emits(body)):
        return body
    assert self is not None
    border = ir.Emit(ATOMIC, (self,), world.place(stmt.span))
    return (border, *body, border) if world.seen else (border, *body)


def _is_cut_off(world: World, emit: ir.Emit) -> bool:
    """Tells whether a crash or a pause could separate ``emit`` from what is before it."""
    return is_effect(world, emit) or world.effects[emit.effect].kind is ir.EffectKind.TIMER


def _while(stmt: typed.While, env: Env, root: Root) -> ir.Stmt:
    """Lowers ``while some``: as long as there is a member, chooses any."""
    name, members, condition, inner = bind_domain(stmt.pattern, stmt.domain, stmt.where, env)
    some = ir.Quant(ir.Quantifier.EXISTS, name, members, condition, BOOL)
    body = (
        ir.Choose(name, members, condition),
        *coverage_marks.branch(env.world, "while", stmt.span),
        *lower_block(stmt.body, inner, root),
    )
    return ir.While(some, body, ROUNDS, env.world.place(stmt.span))


def _either(stmt: typed.Either, env: Env, root: Root) -> Block:
    named = list(zip(stmt.names, stmt.alternatives, strict=True))
    guards = [
        conj(alternatives.is_left(env, name), TRUE if g is None else lower(g, env))
        for name, (g, _) in named
    ]
    bodies = [
        (
            *coverage_marks.branch(
                env.world, f"as {name}" if name else f"alternative {number}", stmt.span
            ),
            *alternatives.taking(env, name, env.world.place(stmt.span)),
            *lower_block(body, env, root),
        )
        for number, (name, (_, body)) in enumerate(named, start=1)
    ]
    return pick(tuple(zip(guards, bodies, strict=True)), "_either")


def pick(ways: tuple[tuple[Expr, Block], ...], name: str) -> Block:
    """Chooses any one of ``ways`` whose guard holds; where none does, this execution is removed."""
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
    from checker.instantiate.protocol.calls import callees, fields_of
    from checker.instantiate.protocol.indexed import any_member

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
        ways.append((target, _one_call(stmt, target, args, types, env, root)))
    return any_member(stmt, ways, env)


def _one_call(
    stmt: typed.Call,
    target: CallKey,
    args: tuple[Expr, ...],
    types: list[Type],
    env: Env,
    root: Root,
) -> Block:
    """Lowers the call of one instance; an effect where it is an oracle."""
    from checker.instantiate.oracles.oracles import request
    from checker.instantiate.protocol.calls import to_oracle

    place = env.world.place(stmt.span)
    held, names = _evaluate_arguments(args, types, place)
    if to_oracle(env.world, target):
        return (*held, *request(env.world, target, names, root, place))
    return (*held, *run_call(target, names, root))


def _evaluate_arguments(
    args: tuple[Expr, ...], types: list[Type], place: ir.SourceLocation
) -> tuple[Block, tuple[Expr, ...]]:
    """Evaluates arguments at the call, independently of later assignments; numbers are in the
    ranges of ``types``."""
    stmts: list[ir.Stmt] = []
    names: list[Expr] = []
    for arg, type_ in zip(args, types, strict=True):
        wanted = type_ if isinstance(type_, IntT) else arg.type
        held, local = _held("_arg", arg, wanted, place)
        if len(held) > 1 or any(isinstance(node, ir.Read) for node in walk.nodes(arg)):
            stmts.extend(held)
            names.append(local)
        else:
            names.append(arg)
    return tuple(stmts), tuple(names)


def operator_types(world: World, at: Instance, stmt: typed.Call) -> tuple[Type, ...]:
    """Returns the types of the arguments of a call that ``at`` makes."""
    from checker.instantiate.protocol.calls import operator

    return tuple(t for _, t in operator(world, at, stmt))


def run_call(target: CallKey, args: tuple[Expr, ...], root: Root) -> Block:
    """Executes the handlers of a call in place."""
    from checker.instantiate.protocol.dispatch import dispatch

    return dispatch(target, args, root)
