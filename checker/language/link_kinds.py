"""Defines the kinds of links: one instance for each, which everything that depends on them reads.

A kind is its fields.  Their defaults describe a perfect link, so a kind names what is otherwise on
it, its *traits*.  Kinds can be combined (``links fifo, lossy``): a link has the traits of all its
kinds, unless they contradict each other, which follows from the traits as well.  A kind with known
traits is one more instance in ``_KINDS``; a new trait is one more field, with a default that leaves
all other kinds as they are, and the places that interpret it (``CONTRIBUTING.md``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import reduce
from typing import Any

from msgspec import Struct

from checker.records import fields


class Delivery(Enum):
    """What is promised of a message from one correct process to another (Cachin, Guerraoui and
    Rodrigues, modules 2.1 to 2.3); the value completes the sentence "the link promises …"."""

    RELIABLE = "that a message that was sent arrives"
    STUBBORN = "that a message that was sent arrives again and again"
    FAIR_LOSS = "that a message that is sent infinitely often arrives infinitely often"
    NO_PROMISE = "nothing"


class LinkKind(Struct, frozen=True):
    """A kind of link, or several combined; ``ValueError`` says why no link can have its traits.

    ``name``: as a check writes it; ``meaning``: as in ``docs/language/checks.md``.
    ``exactly_once``: it excludes every trait by which a message could arrive more or less than
    once. The others are traits. ``ordered``: messages from one process to another arrive in the
    order in which they were sent. ``loses``: a message in flight may be lost. ``keeps``: a message
    that is delivered stays in flight. ``duplicates``: it may stay. ``delivery``: what is promised.
    ``authenticates``: no process sends in the name of another. ``has_capacity``: a number behind
    the name bounds the messages in flight from one process to another. ``connects``: messages
    travel over connections, which break, and both ends are told.
    """

    name: str
    meaning: str
    exactly_once: bool = False
    ordered: bool = False
    loses: bool = False
    keeps: bool = False
    duplicates: bool = False
    delivery: Delivery = Delivery.RELIABLE
    authenticates: bool = False
    has_capacity: bool = False
    connects: bool = False

    def __post_init__(self) -> None:
        reason = _inconsistency(self)
        if reason:
            raise ValueError(reason)

    @property
    def traits(self) -> frozenset[str]:
        """The names of the fields in which it differs from a perfect link."""
        return frozenset(n for n, v in _defaults(self).items() if getattr(self, n) != v)

    @property
    def repeats(self) -> bool:
        """Whether a message that was sent once may arrive more than once."""
        return self.keeps or self.duplicates

    @property
    def may_miss(self) -> bool:
        """Whether a message between correct processes need not arrive."""
        return self.delivery in (Delivery.FAIR_LOSS, Delivery.NO_PROMISE)


_NO_TRAITS = ("name", "meaning", "exactly_once")


def _defaults(kind: LinkKind) -> dict[str, Any]:
    """Returns the values of a perfect link for all traits."""
    return {f.name: f.default for f in fields(kind) if f.name not in _NO_TRAITS}


def _inconsistency(kind: LinkKind) -> str:
    """Returns why no link has the traits of ``kind``; empty where one can."""
    if kind.connects and kind.may_miss:
        return "a connection loses messages only when it breaks, and then both ends are told"
    if kind.connects and kind.repeats:
        return "a connection delivers a message at most once"
    if kind.connects and kind.has_capacity:
        return "a connection has no bound: its sender waits until there is room"
    if kind.exactly_once and kind.may_miss:
        return "a link that delivers exactly once loses nothing"
    if kind.exactly_once and kind.repeats:
        return "a link that delivers exactly once repeats nothing"
    if kind.ordered and kind.repeats:
        return "messages that are delivered repeatedly have no order"
    if kind.has_capacity and kind.keeps:
        return "messages that stay in flight forever fill the link"
    if kind.loses and not kind.may_miss:
        return "a link that loses messages can't promise that every message arrives"
    if kind.keeps != (kind.delivery is Delivery.STUBBORN) and not kind.may_miss:
        return "messages arrive again and again if they stay in flight, and only then"
    return ""


def contradiction(one: LinkKind, other: LinkKind) -> str:
    """Returns why no link is of both kinds; empty where one can be."""
    try:
        combine((one, other))
    except ValueError as error:
        return str(error)
    return ""


def combine(kinds: Iterable[LinkKind]) -> LinkKind:
    """Returns the kind of a link that is of all ``kinds``, of which there is at least one; raises
    ``ValueError`` where they contradict each other."""
    return reduce(_merge, kinds)


def _merge(one: LinkKind, other: LinkKind) -> LinkKind:
    if "delivery" in one.traits & other.traits and one.delivery is not other.delivery:
        both = (f"`{kind.name}` promises {kind.delivery.value}" for kind in (one, other))
        raise ValueError(f"their fairness assumptions differ: {', '.join(both)}")
    new = {name: getattr(kind, name) for kind in (one, other) for name in kind.traits}
    name, meaning = f"{one.name}, {other.name}", f"{one.meaning}; {other.meaning}"
    return LinkKind(name, meaning, one.exactly_once or other.exactly_once, **new)


PERFECT = LinkKind("perfect", "no loss, no duplication, any order", exactly_once=True)
"""The kind of links of which a check says nothing."""

FIFO = LinkKind("fifo", "in order from one process to another", ordered=True)
LOSSY = LinkKind(
    "lossy",
    "any message in flight may be lost",
    loses=True,
    delivery=Delivery.NO_PROMISE,
)
FAIR_LOSS = LinkKind(
    "fair_loss",
    "messages may be lost, but of infinitely many copies infinitely many arrive",
    loses=True,
    delivery=Delivery.FAIR_LOSS,
)
DUPLICATING = LinkKind("duplicating", "a delivered message may be delivered again", duplicates=True)

_KINDS = (
    PERFECT,
    FIFO,
    LOSSY,
    FAIR_LOSS,
    LinkKind(
        "stubborn",
        "every message is delivered again and again, forever",
        keeps=True,
        delivery=Delivery.STUBBORN,
    ),
    DUPLICATING,
    LinkKind(
        "persistent",
        "a message may be received any number of times, including none",
        keeps=True,
        delivery=Delivery.NO_PROMISE,
    ),
    LinkKind(
        "connected",
        "in order over connections, which may break: a suffix of the messages in transit is lost, "
        "and both ends get a notice",
        ordered=True,
        connects=True,
    ),
    LinkKind("authenticated", "no process can send in another's name", authenticates=True),
    LinkKind(
        "bounded",
        "more than `k` messages in flight from one process to another are a run-time error",
        has_capacity=True,
    ),
)

LINK_KINDS = {kind.name: kind for kind in _KINDS}
"""All kinds that a check can name, by name."""


@contextmanager
def additional_kind(kind: LinkKind) -> Iterator[LinkKind]:
    """Lets checks name ``kind`` while the context lasts; raises ``ValueError`` where the name is
    taken."""
    if kind.name in LINK_KINDS:
        raise ValueError(f"a kind of link is already called {kind.name}")
    LINK_KINDS[kind.name] = kind
    try:
        yield kind
    finally:
        del LINK_KINDS[kind.name]
