"""Worlds in which a connection that breaks decides what is so: by both definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.records import replace
from tests.world import spec as s
from tests.world.compare import agreed as all_agree
from tests.world.protocol import (
    CONDITION,
    DISCONNECTED,
    INIT,
    RECEIVE,
    RECOVER,
    REQUEST,
    Handler,
    Protocol,
    Question,
    Spec,
    Variable,
    World,
)

MODES = ("native plain", "native", "reference", "native fine")
A, B = s.message("A"), s.message("B")
FLAGS = tuple(Variable(name, "bool", s.FALSE) for name in ("a", "b", "gone", "early", "twice"))
SILENT = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
ROLES = (("client", 1), ("server", 1))
CALM = World(n=0, links=("connected",), clients=(("c1", ("a",)),))
SERVER = (("p", "server"),)
CLIENT = (("p", "client"),)


def top(*handlers: Handler, roles: tuple[tuple[str, int], ...] = ROLES) -> Protocol:
    asked = any(handler.event == REQUEST for handler in handlers)
    known = handlers if asked else (SILENT, *handlers)
    return Protocol("T", "Service", (("A", ()), ("B", ())), FLAGS, known, roles=roles)


def asks(*body: s.Statement) -> Handler:
    return Handler(REQUEST, "broadcast", (s.Bind("m"),), body=body)


def gets(kind: str, *body: s.Statement, role: str = "server") -> Handler:
    return Handler(RECEIVE, kind, (), s.Bind("p"), body=body, role=role)


def loses(*body: s.Statement, role: str = "") -> Handler:
    return Handler(DISCONNECTED, "", (), s.Bind("p"), body=body, role=role)


def sets(name: str) -> s.Statement:
    return s.Assign(name, s.TRUE)


def says(message: s.Expr, role: str = "server") -> s.Statement:
    return s.Send(message, s.members(role))


def always(
    name: str,
    premise: s.Expr | None,
    conclusion: s.Expr,
    among: tuple[tuple[str, str], ...] = SERVER,
) -> Question:
    return Question(name, "always", conclusion, premise, ("p",), among=among)


def agreed(
    spec: Protocol, world: World, asked: tuple[Question, ...], file: Path
) -> dict[str, bool]:
    """Whether each property is violated, where all say the same of it."""
    return all_agree(Spec(spec, world, asked), file, MODES)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "world.bcast"


# ---- what a reset does ------------------------------------------------------------------------


def test_a_reset_loses_a_suffix(file: Path) -> None:
    """Of what arrives before the notice the second message may be lost alone, the first not."""
    told = loses(sets("gone"), role="server")
    late = gets("B", s.If(s.no(s.var("gone")), (sets("early"),)), sets("b"))
    spec = top(asks(says(A), says(B)), gets("A", sets("a")), late, told)
    both = always("both", s.of("p", "early"), s.of("p", "a"))
    arrives = Question("arrives", "leads", s.of("p", "a"), None, ("p",), among=SERVER)
    follows = Question("follows", "leads", s.of("p", "b"), s.of("p", "a"), ("p",), among=SERVER)
    for world, found in (
        (CALM, {"both": False, "arrives": False, "follows": False}),
        (replace(CALM, reset=1), {"both": False, "arrives": True, "follows": True}),
        (
            replace(CALM, links=("lossy",), bound=1),
            {"both": True, "arrives": True, "follows": True},
        ),
    ):
        assert agreed(spec, world, (both, arrives, follows), file) == found, world


def test_what_is_sent_at_first_is_lost_from_its_end(file: Path) -> None:
    """No connection breaks before the beginning, nor between two sends of one step: then the second
    message may be lost alone, the first not."""
    begins = Handler(INIT, body=(says(A), says(B)), role="client")
    spec = top(begins, gets("A", sets("a")), gets("B", sets("b")))
    ordered = always("ordered", s.of("p", "b"), s.of("p", "a"))
    arrives = Question("arrives", "leads", s.of("p", "a"), None, ("p",), among=SERVER)
    follows = Question("follows", "leads", s.of("p", "b"), s.of("p", "a"), ("p",), among=SERVER)
    for reset in (0, 1):
        asked = Spec(spec, replace(CALM, reset=reset), (ordered, arrives, follows))
        found = all_agree(asked, file, ("native plain", "native fine"))
        assert found == {"ordered": False, "arrives": reset == 1, "follows": reset == 1}


def test_what_is_left_of_a_connection_may_come_late(file: Path) -> None:
    """The client knows already and tells another server, which tells the one at the other end
    before that receives what the client had sent to it."""
    first = Handler(INIT, body=(says(A),), role="client")
    told = loses(s.Send(B, s.minus(s.members("server"), s.only(s.name("p")))), role="client")
    others = s.minus(s.members("server"), s.only(s.ME))
    relays = gets("B", s.If(s.no(s.var("b")), (sets("b"), s.Send(B, others))))
    late = gets("A", s.If(s.var("b"), (sets("early"),)))
    spec = top(first, told, relays, late, roles=(("client", 1), ("server", 2)))
    in_time = always("in_time", None, s.no(s.of("p", "early")))
    for resets, violated in ((0, False), (1, True)):
        found = agreed(spec, replace(CALM, reset=resets), (in_time,), file)
        assert found == {"in_time": violated}, resets


def test_nothing_old_comes_after_something_new(file: Path) -> None:
    """What the client sends when it is told comes behind the server's own notice."""
    again = loses(says(B), role="client")
    late = loses(sets("gone"), role="server")
    old = gets("A", s.If(s.either_of(s.var("gone"), s.var("b")), (sets("early"),)))
    new = gets("B", sets("b"), s.If(s.no(s.var("gone")), (sets("twice"),)))
    spec = top(asks(says(A)), again, late, old, new)
    in_order = always("in_order", None, s.no(s.of("p", "twice")))
    # The request may come when the connection has been reset already: then A is not old.
    first = Handler(INIT, body=(says(A),), role="client")
    begun = top(first, again, late, old, new)
    fresh = always("fresh", None, s.no(s.of("p", "early")))
    world = replace(CALM, reset=1)
    assert agreed(begun, world, (fresh, in_order), file) == {"fresh": False, "in_order": False}
    found = agreed(spec, world, (fresh, in_order), file)
    assert found == {"fresh": True, "in_order": False}


