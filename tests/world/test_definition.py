"""The definition says what is known of small worlds from the literature, or by hand."""

from __future__ import annotations

from checker.records import replace
from tests.world import spec as s
from tests.world.judge import explore, judge
from tests.world.protocol import (
    CONDITION,
    INDICATION,
    INIT,
    RECEIVE,
    REQUEST,
    TIMEOUT,
    Handler,
    Protocol,
    Question,
    Spec,
    Uses,
    World,
)
from tests.world.protocol import Variable as V
from tests.world.sorts import BOOL, MSG, PROC, record_of

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


def decided(kind: str, asked: Question) -> bool:
    """Whether ``asked`` is violated of what two processes decide that propose different values."""
    asks = s.Ask("cons", "propose", (s.name("m"),))
    keep = s.Assign("decision", s.some(s.name("v")))
    top = Protocol(
        "T", "Service", (), (V("decision", "option<Msg>", s.NONE),),
        (
            Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(asks,)),
            Handler(INDICATION, "cons.decide", (s.Bind("v"),), body=(keep,)),
        ),
        (Uses("cons", None, kind),),
    )  # fmt: skip
    clients = (("p1", ("a",)), ("p2", ("b",)))
    world = World(crash=1, oracles=("cons",), clients=clients)
    return words(Spec(top, world, (asked,)))[asked.name]


def test_consensus_binds_the_dead_where_it_is_uniform() -> None:
    """CGR 2011, modules 5.1 and 5.2: who decides and crashes may have decided something else."""
    mine, theirs = s.of("p", "decision"), s.of("q", "decision")
    both = s.both(s.is_some(mine), s.is_some(theirs))
    agree = Question("agree", "always", s.equal(mine, theirs), both, ("p", "q"))
    among_correct = replace(agree, correct=("p", "q"))
    decides = Question("decides", "leads", s.is_some(mine), None, ("p",), (), ("p",))
    for kind, violated in (("Consensus", True), ("UniformConsensus", False)):
        assert decided(kind, agree) is violated
        assert not decided(kind, among_correct)
        assert not decided(kind, decides)


def test_what_is_said_to_the_dead_binds_a_uniform_broadcast_only() -> None:
    """CGR 2011, modules 3.1 to 3.3."""
    asks = s.Ask("low", "broadcast", (ONE,))
    shape = s.Shape("ONE", (s.Bind("m"),))
    told = (s.Tell("deliver", (s.name("p"), M)),)
    handlers = (
        Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(asks,)),
        Handler(INDICATION, "low.deliver", (s.Bind("p"), shape), body=told),
    )
    for kind, agreement, uniform in (
        ("BestEffort", True, True),
        ("Reliable", False, True),
        ("UniformReliable", False, False),
    ):
        uses = (Uses("low", None, f"{kind}Broadcast"),)
        top = Protocol("T", "Service", (("ONE", (MSG,)),), (), handlers, uses)
        world = World(n=3, crash=1, oracles=("low",))
        found = words(Spec(top, world, QUESTIONS))
        assert found == {
            "agreement": agreement, "uniform_agreement": uniform, "no_duplication": False,
        }  # fmt: skip


def test_a_rule_is_about_one_way_only() -> None:
    """From role to role; the answer comes back on another link."""
    top = Protocol(
        "T", "Service", (("ONE", (MSG,)), ("TWO", ())),
        (V("got", "bool", s.FALSE), V("back", "bool", s.FALSE)),
        (
            Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Send(ONE, s.members("server")),)),
            Handler(
                RECEIVE, "ONE", (s.Bind("m"),), s.Bind("p"), role="server",
                body=(s.Assign("got", s.TRUE), s.Send(s.message("TWO"), s.only(P))),
            ),
            Handler(
                RECEIVE, "TWO", (), s.Bind("p"), role="client",
                body=(s.Assign("back", s.TRUE),),
            ),
        ),
        roles=(("client", 1), ("server", 1)),
    )  # fmt: skip
    arrives = Question("arrives", "leads", s.of("p", "got"), None, ("p",), among=(("p", "server"),))
    returns = Question(
        "returns", "leads", s.of("q", "back"), s.of("p", "got"), ("p", "q"),
        among=(("p", "server"), ("q", "client")),
    )  # fmt: skip
    for way, found in (
        (("client", "server"), {"arrives": True, "returns": False}),
        (("server", "client"), {"arrives": False, "returns": True}),
        (("server", "server"), {"arrives": False, "returns": False}),
    ):
        world = World(n=0, rules=((*way, ("lossy",)),), clients=(("c1", ("a",)),))
        assert words(Spec(top, world, (arrives, returns))) == found


