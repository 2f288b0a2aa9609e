"""Models stable storage: which assignments of a process survive a crash inside a handler.

An assignment to a stable or shared variable is an effect: a crash before it undoes it.  An
assignment to a volatile variable is not an effect.  But a property may read a process that is down,
and must see exactly the values assigned before the crash.  So each such assignment is accompanied
by an ``Emit``, of kind ``STORE`` or ``ASSIGN``.  If effects are separate steps, an auxiliary
variable holds the values that a crash would leave; otherwise
:mod:`checker.instantiate.faults.crash_points` tracks them inside the transition.
"""

from __future__ import annotations

from checker.instantiate.faults import disks
from checker.instantiate.protocol import handler_budgets
from checker.instantiate.protocol.stack import prefix_of
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import ATOMIC, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.ir import Block, EffectDef, EffectKind, Expr, SourceLocation, VariableKind
from checker.model.types import AtomT, MapT, SetT, Type, default

LEFT = "@left."
"""Prefix of the auxiliary variables that hold the values a crash would leave, if effects are
steps."""

STORE, STORE_ENTRY, ASSIGN = "store.", "store entry.", "assign."
"""Prefixes of the effects' names; the variable's name follows.  If the power may fail, an
assignment to one entry of a map has another effect than an assignment to the whole map."""


def declare(world: World) -> None:
    """Declares the effects of assignments, and the effect that begins an ``atomic`` block.

    Without recovery a write to a stable variable is an effect only if a property reads the
    variable.
    """
    if world.crash_bound == 0 and not world.may_pause_inside:
        return
    disks.declare(world)
    if any(isinstance(n, typed.Atomic) for i in world.instances for n in nodes(i.protocol)):
        params = (("_self", world.proc),)
        world.effects[ATOMIC] = EffectDef(ATOMIC, EffectKind.VISIBLE, params, ())
    for budget in world.check.budgets:
        if budget.alternative:
            _declare_stored(world, handler_budgets.variable(budget))
    for instance in world.instances:
        for decl in instance.protocol.shared:
            if decl.ghost:
                continue
            _declare_stored(world, f"{instance.path}{decl.name}")
        for role in instance.protocol.roles:
            for state in role.states:
                name = f"{prefix_of(instance, role)}{state.name}"
                if state.stable and (world.recovers or name in world.read_by_properties):
                    _declare_stored(world, name)
    disks.declare_effects(world)
    for variable in list(world.variables.values()):
        read = variable.name in world.read_by_properties - world.stored
        if read and variable.kind is VariableKind.LOCAL:
            world.seen.add(variable.name)
            _effect(world, f"{ASSIGN}{variable.name}", EffectKind.ASSIGN, variable)


def _declare_stored(world: World, name: str) -> None:
    world.stored.add(name)
    variable = world.variables[name]
    _effect(world, f"{STORE}{name}", EffectKind.STORE, variable)
    if has_entries(world, name):
        _effect(world, f"{STORE_ENTRY}{name}", EffectKind.STORE, variable)


def _effect(world: World, effect: str, kind: EffectKind, variable: ir.Variable) -> None:
    whole = type_ = variable.type
    body: Block = ()
    if variable.kind is VariableKind.LOCAL:
        assert isinstance(whole, MapT)
        type_ = whole.value
    value = ir.Local(type_, "_value")
    if world.fine and variable.kind is VariableKind.LOCAL:
        assert isinstance(whole, MapT)
        left = f"{LEFT}{variable.name}"
        what = "stored" if kind is EffectKind.STORE else "last"
        if left not in world.variables:
            title = f"{what} {variable.name}"
            world.add(left, whole, default(whole), VariableKind.WORLD, title)
        path = (ir.Key(ir.Local(world.proc, "_self"), whole.key),)
        body = (ir.Assign(ir.Target(type_, left, True, path), value),)
    self = ir.Local(world.proc, "_self")
    params: tuple[tuple[str, Type], ...] = (("_self", world.proc), (value.name, type_))
    if effect.startswith(STORE_ENTRY):
        assert isinstance(type_, MapT)
        key = ir.Local(type_.key, "_key")
        params = (*params, (key.name, key.type))
        body = (*body, *disks.write(world, variable.name, self, value, key))
    else:
        body = (*body, *disks.write(world, variable.name, self, value))
    world.effects[effect] = EffectDef(effect, kind, params, body)


