"""Builds the protocol stack of a check, top first: the protocol, or the oracle, of each layer."""

from __future__ import annotations

from collections.abc import Mapping

from checker.diagnostics.english import listing
from checker.instantiate.capacities import FAMILY, LARGEST_FAMILY
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.sizes import Sizes
from checker.instantiate.world import ORACLE, Instance, World
from checker.language.syntax import typed
from checker.model import ir
from checker.model.types import AtomT, Case, IntT, Type, VariantT, cardinality, universe

DETECTORS = {"FailureDetector": ("P", "S"), "LeaderDetector": ("Omega",)}
"""Interfaces whose layers a check can leave to its `detector`, with the kinds that fit each."""

INSTANCES = 2
"""The initial number of instances of a family whose size is a guessed capacity."""


def start(check: typed.Check, sizes: Sizes, capacities: Mapping[str, int], fine: bool) -> World:
    """Returns a world with its processes and its protocol stack, top first, and nothing else
    yet."""
    world = World(check, sizes, capacities, fine, AtomT("Proc", sizes.processes))
    if world.crash_bound:
        world.crashed()
    named = payloads(check) or ("m",)
    if world.bound(check.byzantine):  # a Byzantine process sends unrequested payloads
        named += ("forged" if "forged" not in named else "forged by nobody",)
    payload = AtomT("Msg", named)
    _add(world, check.protocol, "", None, "", payload)
    _all_given(world)
    return world


def payloads(check: typed.Check) -> tuple[str, ...]:
    """Returns the names of the clients' opaque payloads, in order of appearance."""
    found: dict[str, None] = {}
    for client in check.clients:
        for arg in (*client.args, *(arg for args in client.alternatives for arg in args)):
            if isinstance(arg, typed.Named) and isinstance(arg.type, typed.Msg):
                found[arg.name] = None
    return tuple(found)


def _add(
    world: World,
    protocol: typed.Protocol,
    path: str,
    above: Instance | None,
    name_above: str,
    payload: Type,
    index: ir.Const | None = None,
    oracle: str = "",
) -> None:
    shell = Instance(path, protocol, above, name_above, payload, None)
    cases = []
    for decl in protocol.messages:
        fields = (
            (name, world.type_of(t, shell, f"{path}{decl.name}.{name}", decl.span))
            for name, t in decl.fields
        )
        cases.append(Case(decl.name, tuple(fields)))
    messages = VariantT(f"{path}{protocol.name}", tuple(cases)) if cases else None
    instance = Instance(path, protocol, above, name_above, payload, messages, index, oracle)
    world.instances.append(instance)
    for layer in protocol.layers:
        _layer(world, instance, layer)


def _layer(world: World, above: Instance, layer: typed.Layer) -> None:
    """Adds the layer with all below it, once for each member of its family."""
    protocol, oracle = _implementation(world, above, layer)
    carried: Type | None = above.messages
    if carried is None:
        if any(isinstance(x, typed.Msg) for x in nodes(_operators(protocol.implements))):
            message = f"`{above.protocol.name}` uses a layer but declares no messages"
            raise refuse("C201", message, layer.span, "declare one, e.g. `message DATA(m: Msg)`")
        carried = above.payload
    path = f"{above.path}{layer.name}"
    if layer.index is None:
        _add(world, protocol, f"{path}.", above, layer.name, carried, None, oracle)
        return
    type_ = _index_type(world, above, layer)
    for value in universe(type_):
        index = ir.Const(type_, value)
        member = f"{path}[{_value_text(type_, value)}]."
        _add(world, protocol, member, above, layer.name, carried, index, oracle)


def _index_type(world: World, above: Instance, layer: typed.Layer) -> Type:
    """Returns the type of a family's indices; with ``Nat``, its size is a guessed capacity."""
    assert layer.index is not None
    if isinstance(layer.index, typed.Int) and layer.index.hi is None:
        name = f"{FAMILY}{above.path}{layer.name}"
        return IntT(0, world.capacity(name, INSTANCES) - 1, name)
    type_ = world.type_of(layer.index, above, f"{above.path}{layer.name}.index")
    if cardinality(type_) > LARGEST_FAMILY:
        message = f"`{layer.name}` has {cardinality(type_)} instances"
        raise refuse("C010", message, layer.span, "use a smaller range of indices, or `Nat`")
    return type_


def _value_text(type_: Type, value: object) -> str:
    if isinstance(type_, AtomT) and isinstance(value, int):
        return type_.labels[value - type_.first]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _operators(interface: typed.Interface | None) -> tuple[typed.Operator, ...]:
    return () if interface is None else (*interface.requests, *interface.indications)


