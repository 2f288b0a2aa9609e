"""Links: what is in flight, what may be delivered, what may be lost.

=============  ====================================================================
kind           in flight
=============  ====================================================================
perfect        a bag of (sender, receiver, message): delivering removes one copy
fifo           a sequence for each ordered pair; only its head can be delivered
persistent     a set of (sender, receiver, message) that only grows
duplicating    delivering may keep the copy as well
lossy          any deliverable message may be lost
bounded k      at most k messages from one process to another; more is an error of the run
=============  ====================================================================
"""

from __future__ import annotations

from checker.lang import typed
from checker.system import build, ir
from checker.system.build import conj, equal, fresh
from checker.system.instantiate import dispatch
from checker.system.instantiate.walk import nodes
from checker.system.instantiate.world import NETWORK, Draft, Instance, World, mark
from checker.system.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Block,
    EffectDef,
    EffectKind,
    Expr,
    MarkKind,
    Op,
    Param,
    VariableKind,
)
from checker.system.types import (
    BOOL,
    BagT,
    Case,
    IntT,
    MapT,
    SeqT,
    SetT,
    TupleT,
    Type,
    VariantT,
    default,
)


def senders(world: World) -> list[Instance]:
    """The instances whose handlers send messages over the links."""
    return [i for i in world.instances if any(isinstance(x, typed.Send) for x in nodes(i.protocol))]


def declare(world: World) -> None:
    """Declares what is in flight and the effect ``send``; nothing where nobody sends."""
    found = senders(world)
    if not found:
        return
    if len(found) == 1:
        assert found[0].messages is not None
        world.network = found[0].messages
    else:
        cases = []
        for instance in found:
            assert instance.messages is not None
            cases.append(Case(instance.path or "top", (("message", instance.messages),)))
        world.network = VariantT("network", tuple(cases))
    type_ = _network_type(world, world.network)
    world.add(NETWORK, type_, default(type_), VariableKind.LINK, "in flight")
    _send_effect(world)


def wrapped(world: World, instance: Instance, message: Expr) -> Expr:
    """``message`` of ``instance`` as it travels."""
    found = senders(world)
    if len(found) == 1:
        return message
    assert world.network is not None
    index = next(i for i, s in enumerate(found) if s.path == instance.path)
    return ir.Make(world.network, index, (message,))


def is_fifo(world: World) -> bool:
    return "fifo" in world.check.links


def _network_type(world: World, message: Type) -> Type:
    kinds, bound = world.check.links, world.check.capacity
    if is_fifo(world):
        if bound is not None:
            queue = SeqT(message, bound)
        else:
            queue = SeqT(message, world.capacity("channel", 2), "channel")
        return MapT(world.proc, MapT(world.proc, queue))
    envelope = TupleT((world.proc, world.proc, message), ("from", "to", "message"))
    if "persistent" in kinds:
        return world.set_of(envelope, NETWORK)
    return BagT(envelope, world.capacity(NETWORK, 4), NETWORK)


def _send_effect(world: World) -> None:
    """``send(sender, receivers, message)``: one copy for each receiver."""
    assert world.network is not None
    sender, message = ir.Local(world.proc, "_sender"), ir.Local(world.network, "_message")
    receivers = ir.Local(SetT(world.proc), "_receivers")
    to = ir.Local(world.proc, "_to")
    network = world.read(NETWORK)
    body: Block
    if is_fifo(world):
        assert isinstance(network.type, MapT) and isinstance(network.type.value, MapT)
        queue = network.type.value.value
        old = build.entry(build.entry(network, sender), to)
        path = (ir.Key(sender, world.proc), ir.Key(to, world.proc))
        new = ir.Apply(queue, Op.APPEND, (old, message))
        body = (ir.Assign(ir.Target(queue, NETWORK, True, path), new),)
    else:
        target = ir.Target(network.type, NETWORK, True)
        envelope_type = build.element(network.type)
        envelope = ir.Apply(envelope_type, Op.TUPLE, (sender, to, message))
        if "persistent" in world.check.links:
            body = (ir.Assign(target, build.with_item(network, envelope)),)
        else:
            added = ir.Apply(network.type, Op.BAG_ADD, (network, envelope))
            body = (*_within_bound(world, network, sender, to), ir.Assign(target, added))
    if world.crash_bound and not world.fine and world.check.capacity is None:
        # A message to a crashed process is never delivered: it need not be in the state.
        body = (ir.If(world.alive(to), body),)
    loop = ir.For("_to", ir.Members(receivers, world.proc), body)
    params = (("_sender", world.proc), ("_receivers", receivers.type), ("_message", world.network))
    world.effects["send"] = EffectDef("send", EffectKind.SEND, params, (loop,))


