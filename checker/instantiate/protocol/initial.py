"""Declares state variables, their initial values, and what each process does initially."""

from __future__ import annotations

from checker.instantiate.protocol import ghosts
from checker.instantiate.protocol.dispatch import run_unconditional
from checker.instantiate.protocol.expressions import Env, as_domain, lower
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.stack import bottom_up, prefix_of
from checker.instantiate.protocol.type_sizes import is_bounded
from checker.instantiate.world import Instance, World, mark
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import fresh
from checker.model.ir import TRUE, Block, Expr, MarkKind, VariableKind
from checker.model.types import MapT, default


def declare_state(world: World) -> None:
    """Declares one variable for each state declaration: a map from processes, or the value
    itself."""
    for instance in world.instances:
        ghosts.declare(world, instance)
        for decl in instance.protocol.shared:
            if decl.ghost:
                continue
            name = f"{instance.path}{decl.name}"
            type_ = world.type_of(decl.type, instance, name, decl.span)
            world.add(name, type_, default(type_), VariableKind.SHARED, decl.name)
            world.uses_shared = True
        for role in instance.protocol.roles:
            prefix = prefix_of(instance, role)
            for decl in role.states:
                if decl.ghost:
                    continue
                name = f"{prefix}{decl.name}"
                key = world.role_type(role.name)
                type_ = MapT(key, world.type_of(decl.type, instance, name, decl.span))
                title = f"{instance.path}{decl.name}"
                world.add(name, type_, default(type_), VariableKind.LOCAL, title)


def initialise(world: World) -> None:
    """Returns statements that give every variable its initial value, free choices last; and what
    each process does before everything else."""
    for instance in world.instances:
        _initial_values(world, instance)
    for instance in world.instances:
        _free_choices(world, instance)
    for process in range(len(world.sizes.processes)):
        self = ir.Const(world.proc, process)
        layers = bottom_up(world)
        body = tuple(s for i in layers for s in run_unconditional(world, i, self, typed.OnInit))
        if body and world.honest(self) != TRUE:
            body = (ir.If(world.honest(self), body),)
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
        prefix = prefix_of(instance, role)
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
        world.init.extend(choose_initial(world, choice, target, Env(world, instance, None)))
    for role in instance.protocol.roles:
        prefix = prefix_of(instance, role)
        for choice in role.choices:
            name = f"{prefix}{choice.name}"
            whole = world.read(name).type
            assert isinstance(whole, MapT)
            for process in sorted(world.processes(role.name)):
                self = ir.Const(world.proc, process)
                target = ir.Target(whole.value, name, True, (ir.Key(self, whole.key),))
                world.init.extend(choose_initial(world, choice, target, Env(world, instance, self)))


def choose_initial(world: World, choice: typed.InitChoice, target: ir.Target, env: Env) -> Block:
    """Returns statements that give ``target`` any value that ``init choose`` allows."""
    if choice.domain is None:
        if not is_bounded(target.type):
            message = f"`{choice.name}` is unbounded, so its initial value can't be arbitrary"
            hint = f"`init choose {choice.name} in …`, or a type with a bound"
            raise refuse("C202", message, choice.span, hint)
        domain: ir.Domain = ir.Universe(target.type)
    else:
        domain = as_domain(choice.domain, env)
    local = ir.Local(ir.domain_item(domain), fresh(choice.name))
    where: Expr = TRUE
    if choice.where is not None:
        where = lower(choice.where, env.bind(choice.name, local))
    stored = build.coerce(local, target.type)
    assign = ir.Assign(target, stored, world.place(choice.span))
    return (ir.Choose(local.name, domain, where), assign, _choice_mark(choice, target, env, stored))


def _choice_mark(choice: typed.InitChoice, target: ir.Target, env: Env, value: Expr) -> ir.Mark:
    """Returns the mark that shows what was chosen."""
    world, place = env.world, env.world.place(choice.span)
    title = world.variables[target.name].title
    if env.self is None:
        return mark(world, MarkKind.CHOICE, title, ("value",), value, place=place)
    return mark(world, MarkKind.CHOICE, title, ("self", "value"), env.self, value, place=place)
