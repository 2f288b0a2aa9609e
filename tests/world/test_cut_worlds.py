"""Worlds in which a cut decides what is so: what is known of them, by both definitions.

Random worlds say next to nothing of cuts: most of what is asked of them is so with and without.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.records import replace
from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.judge import explore
from tests.world.protocol import (
    CONDITION,
    INIT,
    RECEIVE,
    RECOVER,
    REQUEST,
    TIMEOUT,
    Handler,
    Protocol,
    Question,
    Spec,
    Variable,
    World,
)
from tests.world.running import ways
from tests.world.steps import steps
from tests.world.system import Model

MODES = ("native", "reference")
A, B = s.message("A"), s.message("B")
GOT = s.Assign("got", s.TRUE)
FLAGS = tuple(Variable(name, "bool", s.FALSE) for name in ("got", "ball", "back", "off"))
SILENT = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
ROLES = (("client", 1), ("server", 1))
OTHERS = s.minus(s.ALL, s.only(s.ME))

ANY = -1
TWO_WAYS = ("", "")
THERE, BACK = ("client", "server"), ("server", "client")


def top(*handlers: Handler, roles: tuple[tuple[str, int], ...] = ROLES) -> Protocol:
    asked = any(handler.event == REQUEST for handler in handlers)
    known = handlers if asked else (SILENT, *handlers)
    return Protocol("T", "Service", (("A", ()), ("B", ())), FLAGS, known, roles=roles)


def gets(kind: str, body: s.Block, role: str = "") -> Handler:
    return Handler(RECEIVE, kind, (), s.Bind("p"), body=body, role=role)


def cut(way: tuple[str, str], most: int) -> tuple[tuple[str, str, int], ...]:
    return ((*way, most),)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "world.bcast"


# ---- which ways -------------------------------------------------------------------------------


def test_who_is_cut_off_from_one_hears_of_it_from_another(file: Path) -> None:
    """A partial partition (Alfatafta, Alkhatib, Alquraan, Al-Kiswany, OSDI 2020): of three that
    relay, one link does not matter, two do."""
    relay = s.If(s.no(s.var("got")), (GOT, s.Send(A, OTHERS)))
    asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(relay,))
    flood = top(asked, gets("A", (relay,)), roles=())
    informed = Question(
        "informed", "leads", s.of("q", "got"), s.of("p", "got"), ("p", "q"), (), ("p", "q")
    )
    for cuts, violated in (
        (cut(TWO_WAYS, 1), False),
        (cut(TWO_WAYS, 2), True),
        (cut(("Proc", "Proc"), 1), False),
        (cut(("Proc", "Proc"), 2), True),
    ):
        found = agreed(Spec(flood, World(n=3, cuts=cuts), (informed,)), file, ("native",))
        assert found == {"informed": violated}, cuts


def test_one_way_is_not_the_other(file: Path) -> None:
    asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Send(A, s.members("server")),))
    answers = gets("A", (GOT, s.Send(B, s.only(s.name("p")))), "server")
    spec = top(asked, answers, gets("B", (s.Assign("back", s.TRUE),), "client"))
    arrives = Question("arrives", "leads", s.of("p", "got"), None, ("p",), among=(("p", "server"),))
    returns = Question(
        "returns", "leads", s.of("q", "back"), s.of("p", "got"), ("p", "q"),
        among=(("p", "server"), ("q", "client")),
    )  # fmt: skip
    for way, found in (
        (THERE, {"arrives": True, "returns": False}),
        (BACK, {"arrives": False, "returns": True}),
        (TWO_WAYS, {"arrives": True, "returns": True}),
        (("Proc", "server"), {"arrives": True, "returns": False}),
    ):
        world = World(n=0, cuts=cut(way, 1), clients=(("c1", ("a",)),))
        assert agreed(Spec(spec, world, (arrives, returns)), file, MODES) == found, way


def test_clauses_add_up(file: Path) -> None:
    """Two links of three are enough to silence a process, and each clause has one cut."""
    asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Send(A, OTHERS),))
    spec = top(asked, gets("A", (GOT,)), roles=(("client", 1), ("server", 2)))
    someone = s.Expr("(exists q in server: q.got)", lambda at: any(
        at.of(q, "got") for q in at.model.roles["server"]
    ))  # fmt: skip
    heard = Question("heard", "stays", someone, None, ())
    for cuts, violated in (
        (cut(TWO_WAYS, 1), False),
        (cut(THERE, 1), False),
        (cut(THERE, 2), True),
        ((*cut(TWO_WAYS, 1), *cut(THERE, 1)), True),
    ):
        world = World(n=0, cuts=cuts, clients=(("c1", ("a",)),))
        assert agreed(Spec(spec, world, (heard,)), file, MODES) == {"heard": violated}, cuts


def test_what_is_only_counted_waits_for_its_way(file: Path) -> None:
    """Who sends and is cut off has not been heard."""
    says = Handler(INIT, body=(s.Send(A, s.members("server")),), role="client")
    enough = s.at_least(s.size(s.received("A")), s.number(1))
    done = Handler(CONDITION, guard=s.both(enough, s.no(s.var("got"))), body=(GOT,), role="server")
    heard = Question("heard", "leads", s.of("p", "got"), None, ("p",), among=(("p", "server"),))
    for way, violated in ((THERE, True), (BACK, False), (TWO_WAYS, True)):
        world = World(n=0, cuts=cut(way, 1), clients=(("c1", ("a",)),))
        found = agreed(Spec(top(says, done), world, (heard,)), file, MODES)
        assert found == {"heard": violated}, way


# ---- time -------------------------------------------------------------------------------------


def in_rounds() -> tuple[Protocol, Question]:
    """The client says A in the first round and B in the second, in this order."""
    first = Handler(INIT, body=(s.Send(A, s.members("server")), s.Timer("t")), role="client")
    second = Handler(TIMEOUT, "t", body=(s.Send(B, s.members("server")),), role="client")
    both = gets("A", (GOT,), "server"), gets("B", (s.Assign("back", s.TRUE),), "server")
    whole = Question("whole", "always", s.of("p", "got"), s.of("p", "back"), ("p",),
                     among=(("p", "server"),))  # fmt: skip
    return top(first, second, *both), whole


@pytest.mark.parametrize("timing", ["synchronous", "partial"])
@pytest.mark.parametrize("kind", ["perfect", "fifo", "fair_loss"])
def test_a_round_loses_what_waits_and_a_cut_heals(timing: str, kind: str, file: Path) -> None:
    """Only so the second message arrives without the first: that was lost with its round."""
    spec, whole = in_rounds()
    calm = World(n=0, timing=timing, links=(kind,), clients=(("c1", ("a",)),))
    always = kind == "fair_loss" or (timing, kind) == ("partial", "perfect")
    for more, violated in (
        ({}, always),
        ({"cuts": cut(THERE, 1)}, True),
        ({"cuts": cut(TWO_WAYS, 1)}, True),
        ({"cuts": cut(BACK, 1)}, always),
        ({"partition": 1}, True),
    ):
        spec_of = Spec(spec, replace(calm, **more), (whole,))
        assert agreed(spec_of, file, MODES) == {"whole": violated}, more


def test_what_waits_is_received_once_it_is_open(file: Path) -> None:
    """Without rounds nothing is lost, and on `fifo` links nothing overtakes."""
    asked = Handler(
        REQUEST, "broadcast", (s.Bind("m"),),
        body=(s.Send(A, s.members("server")), s.Send(B, s.members("server"))),
    )  # fmt: skip
    both = gets("A", (GOT,), "server"), gets("B", (s.Assign("back", s.TRUE),), "server")
    _, whole = in_rounds()
    world = World(n=0, links=("fifo",), cuts=cut(THERE, ANY), clients=(("c1", ("a",)),))
    assert agreed(Spec(top(asked, *both), world, (whole,)), file, MODES) == {"whole": False}


# ---- what is owed -----------------------------------------------------------------------------

HEARD = Question(
    "heard", "stays", s.either_of(s.of("p", "got"), s.no(s.of("p", "ball"))), None, ("p",),
    among=(("p", "server"),),
)  # fmt: skip
"""A arrives, or from some time on B does not: it shows that the way was open."""


def ball(*body: s.Statement) -> tuple[Handler, Handler]:
    """The server shows for a moment that it got B."""
    shown = s.Assign("ball", s.TRUE)
    over = Handler(
        CONDITION, guard=s.var("ball"), body=(s.Assign("ball", s.FALSE), *body), role="server"
    )
    return gets("B", (shown,), "server"), over


def test_flapping_is_no_excuse(file: Path) -> None:
    """Of two messages on one way, one can't be kept from arriving by cuts while others pass."""
    there = s.members("server")
    asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Send(A, there), s.Send(B, there)))
    again = gets("A", (s.Send(B, there),), "client")
    spec = top(asked, gets("A", (GOT,), "server"), again, *ball(s.Send(A, s.members("client"))))
    for links, violated in ((("perfect",), False), (("lossy",), True)):
        world = World(
            n=0, links=links, bound=1 if links == ("lossy",) else None,
            cuts=cut(THERE, ANY), clients=(("c1", ("a",)),),
        )  # fmt: skip
        assert agreed(Spec(spec, world, (HEARD,)), file, MODES) == {"heard": violated}, links