def has_entries(world: World, name: str) -> bool:
    """Tells whether effects distinguish which entry of a variable is assigned."""
    if not any(name in disk.names for disk in world.disks):
        return False
    type_ = world.variables[name].type
    return isinstance(type_, MapT) and isinstance(type_.value, MapT)


def emit_assignment(
    world: World,
    name: str,
    self: Expr | None,
    place: SourceLocation | None = None,
    key: Expr | None = None,
) -> Block:
    """Returns the effect that follows an assignment by process ``self`` to a variable, or to its
    entry ``key``; nothing if neither a crash nor a pause can reveal when the assignment happens."""
    if name not in world.stored | world.seen:
        return ()
    assert self is not None
    if key is not None and has_entries(world, name):
        return (ir.Emit(f"{STORE_ENTRY}{name}", (self, mine(world, name, self), key), place),)
    prefix = STORE if name in world.stored else ASSIGN
    return (ir.Emit(f"{prefix}{name}", (self, mine(world, name, self)), place),)


def mine(world: World, name: str, self: Expr) -> Expr:
    """Returns the value that ``self`` reads from a variable: its own entry, or all of a shared
    variable."""
    whole = world.read(name)
    return whole if world.variables[name].kind is VariableKind.SHARED else build.entry(whole, self)


def target(world: World, name: str, self: Expr) -> ir.Target:
    """Returns the target of an assignment of ``self`` to a variable."""
    variable = world.variables[name]
    if variable.kind is VariableKind.SHARED:
        return ir.Target(variable.type, name, True)
    assert isinstance(variable.type, MapT)
    return ir.Target(variable.type.value, name, True, (ir.Key(self, variable.type.key),))


def put(world: World, name: str, process: Expr, value: Expr) -> Block:
    """Returns the statements that set a variable of ``process`` to a value that survives a
    crash."""
    now = target(world, name, process)
    found = (ir.Assign(now, value),)
    if f"{LEFT}{name}" not in world.variables:
        return found
    return (*found, ir.Assign(ir.Target(now.type, f"{LEFT}{name}", True, now.path), value))


def variable_of(effect: str) -> str | None:
    """Returns the variable that an effect assigns; ``None`` for other effects."""
    for prefix in (STORE, STORE_ENTRY, ASSIGN):
        if effect.startswith(prefix):
            return effect.removeprefix(prefix)
    return None


def on_its_own(world: World, name: str, process: Expr, block: Block) -> Block:
    """Returns ``block``, which uses ``process`` as a key of a variable, guarded by whether the key
    is valid."""
    type_ = world.variables[name].type
    if world.variables[name].kind is VariableKind.SHARED:
        return block
    assert isinstance(type_, MapT) and isinstance(type_.key, AtomT)
    key = type_.key
    if key == world.proc:
        return block
    members = ir.Const(SetT(world.proc), frozenset(range(key.first, key.first + len(key.labels))))
    return (ir.If(build.member(process, members), block),)


# ---- where effects are steps of their own ------------------------------------------------------


def _shadowed_variables(world: World) -> list[str]:
    """Returns the variables that have an auxiliary variable for the value that a crash would
    leave."""
    return [n for n in sorted(world.stored | world.seen) if f"{LEFT}{n}" in world.variables]


def save_initial(world: World) -> Block:
    """Copies the initial values to the auxiliary variables."""
    return tuple(
        ir.Assign(ir.Target(world.read(name).type, f"{LEFT}{name}", True), world.read(name))
        for name in _shadowed_variables(world)
    )


def reset_at_recovery(world: World, self: Expr) -> Block:
    """Resets the auxiliary copies of volatile variables, which have their initial values again."""
    found: list[ir.Stmt] = []
    for name in _shadowed_variables(world):
        if name in world.seen:
            now = target(world, name, self)
            left = ir.Target(now.type, f"{LEFT}{name}", True, now.path)
            assign = ir.Assign(left, mine(world, name, self))
            found.extend(on_its_own(world, name, self, (assign,)))
    return tuple(found)


def restore_after_crash(world: World, victim: Expr) -> Block:
    """Restores the variables of ``victim``, which crashes, from their auxiliary copies."""
    found: list[ir.Stmt] = []
    for name in _shadowed_variables(world):
        left = build.entry(world.read(f"{LEFT}{name}"), victim)
        assign = ir.Assign(target(world, name, victim), left)
        found.extend(on_its_own(world, name, victim, (assign,)))
    return tuple(found)
