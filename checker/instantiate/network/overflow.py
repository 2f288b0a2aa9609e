"""Keeps messages deliverable for which a full queue of a fair-loss link had no room.

A message that is sent infinitely often arrives infinitely often, whatever bound the link has.  So a
queue that some messages fill again and again must not keep out others forever, although a message
that was never in the queue can't be received from it.  But any message in the queue may be lost at
any time, even just before the next one is sent.  So a message for which there was no room is
remembered, and may be received: this stands for an execution in which everything in the queue was
lost just in time.

It is remembered until some message leaves the queue while its receiver can receive: by then it
could have been received, and so counts as lost.  Messages that a queue loses while its receiver
can't receive (it waits at a ``yield``, or the network is split) are remembered in the same way.
"""

from __future__ import annotations

from msgspec import Struct

from checker.instantiate.world import Link, World, mark
from checker.language.link_kinds import Delivery
from checker.model import build, ir
from checker.model.build import disj, entry, fresh, member, negation
from checker.model.ir import FALSE, TRUE, Block, Expr, MarkKind, Param, VariableKind
from checker.model.types import MapT, default
from checker.records import replace


class Flight(Struct, frozen=True):
    """A message on a link: the parameters of an action that select it, its ends, the message
    itself, and its removal from the link.  ``queue``: on ordered links, the queue that holds it."""

    params: tuple[Param, ...]
    source: Expr
    to: Expr
    message: Expr
    removal: Block
    queue: Expr | None = None


def remembers(link: Link) -> bool:
    """Tells whether messages for which ``link`` has no room may still be received."""
    fair = link.kind.delivery is Delivery.FAIR_LOSS
    return fair and link.kind.ordered and link.capacity is not None


def variable(link: Link) -> str:
    """Returns the name of the variable that holds the messages for which ``link`` had no room."""
    return f"{link.variable} overflow"


def declare(world: World, link: Link) -> None:
    """Declares, for each ordered pair of processes, the messages for which ``link`` had no room."""
    if remembers(link):
        assert world.network is not None
        name = variable(link)
        type_ = MapT(world.proc, MapT(world.proc, world.set_of(world.network, name)))
        title = f"without room {link.name}".rstrip()
        world.add(name, type_, default(type_), VariableKind.LINK, title)


def _held_messages(world: World, link: Link, source: Expr, to: Expr) -> Expr:
    """Returns the remembered messages of one pair."""
    return entry(entry(world.read(variable(link)), source), to)


def remember(world: World, link: Link, source: Expr, to: Expr, message: Expr, queue: Expr) -> Block:
    """Remembers ``message``, unless ``queue`` holds another copy of it."""
    if not remembers(link):
        return ()
    held = _held_messages(world, link, source, to)
    put = build.assign(held, build.with_item(held, message))
    return (ir.If(negation(member(message, queue)), (put,)),)


def forget(world: World, link: Link, source: Expr, to: Expr) -> Block:
    """Forgets the remembered messages of one pair."""
    if not remembers(link):
        return ()
    held = _held_messages(world, link, source, to)
    return (build.assign(held, ir.Const(held.type, default(held.type))),)


def is_blocked(world: World, source: Expr, to: Expr) -> Expr:
    """Returns whether ``to`` can't receive from ``source`` now, although both are up."""
    return disj(negation(world.is_settled(to)), world.is_shut(source, to))


def flight(world: World, link: Link, queue: Flight) -> Flight:
    """Returns any remembered message not in ``queue``; receiving it loses all of the queue."""
    waiting = queue.queue
    assert world.network is not None and waiting is not None
    held = _held_messages(world, link, queue.source, queue.to)
    message = ir.Local(world.network, fresh("message"))
    elsewhere = negation(member(message, waiting))
    *ends, to = queue.params
    params = (
        *ends,
        Param(to.name, to.domain, TRUE),
        Param(message.name, ir.Members(held, world.network), elsewhere),
    )
    each = ir.Local(world.network, fresh("_lost"))
    names = ("from", "to", "message")
    lost = mark(world, MarkKind.LOSE, "lose", names, queue.source, queue.to, each)
    removal = (
        ir.For(each.name, ir.Members(waiting, world.network), (lost,)),
        build.assign(waiting, ir.Const(waiting.type, ())),
        *forget(world, link, queue.source, queue.to),
    )
    return Flight(params, queue.source, queue.to, message, removal)


def as_lost(world: World, link: Link, flight: Flight) -> Flight:
    """Returns the loss of ``flight``, the first message of a queue.  If its receiver can't receive
    now, the link must still deliver it, so it is remembered."""
    queue = flight.queue
    assert queue is not None
    source, to, message = flight.source, flight.to, flight.message
    others = ir.Apply(queue.type, ir.Op.TAIL, (queue,))
    remembered = remember(world, link, source, to, message, others)
    can_not = is_blocked(world, source, to)
    if can_not == FALSE:
        return flight
    *tail, _ = flight.removal
    removal = (ir.If(can_not, (*remembered, *tail), flight.removal),)
    return replace(flight, removal=removal)
