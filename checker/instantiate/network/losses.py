"""Models messages in flight that never arrive.

* A lossy or fair-loss link loses a message that it could deliver.
* If processes recover from crashes, a message may be lost while one of its ends is down: the
  contents of that end's buffers are gone.  A stubborn link retransmits what its receiver has
  missed, so there only the sender matters.  On a link that keeps messages and promises nothing
  (persistent), losing a message is equivalent to never receiving it: an execution without the
  losses is also possible, and no step or property can tell the difference.
* :mod:`.connections` models what a broken connection loses.
* A process that omits to send or to receive a message is faulty from then on.

No fairness assumption applies to any of these.
"""

from __future__ import annotations

from checker.instantiate.faults import role_bounds
from checker.instantiate.faults.fault_marks import WITH_CRASH
from checker.instantiate.network import overflow
from checker.instantiate.network.overflow import Flight
from checker.instantiate.world import Draft, Link, World, mark
from checker.language.link_kinds import Delivery
from checker.model import build, ir
from checker.model.build import conj, disj, fresh, member, negation
from checker.model.ir import (
    FALSE,
    TRUE,
    WHILE_DOWN,
    Action,
    ActionKind,
    Block,
    Expr,
    MarkKind,
    Op,
    Param,
)
from checker.model.types import IntT, SeqT, SetT
from checker.records import replace

ENDS = ("from", "to", "message", "by")
"""The names of the arguments of the mark of a loss."""


def action_name(what: str, link: Link) -> str:
    """Returns the name of an action of ``link``."""
    return f"{what} ({link.name})" if link.name else what


def add(world: World, link: Link, flight: Flight) -> None:
    """Drafts the actions by which messages on ``link`` are lost."""
    if link.kind.loses:
        _draft(world, action_name("lose", link), _losable(world, link, flight))
    elif world.recovers and not need_not_arrive(link) and not link.kind.connects:
        _while_down(world, link, flight)
    if world.bound(world.check.omission):
        _add_omission(world, link, flight)


def need_not_arrive(link: Link) -> bool:
    """Returns whether losing a message is equivalent to never receiving it: delivery does not take
    it off the link, and no fairness assumption requires delivery."""
    return link.kind.keeps and link.kind.delivery is Delivery.NO_PROMISE


def _draft(
    world: World, name: str, flight: Flight, after: Block = (), by: tuple[Expr, ...] = ()
) -> None:
    held = ir.Local(flight.message.type, fresh("_m"))
    lost: ir.Stmt
    if name.startswith(WHILE_DOWN):
        by_sender, by_receiver = (
            mark(world, MarkKind.LOSE, WITH_CRASH, ENDS, flight.source, flight.to, held, end)
            for end in (flight.source, flight.to)
        )
        lost = ir.If(world.alive(flight.source), (by_receiver,), (by_sender,))
    else:
        ends = ENDS[: 3 + len(by)]
        lost = mark(world, MarkKind.LOSE, "lose", ends, flight.source, flight.to, held, *by)
    body = (ir.Declare(held.name, held.type, flight.message), *flight.removal, lost, *after)
    action = Action(name, ActionKind.LOSE, flight.params, TRUE, body, FALSE)
    world.drafts.append(Draft(action, None))


def _losable(world: World, link: Link, flight: Flight) -> Flight:
    """Returns ``flight`` restricted to the messages that a link may lose now.

    It loses no message while the receiver is busy, or (if losses are fair) can't receive for
    another reason: the reception was never enabled then, so the link's fairness constraint would
    not apply to the lost message.  It makes no difference when such a message is lost, except that
    the loss makes room for others, which :mod:`.overflow` handles.
    """
    flight = _narrow(flight, world.idle(flight.to))
    if overflow.remembers(link):
        return overflow.as_lost(world, link, flight)
    if link.kind.delivery is Delivery.FAIR_LOSS:
        blocked = overflow.is_blocked(world, flight.source, flight.to)
        return _narrow(flight, negation(blocked))
    return flight


def _narrow(flight: Flight, where: Expr) -> Flight:
    last = flight.params[-1]
    params = (*flight.params[:-1], Param(last.name, last.domain, conj(last.where, where)))
    return replace(flight, params=params)


def _while_down(world: World, link: Link, flight: Flight) -> None:
    """Drafts the loss of a message while an end is down; from a queue any message may be lost, not
    only the first."""
    down = negation(world.alive(flight.source))
    if link.kind.delivery is not Delivery.STUBBORN:
        down = disj(down, negation(world.alive(flight.to)))
    if (queue := flight.queue) is None:
        _draft(world, action_name(WHILE_DOWN, link), _narrow(flight, down))
        return
    assert isinstance(queue.type, SeqT)
    position = ir.Local(IntT(0, queue.type.cap - 1), fresh("position"))
    there = conj(down, build.below(position, build.size(queue)))
    params = (*flight.params, Param(position.name, ir.Universe(position.type), there))
    message = ir.Index(flight.message.type, queue, position)
    left = ir.Apply(queue.type, Op.DELETE_AT, (queue, position))
    removal = (build.assign(queue, left),)
    anywhere = Flight(params, flight.source, flight.to, message, removal)
    _draft(world, action_name(WHILE_DOWN, link), anywhere)


def _add_omission(world: World, link: Link, flight: Flight) -> None:
    """Drafts the omission of a message by its sender or its receiver, which is faulty from then
    on."""
    faulty = world.omitting()
    who = ir.Local(world.proc, fresh("who"))
    ends = ir.Apply(SetT(world.proc), Op.SET, (flight.source, flight.to))
    room = build.below(build.size(faulty), build.integer(world.bound(world.check.omission)))
    room = conj(room, role_bounds.may_fail(world, "omission", faulty, who))
    may = conj(world.alive(who), world.honest(who), disj(member(who, faulty), room))
    may = conj(may, world.may_fail(who), negation(world.together(flight.source, flight.to)))
    params = (*flight.params, Param(who.name, ir.Members(ends, world.proc), may))
    wide = Flight(params, flight.source, flight.to, flight.message, flight.removal)
    new = ir.If(negation(member(who, faulty)), (mark(world, MarkKind.OMIT, "", ("process",), who),))
    add_ = build.assign(faulty, build.with_item(faulty, who))
    _draft(world, action_name("omit", link), wide, (new, add_), (who,))
