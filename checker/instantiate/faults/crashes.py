"""Models crashes of processes, and recovery.

``crash <= k`` bounds the processes that stop; with ``recover`` it bounds the number of crashes, and
a process that is down may recover, but need not: recovery is not a fairness assumption.  A crash
resets everything but stable variables.  Recovery gives every other variable its initial value again
and executes ``upon recover``; ``upon init`` is not executed again.

:mod:`.stable_storage` models which assignments survive a crash inside a handler.
"""

from __future__ import annotations

from functools import partial

from checker.instantiate.faults import joint_stops, power, role_bounds, stable_storage
from checker.instantiate.network import connections
from checker.instantiate.oracles import crash_prophecy
from checker.instantiate.protocol import coverage_marks, returns
from checker.instantiate.protocol.dispatch import run_unconditional
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.initial import choose_initial
from checker.instantiate.protocol.stack import bottom_up, prefix_of
from checker.instantiate.world import (
    ACTIVITY,
    CLIENT,
    PENDING,
    REQUEST,
    UNDER_WAY,
    WAITING,
    Draft,
    Instance,
    World,
)
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, equal, fresh
from checker.model.ir import (
    TRUE,
    Action,
    ActionKind,
    Block,
    EffectKind,
    Expr,
    MarkKind,
    Param,
    VariableKind,
)
from checker.model.types import BagT, IntT, MapT, SeqT, default

Stops = list[tuple[str, int]]
"""Kinds of stops, each with its bound."""
OPINIONS = ("@suspected", "@trusted")
"""The variables that hold which processes a process suspects, and which it trusts."""


def declare(world: World) -> None:
    """Declares the count of crashes, and the effects of assignments that a crash can lose."""
    if world.recovers:
        for kind, bound in stops(world):
            count, title = role_bounds.COUNTS[kind], role_bounds.STOPS[kind]
            world.add(count, IntT(0, bound), 0, VariableKind.WORLD, title)
        role_bounds.declare_crash_counts(world)
    stable_storage.declare(world)


# ---- crashes ----------------------------------------------------------------------------------


def room(world: World, victim: Expr, kinds: Stops) -> Expr:
    """Returns whether the bounds of some of these ``kinds`` allow one more crash, of ``victim``."""
    may_fail = joint_stops.may_fail(world, victim)
    if not world.recovers:
        left = build.below(joint_stops.number_down(world), build.integer(world.crash_bound))
        left = conj(left, crash_prophecy.room(world, victim))
        within = role_bounds.may_stop(world, "crash", world.lead(victim))
        return conj(left, may_fail, within)
    of_kinds = [_room_of(world, kind, bound, victim) for kind, bound in kinds]
    if len(of_kinds) == 1:
        ((left, of_role),) = of_kinds
        return conj(left, may_fail, of_role)
    return conj(disj(*(conj(*parts) for parts in of_kinds)), may_fail)


def stops(world: World) -> Stops:
    """Returns the kinds of stops that the check allows, each with its bound."""
    check = world.check
    power, wipe = world.bound(check.power), world.bound(check.wipe)
    found = [("crash", world.kill_bound), ("power", power), ("wipe", wipe)]
    return [(kind, bound) for kind, bound in found if bound > 0]


def _room_of(world: World, kind: str, bound: int, victim: Expr) -> tuple[Expr, Expr]:
    """Returns whether the bound of a kind allows one more stop, and whether its role bounds allow
    one of ``victim``, or of its lead."""
    so_far = world.read(role_bounds.COUNTS[kind])
    within = role_bounds.may_stop(world, kind, world.lead(victim))
    return build.below(so_far, build.integer(bound)), within


