"""Models disks with delayed writes: the stable values that survive a power failure.

If the power may fail, a disk has for each process a set of *images*: the values that it may hold.
A write adds, for each image, the image with the write applied.  It removes none, since the disk may
write later.  So any subset of several writes may have reached the disk.  ``sync v`` gives ``v`` its
current value in each image.  A power failure chooses one image: the process has its values from
then on, and it is the only image left.  A process that just crashes keeps its images, since the
operating system still writes.  A wiped disk has its initial values again.

Each variable has its own set of images, unless an ``atomic`` block writes several variables: these
share one set, of tuples.  The writes of such a block are collected in a *batch* and added together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from checker.diagnostics import Span
from checker.instantiate.protocol.expressions import state_name
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.stack import prefix_of
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, fresh, negation
from checker.model.ir import TRUE, Block, EffectDef, EffectKind, Expr, Op, VariableKind
from checker.model.types import BOOL, AtomT, IntT, MapT, TupleT, Type, default

DISK, BATCH = "@disk ", "@batch "
"""Prefixes of the variables that hold, by process, the images, and the images with the current
batch applied."""
DROPPED, FAILURES = "@dropped ", "@failed syncs"
"""The prefix of the flags for variables dropped by a failed ``sync``; the variable that counts
failed syncs."""

SYNC, FAIL, BEGIN, END = "sync.", "fail.", "begin.", "end."
"""Prefixes of the names of effects.  Those of a ``sync``, and of a failing one, are followed by the
variables; those of the beginning and the end of a batch by the disk's name."""


class Disk(Struct, frozen=True):
    """The disk of the variables ``names``, which belong to the same processes.  ``batched``: an
    ``atomic`` block makes several writes to it; ``synced``: the variables whose assignments are all
    synced."""

    names: tuple[str, ...]
    batched: bool
    synced: frozenset[str]

    @property
    def name(self) -> str:
        return ", ".join(self.names)


# ---- variables --------------------------------------------------------------------------------


def declare(world: World) -> None:
    """Declares disks, and the effects of ``sync``.

    Raises :class:`SpecError` (C202) if a batch would include a call to another layer.
    """
    if not world.may_lose_power:
        return
    for instance in world.instances:
        for role in instance.protocol.roles:
            world.disks.extend(_disks_of(instance, role))
    for disk in world.disks:
        _declare_disk(world, disk)
    bound = world.bound(world.check.sync)
    if bound:
        world.add(FAILURES, IntT(0, bound), 0, VariableKind.WORLD, "failed syncs")
        for disk in world.disks:
            for name in disk.names:
                type_ = MapT(_keys(world, name), BOOL)
                title = f"dropped {world.variables[name].title}"
                world.add(f"{DROPPED}{name}", type_, default(type_), VariableKind.WORLD, title)


def declare_effects(world: World) -> None:
    """Declares the effects of batches and of ``sync``; the effects of writes are already
    declared."""
    self = ir.Local(world.proc, "_self")
    for disk in world.disks:
        if disk.batched:
            _visible(world, f"{BEGIN}{disk.name}", (), _begin(world, disk, self))
            _visible(world, f"{END}{disk.name}", (), _end(world, disk, self))
    for instance in world.instances:
        for role in instance.protocol.roles:
            prefix = prefix_of(instance, role)
            synced = [(s.name,) for s in role.states if s.synced]
            wanted = [
                tuple(state.name for state in node.states)
                for node in nodes(role)
                if isinstance(node, typed.Sync) and node.states
            ]
            for names in dict.fromkeys((*synced, *wanted)):
                _declare_sync(world, tuple(f"{prefix}{name}" for name in names))


def _visible(
    world: World, name: str, params: tuple[tuple[str, Type], ...], body: Iterable[ir.Stmt]
) -> None:
    whole = (("_self", world.proc), *params)
    world.effects[name] = EffectDef(name, EffectKind.VISIBLE, whole, tuple(body))


