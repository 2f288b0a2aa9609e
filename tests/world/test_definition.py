"""The definition says what is known of small worlds from the literature, or by hand."""

from __future__ import annotations

from dataclasses import replace

from tests.world import spec as s
from tests.world.judge import explore, judge
from tests.world.protocol import (
    CONDITION,
    RECEIVE,
    REQUEST,
    Handler,
    Protocol,
    Question,
    Spec,
    World,
)
from tests.world.protocol import Variable as V
from tests.world.sorts import MSG, PROC

M, P = s.name("m"), s.name("p")
ONE = s.message("ONE", M)
SEEN = s.var("seen")
AGREEMENT = {
    "processes": ("p", "q", "r"), "payloads": ("m",),
    "premise": s.within(s.pair(s.name("r"), M), s.history("delivered", "p")),
    "conclusion": s.within(s.pair(s.name("r"), M), s.history("delivered", "q")),
}  # fmt: skip
QUESTIONS = (
    Question("agreement", "leads", correct=("p", "q"), **AGREEMENT),  # type: ignore[arg-type]
    Question("uniform_agreement", "leads", correct=("q",), **AGREEMENT),  # type: ignore[arg-type]
    Question(
        "no_duplication", "always", s.no(s.repeated("p", s.pair(s.name("q"), M))), None,
        ("p", "q"), ("m",),
    ),
)  # fmt: skip


def words(spec: Spec) -> dict[str, bool]:
    """Whether each question's property is violated."""
    return {name: verdict.violated for name, verdict in judge(explore(spec)).items()}


def flooding(*, tell_first: bool) -> Protocol:
    """CGR's eager reliable broadcast for one sender; a message is told to the application before it
    is relayed, or after that."""
    origin = s.name("o")
    relay, tell = s.Send(s.message("ONE", origin, M), s.ALL), s.Tell("deliver", (origin, M))
    told = (tell, relay) if tell_first else (relay, tell)
    received = Handler(
        RECEIVE, "ONE", (s.Bind("o"), s.Bind("m")), None, s.outside(M, SEEN),
        (s.Assign("seen", M, "+="), *told),
    )  # fmt: skip
    asked = Handler(
        REQUEST, "broadcast", (s.Bind("m"),), body=(s.Send(s.message("ONE", s.ME, M), s.ALL),)
    )
    return Protocol(
        "Flooding", "Service", (("ONE", (PROC, MSG)),), (V("seen", "set<Msg>", s.EMPTY),),
        (asked, received),
    )  # fmt: skip


def test_flooding_is_reliable_and_not_uniform() -> None:
    """CGR 2011, algorithm 3.3 and the remark on it: who dies between delivering and relaying."""
    spec = Spec(flooding(tell_first=True), World(n=3, crash=1), QUESTIONS)
    assert words(spec) == {"agreement": False, "uniform_agreement": True, "no_duplication": False}


def test_what_a_dead_process_sent_binds_nobody() -> None:
    """Relaying first is no help: of messages of a crashed process nothing is promised."""
    spec = Spec(flooding(tell_first=False), World(n=3, crash=1), QUESTIONS)
    assert words(spec)["uniform_agreement"]


def test_losing_links_break_agreement_and_doubling_ones_nothing() -> None:
    world = World(n=2)
    for links, violated in ((("lossy",), True), (("duplicating",), False), (("stubborn",), False)):
        spec = Spec(flooding(tell_first=True), replace(world, links=links), QUESTIONS)
        assert words(spec)["agreement"] is violated
        assert not words(spec)["no_duplication"]


def moving(body: s.Block, question: Question, *, may: bool = False) -> bool:
    """Whether ``question`` is violated where a process that has not moved may run ``body``."""
    handler = Handler(CONDITION, guard=s.no(s.var("moved")), body=body, may=may)
    asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
    top = Protocol("T", "Service", (), (V("moved", "bool", s.FALSE),), (asked, handler))
    return words(Spec(top, World(), (question,)))["moves"]


def test_a_step_is_a_step() -> None:
    """A promise is kept by doing what was promised, whether or not anything changes."""
    moves = Question("moves", "leads", s.of("p", "moved"), processes=("p",))
    move = s.Assign("moved", s.TRUE)
    assert not moving((move,), moves)
    assert moving((s.Either(((None, (s.Skip(),)), (None, (move,)))),), moves)
    assert moving((move,), moves, may=True)


def test_of_infinitely_many_copies_infinitely_many_arrive() -> None:
    """CGR 2011, module 2.1; also of a kind that never finds room on the link."""
    flip = (s.Assign("turn", s.no(s.var("turn"))), s.Send(s.message("A"), s.only(s.ME)))
    again = Handler(CONDITION, guard=s.TRUE, body=(*flip, s.Send(s.message("B"), s.only(s.ME))))
    got = Handler(RECEIVE, "B", (), s.Bind("p"), body=(s.Assign("got", s.TRUE),))
    asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
    top = Protocol(
        "T", "Service", (("A", ()), ("B", ())),
        (V("turn", "bool", s.FALSE), V("got", "bool", s.FALSE)), (asked, again, got),
    )  # fmt: skip
    gets = Question("gets", "leads", s.of("p", "got"), processes=("p",))
    for links, violated in ((("fair_loss", "fifo"), False), (("lossy", "fifo"), True)):
        world = World(n=1, links=links, bound=1)
        assert words(Spec(top, world, (gets,))) == {"gets": violated}


def test_a_crash_cuts_where_the_text_says() -> None:
    """Local assignments before the cut are done, those behind it are not."""
    first, second = s.Assign("x", s.TRUE), s.Assign("y", s.TRUE)
    lead = Question("in_order", "always", s.of("p", "x"), s.of("p", "y"), ("p",))
    back = replace(lead, name="together", premise=s.of("p", "x"), conclusion=s.of("p", "y"))
    for effect, violated in ((s.Tell("deliver", (s.ME, M)), True), (s.Skip(), False)):
        asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(first, effect, second))
        top = Protocol(
            "T", "Service", (), (V("x", "bool", s.FALSE), V("y", "bool", s.FALSE)), (asked,)
        )
        found = words(Spec(top, World(n=1, crash=1), (lead, back)))
        assert found == {"in_order": False, "together": violated}
