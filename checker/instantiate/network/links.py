"""Models links: messages in flight, which may be delivered, which may be lost.

What a link does follows from the traits of its kind (:mod:`checker.language.link_kinds`):

=============  ====================================================================
trait          in flight
=============  ====================================================================
none           a bag of (sender, receiver, message): delivering removes one copy
ordered        a sequence for each ordered pair; only its head can be delivered
keeps          a set of (sender, receiver, message); delivering removes nothing
duplicates     delivering may keep the copy as well
loses          any deliverable message may be lost
has_capacity   at most k messages from one process to another; more is a runtime error,
               except where links lose: there one more copy of a message (if ordered: one more
               message) than k is lost (but see :mod:`.overflow`)
connects       notices stand between messages (see :mod:`.connections`)
authenticates  a Byzantine process can't send in another's name (see :mod:`.byzantine`)
delivery       which fairness constraint a reception is (:mod:`checker.instantiate.fairness`)
=============  ====================================================================

Links between two roles may be of another kind than the others: each kind of link that a check has
is a :class:`Link` with its own variable and actions.  :mod:`.losses` models how messages in flight
are lost.
"""

from __future__ import annotations

from checker.instantiate import fairness
from checker.instantiate.faults import joint_stops
from checker.instantiate.network import connections, losses, overflow
from checker.instantiate.network.counted_messages import counted_messages
from checker.instantiate.network.overflow import Flight
from checker.instantiate.protocol import dispatch, receptions
from checker.instantiate.protocol.stack import bottom_up
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import NETWORK, Draft, Instance, Link, World, mark
from checker.language.link_kinds import combine
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, equal, fresh, member, negation
from checker.model.ir import (
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
from checker.model.types import (
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

Pair = tuple[frozenset[int], frozenset[int]]
"""Senders and receivers."""


def senders(world: World) -> list[Instance]:
    """Returns the instances whose handlers send messages over the links; with Byzantine processes,
    also instances that only receive messages or read receptions."""
    kinds: tuple[type, ...] = (typed.Send,)
    counting: set[str] = set()
    if world.bound(world.check.byzantine):
        kinds += (typed.OnReceive,)
        counting |= {path for path, _ in world.received}
    return [
        i
        for i in world.instances
        if i.path in counting or any(isinstance(x, kinds) for x in nodes(i.protocol))
    ]


def declare(world: World) -> None:
    """Declares the messages in flight and the effect ``send``, if any message is sent."""
    found = senders(world)
    if not found and not connections.has_connections(world):
        return
    if not _is_wrapped(world, found):
        assert found[0].messages is not None
        world.network = found[0].messages
    else:
        cases = []
        for instance in found:
            assert instance.messages is not None
            cases.append(Case(instance.path or "top", (("message", instance.messages),)))
        if connections.has_connections(world):
            cases.append(connections.NOTICE)
        world.network = VariantT("network", tuple(cases))
    world.links.extend(_links(world))
    for link in world.links:
        type_ = _link_type(world, link, world.network)
        title = f"in flight {link.name}".rstrip()
        world.add(link.variable, type_, default(type_), VariableKind.LINK, title)
        overflow.declare(world, link)
    _send_effect(world)


def _is_wrapped(world: World, found: list[Instance]) -> bool:
    """Returns whether the type of items in flight is a variant: of messages of several instances,
    or of messages and notices."""
    return len(found) != 1 or connections.has_connections(world)


def _links(world: World) -> list[Link]:
    """Returns the kinds of links of the check: those between some roles first, then all others."""
    check, special = world.check, []
    for rule in check.link_rules:
        pair = (world.processes(rule.sender), world.processes(rule.receiver))
        name = f"{rule.sender} -> {rule.receiver}"
        place = world.place(rule.span)
        variable, kind = f"{NETWORK} {name}", combine(rule.kinds)
        special.append(Link(name, variable, kind, rule.capacity, (pair,), (), place))
    everybody = range(len(world.sizes.processes))
    rest = {(p, q) for p in everybody for q in everybody}
    for link in special:
        rest -= {(p, q) for one, other in link.pairs for p in one for q in other}
    if rest:
        others = tuple(pair for link in special for pair in link.pairs)
        place = world.place(check.span)
        plain = Link("", NETWORK, combine(check.links), check.capacity, (), others, place)
        special.append(plain)
    return [part for link in special for part in joint_stops.parts(world, link)]


def between(world: World, link: Link, sender: Expr, receiver: Expr) -> Expr:
    """Returns whether messages from ``sender`` to ``receiver`` use ``link``."""

    def joins(pair: Pair) -> Expr:
        processes = SetT(sender.type)
        one, other = ir.Const(processes, pair[0]), ir.Const(processes, pair[1])
        return conj(member(sender, one), member(receiver, other))

    if link.pairs:
        found = disj(*(joins(pair) for pair in link.pairs))
    else:
        found = conj(*(negation(joins(pair)) for pair in link.others))
    if link.within is None:
        return found
    together = world.together(sender, receiver)
    return conj(found, together if link.within else negation(together))


def wrap_message(world: World, instance: Instance, message: Expr) -> Expr:
    """Wraps ``message`` of ``instance`` in the type of items in flight."""
    found = senders(world)
    if not _is_wrapped(world, found):
        return message
    assert world.network is not None
    index = next(i for i, s in enumerate(found) if s.path == instance.path)
    return ir.Make(world.network, index, (message,))


def _link_type(world: World, link: Link, message: Type) -> Type:
    if link.kind.ordered:
        if link.capacity is not None:
            queue = SeqT(message, link.capacity)
        else:
            name = f"channel {link.name}".rstrip()
            queue = SeqT(message, world.capacity(name, 2), name)
        return MapT(world.proc, MapT(world.proc, queue))
    envelope = TupleT((world.proc, world.proc, message), ("from", "to", "message"))
    if link.kind.keeps:
        return world.set_of(envelope, link.variable)
    return BagT(envelope, world.capacity(link.variable, 4), link.variable)


def _send_effect(world: World) -> None:
    """Returns ``send(sender, receivers, message)``: one copy for each receiver."""
    assert world.network is not None
    sender, message = ir.Local(world.proc, "_sender"), ir.Local(world.network, "_message")
    receivers = ir.Local(SetT(world.proc), "_receivers")
    to = ir.Local(world.proc, "_to")
    body: Block = ()
    for link in world.links:
        way = _onto(world, link, sender, to, message)
        way = connections.over(world, link, sender, to, message, way)
        way = build.only_if(between(world, link, sender, to), way)
        if world.crash_bound and not world.fine and not world.recovers and link.capacity is None:
            # A message to a process that is down forever need not be in the state.
            way = build.only_if(world.alive(to), way)
        body += way
    body = _at_once(world, sender, to, message, body)
    body = build.only_if(world.honest(to), body)
    apart = connections.has_connections(world)  # each copy may be lost or arrive
    loop = ir.For("_to", ir.Members(receivers, world.proc), body, apart)
    params = (("_sender", world.proc), ("_receivers", receivers.type), ("_message", world.network))
    world.effects["send"] = EffectDef("send", EffectKind.SEND, params, (loop,))


def _at_once(world: World, sender: Expr, to: Expr, message: Expr, others: Block) -> Block:
    """Receives messages that are only counted at once (see :mod:`.counted_messages`), and puts the
    others on their links by ``others``."""
    found = senders(world)
    for index, instance in enumerate(found):
        names = counted_messages(world, instance)
        if not names or instance.messages is None:
            continue
        inner: Expr = message
        mine: Expr = TRUE
        if len(found) > 1:
            inner = ir.CaseField(instance.messages, message, index, 0)
            mine = ir.IsCase(message, index)
        cases = enumerate(instance.messages.cases)
        one_of = disj(*(ir.IsCase(inner, i) for i, case in cases if case.name in names))
        noted = receptions.record(world, instance, to, sender, inner)
        others = (ir.If(conj(mine, one_of), noted, others),)
    return others


def _onto(world: World, link: Link, sender: Expr, to: Expr, message: Expr) -> Block:
    """Returns the statements that put one copy on ``link``."""
    network = world.read(link.variable)
    if link.kind.ordered:
        assert isinstance(network.type, MapT) and isinstance(network.type.value, MapT)
        queue = network.type.value.value
        old = build.entry(build.entry(network, sender), to)
        path = (ir.Key(sender, world.proc), ir.Key(to, world.proc))
        place = link.place if link.capacity is not None else None
        new = ir.Apply(queue, Op.APPEND, (old, message), place)
        put = ir.Assign(ir.Target(queue, link.variable, True, path), new)
        left_out = overflow.remember(world, link, sender, to, message, old)
        return _while_room(link, build.size(old), put, left_out)
    envelope_type = build.element(network.type)
    envelope = ir.Apply(envelope_type, Op.TUPLE, (sender, to, message))
    if link.kind.keeps:
        return (build.assign(network, build.with_item(network, envelope)),)
    put = build.assign(network, ir.Apply(network.type, Op.BAG_ADD, (network, envelope)))
    if link.kind.loses:
        assert isinstance(network.type, BagT)
        copies = ir.Apply(IntT(0, network.type.cap), Op.BAG_COUNT, (network, envelope))
        return _while_room(link, copies, put)
    return (*_within_bound(link, network, sender, to), put)


def _while_room(link: Link, held: Expr, put: ir.Stmt, otherwise: Block = ()) -> Block:
    """Returns ``put``, or ``otherwise`` where a link that loses messages is full."""
    if link.capacity is None or not link.kind.loses:
        return (put,)
    return (ir.If(build.below(held, build.integer(link.capacity)), (put,), otherwise),)


def _within_bound(link: Link, network: Expr, sender: Expr, to: Expr) -> Block:
    if link.capacity is None:
        return ()
    envelope = ir.Local(build.element(network.type), fresh("_e"))
    mine = conj(equal(build.item(envelope, 0), sender), equal(build.item(envelope, 1), to))
    domain = ir.Members(network, envelope.type)
    assert isinstance(network.type, BagT)
    count_type = IntT(0, network.type.cap)
    count = ir.Quant(ir.Quantifier.COUNT, envelope.name, domain, mine, count_type)
    full = ir.Fault("R002", f"the channel already holds {link.capacity} messages", link.place)
    return (ir.If(build.at_most(build.integer(link.capacity), count), (full,)),)


# ---- deliveries -------------------------------------------------------------------------------


def deliveries(world: World) -> None:
    """Drafts the actions by which links deliver and lose."""
    for link in world.links:
        flight = _flight(world, link)
        _receive(world, link, flight, losses.action_name("receive", link))
        if overflow.remembers(link):
            name = losses.action_name("receive without room", link)
            _receive(world, link, overflow.flight(world, link, flight), name)
        if link.kind.connects:
            _receive_notice(world, link, flight)
        losses.add(world, link, flight)


def _flight(world: World, link: Link) -> Flight:
    """Returns any message in flight on ``link`` that can be delivered now."""
    network = world.read(link.variable)
    assert world.network is not None
    if link.kind.ordered:
        source, to = ir.Local(world.proc, fresh("from")), ir.Local(world.proc, fresh("to"))
        queue = build.entry(build.entry(network, source), to)
        assert isinstance(queue.type, SeqT)
        filled = negation(equal(build.size(queue), build.integer(0)))
        params = (
            Param(source.name, ir.Universe(world.proc), TRUE),
            Param(to.name, ir.Universe(world.proc), filled),
        )
        message: Expr = ir.Apply(world.network, Op.HEAD, (queue,))
        removal: Block = (
            build.assign(queue, ir.Apply(queue.type, Op.TAIL, (queue,))),
            *overflow.forget(world, link, source, to),
        )
        return Flight(params, source, to, message, removal, queue)
    envelope = ir.Local(build.element(network.type), fresh("envelope"))
    param = Param(envelope.name, ir.Members(network, envelope.type), TRUE)
    removal = (build.assign(network, build.without_item(network, envelope)),)
    parts = tuple(build.item(envelope, i) for i in range(3))
    return Flight((param,), parts[0], parts[1], parts[2], removal)


def _receive(world: World, link: Link, flight: Flight, name: str) -> None:
    source, to, message = flight.source, flight.to, flight.message
    notice = connections.is_notice(world, message) if link.kind.connects else FALSE
    params = _receivable(world, flight, negation(notice))
    held = ir.Local(message.type, fresh("_m"))
    taken: Block = () if link.kind.keeps else flight.removal
    if link.kind.duplicates and taken:
        again = ir.Local(BOOL, fresh("_again"))
        taken = (
            ir.Choose(again.name, ir.Universe(BOOL), TRUE),
            ir.If(again, (), flight.removal),
        )
    body = (
        ir.Declare(held.name, held.type, message),
        *taken,
        mark(world, MarkKind.RECEIVE, "receive", ("to", "from", "message"), to, source, held),
        *arrival(world, to, source, held),
    )
    _add_reception(world, link, flight, name, params, body)


def _receivable(world: World, flight: Flight, which: Expr) -> tuple[Param, ...]:
    """Returns the parameters of the reception of a message that satisfies ``which``."""
    last, shut = flight.params[-1], world.is_shut(flight.source, flight.to)
    may = conj(last.where, which, world.may_step(flight.to), negation(shut))
    return (*flight.params[:-1], Param(last.name, last.domain, may))


def _add_reception(
    world: World, link: Link, flight: Flight, name: str, params: tuple[Param, ...], body: Block
) -> None:
    source, to = flight.source, flight.to
    constraint = fairness.receive(world, link, source, to, flight.message)
    ends = world.reliable(to)
    if not link.kind.connects:
        within = conj(world.together(source, to), world.alive(source))
        ends = disj(conj(world.correct(source), ends), within)
    promised = FALSE if constraint is None else ends
    kind = ActionKind.RECEIVE
    action = Action(name, kind, params, TRUE, body, promised, fairness=constraint)
    world.drafts.append(Draft(action, to))


def _receive_notice(world: World, link: Link, flight: Flight) -> None:
    """Drafts the action by which a process receives the notice that a connection is gone."""
    source, to = flight.source, flight.to
    params = _receivable(world, flight, connections.is_notice(world, flight.message))
    told = mark(world, MarkKind.DISCONNECT, "", ("self", "peer"), to, source)
    handled = tuple(
        s for i in bottom_up(world) for s in dispatch.disconnected(world, i, to, source)
    )
    body = (*flight.removal, told, *handled)
    _add_reception(world, link, flight, losses.action_name(connections.GONE, link), params, body)


def arrival(world: World, to: Expr, source: Expr, message: Expr) -> Block:
    """Returns the statements that ``to`` executes when ``message`` arrives from the apparent sender
    ``source``."""
    found = senders(world)
    if not _is_wrapped(world, found):
        return dispatch.receive(world, found[0], to, source, message)
    result: list[ir.Stmt] = []
    for index, instance in enumerate(found):
        assert instance.messages is not None
        inner = ir.CaseField(instance.messages, message, index, 0)
        stmts = dispatch.receive(world, instance, to, source, inner)
        result.append(ir.If(ir.IsCase(message, index), stmts))
    return tuple(result)