def test_clocks_are_not_further_apart_than_they_may_be() -> None:
    """Gray and Cheriton 1989: who waits longer than all clocks differ by is the later one."""
    over = (s.Assign("over", s.TRUE),)
    first = Question("first", "always", s.of("p", "over"), s.of("q", "over"), ("p", "q"),
                     among=(("p", "client"), ("q", "server")))  # fmt: skip
    for drift, units, violated in ((0, 1, True), (0, 2, False), (1, 2, True), (1, 3, False)):
        begins = tuple(
            Handler(INIT, body=(s.Timer("t", True, u),), role=role)
            for role, u in (("client", 1), ("server", units))
        )
        asked = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
        top = Protocol(
            "T", "Service", (), (V("over", "bool", s.FALSE),),
            (asked, *begins, Handler(TIMEOUT, "t", body=over)),
            roles=(("client", 1), ("server", 1)),
        )  # fmt: skip
        world = World(n=0, timing="clocks", drift=drift, clients=(("c1", ("a",)),))
        assert words(Spec(top, world, (first,))) == {"first": violated}


def test_timeouts_are_early_before_a_system_is_synchronous() -> None:
    """Dwork, Lynch and Stockmeyer 1988: rounds eventually, and who knows since when."""
    silent = (s.If(s.var("got"), (s.Skip(),), (s.Assign("wrong", s.TRUE),)),)
    top = Protocol(
        "T", "Service", (("TWO", ()),), (V("got", "bool", s.FALSE), V("wrong", "bool", s.FALSE)),
        (
            Handler(INIT, body=(s.Send(s.message("TWO"), s.ALL), s.Timer("t"))),
            Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),)),
            Handler(RECEIVE, "TWO", (), s.Bind("p"), body=(s.Assign("got", s.TRUE),)),
            Handler(TIMEOUT, "t", body=silent),
        ),
    )  # fmt: skip
    right = Question("right", "always", s.no(s.of("p", "wrong")), None, ("p",))
    for timing, early, violated in (
        ("synchronous", None, False),
        ("partial", 0, False),
        ("partial", 1, True),
        ("partial", None, True),
    ):
        world = World(n=2, timing=timing, early=early)
        assert words(Spec(top, world, (right,))) == {"right": violated}


def test_a_crash_falls_between_two_assignments_to_one_record_on_disk() -> None:
    """Each field that is stored is an effect of its own, unless all of it is assigned at once."""
    sort = record_of(a=BOOL, b=BOOL)
    both_fields = s.Assign("r", s.record(a=s.TRUE, b=s.TRUE))
    apart = (s.Assign("r", s.TRUE, place=("a",)), s.Assign("r", s.TRUE, place=("b",)))
    r = s.of("p", "r")
    whole = Question("whole", "always", s.equal(s.part(r, "a"), s.part(r, "b")), None, ("p",))
    for body, violated in (((both_fields,), False), (apart, True), ((s.Atomic(apart),), False)):
        initial = s.record(a=s.FALSE, b=s.FALSE)
        top = Protocol(
            "T", "Service", (), (V("r", sort.text, initial, "stable state"),),
            (Handler(REQUEST, "broadcast", (s.Bind("m"),), body=body),),
        )  # fmt: skip
        world = World(n=1, crash=1, recover=True)
        assert words(Spec(top, world, (whole,))) == {"whole": violated}
