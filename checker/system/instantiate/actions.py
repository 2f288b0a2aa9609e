"""Variables and actions of the protocols themselves: state, conditions, client requests, init."""

from __future__ import annotations

from checker.lang import typed
from checker.system import build, ir
from checker.system.build import conj, equal, fresh
from checker.system.instantiate import calls, receptions
from checker.system.instantiate.dispatch import guarded, new_root, run_handler
from checker.system.instantiate.expressions import Env, as_domain, lower
from checker.system.instantiate.sizes import refuse
from checker.system.instantiate.statements import run_call, with_queue
from checker.system.instantiate.world import (
    CLIENT,
    CRASHED,
    NETWORK,
    PENDING,
    Draft,
    Instance,
    World,
    bounded,
    enumerable,
    mark,
)
from checker.system.ir import TRUE, Action, ActionKind, Block, Expr, MarkKind, Param, VariableKind
from checker.system.types import AtomT, IntT, MapT, SetT, Type, default

# ---- state ------------------------------------------------------------------------------------


def declare_state(world: World) -> None:
    """One variable for each state declaration: a map from processes, or the value itself."""
    for instance in world.instances:
        for decl in instance.protocol.shared:
            name = f"{instance.path}{decl.name}"
            type_ = world.type_of(decl.type, instance, name)
            world.add(name, type_, default(type_), VariableKind.SHARED, decl.name)
            world.uses_shared = True
        for role in instance.protocol.roles:
            prefix = f"{instance.path}{role.name}." if role.name else instance.path
            for decl in role.states:
                name = f"{prefix}{decl.name}"
                key = world.role_type(role.name)
                type_ = MapT(key, world.type_of(decl.type, instance, name))
                title = f"{instance.path}{decl.name}"
                world.add(name, type_, default(type_), VariableKind.LOCAL, title)


def initialise(world: World) -> None:
    """Statements that give every variable its initial value, free choices last; and what each
    process does before everything else."""
    for instance in world.instances:
        _initial_values(world, instance)
    for instance in world.instances:
        _free_choices(world, instance)
    for process in range(len(world.sizes.processes)):
        self = ir.Const(world.proc, process)
        body = tuple(s for i in world.instances for s in _init_handlers(world, i, self))
        if body:
            world.starts.append((self, body))


def _initial_values(world: World, instance: Instance) -> None:
    env = Env(world, instance, None)
    for decl in instance.protocol.shared:
        if decl.initial is not None:
            type_ = world.read(f"{instance.path}{decl.name}").type
            target = ir.Target(type_, f"{instance.path}{decl.name}", True)
            value = lower(decl.initial, env, type_)
            world.init.append(ir.Assign(target, value, world.place(decl.span)))
    for role in instance.protocol.roles:
        prefix = f"{instance.path}{role.name}." if role.name else instance.path
        for decl in role.states:
            if decl.initial is None:
                continue
            whole = world.read(f"{prefix}{decl.name}").type
            assert isinstance(whole, MapT)
            for process in sorted(world.processes(role.name)):
                self = ir.Const(world.proc, process)
                path = (ir.Key(self, whole.key),)
                target = ir.Target(whole.value, f"{prefix}{decl.name}", True, path)
                value = lower(decl.initial, Env(world, instance, self), whole.value)
                world.init.append(ir.Assign(target, value, world.place(decl.span)))


def _free_choices(world: World, instance: Instance) -> None:
    for choice in instance.protocol.choices:
        name = f"{instance.path}{choice.name}"
        target = ir.Target(world.read(name).type, name, True)
        _choose_initial(world, choice, target, Env(world, instance, None))
    for role in instance.protocol.roles:
        prefix = f"{instance.path}{role.name}." if role.name else instance.path
        for choice in role.choices:
            name = f"{prefix}{choice.name}"
            whole = world.read(name).type
            assert isinstance(whole, MapT)
            for process in sorted(world.processes(role.name)):
                self = ir.Const(world.proc, process)
                target = ir.Target(whole.value, name, True, (ir.Key(self, whole.key),))
                _choose_initial(world, choice, target, Env(world, instance, self))


