"""Models connections: links that break and notify both ends.

A queue of a connected link holds messages and *notices*.  When the connection of two processes is
reset, any suffix of each of their queues is lost, and a notice is appended to what is left.  The
notice tells its receiver that the connection has broken: all that arrives after it was sent over
the next connection.  One end may have received its notice while the other has not (half-open): what
that one sends may be lost, since the connection that it knows is gone, or arrive over the next one.

The crash of a process also breaks its connections, and its peers receive notices.  Messages to the
process are lost without a notice, since a process that recovers has no old connection.  Messages
that are sent to it later wait until it recovers.
"""

from __future__ import annotations

from itertools import combinations

from checker.instantiate.faults.fault_marks import DROPPED
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import RESETS, Draft, Link, World, mark
from checker.model import build, ir
from checker.model.build import conj, disj, entry, equal, fresh, member, negation
from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Block,
    Expr,
    MarkKind,
    Op,
    Param,
    VariableKind,
)
from checker.model.types import BOOL, BagT, Case, IntT, SeqT, SetT, VariantT, sort_key

NOTICE = Case("disconnected", ())
"""The notice, which separates the messages of two connections; no message of a spec has its
name."""

GONE = "disconnect"
"""The name of the action by which a process receives a notice; for links of a rule, a prefix of the
name."""


def has_connections(world: World) -> bool:
    """Tells whether some links are connected."""
    return any(kind.connects for kind in world.check.link_kinds)


def is_notice(world: World, message: Expr) -> Expr:
    """Returns whether ``message``, an item of a queue, is a notice."""
    return ir.IsCase(message, _case(world))


def _case(world: World) -> int:
    assert isinstance(world.network, VariantT)
    return world.network.cases.index(NOTICE)


def declare(world: World) -> None:
    """Declares the count of resets; raises :class:`SpecError` (E003) for a bound below 0."""
    resets = world.check.resets
    bound = world.bound(resets)
    if resets is not None and bound < 0:
        message = f"reset <= {bound} is impossible"
        raise refuse("E003", message, resets.span, "the bound is 0 or more")
    if bound and _connected_pairs(world):
        world.add(RESETS, IntT(0, bound), 0, VariableKind.WORLD, "resets")


def _connected_pairs(world: World) -> tuple[frozenset[int], ...]:
    """Returns the pairs of processes whose connection may break: those that have one, at least one
    way, and do not stop together."""

    def joins(link: Link, p: int, q: int) -> bool:
        def inside(pairs: tuple[tuple[frozenset[int], frozenset[int]], ...]) -> bool:
            return any(p in senders and q in receivers for senders, receivers in pairs)

        return inside(link.pairs) if link.pairs else not inside(link.others)

    links = [link for link in world.links if link.kind.connects]
    pairs = combinations(range(len(world.sizes.processes)), 2)
    joined = (
        frozenset((p, q))
        for p, q in pairs
        if not world.sizes.stop_together(p, q)
        and any(joins(link, p, q) or joins(link, q, p) for link in links)
    )
    return tuple(sorted(joined, key=sort_key))


# ---- half-open --------------------------------------------------------------------------------


def over(world: World, link: Link, source: Expr, to: Expr, message: Expr, put: Block) -> Block:
    """Returns ``put``, which puts a message on ``link``; or it is lost, which is possible while
    ``source`` has still to be told that its connection is gone."""
    if not link.kind.connects or not world.may_disconnect:
        return put
    assert isinstance(world.network, VariantT)
    notice = ir.Make(world.network, _case(world), ())
    ways = _ways(world, to, source)
    told = (conj(joins, member(notice, _queue(world, back, to, source))) for back, joins in ways)
    lost = ir.Local(BOOL, fresh("_lost"))
    ends = ("from", "to", "message")
    shown = mark(world, MarkKind.LOSE, DROPPED, ends, source, to, message)
    return (
        ir.Choose(lost.name, ir.Universe(BOOL), disj(negation(lost), *told)),
        ir.If(lost, (shown,), put),
    )


# ---- what breaks a connection -----------------------------------------------------------------