def test_one_end_knows_and_the_other_not_yet(file: Path) -> None:
    """Half-open: who was told asks a third, and the other end still believes in the connection."""
    roles = (("client", 1), ("server", 2))
    told = loses(sets("gone"), s.Send(A, s.minus(s.ALL, s.only(s.ME))), role="server")
    third = gets("A", sets("a"))
    spec = top(told, third, loses(sets("gone"), role="client"), roles=roles)
    knows = Question(
        "knows", "always", s.of("q", "gone"), s.of("p", "a"), ("p", "q"),
        among=(("p", "server"), ("q", "client")),
    )  # fmt: skip
    learns = Question(
        "learns", "leads", s.of("q", "gone"), s.of("p", "gone"), ("p", "q"),
        among=(("p", "server"), ("q", "client")),
    )  # fmt: skip
    world = replace(CALM, reset=1)
    # A reset of the two servers is told to them only.
    assert agreed(spec, world, (knows, learns), file) == {"knows": True, "learns": True}
    alone = top(loses(sets("gone")))
    assert agreed(alone, world, (learns,), file) == {"learns": False}


def test_each_reset_counts(file: Path) -> None:
    """Of two, the second may come before the first was told: then one notice may stand for both."""
    second = loses(s.If(s.var("gone"), (sets("twice"),)), sets("gone"), role="server")
    never = always("never", None, s.no(s.of("p", "twice")))
    for resets, violated in ((1, False), (2, True)):
        world = replace(CALM, reset=resets)
        assert agreed(top(second), world, (never,), file) == {"never": violated}, resets


def test_who_resends_when_told_is_heard(file: Path) -> None:
    spec = top(asks(sets("b"), says(A)), gets("A", sets("a")))
    arrives = Question("arrives", "leads", s.of("p", "a"), None, ("p",), among=SERVER)
    resends = loses(s.If(s.var("b"), (says(A),)), role="client")
    careful = replace(spec, handlers=(*spec.handlers, resends))
    for protocol, violated in ((spec, True), (careful, False)):
        for resets in (1, 2):
            world = replace(CALM, reset=resets)
            found = agreed(protocol, world, (arrives,), file)
            assert found == {"arrives": violated}, protocol


def test_only_connected_ways_break(file: Path) -> None:
    """With a rule for one way, the other keeps what is on it, and nobody is told there."""
    spec = top(
        asks(says(A)), gets("A", sets("a")), loses(sets("gone")),
    )  # fmt: skip
    arrives = Question("arrives", "leads", s.of("p", "a"), None, ("p",), among=SERVER)
    untold = always("untold", None, s.no(s.of("p", "gone")), CLIENT)
    deaf = always("deaf", None, s.no(s.of("p", "gone")))
    asked = (arrives, untold, deaf)
    for rule, found in (
        (("client", "server"), {"arrives": True, "untold": False, "deaf": True}),
        (("server", "client"), {"arrives": False, "untold": True, "deaf": False}),
    ):
        world = replace(CALM, links=("fifo",), rules=((*rule, ("connected",)),), reset=1)
        assert agreed(spec, world, asked, file) == found, rule


# ---- half-open --------------------------------------------------------------------------------