def _choose_initial(world: World, choice: typed.InitChoice, target: ir.Target, env: Env) -> None:
    if choice.domain is None:
        if not bounded(target.type):
            message = f"`{choice.name}` has no bound, so it can't start with just any value"
            hint = f"`init choose {choice.name} in …`, or a type with a bound"
            raise refuse("C202", message, choice.span, hint)
        domain: ir.Domain = ir.Universe(target.type)
    else:
        domain = as_domain(choice.domain, env)
    local = ir.Local(ir.domain_item(domain), fresh(choice.name))
    where: Expr = TRUE
    if choice.where is not None:
        where = lower(choice.where, env.bind(choice.name, local))
    world.init.append(ir.Choose(local.name, domain, where))
    stored = build.coerce(local, target.type)
    world.init.append(ir.Assign(target, stored, world.place(choice.span)))


def _init_handlers(world: World, instance: Instance, self: ir.Const) -> Block:
    """What ``self`` does in the ``upon init`` handlers of ``instance``."""
    found: list[ir.Stmt] = []
    for role in instance.protocol.roles:
        if instance.above is None and self.value not in world.processes(role.name):
            continue
        for handler in role.handlers:
            if not isinstance(handler.event, typed.OnInit):
                continue
            root = new_root(world, self, instance, [handler])
            env = Env(world, instance, self)
            condition, _ = guarded(role, handler, env, {}, TRUE)
            body = with_queue(root, run_handler(handler, env, {}, root))
            found.append(ir.If(condition, body))
    return tuple(found)


# ---- steps of processes -----------------------------------------------------------------------


def self_param(world: World, role: typed.Role, instance: Instance) -> tuple[ir.Local, ir.Domain]:
    """A parameter that ranges over the processes of ``role``."""
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
        found = receptions.type_of_free(world, instance, event.condition, name)
        local = ir.Local(found or world.type_of(type_, instance, f"_{name}"), fresh(name))
        if not enumerable(local.type):
            message = f"`{name}` stands for too many possible values to try them all"
            raise refuse("C202", message, handler.span, "keep what arrives in a state variable")
        params.append(Param(local.name, ir.Universe(local.type), TRUE))
        names[name] = local
    condition = lower(event.condition, env.bind_all(names))
    guard, _ = guarded(role, handler, env, names, condition)
    root = new_root(world, self, instance, [handler])
    body = with_queue(root, run_handler(handler, env, names, root))
    name = unique(world, f"{instance.path}{role.name + '.' if role.name else ''}{handler.label}")
    place = world.place(handler.span)
    action = Action(name, ActionKind.STEP, tuple(params), guard, body, TRUE, place)
    world.drafts.append(Draft(action, self))


def unique(world: World, name: str) -> str:
    """``name``, numbered where an action already has it."""
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
    interface = world.check.protocol.implements
    by_op: dict[str, list[tuple[int, int, typed.Client]]] = {}
    position: dict[int, int] = {}
    for client in world.check.clients:
        for process in _who(world, client):
            turn = position.get(process, 0)
            position[process] = turn + 1
            by_op.setdefault(client.op, []).append((process, turn, client))
    if not by_op or interface is None:
        return
    turns = MapT(world.proc, IntT(0, max(position.values())))
    world.add(CLIENT, turns, default(turns), VariableKind.WORLD, "requests made")
    for op, requests in by_op.items():
        _request(world, op, requests)


def _who(world: World, client: typed.Client) -> list[int]:
    labels = world.sizes.processes
    if client.process == "all":
        return list(range(len(labels)))
    if client.process not in labels:
        hint = "processes: " + ", ".join(labels)
        raise refuse("E003", f"there is no process `{client.process}`", client.span, hint)
    return [labels.index(client.process)]