def crashes(world: World) -> None:
    """Drafts the stops of a process, one for each kind; those inside handlers are in
    :mod:`checker.instantiate.faults.crash_points`."""
    if world.crash_bound == 0:
        return
    for kind, bound in stops(world):
        victim = ir.Local(world.proc, fresh("victim"))
        points = joint_stops.each(world, victim, lambda each: _points(world, each))
        body = (*points, *crash_statements(world, victim, [(kind, bound)]))
        may = room(world, victim, [(kind, bound)])
        where = conj(may, world.alive(victim), world.honest(victim))
        where = conj(joint_stops.is_lead(world, victim), where)
        if world.check.crash_points == "between_handlers":
            where = conj(where, joint_stops.of_each(world, victim, world.idle))
        params = (Param(victim.name, ir.Universe(world.proc), where),)
        action = Action(kind, ActionKind.CRASH, params, TRUE, body, ir.FALSE)
        world.drafts.append(Draft(action, None))


def _points(world: World, victim: Expr) -> Block:
    """Returns the mark of the effect before which the crash falls, if effects are steps."""
    if not world.coverage or PENDING not in world.variables:
        return ()
    queue = build.entry(world.read(PENDING), victim)
    assert isinstance(queue.type, SeqT)
    head = ir.Apply(queue.type.item, ir.Op.HEAD, (queue,))
    marks = tuple(
        ir.If(ir.IsCase(head, index), coverage_marks.point(world, effect))
        for index, (effect, made) in enumerate(world.effects.items())
        if made.kind is not EffectKind.GHOST
    )
    return (ir.If(build.negation(world.has_none_pending(victim)), marks),)


def crash_statements(world: World, victim: Expr, kinds: Stops) -> Block:
    """Returns the statements by which ``victim`` stops in one of these ``kinds``, and all that stop
    together with it: volatile variables are reset, and messages to it are removed if it can't
    recover.

    Variables that a property reads keep their values at the crash.
    """
    crashed = world.crashed()
    all_down = joint_stops.with_all(world, crashed, victim)
    down = build.assign(crashed, all_down)
    gone: list[ir.Stmt] = []
    if not world.recovers:
        gone = [*_marks_of(world, "crash", victim), down]
        gone.extend(joint_stops.each(world, victim, lambda each: _left(world, each, "crash")))
    else:
        gone.extend(_stop_of_any_kind(world, victim, down, kinds))
    gone.extend(joint_stops.each(world, victim, lambda each: _forget_all(world, each)))
    return (*gone, *joint_stops.forget_messages(world, victim))


def _left(world: World, victim: Expr, kind: str) -> Block:
    """Returns the statements that restore what a stop of this ``kind`` leaves to ``victim``, which
    is down: its disk may hold less than after a crash."""
    before = (*_unmade(world, victim), *returns.forget(world, victim))
    left = (*before, *stable_storage.restore_after_crash(world, victim))
    if kind == "power":
        return (*left, *power.fail(world, victim))
    if kind == "wipe":
        return (*left, *power.wipe(world, victim))
    return left


def _forget_all(world: World, victim: Expr) -> Block:
    """Returns the statements that take from ``victim``, which is down, what every stop takes."""
    gone: list[ir.Stmt] = []
    for variable in list(world.variables.values()):
        if variable.name not in world.stored and _volatile(world, variable):
            gone.append(_forget(world, variable, victim))
    gone.extend(connections.broken_by_crash(world, victim))
    if not world.fine and not world.recovers:
        gone.extend(_purge(world, victim))
    return tuple(gone)


def _marks_of(world: World, kind: str, victim: Expr) -> Block:
    return joint_stops.marks(world, _MARKS[kind], kind, victim)


_MARKS = {"crash": MarkKind.CRASH, "power": MarkKind.POWER, "wipe": MarkKind.WIPE}