@pytest.mark.parametrize("way", [TWO_WAYS, THERE])
def test_fair_loss_keeps_its_promise_across_cuts(way: tuple[str, str], file: Path) -> None:
    """Also of a message that finds no room while the way is cut."""
    there = s.members("server")
    flip = s.Assign("back", s.no(s.var("back")))
    sends = Handler(
        CONDITION, guard=s.TRUE, body=(flip, s.Send(B, there), s.Send(A, there)), role="client"
    )
    spec = top(sends, gets("A", (GOT,), "server"), *ball())
    arrives = Question("arrives", "leads", s.of("p", "got"), None, ("p",), among=HEARD.among)
    kinds = ("fair_loss",), ("fair_loss", "fifo"), ("lossy",)
    for links, heard in zip(kinds, (False, False, True), strict=True):
        world = World(n=0, links=links, bound=1, cuts=cut(way, ANY), clients=(("c1", ("a",)),))
        found = agreed(Spec(spec, world, (HEARD, arrives)), file, MODES)
        assert found == {"heard": heard, "arrives": True}, links


# ---- with other faults ------------------------------------------------------------------------


def test_who_comes_back_and_is_not_heard_stays_without_what_was_lost(file: Path) -> None:
    there, back = s.members("server"), s.members("client")
    says = s.Send(A, there)
    asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Assign("off", s.TRUE), says))
    spec = top(
        asked, gets("A", (GOT,), "server"), gets("B", (s.If(s.var("off"), (says,)),), "client"),
        Handler(RECOVER, body=(s.Send(B, back),), role="server"),
    )  # fmt: skip
    kept = tuple(replace(v, kind="stable state") if v.name in ("got", "off") else v for v in FLAGS)
    spec = replace(spec, variables=kept)
    arrives = Question(
        "arrives", "leads", s.of("p", "got"), s.of("q", "off"), ("p", "q"), (), ("p", "q"),
        (("p", "server"), ("q", "client")),
    )  # fmt: skip
    calm = World(n=0, clients=(("c1", ("a",)),))
    of_role = (("crash", "server", 1),)
    failing = replace(calm, crash=1, recover=True, of_roles=of_role, alone=frozenset({"crash"}))
    for world, violated in (
        (failing, False),
        (replace(calm, cuts=cut(BACK, 1)), False),
        (replace(failing, cuts=cut(BACK, 1)), True),
    ):
        assert agreed(Spec(spec, world, (arrives,)), file, MODES) == {"arrives": violated}, world