BOTH_WAYS = (("client", "server"), ("server", "client"))
OF_SERVER = {"of_roles": (("crash", "server", 1),), "alone": frozenset({"crash"})}
ANSWERED = Question(
    "answered", "leads", s.of("p", "a"), s.of("q", "b"), ("p", "q"), (), ("p",),
    (("p", "server"), ("q", "client")),
)  # fmt: skip
UNHEARD = always("unheard", None, s.no(s.of("p", "a")))


def half_open(client: s.Expr, server: Handler) -> Protocol:
    """What the server does when it begins anew is told to the client by a third process, and the
    client sends something then, if ``client`` is so."""
    relays = gets("B", says(B, "client"), role="other")
    sends = gets("B", s.If(client, (sets("b"), says(A))), role="client")
    knows = loses(sets("gone"), role="client")
    roles = (*ROLES, ("other", 1))
    return top(server, relays, sends, knows, gets("A", sets("a")), roles=roles)


def between_the_two(ways: tuple[tuple[str, str], ...], **more: Any) -> World:
    """A world in which these ways are connected only."""
    rules = tuple((*way, ("connected",)) for way in ways)
    return replace(CALM, links=("fifo",), rules=rules, **more)


UNTOLD, TOLD = s.no(s.var("gone")), s.var("gone")
RESET = loses(says(B, "other"), role="server")
BACK = Handler(RECOVER, body=(says(B, "other"),), role="server")
OPEN_HALF = {
    "not told yet": (UNTOLD, RESET, BOTH_WAYS, {"reset": 1}, True, True),
    "told": (TOLD, RESET, BOTH_WAYS, {"reset": 1}, False, True),
    "calm": (UNTOLD, RESET, BOTH_WAYS, {}, False, False),
    "one way": (UNTOLD, RESET, BOTH_WAYS[:1], {"reset": 1}, False, True),
    "not told of a crash": (
        UNTOLD, BACK, BOTH_WAYS, {"crash": 1, "recover": True, **OF_SERVER}, True, True,
    ),
    "told of a crash": (
        TOLD, BACK, BOTH_WAYS, {"crash": 1, "recover": True, **OF_SERVER}, False, True,
    ),
    "a crash, one way": (
        UNTOLD, BACK, BOTH_WAYS[:1], {"crash": 1, "recover": True, **OF_SERVER}, False, True,
    ),
}  # fmt: skip
"""What the client knows, what begins anew, connected ways, faults; whether what the client sends
may be lost, and whether it may arrive."""


@pytest.mark.every
@pytest.mark.parametrize("name", OPEN_HALF)
def test_what_is_sent_into_a_connection_that_is_gone(name: str, file: Path) -> None:
    """It may be lost, or arrive over the next connection, until its sender is told."""
    client, server, ways, faults, lost, arrives = OPEN_HALF[name]
    world = between_the_two(ways, **faults)
    found = agreed(half_open(client, server), world, (ANSWERED, UNHEARD), file)
    assert found == {"answered": lost, "unheard": arrives}


# ---- crashes ----------------------------------------------------------------------------------


def test_a_crash_is_told(file: Path) -> None:
    """Also behind what arrives of what the process sent; nobody else is thought to be gone."""
    first = Handler(INIT, body=(says(A),), role="client")
    spec = top(
        first, gets("A", sets("a"), s.If(s.var("gone"), (sets("early"),))),
        loses(sets("gone"), role="server"),
    )  # fmt: skip
    learns = Question(
        "learns", "leads", s.either_of(s.of("p", "a"), s.of("p", "gone")), None, ("p",), (), ("p",),
        SERVER,
    )  # fmt: skip
    fresh = always("fresh", None, s.no(s.of("p", "early")))
    for links, lost in (("connected",), False), (("fifo",), True):
        world = replace(CALM, links=links, crash=1)
        found = agreed(spec, world, (learns, fresh), file)
        assert found == {"learns": lost, "fresh": False}, links


def test_what_was_sent_to_the_old_life_does_not_reach_the_next(file: Path) -> None:
    """Who comes back hears only what was sent since it crashed, and of no connection that is
    gone."""
    first = Handler(INIT, body=(says(A),), role="client")
    spec = top(
        first, gets("A", s.If(s.var("b"), (sets("early"),))),
        Handler(RECOVER, body=(sets("b"),), role="server"), loses(sets("gone"), role="server"),
    )  # fmt: skip
    fresh = always("fresh", None, s.no(s.of("p", "early")))
    calm = always("calm", None, s.no(s.of("p", "gone")))
    of_role = (("crash", "server", 1),)
    failing = replace(
        CALM, crash=1, recover=True, of_roles=of_role, alone=frozenset({"crash"}),
    )  # fmt: skip
    found = agreed(spec, failing, (fresh, calm), file)
    assert found == {"fresh": False, "calm": False}
    other = replace(failing, links=("fifo",))
    assert agreed(spec, other, (fresh, calm), file) == {"fresh": True, "calm": False}
    resent = replace(spec, handlers=(*spec.handlers, loses(says(A), role="client")))
    assert agreed(resent, failing, (fresh, calm), file) == {"fresh": True, "calm": False}


