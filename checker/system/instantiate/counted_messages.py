"""Messages that are only counted are received as soon as they are sent.

A message type without a handler, of which the protocol asks nothing but whether enough of it (or a
certain one) has been received, and that only in conditions that more messages can't make false, is
not worth waiting for: a condition may be taken at any later time, so whoever receives early can do
what one who receives late can, and whoever receives late has received early in another run, where
each message was delivered right after it was sent.  Neither end, nor fairness, nor what a property
sees of the run differs, as long as every message of a correct process does arrive.

So this holds where nothing is lost, late for ever, bounded, or ordered among other messages: with
perfect links between processes that never crash, in asynchronous runs.  What a Byzantine process
sends is not promised and stays a step of its own.  Steps that a reader wants to see one by one are
kept: under fine steps nothing is received early.  (The argument is the monotony of thresholds:
Konnov, Veith, Widder, CAV 2015.)
"""

from __future__ import annotations

from checker.lang import typed
from checker.system.instantiate.walk import nodes
from checker.system.instantiate.world import Instance, World

Counted = frozenset[str]
"""Names of messages."""


def counted_messages(world: World, instance: Instance) -> Counted:
    """The messages of ``instance`` that are received as soon as they are sent."""
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
    for prop in world.check.prove:
        spoilt |= _received_messages(prop.formula)
    return frozenset(asked - handled - spoilt)


def _calm(world: World) -> bool:
    """Whether every message of a correct process arrives, and none can be missed meanwhile."""
    check = world.check
    faults = (check.crash, check.omission)
    plain = set(check.links) <= {"perfect", "authenticated"} and not check.link_rules
    timeless = check.timing is None and check.detector is None
    yields = any(isinstance(n, typed.Yield) for i in world.instances for n in nodes(i.protocol))
    nobody_fails = all(world.bound(fault) == 0 for fault in faults) and not world.may_split
    return not world.fine and plain and timeless and nobody_fails and not yields


def _received_messages(node: object) -> set[str]:
    """The messages whose reception is asked for in ``node``."""
    return {n.message for n in nodes(node) if isinstance(n, typed.Received)}


def _rises(expr: typed.Expr) -> bool:
    """Whether ``expr``, once true, stays true when more is received."""
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
    """Whether the number ``expr`` can only become larger when more is received."""
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