# ---- which protocol ---------------------------------------------------------------------------


def _implementation(
    world: World, above: Instance, layer: typed.Layer
) -> tuple[typed.Protocol, str]:
    """Returns the protocol of a layer, and the kind of oracle if it is one."""
    interface = layer.interface
    if interface is None and layer.protocol is not None:
        interface = layer.protocol.implements
    assert interface is not None
    given = _given_for(world, above, layer.name, interface)
    if given is not None:
        if given.protocol is not None:
            return given.protocol, ""
        return _oracle(interface, f"any {interface.name}"), ORACLE
    if layer.protocol is not None:
        return layer.protocol, ""
    if interface.name in DETECTORS:
        return _oracle(interface, "detector"), _detector(world, layer, interface)
    hint = f"`given {layer.name} as …` with a protocol, or `given {layer.name} as oracle`"
    message = f"the check sets no implementation for the layer `{layer.name}` : `{interface.name}`"
    raise refuse("N014", message, world.check.span, hint)


def _given_for(
    world: World, above: Instance, name: str, interface: typed.Interface
) -> typed.Given | None:
    """Returns what the check gives for a layer: by its name, or by that of its interface."""
    for given in sorted(world.check.given, key=lambda g: g.layer != name):
        if given.layer not in (name, interface.name):
            continue
        if given.protocol is None or all(i.protocol != given.protocol for i in _up(above)):
            return given
    return None


def _up(instance: Instance | None) -> list[Instance]:
    """Returns ``instance`` and all instances above it."""
    found = []
    while instance is not None:
        found.append(instance)
        instance = instance.above
    return found


def _detector(world: World, layer: typed.Layer, interface: typed.Interface) -> str:
    """Returns the kind of the check's detector, which must be one of ``interface``."""
    detector = world.check.detector
    kinds = DETECTORS[interface.name]
    shown = listing((f"`detector {'eventually ' if k == 'S' else ''}{k}`" for k in kinds), "or")
    if detector is None:
        message = f"the layer `{layer.name}` is a failure detector, and the check has none"
        raise refuse("C014", message, world.check.span, f"add {shown} to the check")
    if detector.kind not in kinds:
        message = f"`{layer.name}` : `{interface.name}` can't be a detector `{detector.kind}`"
        raise refuse("C014", message, detector.span, f"this layer needs {shown}")
    return detector.kind


def _oracle(interface: typed.Interface, name: str) -> typed.Protocol:
    """Returns the placeholder protocol of an oracle: it has an interface and no handlers."""
    nothing = typed.Role("", None, (), (), (), interface.span)
    return typed.Protocol(
        name=name,
        parameters=(),
        implements=interface,
        requires=None,
        roles=(nothing,),
        shared=(),
        choices=(),
        messages=(),
        layers=(),
        properties=interface.properties,
        span=interface.span,
        shipped=True,
    )


def _all_given(world: World) -> None:
    """Refuses a `given` that matches no layer of the stack."""
    known: set[str] = set()
    for instance in world.instances[1:]:
        known.add(instance.name_above)
        if instance.above is not None:
            for layer in instance.above.protocol.layers:
                if layer.interface is not None and layer.name == instance.name_above:
                    known.add(layer.interface.name)
        if instance.protocol.implements is not None:
            known.add(instance.protocol.implements.name)
    for given in world.check.given:
        if given.layer not in known:
            message = f"no layer of this stack is called `{given.layer}`"
            hint = "layers: " + ", ".join(sorted(known)) if known else "the protocol uses no layer"
            raise refuse("C016", message, given.span, hint)


# ---- layers below -----------------------------------------------------------------------------


def family(world: World, instance: Instance, layer: str) -> list[Instance]:
    """Returns the instances that ``instance`` calls ``layer``: one, or those of all indices."""
    return [i for i in world.instances if i.above is instance and i.name_above == layer]


def bottom_up(world: World) -> list[Instance]:
    """Returns the instances, each after those that it uses."""
    found: list[Instance] = []

    def add(instance: Instance) -> None:
        for lower in world.instances:
            if lower.above is instance:
                add(lower)
        found.append(instance)

    add(world.instances[0])
    return found


def prefix_of(instance: Instance, role: typed.Role) -> str:
    """Returns the prefix of the names of the variables of ``role`` in ``instance``."""
    return f"{instance.path}{role.name}." if role.name else instance.path