def waiting_for_one() -> tuple[Protocol, Question]:
    """The client waits for the word of one of two servers."""
    says = Handler(INIT, body=(s.Send(A, s.members("client")),), role="server")
    among = (("p", "client"),)
    decides = Question("decides", "leads", s.of("p", "got"), None, ("p",), (), ("p",), among)
    took = gets("A", (GOT,), "client")
    return top(says, took, roles=(("client", 1), ("server", 2))), decides


def test_a_liar_that_is_silent_and_a_cut_are_one_too_many(file: Path) -> None:
    spec, decides = waiting_for_one()
    calm = World(n=0, clients=(("c1", ("a",)),))
    for more, violated in (
        ({"byzantine": 1}, False),
        ({"cuts": cut(TWO_WAYS, 1)}, False),
        ({"byzantine": 1, "cuts": cut(TWO_WAYS, 1)}, True),
        ({"byzantine": 1, "cuts": cut(THERE, 2)}, False),
    ):
        world = replace(calm, **more)
        assert agreed(Spec(spec, world, (decides,)), file, MODES) == {"decides": violated}, more


def test_no_lie_crosses_a_cut() -> None:
    """By the second definition; the tool's is asked in tests/instantiate/test_cuts.py."""
    spec, _ = waiting_for_one()
    world = World(n=0, byzantine=1, cuts=cut(TWO_WAYS, 1), clients=(("c1", ("a",)),))
    model = Model(Spec(spec, world, ()))
    lies = {True: 0, False: 0}
    for state in explore(model.spec).states:
        for step in steps(model, state):
            liar, _, rest = step.name.partition(" makes ")
            if rest and any(True for _ in ways(model, state, step.does)):
                lies[any({liar, rest.split()[0]} == cut for _, cut in state["cut"])] += 1
    assert lies[False] and not lies[True]