def _stop_of_any_kind(world: World, victim: Expr, down: ir.Stmt, kinds: Stops) -> Block:
    """Returns the statements of a stop of any kind whose bound allows one more; ``down`` marks
    ``victim`` as down."""
    ways: list[Block] = []
    for kind, _ in kinds:
        count = build.one_more(world.read(role_bounds.COUNTS[kind]))
        way = [*_marks_of(world, kind, victim), down, count]
        way.extend(role_bounds.count_stop(world, kind, world.lead(victim)))
        left = partial(_left, world, kind=kind)
        way.extend(joint_stops.each(world, victim, left))
        ways.append(tuple(way))
    if len(ways) == 1:
        return ways[0]
    which = ir.Local(IntT(0, len(kinds) - 1), fresh("_stop"))
    is_it = [equal(which, ir.Const(which.type, index)) for index in range(len(kinds))]
    rooms = [
        conj(chosen, *_room_of(world, kind, bound, victim))
        for chosen, (kind, bound) in zip(is_it, kinds, strict=True)
    ]
    branches = ways[-1]
    for chosen, way_ in reversed(list(zip(is_it, ways[:-1], strict=False))):
        branches = (ir.If(chosen, way_, branches),)
    return (ir.Choose(which.name, ir.Universe(which.type), disj(*rooms)), *branches)


def _unmade(world: World, victim: Expr) -> Block:
    """Returns the statements that cancel a request without any effect yet, if effects are steps:
    such a request was not made."""
    if PENDING not in world.variables or CLIENT not in world.variables:
        return ()
    queue, made = build.entry(world.read(PENDING), victim), world.read(CLIENT)
    assert isinstance(queue.type, SeqT) and isinstance(made.type, MapT)
    head = ir.Apply(queue.type.item, ir.Op.HEAD, (queue,))
    requests = (i for i, name in enumerate(world.effects) if name.startswith(REQUEST))
    unmade = conj(
        build.negation(world.has_none_pending(victim)),
        build.disj(*(ir.IsCase(head, i) for i in requests)),
    )
    number = made.type.value
    assert isinstance(number, IntT)
    less = ir.Apply(
        IntT(-1, number.hi - 1), ir.Op.SUB, (build.entry(made, victim), build.integer(1))
    )
    path = (ir.Key(victim, made.type.key),)
    return (ir.If(unmade, (ir.Assign(ir.Target(number, CLIENT, True, path), less),)),)


def _volatile(world: World, variable: ir.Variable) -> bool:
    """Tells whether a crash resets the variable of a process to its default value."""
    if variable.name == PENDING or variable.name.startswith((WAITING, ACTIVITY, UNDER_WAY)):
        return True
    if variable.name in OPINIONS:  # after recovery a process suspects and trusts no process yet
        return world.recovers
    local = variable.kind is VariableKind.LOCAL and variable.name not in world.read_by_properties
    return local and (world.recovers or not world.fine)


def _entry_of(variable: ir.Variable, process: Expr) -> ir.Target:
    assert isinstance(variable.type, MapT)
    path = (ir.Key(process, variable.type.key),)
    return ir.Target(variable.type.value, variable.name, True, path)


def _forget(world: World, variable: ir.Variable, victim: Expr) -> ir.Stmt:
    target = _entry_of(variable, victim)
    clear = ir.Assign(target, ir.Const(target.type, default(target.type)))
    (stmt,) = stable_storage.on_its_own(world, variable.name, victim, (clear,))
    return stmt


def _purge(world: World, victim: Expr) -> Block:
    """Removes messages to a process that is down forever: they are never delivered."""
    gone: list[ir.Stmt] = []
    for link in world.links:
        if link.capacity is None and not link.kind.connects:
            gone.extend(_purge_messages(world, link.variable, victim))
    return tuple(gone)