def _request(world: World, op: str, requests: list[tuple[int, int, typed.Client]]) -> None:
    top = world.instances[0]
    labels = tuple(f"{world.sizes.processes[p]}#{turn + 1}" for p, turn, _ in requests)
    which = ir.Local(AtomT("request", labels), fresh("request"))
    target = ("", "request", op)
    fields = calls.fields_of(world, target)
    env = Env(world, top, None)
    self = _column(which, world.proc, [ir.Const(world.proc, p) for p, _, _ in requests])
    turn = _column(which, world.read(CLIENT).type, [build.integer(t) for _, t, _ in requests])
    args = []
    for index, (_, type_) in enumerate(fields):
        values = [_argument(c, index, type_, env) for _, _, c in requests]
        args.append(_column(which, type_, values))
    held = ir.Local(world.proc, fresh("self"))
    bound = tuple(ir.Local(t, fresh(n)) for n, t in fields)
    clock = world.read(CLIENT)
    assert isinstance(clock.type, MapT)
    _, handlers = calls.handlers_of(world, target)
    if not handlers:
        message = f"`{top.protocol.name}` handles no request `{op}`"
        raise refuse("C203", message, requests[0][2].span, f"add `upon request {op}(…)`")
    taking = [h for _, h in handlers]
    atomic = any(calls.atomic(world, top, h) for h in taking)
    root = new_root(world, held, top, taking)
    body = (
        ir.Declare(held.name, world.proc, self),
        *(ir.Declare(b.name, b.type, a) for b, a in zip(bound, args, strict=True)),
        _advance(clock, held),
        mark(world, MarkKind.REQUEST, op, ("self", *(n for n, _ in fields)), held, *bound),
        ir.Emit(f"request.{op}", (held, *bound), atomic=atomic),
        *with_queue(root, run_call(target, bound, root)),
    )
    takes = _taken(world, handlers, self, tuple(args))
    where = conj(world.may_step(self), equal(build.entry(clock, self), turn), takes)
    params = (Param(which.name, ir.Universe(which.type), where),)
    action = Action(unique(world, f"request {op}"), ActionKind.REQUEST, params, TRUE, body, TRUE)
    world.drafts.append(Draft(action, self))


def _argument(client: typed.Client, index: int, type_: Type, env: Env) -> ir.Const:
    value = build.coerce(lower(client.args[index], env, type_), type_)
    if not isinstance(value, ir.Const):
        raise refuse("C204", "a client's argument must be a constant", client.span)
    if isinstance(type_, IntT):
        assert isinstance(value.value, int)
        if not type_.lo <= value.value <= type_.hi:
            message = f"{value.value} is outside {type_.lo}..{type_.hi}"
            raise refuse("C204", message, client.span)
    return ir.Const(type_, value.value)


def _column(which: ir.Local, type_: Type, values: list[ir.Const]) -> Expr:
    """One column of the table of requests, looked up by ``which``."""
    if isinstance(type_, MapT):
        type_ = type_.value
    if len({v.value for v in values}) == 1:
        return ir.Const(type_, values[0].value)
    table = ir.Const(MapT(which.type, type_), tuple(v.value for v in values))
    return ir.Index(type_, table, which)


def _advance(clock: Expr, self: Expr) -> ir.Stmt:
    assert isinstance(clock.type, MapT) and isinstance(clock.type.value, IntT)
    target = ir.Target(clock.type.value, CLIENT, True, (ir.Key(self, clock.type.key),))
    after = clock.type.value
    plus = ir.Apply(
        IntT(after.lo + 1, after.hi + 1), ir.Op.ADD, (build.entry(clock, self), build.integer(1))
    )
    return ir.Assign(target, plus)