def _declare_sync(world: World, names: tuple[str, ...]) -> None:
    if not world.disks:
        return
    self, title = ir.Local(world.proc, "_self"), ", ".join(names)
    params = tuple((f"_value{i}", _of_process(world, name)) for i, name in enumerate(names))
    body: list[ir.Stmt] = []
    for name, (param, type_) in zip(names, params, strict=True):
        sync = _sync(world, name, self, ir.Local(type_, param))
        dropped = _dropped(world, name, self)
        body.extend(sync if dropped is None else (ir.If(negation(dropped), sync),))
    _visible(world, f"{SYNC}{title}", params, body)
    if FAILURES in world.variables:
        count = world.read(FAILURES)
        assert isinstance(count.type, IntT)
        more = ir.Apply(IntT(1, count.type.hi + 1), Op.ADD, (count, build.integer(1)))
        fails: list[ir.Stmt] = [build.assign(count, more)]
        fails += [s for name in names for s in _drop(world, name, self, TRUE)]
        _visible(world, f"{FAIL}{title}", (), fails)


def _disks_of(instance: Instance, role: typed.Role) -> Iterator[Disk]:
    """Yields the disks of ``role``: variables that one ``atomic`` block writes share a disk."""
    prefix = prefix_of(instance, role)
    stable = [state.name for state in role.states if state.stable]
    groups = [({name}, False) for name in stable]
    for block in (node for node in nodes(role) if isinstance(node, typed.Atomic)):
        written = [name for name in _written(block) if name in stable]
        if written:
            _stays_here(block, instance)
        repeats = any(isinstance(node, typed.For | typed.While) for node in nodes(block))
        if len(written) > 1 or (written and repeats):
            joined = [group for group in groups if group[0] & {*written}]
            groups = [group for group in groups if group not in joined]
            groups.append((set[str]().union(*(group[0] for group in joined)), True))
    synced = {state.name for state in role.states if state.synced}
    for names, batched in groups:
        ordered = tuple(f"{prefix}{name}" for name in stable if name in names)
        yield Disk(ordered, batched, frozenset(f"{prefix}{name}" for name in names & synced))


def _written(block: typed.Atomic) -> Iterator[str]:
    """Yields the variables of the process that ``block`` writes, once for each assignment."""
    for node in nodes(block):
        if isinstance(node, typed.Assign):
            target = node.target
            while isinstance(target, typed.Part | typed.Entry):
                target = target.base
            if isinstance(target, typed.StateRef) and target.role is not None:
                yield target.name


def _stays_here(block: typed.Atomic, instance: Instance) -> None:
    for node in nodes(block):
        if isinstance(node, typed.Call) and (node.layer is not None or instance.above is not None):
            message = "with `power`, an `atomic` block with `stable state` can't call a layer"
            raise refuse("C202", message, node.span, "move the call out of the block")


def _declare_disk(world: World, disk: Disk) -> None:
    images = world.set_of(_image_type(world, disk), f"{DISK}{disk.name}")
    whole = MapT(_keys(world, disk.names[0]), images)
    titles = ", ".join(world.variables[name].title for name in disk.names)
    world.add(
        f"{DISK}{disk.name}", whole, default(whole), VariableKind.WORLD, f"may be on disk: {titles}"
    )
    if disk.batched:
        title = f"written together: {titles}"
        world.add(f"{BATCH}{disk.name}", whole, default(whole), VariableKind.WORLD, title)


def _keys(world: World, name: str) -> Type:
    whole = world.read(name).type
    assert isinstance(whole, MapT)
    return whole.key


def _of_process(world: World, name: str) -> Type:
    whole = world.read(name).type
    assert isinstance(whole, MapT)
    return whole.value


def _image_type(world: World, disk: Disk) -> Type:
    types = tuple(_of_process(world, name) for name in disk.names)
    return types[0] if len(types) == 1 else TupleT(types)