def _purge_messages(world: World, name: str, victim: Expr) -> Block:
    network = world.read(name)
    if isinstance(network.type, MapT):
        assert isinstance(network.type.value, MapT)
        queue = network.type.value.value
        source = ir.Local(world.proc, fresh("_from"))
        path = (ir.Key(source, world.proc), ir.Key(victim, world.proc))
        clear = ir.Assign(ir.Target(queue, name, True, path), ir.Const(queue, ()))
        return (ir.For(source.name, ir.Universe(world.proc), (clear,)),)
    envelope = ir.Local(build.element(network.type), fresh("_e"))
    to_victim = equal(build.item(envelope, 1), victim)
    domain = ir.Members(network, envelope.type)
    if not isinstance(network.type, BagT):
        keep = ir.Comprehension(
            network.type, envelope.name, domain, build.negation(to_victim), envelope
        )
        return (build.assign(network, keep),)
    remove = build.assign(network, build.without_item(network, envelope))
    more = build.member(envelope, network)
    again = ir.While(more, (remove,), 1000)
    return (ir.For(envelope.name, domain, (ir.If(to_victim, (again,)),), True),)


# ---- recovery ---------------------------------------------------------------------------------


def recoveries(world: World) -> None:
    """Drafts the recovery of a process that is down."""
    if not world.recovers:
        return
    self = ir.Local(world.proc, fresh("self"))
    crashed = world.crashed()
    up = joint_stops.without_all(world, crashed, self)
    back = build.assign(crashed, up)
    body: list[ir.Stmt] = [*joint_stops.marks(world, MarkKind.RECOVER, "recover", self), back]
    body.extend(joint_stops.each(world, self, lambda each: _reset(world, each)))
    body.extend(joint_stops.recover_together(world, self, lambda each: _upon_recover(world, each)))
    may = conj(joint_stops.is_lead(world, self), role_bounds.may_recover(world, self))
    params = (Param(self.name, ir.Members(crashed, world.proc), may),)
    action = Action("recover", ActionKind.RECOVER, params, TRUE, tuple(body), ir.FALSE)
    world.drafts.append(Draft(action, self))


def _reset(world: World, self: Expr) -> Block:
    """Resets what ``self`` has lost to its initial values."""
    found: list[ir.Stmt] = []
    for instance in world.instances:
        found.extend(_as_at_first(world, instance, self))
    return (*found, *stable_storage.reset_at_recovery(world, self))


def _upon_recover(world: World, self: Expr) -> Block:
    """Executes ``upon recover`` at ``self``, in the layers below first."""
    found: list[ir.Stmt] = []
    for instance in bottom_up(world):
        found.extend(run_unconditional(world, instance, self, typed.OnRecover))
    return tuple(found)


def _as_at_first(world: World, instance: Instance, self: Expr) -> Block:
    """Resets the volatile variables of ``instance`` at ``self`` to their initial values."""
    result: list[ir.Stmt] = []
    env = Env(world, instance, self)
    for role in instance.protocol.roles:
        inner: list[ir.Stmt] = []
        names: dict[str, str] = {}
        for decl in role.states:
            name = f"{prefix_of(instance, role)}{decl.name}"
            if name in world.stored or decl.ghost:
                continue
            names[decl.name] = name
            target = _entry_of(world.variables[name], self)
            if decl.initial is not None:
                value = lower(decl.initial, env, target.type)
                inner.append(ir.Assign(target, value, world.place(decl.span)))
            elif name in world.read_by_properties:
                inner.append(ir.Assign(target, ir.Const(target.type, default(target.type))))
        for choice in role.choices:
            if choice.name in names:
                target = _entry_of(world.variables[names[choice.name]], self)
                inner.extend(choose_initial(world, choice, target, env))
        if inner:
            first = next(iter(names.values()))
            result.extend(stable_storage.on_its_own(world, first, self, tuple(inner)))
    result.extend(_reset_received(world, instance, self))
    return tuple(result)


def _reset_received(world: World, instance: Instance, self: Expr) -> Block:
    """Resets the records of ``received``, which are volatile; a crash keeps them only for
    properties."""
    names = (f"{path}@received.{m}" for path, m in world.received if path == instance.path)
    read = (name for name in names if name in world.read_by_properties)
    return tuple(_forget(world, world.variables[name], self) for name in read)