def _within_bound(world: World, network: Expr, sender: Expr, to: Expr) -> Block:
    bound = world.check.capacity
    if bound is None:
        return ()
    envelope = ir.Local(build.element(network.type), fresh("_e"))
    mine = conj(equal(build.item(envelope, 0), sender), equal(build.item(envelope, 1), to))
    domain = ir.Members(network, envelope.type)
    assert isinstance(network.type, BagT)
    count_type = IntT(0, network.type.cap)
    count = ir.Quant(ir.Quantifier.COUNT, envelope.name, domain, mine, count_type)
    full = ir.Fault("R002", f"the channel already holds {bound} messages")
    return (ir.If(build.at_most(build.integer(bound), count), (full,)),)


# ---- deliveries -------------------------------------------------------------------------------


def deliveries(world: World) -> None:
    """Drafts the actions by which links deliver and lose."""
    if world.network is None:
        return
    if is_fifo(world):
        source, to = ir.Local(world.proc, fresh("from")), ir.Local(world.proc, fresh("to"))
        queue = build.entry(build.entry(world.read(NETWORK), source), to)
        assert isinstance(queue.type, SeqT)
        filled = build.negation(equal(build.size(queue), build.integer(0)))
        params = (
            Param(source.name, ir.Universe(world.proc), TRUE),
            Param(to.name, ir.Universe(world.proc), filled),
        )
        message: Expr = ir.Apply(world.network, Op.HEAD, (queue,))
        path = (ir.Key(source, world.proc), ir.Key(to, world.proc))
        target = ir.Target(queue.type, NETWORK, True, path)
        removal: Block = (ir.Assign(target, ir.Apply(queue.type, Op.TAIL, (queue,))),)
        _draft(world, params, source, to, message, removal)
        return
    network = world.read(NETWORK)
    envelope = ir.Local(build.element(network.type), fresh("envelope"))
    param = Param(envelope.name, ir.Members(network, envelope.type), TRUE)
    target = ir.Target(network.type, NETWORK, True)
    removal = (ir.Assign(target, build.without_item(network, envelope)),)
    parts = tuple(build.item(envelope, i) for i in range(3))
    _draft(world, (param,), parts[0], parts[1], parts[2], removal)


def _draft(
    world: World,
    params: tuple[Param, ...],
    source: Expr,
    to: Expr,
    message: Expr,
    removal: Block,
) -> None:
    kinds = world.check.links
    last = params[-1]
    receivable = (*params[:-1], Param(last.name, last.domain, conj(last.where, world.may_step(to))))
    held = ir.Local(message.type, fresh("_m"))
    keep = "persistent" in kinds
    taken: Block = () if keep else removal
    if "duplicating" in kinds and not keep:
        again = ir.Local(BOOL, fresh("_again"))
        taken = (
            ir.Choose(again.name, ir.Universe(BOOL), TRUE),
            ir.If(again, (), removal),
        )
    body = (
        ir.Declare(held.name, held.type, message),
        *taken,
        mark(world, MarkKind.RECEIVE, "receive", ("to", "from", "message"), to, source, held),
        *_arrival(world, to, source, held),
    )
    promised = FALSE if "lossy" in kinds else world.alive(source)
    action = Action("receive", ActionKind.RECEIVE, receivable, TRUE, body, promised)
    world.drafts.append(Draft(action, to))
    if "lossy" in kinds:
        lost = mark(world, MarkKind.LOSE, "lose", ("from", "to", "message"), source, to, held)
        body = (ir.Declare(held.name, held.type, message), *removal, lost)
        world.drafts.append(Draft(Action("lose", ActionKind.LOSE, params, TRUE, body, FALSE), None))


def _arrival(world: World, to: Expr, source: Expr, message: Expr) -> Block:
    found = senders(world)
    if len(found) == 1:
        return dispatch.receive(world, found[0], to, source, message)
    result: list[ir.Stmt] = []
    for index, instance in enumerate(found):
        assert instance.messages is not None
        inner = ir.CaseField(instance.messages, message, index, 0)
        stmts = dispatch.receive(world, instance, to, source, inner)
        result.append(ir.If(ir.IsCase(message, index), stmts))
    return tuple(result)
