"""Models synchronous rounds: what must happen before a round ends, and what its end discards."""

from __future__ import annotations

from checker.instantiate.fairness import is_optional
from checker.instantiate.faults.fault_marks import HELD_UP
from checker.instantiate.network import overflow
from checker.instantiate.protocol.changes import changes, some
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import World, mark
from checker.language.link_kinds import LINK_KINDS, Delivery
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, entry, equal, fresh, member, negation
from checker.model.ir import FALSE, TRUE, WHILE_DOWN, Action, ActionKind, Block, Expr, MarkKind
from checker.model.types import MapT, default
from checker.records import replace

ROUND = "round"
_URGENT = {ActionKind.STEP, ActionKind.REQUEST, ActionKind.EFFECT}
_RECEPTION = {ActionKind.RECEIVE, ActionKind.FORGE, ActionKind.LOSE}
"""The kinds of actions that wait for the timers of the round.  Losses wait, too: if a message were
lost before it could be received, its reception would never have been enabled, and a fair-loss link
would have no obligation for it.  Losses while an end of the link is down are excluded by no
fairness assumption."""


def check_links(world: World, timing: typed.Timing) -> None:
    """Refuses (C003) links that deliver repeatedly: no round would ever end."""
    for kinds in (world.check.links, *(r.kinds for r in world.check.link_rules)):
        for kind in kinds:
            if kind.repeats:
                message = (
                    f"a round ends once every message is received, and `{kind.name}` links keep"
                )
                raise refuse("C003", f"{message} them", timing.span, _kinds_for_rounds())


def _kinds_for_rounds() -> str:
    """Returns the hint that lists the kinds of links that can be used in rounds."""
    known = (kind for kind in LINK_KINDS.values() if not kind.repeats)
    *names, last = (k.name for k in known if not (k.authenticates or k.has_capacity))
    return f"use {', '.join(names)} or {last} links"


# ---- the end of a round -----------------------------------------------------------------------


def empty_links(world: World) -> Block:
    """Empties the links: a message that is left was sent by or to a faulty process, or is lost.

    A message arrives in the round in which it is sent, or never: a message that a split or a cut
    holds up is lost, too.
    """
    result: list[ir.Stmt] = []
    faults = world.check.crash, world.check.omission, world.check.byzantine
    for link in world.links:
        failing = any(world.bound(f) for f in faults)
        if not (failing or link.kind.may_miss or world.may_be_shut):
            continue
        if link.kind.may_miss or world.may_be_shut:
            result.extend(_tell_lost(world, world.read(link.variable)))
        names = (link.variable, *((overflow.variable(link),) if overflow.remembers(link) else ()))
        for name in names:
            network = world.read(name)
            result.append(build.assign(network, ir.Const(network.type, default(network.type))))
    return tuple(result)


def _tell_lost(world: World, network: Expr) -> Block:
    """Marks as lost the messages that a link still holds between correct processes: those that the
    link has lost, and those held up by a split or a cut, which is a fault already."""

    def tell(source: Expr, to: Expr, message: Expr) -> Block:
        ends, values = ("from", "to", "message"), (source, to, message)
        lost: Block = (mark(world, MarkKind.LOSE, "lose", ends, *values),)
        shut = world.is_shut(source, to)
        if shut != FALSE:
            held_up = mark(world, MarkKind.LOSE, HELD_UP, ends, *values)
            lost = (ir.If(shut, (held_up,), lost),)
        return (ir.If(conj(world.correct(source), world.correct(to)), lost),)

    if not isinstance(network.type, MapT):
        envelope = ir.Local(build.element(network.type), fresh("_e"))
        parts = tuple(build.item(envelope, i) for i in range(3))
        return (ir.For(envelope.name, ir.Members(network, envelope.type), tell(*parts), True),)
    source, to = ir.Local(world.proc, fresh("_from")), ir.Local(world.proc, fresh("_to"))
    queue = entry(entry(network, source), to)
    message = ir.Local(build.element(queue.type), fresh("_m"))
    each = ir.For(message.name, ir.Members(queue, message.type), tell(source, to, message))
    loop = ir.For(to.name, ir.Universe(world.proc), (each,))
    return (ir.For(source.name, ir.Universe(world.proc), (loop,)),)


# ---- what precedes the end of a round ---------------------------------------------------------


def order_rounds(
    world: World, actions: tuple[Action, ...], nothing_over: Expr, stable: Expr
) -> tuple[Action, ...]:
    """Returns ``actions`` with the guards that separate rounds, once the system is ``stable``."""
    left: list[Expr] = [negation(nothing_over), *_under_way(world)]
    for action in actions:
        if action.kind in _URGENT and action.promised != FALSE and not is_optional(action):
            left.append(_to_do(world, action))
    result = []
    for action in actions:
        if action.name == ROUND:
            action = replace(action, guard=conj(action.guard, *(negation(x) for x in left)))
        elif action.kind in _RECEPTION and not action.name.startswith(WHILE_DOWN):
            may = disj(negation(stable), nothing_over)
            action = replace(action, guard=conj(may, action.guard))
        result.append(action)
    return tuple(result)


def promise_to_omitting(world: World, action: Action) -> Action:
    """Returns ``action`` with fairness for omission-faulty processes as well, since they are in the
    same round as all others."""
    own = action.kind in _URGENT | {ActionKind.TIMEOUT} and action.promised != FALSE
    if not own or action.fairness is None or not action.fairness.key:
        return action
    if not world.bound(world.check.omission):
        return action
    omits = member(action.fairness.key[0], world.omitting())
    return replace(action, promised=disj(action.promised, omits))


def _under_way(world: World) -> list[Expr]:
    """Returns for each kind of link whether it holds a message to be received in this round.

    A link that promises nothing has no delivery obligation: what it still holds may be lost when
    the round ends.
    """
    found: list[Expr] = []
    for link in world.links:
        if link.kind.delivery is Delivery.NO_PROMISE:
            continue
        network = world.read(link.variable)
        if isinstance(network.type, MapT):
            source, to = ir.Local(world.proc, fresh("_from")), ir.Local(world.proc, fresh("_to"))
            queue = entry(entry(network, source), to)
            filled = negation(equal(build.size(queue), build.integer(0)))
            inner = some(to, ir.Universe(world.proc), conj(filled, _due(world, source, to)))
            found.append(some(source, ir.Universe(world.proc), inner))
        else:
            envelope = ir.Local(build.element(network.type), fresh("_e"))
            due = _due(world, build.item(envelope, 0), build.item(envelope, 1))
            found.append(some(envelope, ir.Members(network, envelope.type), due))
    return found


def _due(world: World, source: Expr, to: Expr) -> Expr:
    together = negation(world.is_shut(source, to))
    both = conj(world.correct(source), world.correct(to))
    up = conj(world.together(source, to), world.alive(source))
    return conj(disj(both, up), together)


def _to_do(world: World, action: Action) -> Expr:
    """Returns whether some instance of ``action`` can be taken and would change something."""
    changed: Expr = TRUE
    if action.kind is ActionKind.STEP:
        changed = changes(world, action.body)
    result = conj(action.guard, changed)
    for param in reversed(action.params):
        local = ir.Local(ir.domain_item(param.domain), param.name)
        result = some(local, param.domain, conj(param.where, result))
    return result
