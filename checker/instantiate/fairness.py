"""Derives the fairness assumptions: one function for each group of constraints.

Protocols say nothing about fairness, checks only of optional handlers.  Each action subject to
fairness names the constraint that its instances belong to; ``text`` words the assumption.  Weak
fairness is justice, strong fairness is compassion.

========  ======  =====================  =====================================================
group     kind    key                    whose
========  ======  =====================  =====================================================
step      weak    process                its conditions, all together
fair …    either  process                an optional handler that the check calls fair
client    weak    process                the requests that its clients still make
effect    weak    process                what it has begun: effects, and what follows a `yield`
activity  weak    process, place, names  what follows an `await`, each place with its names
receive   weak    sender, receiver,      links that do not lose messages between ends that
                  message                stay up
receive   weak    sender, receiver       the same where messages arrive in order; over connections
                                         only the receiver must stay up: it learns of a crash
receive   strong  sender, receiver,      fair-loss links
                  message
receive   strong  as above               all links where ways may be cut, or handlers `yield`
========  ======  =====================  =====================================================
"""

from __future__ import annotations

from checker.instantiate.world import WAITING, Later, Link, World
from checker.language.link_kinds import Delivery
from checker.language.syntax import typed
from checker.model.ir import Action, Expr, Fairness, FairnessKind

OPTIONAL = "fair "
"""The groups of optional handlers begin so."""


def step(process: Expr) -> Fairness:
    """Returns the constraint that a process whose conditions hold takes one of them."""
    text = "{0}, while it is correct, takes a step whenever it can go on doing so"
    return Fairness("step", (process,), FairnessKind.WEAK, text)


def handler(label: str, clause: typed.FairHandler, process: Expr) -> Fairness:
    """Returns the constraint that a process runs an optional handler; ``label``: unique."""
    kind = FairnessKind.STRONG if clause.strongly else FairnessKind.WEAK
    often = "if it can again and again" if clause.strongly else "whenever it can go on doing so"
    text = f"{{0}}, while it is correct, runs `{clause.handler}` {often}"
    return Fairness(f"{OPTIONAL}{label}", (process,), kind, text)


def is_optional(action: Action) -> bool:
    """Tells whether only a clause of the check can require a process to take ``action``."""
    return action.fairness is not None and action.fairness.group.startswith(OPTIONAL)


def client(process: Expr) -> Fairness:
    """Returns the constraint that requests are made eventually."""
    text = "the clients of {0}, while it is correct, eventually make their next request"
    return Fairness("client", (process,), FairnessKind.WEAK, text)


def effect(process: Expr) -> Fairness:
    """Returns the constraint that a handler that has begun finishes."""
    text = "{0}, unless it crashes, goes on with what it has begun"
    return Fairness("effect", (process,), FairnessKind.WEAK, text)


def activity(later: Later, process: Expr, kept: Expr) -> Fairness:
    """Returns the constraint that the activity at one place with ``kept`` names goes on."""
    where = f"the `await` at line {later.place.line}:{later.place.column}"
    what = f"what follows {where}{' with {1}' if later.names else ''}"
    text = f"{{0}}, while it is correct, does {what} whenever it can go on doing so"
    return Fairness(later.variable or "", (process, kept), FairnessKind.WEAK, text)


def receive(
    world: World, link: Link, sender: Expr, receiver: Expr, message: Expr
) -> Fairness | None:
    """Returns the constraint that a link delivers; ``None`` where delivery is no assumption.

    A receiver that waits at a ``yield`` can't receive: so that this does not disable the constraint
    infinitely often, it is strong there; so it is where ways may be cut, again and again.  Without
    such pauses weak and strong coincide on links that lose nothing: a message in flight stays in
    flight until it is received.  (For the pauses of fine steps see
    :mod:`checker.instantiate.effects.unhindered`.)
    """
    group = f"receive ({link.name})" if link.name else "receive"
    pauses = WAITING in world.variables or world.may_be_cut
    kind = FairnessKind.STRONG if pauses else FairnessKind.WEAK
    both = "while both are correct"
    if world.may_be_cut:
        both = f"{both} and the way is open again and again"
    delivery = link.kind.delivery
    if delivery is Delivery.NO_PROMISE:
        return None
    if delivery is Delivery.FAIR_LOSS:
        text = f"{{2}} from {{0}} to {{1}} is received, {both}, if it is sent again and again"
        return Fairness(group, (sender, receiver, message), FairnessKind.STRONG, text)
    if link.kind.connects:
        both = both.replace("both are", "{1} is")
    if link.kind.ordered:
        text = f"the next message from {{0}} to {{1}} is received, {both}"
        return Fairness(group, (sender, receiver), kind, text)
    again = " again and again" if delivery is Delivery.STUBBORN else ""
    text = f"{{2}} from {{0}} to {{1}} is received{again}, {both}"
    return Fairness(group, (sender, receiver, message), kind, text)