def draft(world: World) -> None:
    """Drafts the reset of the connection of two processes that are up."""
    if RESETS not in world.variables:
        return
    count = world.read(RESETS)
    assert isinstance(count.type, IntT)
    both = SetT(world.proc)
    pairs = _connected_pairs(world)
    pair = ir.Local(both, fresh("link"))
    up: Expr = TRUE
    if world.crash_bound:
        down = ir.Apply(both, Op.INTERSECT, (pair, world.crashed()))
        up = equal(down, ir.Const(both, frozenset()))
    where = conj(build.below(count, build.integer(count.type.hi)), up)
    domain = ir.Members(ir.Const(BagT(both, len(pairs)), pairs), both)
    source, to = ir.Local(world.proc, fresh("_from")), ir.Local(world.proc, fresh("_to"))
    others = ir.Members(build.without_item(pair, source), world.proc)
    ways = tuple(
        stmt
        for link, joins in _ways(world, source, to)
        for stmt in build.only_if(joins, _break(world, link, source, to))
    )
    inner = ir.For(to.name, others, ways, True)
    each = ir.For(source.name, ir.Members(pair, world.proc), (inner,), True)
    shown = mark(world, MarkKind.RESET, "", ("link",), pair)
    body = (shown, build.one_more(count), each)
    params = (Param(pair.name, domain, where),)
    world.drafts.append(Draft(Action("reset", ActionKind.WORLD, params, TRUE, body, FALSE), None))


def broken_by_crash(world: World, victim: Expr) -> Block:
    """Returns the statements that break the connections of ``victim``, which is down now."""
    if not has_connections(world):
        return ()
    peer = ir.Local(world.proc, fresh("_peer"))
    other, there = negation(equal(peer, victim)), world.alive(peer)
    ways: list[ir.Stmt] = []
    for link, joins in _ways(world, victim, peer):
        told, gone = _break(world, link, victim, peer), _clear(world, link, victim, peer)
        known = told if there == TRUE else (ir.If(there, told, gone),)
        ways.extend(build.only_if(conj(other, joins), known))
    for link, joins in _ways(world, peer, victim):
        ways.extend(build.only_if(joins, _clear(world, link, peer, victim)))
    return (ir.For(peer.name, ir.Universe(world.proc), tuple(ways), True),)


def _ways(world: World, source: Expr, to: Expr) -> list[tuple[Link, Expr]]:
    """Returns the connected links, each with the condition that messages from ``source`` to ``to``
    use it."""
    from checker.instantiate.network.links import between

    found = [link for link in world.links if link.kind.connects]
    return [(link, between(world, link, source, to)) for link in found]


def _queue(world: World, link: Link, source: Expr, to: Expr) -> Expr:
    queue = entry(entry(world.read(link.variable), source), to)
    return queue


def _break(world: World, link: Link, source: Expr, to: Expr) -> Block:
    """Drops any suffix of a queue, and appends a notice to the rest."""
    queue = _queue(world, link, source, to)
    assert isinstance(queue.type, SeqT) and isinstance(world.network, VariantT)
    kept = ir.Local(IntT(0, queue.type.cap), fresh("_kept"))
    left = ir.Apply(queue.type, Op.TAKE, (queue, kept))
    notice = ir.Make(world.network, _case(world), ())
    return (
        ir.Choose(kept.name, ir.Universe(kept.type), build.at_most(kept, build.size(queue))),
        *_tell_lost(world, queue, source, to, kept),
        build.assign(queue, ir.Apply(queue.type, Op.APPEND, (left, notice))),
    )


def _clear(world: World, link: Link, source: Expr, to: Expr) -> Block:
    queue = _queue(world, link, source, to)
    lost = _tell_lost(world, queue, source, to, build.integer(0))
    return (*lost, build.assign(queue, ir.Const(queue.type, ())))


def _tell_lost(world: World, queue: Expr, source: Expr, to: Expr, first: Expr) -> Block:
    """Marks as lost the messages of a queue from position ``first`` on."""
    assert isinstance(queue.type, SeqT)
    position = ir.Local(IntT(0, queue.type.cap - 1), fresh("_position"))
    message = ir.Index(queue.type.item, queue, position)
    lost = conj(
        build.at_most(first, position),
        build.below(position, build.size(queue)),
        negation(is_notice(world, message)),
    )
    ends = ("from", "to", "message")
    shown = mark(world, MarkKind.LOSE, DROPPED, ends, source, to, message)
    return (ir.For(position.name, ir.Universe(position.type), (ir.If(lost, (shown,)),)),)