def _disk_of(world: World, name: str) -> Disk | None:
    return next((disk for disk in world.disks if name in disk.names), None)


# ---- images -----------------------------------------------------------------------------------


def entry_of(world: World, prefix: str, disk: Disk, self: Expr) -> Expr:
    """Returns the entry for ``self`` of the variable named ``prefix`` and ``disk``."""
    return build.entry(world.read(f"{prefix}{disk.name}"), self)


def _present(world: World, disk: Disk, self: Expr) -> Expr:
    """Returns the image with the current values of ``self``."""
    values = tuple(build.entry(world.read(name), self) for name in disk.names)
    return values[0] if len(values) == 1 else ir.Apply(_image_type(world, disk), Op.TUPLE, values)


def _nothing(images: Type) -> Expr:
    return ir.Const(images, default(images))


def _is_nothing(images: Expr) -> Expr:
    return build.equal(images, _nothing(images.type))


def _apply(
    world: World, name: str, images: Expr, value: Expr, into: Expr, key: Expr | None = None
) -> tuple[Block, Expr]:
    """Returns statements, and the value after them of ``into`` with all ``images`` added, each with
    ``name`` set to ``value``; with ``key``, only its entry for ``key`` is set."""
    disk = _disk_of(world, name)
    assert disk is not None
    if len(disk.names) == 1 and key is None:
        return (), build.with_item(into, value)
    made = ir.Local(images.type, fresh("_images"))
    image = ir.Local(build.element(images.type), fresh("_image"))
    copy = ir.Local(image.type, fresh("_copy"))
    path: tuple[ir.Pos | ir.Key, ...] = ()
    if len(disk.names) > 1:
        path = (ir.Pos(disk.names.index(name)),)
    inner = value.type
    if key is not None:
        assert isinstance(inner, MapT)
        path, value, inner = (*path, ir.Key(key, inner.key)), build.entry(value, key), inner.value
    each = (
        ir.Declare(copy.name, copy.type, image),
        ir.Assign(ir.Target(inner, copy.name, False, path), value),
        build.assign(made, build.with_item(made, copy)),
    )
    block = (
        ir.Declare(made.name, made.type, into),
        ir.For(image.name, ir.Members(images, image.type), each, True),
    )
    return block, made


def write(world: World, name: str, self: Expr, value: Expr, key: Expr | None = None) -> Block:
    """Returns the statements by which a write of ``self`` changes its disk; none if the power can't
    fail."""
    disk = _disk_of(world, name)
    if disk is None:
        return ()
    images = entry_of(world, DISK, disk, self)
    block, more = _apply(world, name, images, value, images, key)
    written: Block = (*block, build.assign(images, more))
    if disk.batched:
        batch = entry_of(world, BATCH, disk, self)
        block, those = _apply(world, name, batch, value, _nothing(batch.type), key)
        together = (*block, build.assign(batch, those))
        written = (ir.If(_is_nothing(batch), written, together),)
    return (*written, *_drop(world, name, self, ir.FALSE))


def _begin(world: World, disk: Disk, self: Expr) -> Block:
    images = entry_of(world, DISK, disk, self)
    batch = entry_of(world, BATCH, disk, self)
    return (build.assign(batch, images),)


def _end(world: World, disk: Disk, self: Expr) -> Block:
    images = entry_of(world, DISK, disk, self)
    batch = entry_of(world, BATCH, disk, self)
    image = ir.Local(build.element(images.type), fresh("_image"))
    add = build.assign(images, build.with_item(images, image))
    return (
        ir.For(image.name, ir.Members(batch, image.type), (add,), True),
        build.assign(batch, _nothing(batch.type)),
    )