def test_what_the_old_life_sent_comes_before_what_the_next_sends(file: Path) -> None:
    """A late message of a life that is over (a queue that was deleted and made again)."""
    first = Handler(INIT, body=(says(A),), role="client")
    back = Handler(RECOVER, body=(says(B),), role="client")
    spec = top(
        first, back, gets("A", s.If(s.var("b"), (sets("early"),))), gets("B", sets("b")),
    )  # fmt: skip
    fresh = always("fresh", None, s.no(s.of("p", "early")))
    hears = Question(
        "hears", "leads", s.of("p", "b"), s.of("q", "b"), ("p", "q"),
        among=(("p", "server"), ("q", "client")),
    )  # fmt: skip
    of_role = (("crash", "client", 1),)
    for links, violated in (("connected",), False), (("perfect",), True):
        world = replace(
            CALM, links=links, crash=1, recover=True, of_roles=of_role, alone=frozenset({"crash"}),
        )  # fmt: skip
        assert agreed(spec, world, (fresh, hears), file) == {"fresh": violated, "hears": False}


def test_what_is_sent_to_who_is_down_waits(file: Path) -> None:
    """It is not lost: whoever comes back gets it."""
    again = loses(sets("b"), says(B), role="client")
    spec = top(again, gets("B", sets("b")))
    hears = Question(
        "hears", "leads", s.of("p", "b"), s.of("q", "b"), ("p", "q"), (), ("p", "q"),
        (("p", "server"), ("q", "client")),
    )  # fmt: skip
    of_role = (("crash", "server", 1),)
    world = replace(CALM, crash=1, recover=True, of_roles=of_role, alone=frozenset({"crash"}))
    assert agreed(spec, world, (hears,), file) == {"hears": False}
    assert agreed(spec, replace(world, reset=1), (hears,), file) == {"hears": False}


# ---- with other faults ------------------------------------------------------------------------


def test_a_notice_waits_behind_a_cut(file: Path) -> None:
    spec = top(loses(sets("gone")))
    learns = Question(
        "learns", "leads", s.of("q", "gone"), s.of("p", "gone"), ("p", "q"),
        among=(("p", "server"), ("q", "client")),
    )  # fmt: skip
    for cuts, violated in (((), False), ((("server", "client", 1),), True)):
        world = replace(CALM, reset=1, cuts=cuts)
        assert agreed(spec, world, (learns,), file) == {"learns": violated}, cuts


def test_a_pause_between_two_messages_is_seen(file: Path) -> None:
    """The connection may break between them, so that only the second arrives."""
    begins = Handler(INIT, body=(says(A), says(B)), role="client")
    spec = top(begins, gets("A", sets("a")), gets("B", sets("b")))
    both = always("both", s.of("p", "b"), s.of("p", "a"))
    of_role = (("crash", "server", 1),)
    failing = replace(CALM, crash=1, recover=True, of_roles=of_role, alone=frozenset({"crash"}))
    for world in (replace(CALM, reset=1), failing):
        for pauses in (0, 1, -1):
            found = agreed(spec, replace(world, pause=pauses), (both,), file)
            assert found == {"both": pauses != 0}, (world, pauses)


def test_a_handler_of_a_notice_may_be_guarded(file: Path) -> None:
    """The notice is gone also where no handler takes it."""
    choosy = replace(loses(sets("gone"), role="server"), guard=s.var("a"))
    spec = top(asks(says(A)), gets("A", sets("a")), choosy)
    told = always("told", None, s.no(s.of("p", "gone")))
    owed = Question("owed", "leads", s.of("p", "gone"), s.of("p", "a"), ("p",), among=SERVER)
    found = agreed(spec, replace(CALM, reset=1), (told, owed), file)
    assert found == {"told": True, "owed": True}


def test_conditions_go_on_beside_a_notice(file: Path) -> None:
    acts = Handler(CONDITION, guard=s.no(s.var("b")), body=(sets("b"), says(A)), role="client")
    spec = top(acts, gets("A", sets("a")), loses(sets("gone")))
    arrives = Question("arrives", "leads", s.of("p", "a"), None, ("p",), among=SERVER)
    told = Question(
        "told", "leads", s.either_of(s.of("p", "a"), s.of("p", "gone")), None, ("p",), among=SERVER,
    )  # fmt: skip
    found = agreed(spec, replace(CALM, reset=1), (arrives, told), file)
    assert found == {"arrives": True, "told": False}
