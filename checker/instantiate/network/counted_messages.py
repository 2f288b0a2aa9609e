"""Detects messages that are only counted; they are received as soon as they are sent.

Such a message type has no handler.  The protocol reads only whether enough messages of the type (or
a certain one) have been received, and only in conditions that further messages can't make false.
Early reception loses no behaviour.  A process may act on a true condition at any later time, so a
process that receives early can do everything that one that receives late can.  Each execution with
late reception has a counterpart in which each message is delivered right after it is sent.
Termination, fairness and what a property observes are the same, as long as every message of a
correct process does arrive.

So this applies if no message is lost, delayed forever, limited by a capacity, or ordered among
other messages: with perfect links between processes that never crash, in asynchronous executions.
The delivery of a Byzantine process's messages is not a fairness assumption and stays a step of its
own.  Under fine steps, which users want to see one by one, nothing is received early.  (The
argument is the monotonicity of threshold guards: Konnov, Veith, Widder, CAV 2015.)
"""

from __future__ import annotations

from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed

Counted = frozenset[str]
"""Names of messages."""

_HARMLESS = frozenset({"authenticates"})
"""The traits of links that neither lose, delay forever, bound nor order messages."""


def counted_messages(world: World, instance: Instance) -> Counted:
    """Returns the messages of ``instance`` that are received as soon as they are sent."""
    if not _calm(world):
        return frozenset()
    handled, asked, spoilt = set(), set(), set()
    for role in instance.protocol.roles:
        for handler in role.handlers:
            if isinstance(handler.event, typed.OnReceive):
                handled.add(handler.event.message)
            spoilt |= _received_messages(handler.body) | _received_messages(handler.at)
            if isinstance(handler.event, typed.OnCondition):
                asked |= _received_messages(handler.event.condition) | _received_messages(
                    handler.when
                )
                for part in (handler.event.condition, handler.when):
                    if part is not None and not _rises(part):
                        spoilt |= _received_messages(part)
            else:
                spoilt |= _received_messages(handler.when)
    for prop in world.check.observed:
        spoilt |= _received_messages(prop.formula)
    return frozenset(asked - handled - spoilt)


def _calm(world: World) -> bool:
    """Tells whether every message of a correct process arrives, and no process can miss one."""
    check = world.check
    faults = (check.crash, check.omission)
    alike = not check.link_rules and all(kind.traits <= _HARMLESS for kind in check.links)
    timeless = check.timing is None and check.detector is None
    yields = any(isinstance(n, typed.Yield) for i in world.instances for n in nodes(i.protocol))
    nobody_fails = all(world.bound(fault) == 0 for fault in faults) and not world.may_be_shut
    return not world.fine and alike and timeless and nobody_fails and not yields


def _received_messages(node: object) -> set[str]:
    """Returns the messages whose reception ``node`` reads."""
    return {n.message for n in nodes(node) if isinstance(n, typed.Received)}


def _rises(expr: typed.Expr) -> bool:
    """Tells whether ``expr``, once true, stays true when more messages are received."""
    if not _received_messages(expr):
        return True
    match expr:
        case typed.Operation(_, "and" | "or", args, _):
            return all(_rises(arg) for arg in args)
        case typed.Operation(_, ">" | ">=", (more, less), _):
            return _grows(more) and not _received_messages(less)
        case typed.Operation(_, "<" | "<=", (less, more), _):
            return _grows(more) and not _received_messages(less)
        case typed.Operation(_, "in", (item, typed.Received() as received), _):
            return not _received_messages(item) and not _received_messages(received.patterns)
        case _:
            return False


def _grows(expr: typed.Expr) -> bool:
    """Tells whether the number ``expr`` can only grow when more messages are received."""
    if not _received_messages(expr):
        return True
    match expr:
        case typed.Operation(_, "size", (typed.Received() as received,), _):
            return not _received_messages(received.patterns)
        case typed.Operation(_, "+", args, _):
            return all(_grows(arg) for arg in args)
        case typed.Operation(_, "*", (typed.Literal(_, factor, _), other), _):
            return int(factor) >= 0 and _grows(other)
        case typed.Operation(_, "*", (other, typed.Literal(_, factor, _)), _):
            return int(factor) >= 0 and _grows(other)
        case _:
            return False