def together(world: World, self: Expr, body: Block, stored: Iterable[str]) -> Block:
    """Returns ``body``, an ``atomic`` block, with its writes to the variables ``stored`` as one
    batch."""
    disks = [disk for disk in world.disks if disk.batched and {*disk.names} & {*stored}]
    begin = (ir.Emit(f"{BEGIN}{disk.name}", (self,), glued=True) for disk in disks)
    end = (ir.Emit(f"{END}{disk.name}", (self,), glued=True) for disk in disks)
    return (*begin, *body, *end)


def save_initial(world: World) -> Block:
    """Returns the statements that make the initial values the only image of each disk."""
    found: list[ir.Stmt] = []
    for disk in world.disks:
        keys = _keys(world, disk.names[0])
        assert isinstance(keys, AtomT)
        for process in range(keys.first, keys.first + len(keys.labels)):
            found.extend(settle(world, disk, ir.Const(world.proc, process)))
    return tuple(found)


def settle(world: World, disk: Disk, self: Expr) -> Block:
    """Returns the statements that make the current values of ``self`` its only image."""
    images = entry_of(world, DISK, disk, self)
    only = build.with_item(_nothing(images.type), _present(world, disk, self))
    kept = tuple(s for name in disk.names for s in _drop(world, name, self, ir.FALSE))
    return (build.assign(images, only), *kept)


# ---- sync -------------------------------------------------------------------------------------


def _sync(world: World, name: str, self: Expr, value: Expr) -> Block:
    disk = _disk_of(world, name)
    assert disk is not None
    images = entry_of(world, DISK, disk, self)
    block, those = _apply(world, name, images, value, _nothing(images.type))
    return (*block, build.assign(images, those))


def _dropped(world: World, name: str, self: Expr) -> Expr | None:
    """Returns whether a failed ``sync`` has dropped ``name``; ``None`` if no ``sync`` can fail."""
    if f"{DROPPED}{name}" not in world.variables:
        return None
    return build.entry(world.read(f"{DROPPED}{name}"), self)


def _drop(world: World, name: str, self: Expr, is_dropped: Expr) -> Block:
    variable = f"{DROPPED}{name}"
    if variable not in world.variables:
        return ()
    path = (ir.Key(self, _keys(world, name)),)
    return (ir.Assign(ir.Target(BOOL, variable, True, path), is_dropped),)


def may_fail(world: World, at: Instance, node: object) -> bool:
    """Tells whether ``node`` is a statement whose ``sync`` may fail."""
    if FAILURES not in world.variables:
        return False
    if isinstance(node, typed.Assign):
        target = node.target
        while isinstance(target, typed.Part | typed.Entry):
            target = target.base
        if isinstance(target, typed.StateRef):
            return is_synced(world, state_name(target, at))
    return isinstance(node, typed.Sync)


def is_synced(world: World, name: str) -> bool:
    """Tells whether each assignment to ``name`` is synced."""
    return any(name in disk.synced for disk in world.disks)


def sync(world: World, names: tuple[str, ...], self: Expr, otherwise: Block, span: Span) -> Block:
    """Returns the effect of ``sync``.  If it may fail, it either succeeds, or fails and then runs
    ``otherwise``."""
    if not world.disks or not names:
        return ()
    place, title = world.place(span), ", ".join(names)
    values = tuple(build.entry(world.read(name), self) for name in names)
    done = ir.Emit(f"{SYNC}{title}", (self, *values), place)
    if FAILURES not in world.variables:
        return (done,)
    count = world.read(FAILURES)
    assert isinstance(count.type, IntT)
    fails = ir.Local(BOOL, fresh("_fails"))
    kept = (negation(d) for d in (_dropped(world, n, self) for n in names) if d is not None)
    room = conj(build.below(count, build.integer(count.type.hi)), disj(*kept))
    failed = ir.Emit(f"{FAIL}{title}", (self,), place)
    return (
        ir.Choose(fails.name, ir.Universe(BOOL), disj(negation(fails), room)),
        ir.If(fails, (failed, *otherwise), (done,)),
    )
