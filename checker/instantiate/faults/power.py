"""Models power failures and lost disks; :mod:`.disks` models the images that a disk may hold."""

from __future__ import annotations

from checker.instantiate.faults import disks, stable_storage
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.initial import choose_initial
from checker.instantiate.protocol.stack import prefix_of
from checker.instantiate.world import World, mark
from checker.model import build, ir
from checker.model.build import fresh
from checker.model.ir import TRUE, Block, Expr, MarkKind
from checker.model.types import default


def fail(world: World, victim: Expr) -> Block:
    """Returns the statements of a power failure of ``victim``: each of its disks holds one of its
    images from then on."""
    found: list[ir.Stmt] = []
    for disk in world.disks:
        images = disks.entry_of(world, disks.DISK, disk, victim)
        image = ir.Local(build.element(images.type), fresh("_image"))
        left: list[ir.Stmt] = [ir.Choose(image.name, ir.Members(images, image.type), TRUE)]
        told: list[ir.Stmt] = []
        for position, name in enumerate(disk.names):
            value = image if len(disk.names) == 1 else build.item(image, position)
            left.extend(stable_storage.put(world, name, victim, value))
            title = world.variables[name].title
            told.append(mark(world, MarkKind.LEFT, title, ("self", "value"), victim, value))
        left.append(ir.If(build.below(build.integer(1), build.size(images)), tuple(told)))
        left.extend(disks.settle(world, disk, victim))
        found.extend(stable_storage.on_its_own(world, disk.names[0], victim, tuple(left)))
    return tuple(found)


def wipe(world: World, victim: Expr) -> Block:
    """Returns the statements that reset the stable variables of ``victim`` to their initial
    values."""
    found: list[ir.Stmt] = []
    for instance in world.instances:
        env = Env(world, instance, victim)
        for role in instance.protocol.roles:
            prefix = prefix_of(instance, role)
            names = {state.name: f"{prefix}{state.name}" for state in role.states if state.stable}
            first: list[ir.Stmt] = []
            for state in role.states:
                if state.stable:
                    type_ = stable_storage.mine(world, names[state.name], victim).type
                    value: Expr = ir.Const(type_, default(type_))
                    if state.initial is not None:
                        value = lower(state.initial, env, type_)
                    first.extend(stable_storage.put(world, names[state.name], victim, value))
            for choice in role.choices:
                if choice.name in names:
                    name = names[choice.name]
                    target = stable_storage.target(world, name, victim)
                    first.extend(choose_initial(world, choice, target, env))
                    chosen = stable_storage.mine(world, name, victim)
                    first.extend(stable_storage.put(world, name, victim, chosen))
            if first:
                name = next(iter(names.values()))
                found.extend(stable_storage.on_its_own(world, name, victim, tuple(first)))
    for disk in world.disks:
        only = disks.settle(world, disk, victim)
        found.extend(stable_storage.on_its_own(world, disk.names[0], victim, only))
    return tuple(found)