def _taken(
    world: World,
    handlers: list[tuple[typed.Role, typed.Handler]],
    self: Expr,
    args: tuple[Expr, ...],
) -> Expr:
    """Whether some handler takes the request now: until then the client waits."""
    from checker.system.instantiate.patterns import matched_all

    ways = []
    for role, handler in handlers:
        assert isinstance(handler.event, typed.OnRequest)
        env = Env(world, world.instances[0], self)
        match, names = matched_all(handler.event.patterns, args, env)
        ways.append(guarded(role, handler, env, names, match)[0])
    return build.disj(*ways)


def crashes(world: World) -> None:
    """Drafts the crash of a process; see :mod:`checker.system.passes.crash_points`."""
    if world.crash_bound == 0:
        return
    victim = ir.Local(world.proc, fresh("victim"))
    room = build.below(build.size(world.crashed()), build.integer(world.crash_bound))
    body = crash_statements(world, victim)
    where = conj(room, world.alive(victim))
    if world.check.crash_points == "between_handlers":
        where = conj(where, world.idle(victim))
    params = (Param(victim.name, ir.Universe(world.proc), where),)
    action = Action("crash", ActionKind.CRASH, params, TRUE, body, ir.FALSE)
    world.drafts.append(Draft(action, None))


def crash_statements(world: World, victim: Expr) -> Block:
    """``victim`` stops for ever: its volatile state and the messages to it are forgotten."""
    crashed = world.crashed()
    gone: list[ir.Stmt] = [
        mark(world, MarkKind.CRASH, "crash", ("process",), victim),
        ir.Assign(ir.Target(crashed.type, CRASHED, True), build.with_item(crashed, victim)),
    ]
    for variable in list(world.variables.values()):
        kept = variable.kind is not VariableKind.LOCAL or world.fine
        if (kept and variable.name != PENDING) or variable.name in world.read_by_properties:
            continue
        gone.append(_forget(world, variable, victim))
    if not world.fine:
        gone.extend(_purge(world, victim))
    return tuple(gone)


def _forget(world: World, variable: ir.Variable, victim: Expr) -> ir.Stmt:
    assert isinstance(variable.type, MapT)
    key = variable.type.key
    path = (ir.Key(victim, key),)
    target = ir.Target(variable.type.value, variable.name, True, path)
    clear = ir.Assign(target, ir.Const(variable.type.value, default(variable.type.value)))
    if key == world.proc:
        return clear
    assert isinstance(key, AtomT)
    members = ir.Const(SetT(world.proc), frozenset(range(key.first, key.first + len(key.labels))))
    return ir.If(build.member(victim, members), (clear,))


def _purge(world: World, victim: Expr) -> Block:
    """Messages to a crashed process are never delivered: they leave the state."""
    from checker.system.instantiate.links import is_fifo
    from checker.system.types import BagT

    if NETWORK not in world.variables or world.check.capacity is not None:
        return ()
    network = world.read(NETWORK)
    if is_fifo(world):
        assert isinstance(network.type, MapT) and isinstance(network.type.value, MapT)
        queue = network.type.value.value
        source = ir.Local(world.proc, fresh("_from"))
        path = (ir.Key(source, world.proc), ir.Key(victim, world.proc))
        clear = ir.Assign(ir.Target(queue, NETWORK, True, path), ir.Const(queue, ()))
        return (ir.For(source.name, ir.Universe(world.proc), (clear,)),)
    envelope = ir.Local(build.element(network.type), fresh("_e"))
    to_victim = equal(build.item(envelope, 1), victim)
    domain = ir.Members(network, envelope.type)
    target = ir.Target(network.type, NETWORK, True)
    if not isinstance(network.type, BagT):
        keep = ir.SetOf(network.type, envelope.name, domain, build.negation(to_victim), envelope)
        return (ir.Assign(target, keep),)
    remove = ir.Assign(target, build.without_item(network, envelope))
    more = build.member(envelope, network)
    again = ir.While(more, (remove,), 1000)
    return (ir.For(envelope.name, domain, (ir.If(to_victim, (again,)),)),)
