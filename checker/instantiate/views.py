"""Makes the view of a check part of its system: which variables tell states apart.

A view stands in the place of the state that the check's protocol declares.  What else a state has
(messages, faults, timers, layers, what properties remember) is compared as ever.  A term that is
more than a variable becomes a variable, which is computed anew after every step; so does, for each
property that reads what the view hides, whether it is violated.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Diagnostic, SpecError
from checker.instantiate.faults.stable_storage import LEFT
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.stack import prefix_of
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model import ir
from checker.model.build import fresh
from checker.model.ir import Expr, PropertyKind, TransitionSystem, Variable, VariableKind
from checker.model.tree import nodes
from checker.model.types import MapT, default
from checker.model.views import View
from checker.records import replace


def with_view(world: World, system: TransitionSystem) -> TransitionSystem:
    """Returns ``system`` with the view of its check, where it has one.

    Raises :class:`SpecError` (C051) where a property is about whole runs.
    """
    view = world.check.view
    if view is None:
        return system
    values = [_value(world, term) for term in view.terms]
    hidden = set(_declared(world)) - {name for value in values for name in _whole(value)}
    hidden |= {f"{LEFT}{name}" for name in hidden} & world.variables.keys()
    if not hidden:
        return system
    _require_safety(system, view)
    computed = [
        (f"@view {i}", value) for i, value in enumerate(values, 1) if not any(_whole(value))
    ]
    computed += [
        (f"@violates {prop.name}", prop.bad)
        for prop in system.properties
        if _read(prop.bad) & hidden
    ]
    place = world.place(view.span)
    return replace(
        system,
        variables=(*system.variables, *(_variable(name, value) for name, value in computed)),
        monitor=(*system.monitor, *(_assign(name, value, place) for name, value in computed)),
        view=View(frozenset(hidden), view.text, place),
    )


def _require_safety(system: TransitionSystem, view: typed.View) -> None:
    live = next((p for p in system.properties if p.kind is PropertyKind.LIVENESS), None)
    if live is None:
        return
    message = f"`{live.asked}` is a liveness property, and a view may close cycles that no run has"
    hint = "move it to a check without the view, or select others with `prove` or `--only`"
    raise SpecError((Diagnostic("C051", message, view.span, hint=hint),))


def _declared(world: World) -> Iterator[str]:
    """Yields the variables that the protocol of the check declares; ghosts are none of them."""
    top = world.instances[0]
    yield from (f"{top.path}{decl.name}" for decl in top.protocol.shared if not decl.ghost)
    for role in top.protocol.roles:
        yield from (f"{prefix_of(top, role)}{d.name}" for d in role.states if not d.ghost)


def _value(world: World, term: typed.ViewTerm) -> Expr:
    """Returns the value of ``term``: for each process that it speaks of, in nested maps."""
    env = Env(world, world.instances[0], None)
    keys = []
    for name, role in zip(term.names, term.roles, strict=True):
        key = ir.Local(world.role_type(role), fresh(name))
        keys.append(key)
        env = env.bind(name, key)
    value = lower(term.value, env)
    for key in reversed(keys):
        value = ir.MapOf(MapT(key.type, value.type), key.name, value)
    return value


def _whole(value: Expr) -> Iterator[str]:
    """Yields the variable of which ``value`` is the whole."""
    match value:
        case ir.Read(variable=name):
            yield name
        case ir.MapOf(MapT(key), name, ir.Index(base=ir.Read(variable=variable) as base, key=at)):
            local = isinstance(at, ir.Local) and at.name == name
            if local and isinstance(base.type, MapT) and base.type.key == key:
                yield variable


def _read(expr: Expr) -> set[str]:
    return {node.variable for node in nodes(expr) if isinstance(node, ir.Read)}


def _variable(name: str, value: Expr) -> Variable:
    return Variable(name, value.type, default(value.type), VariableKind.WORLD, name.lstrip("@"))


def _assign(name: str, value: Expr, place: ir.SourceLocation) -> ir.Stmt:
    return ir.Assign(ir.Target(value.type, name, is_state=True), value, place)
