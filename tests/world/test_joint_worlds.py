"""Worlds in which it decides a verdict that a role dies with another: random ones seldom have any.

Each is asked twice, with the words `dies with` and without them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import (
    DISCONNECTED,
    INIT,
    RECEIVE,
    RECOVER,
    TIMEOUT,
    Handler,
    Protocol,
    Question,
    Spec,
    World,
)
from tests.world.protocol import Variable as V
from tests.world.test_pauses import NO, REQUESTED, flag, never, once, put

MODES = ("native plain", "native", "reference", "native fine")
TWO = (("client", 1), ("server", 1))
THREE = (*TWO, ("other", 1))
ABOUT = (("c", "client"), ("s", "server"))
ONE = s.Send(s.message("ONE"), s.members("server"))
UNSEEN = s.Perform(s.ME)
C, S = "client", "server"


def world(**more: object) -> World:
    given: dict[str, object] = {"n": 0, "clients": (("c1", ("a",)),)}
    return World(**{**given, **more})  # type: ignore[arg-type]


def of(kind: str, role: str, most: int = 1) -> dict[str, object]:
    return {kind: most, "of_roles": ((kind, role, most),), "alone": frozenset({kind})}


def seen(what: s.Expr, *more: s.Expr) -> Question:
    for each in more:
        what = s.both(what, each)
    return never("seen", "c", "s", what=what, among=ABOUT)


def eventually(variable: str, *correct: str) -> Question:
    return Question("arrives", "leads", s.of("s", variable), None, ("c", "s"), (), correct, ABOUT)


@dataclass(frozen=True)
class Case:
    """Whether the property is violated, by what the page says, where ``server`` dies with
    ``client``, and where it does not."""

    handlers: tuple[Handler, ...]
    question: Question
    world: World
    together: bool
    apart: bool
    roles: tuple[tuple[str, int], ...] = TWO
    more: tuple[V, ...] = ()
    modes: tuple[str, ...] = field(default=MODES)

    def spec(self, joint: bool) -> Spec:
        flags = tuple(flag(name) for name in ("begun", "x", "y"))
        protocol = Protocol(
            "Top", "Service", (("ONE", ()),), (*flags, *self.more), (*self.handlers, REQUESTED),
            roles=self.roles, together=((S, C),) * joint,
        )  # fmt: skip
        return Spec(protocol, self.world, (self.question,))


def on(event: str, role: str, *body: s.Statement, name: str = "") -> Handler:
    return Handler(event, name, body=body, role=role)


DISK = V("disk", "bool", NO, "stable state")
SENDS = on(INIT, C, ONE)
TAKES = on(RECEIVE, S, put("disk"), name="ONE")
DOWN_C, DOWN_S = s.crashed("c"), s.crashed("s")
HALF = (put("x"), UNSEEN, put("x", NO))
AGAIN = {"crash": 1, "recover": True}
COMMON = V("common", "bool", NO, "shared state")
A, B = V("a", "bool", NO, "stable state", role=C), V("b", "bool", NO, "stable state", role=S)

WROTE = once(put("b"), put("common"), role=S)
"""The follower stores something, and everybody knows."""
GONE = s.both(s.var("common"), s.no(s.var("b")))
LACKS = on(RECOVER, S, s.If(GONE, (put("y"),)))
CACHED = (B, COMMON)
COMES_BACK = on(RECOVER, C, put("common"))
"""Only the lead is said to come back, so everybody may know when it has."""
KEEPS = V("kept", "bool", NO, "stable state")
TOLD = Handler(DISCONNECTED, "", (), s.Bind("p"), body=(put("x"),), role=C)


def back(kind: str, role: str = C, **more: object) -> dict[str, object]:
    return {**of(kind, role), "recover": True, **more}


CASES = {
    # stops
    "what is under way arrives": Case(
        (SENDS, TAKES), eventually("disk", "c"), world(crash=1), False, True, more=(DISK,)
    ),
    "the lead is not down alone": Case(
        (), seen(DOWN_C, s.no(DOWN_S)), world(crash=1), False, True
    ),
    "nor is who follows": Case((), seen(DOWN_S, s.no(DOWN_C)), world(crash=1), False, True),
    "nor when they come back": Case(
        (), seen(DOWN_S, s.no(DOWN_C)), world(**AGAIN), False, True
    ),
    "one crash": Case((), seen(DOWN_S, DOWN_C), world(crash=1), True, False),
    "two crashes": Case(
        (), never("both", "c", "d", among=(("c", C), ("d", C)), what=s.both(
            s.no(s.equal(s.name("c"), s.name("d"))), s.both(DOWN_C, s.crashed("d")))),
        world(crash=2), True, True, roles=((C, 2), (S, 2)),
    ),
    "one crash, of the lead": Case((), seen(DOWN_S), world(**of("crash", C)), True, False),
    "one crash, and back": Case((), seen(DOWN_S, DOWN_C), world(**AGAIN), True, False),
    "inside a handler of who follows": Case(
        (once(*HALF, role=S),), seen(DOWN_C, s.of("s", "x")), world(crash=1), True, False
    ),
    "inside a handler of the lead": Case(
        (once(*HALF, role=C),), seen(DOWN_S, s.of("c", "x")), world(crash=1), True, False
    ),
    "between handlers": Case(
        (once(*HALF, role=S),), seen(DOWN_C, s.of("s", "x")),
        world(crash=1, between_handlers=True), False, False,
    ),
    "inside of upon init": Case(
        (on(INIT, C, put("x"), UNSEEN), on(INIT, S, put("y"), UNSEEN)),
        seen(DOWN_S, s.no(s.of("s", "y"))), world(crash=1), True, False,
    ),
    "no upon init of who is down": Case(
        (
            on(INIT, C, put("common"), UNSEEN, put("common", NO)),
            on(INIT, S, s.If(s.var("common"), (put("y"),))),
        ),
        seen(s.of("s", "y")), world(crash=1), False, True, more=(COMMON,),
    ),
    # recoveries
    "the lead first": Case(
        (
            on(RECOVER, C, put("common")),
            on(RECOVER, S, put("x"), s.If(s.var("common"), (put("y"),))),
        ),
        seen(s.of("s", "x"), s.no(s.of("s", "y"))), world(**AGAIN), False, True, more=(COMMON,),
    ),
    "a crash between the two": Case(
        (on(RECOVER, C, put("a")), on(RECOVER, S, put("b"))),
        seen(DOWN_C, s.of("c", "a"), s.no(s.of("s", "b"))),
        world(crash=2, recover=True), True, True, more=(A, B),
    ),
    "no crash before the lead's": Case(
        (on(RECOVER, C, put("a")), on(RECOVER, S, put("b"))),
        seen(DOWN_C, s.of("s", "b"), s.no(s.of("c", "a"))),
        world(crash=2, recover=True), False, True, more=(A, B),
    ),
    "one step": Case(
        (on(RECOVER, C, put("a")), on(RECOVER, S, put("b"))),
        seen(s.of("c", "a"), s.no(DOWN_C), s.no(s.of("s", "b"))),
        world(**AGAIN), False, True, more=(A, B),
    ),
    "who recovers is named by the lead": Case(
        (on(RECOVER, S, put("y")),), seen(s.of("s", "y")),
        world(**AGAIN, recovering=(C,)), True, False,
    ),
    "messages die with them": Case(
        (
            SENDS,
            on(RECOVER, S, put("x")),
            on(RECEIVE, S, s.If(s.var("x"), (put("y"),)), name="ONE"),
        ),
        seen(s.of("s", "y")), world(**AGAIN), False, True,
    ),
    "in order, too": Case(
        (
            SENDS,
            on(RECOVER, S, put("x")),
            on(RECEIVE, S, s.If(s.var("x"), (put("y"),)), name="ONE"),
        ),
        seen(s.of("s", "y")), world(**AGAIN, links=("fifo",)), False, True,
    ),
    "also those that stay in flight": Case(
        (
            SENDS,
            on(RECOVER, S, put("x")),
            on(RECEIVE, S, s.If(s.var("x"), (put("y"),)), name="ONE"),
        ),
        seen(s.of("s", "y")), world(**AGAIN, links=("persistent",)), False, True,
    ),
    # disks
    "the power of the lead": Case(
        (WROTE, LACKS), seen(s.of("s", "y")), world(**back("power")), True, False, more=CACHED
    ),
    "one power failure, two disks": Case(
        (
            once(put("a"), put("noted"), role=C), WROTE,
            on(RECOVER, C, s.If(s.both(s.var("noted"), s.no(s.var("a"))), (put("x"),))), LACKS,
        ),
        seen(s.of("c", "x"), s.of("s", "y")), world(power=1, recover=True), True, False,
        more=(A, *CACHED, V("noted", "bool", NO, "shared state")),
    ),
    "a sync keeps it": Case(
        (once(put("b"), s.Sync(("b",)), put("common"), role=S), LACKS), seen(s.of("s", "y")),
        world(**back("power")), False, False, more=CACHED,
    ),
    "a kill of the lead loses nothing": Case(
        (WROTE, LACKS), seen(s.of("s", "y")),
        world(crash=1, power=1, recover=True, of_roles=(("crash", C, 1), ("power", "other", 1)),
              alone=frozenset({"crash", "power"})),
        False, False, roles=THREE, more=CACHED,
    ),
    "a sync that fails": Case(
        (once(put("b"), s.Sync(("b",), (s.Skip(),)), put("common"), role=S), LACKS),
        seen(s.of("s", "y")), world(**back("power", sync=1)), True, False, more=CACHED,
    ),
    "one power failure, inside a handler of who follows": Case(
        (once(*HALF, role=S),), seen(DOWN_C, s.of("s", "x")), world(**back("power")), True, False,
        more=(B,),
    ),
    "the disk of the lead": Case(
        (WROTE, LACKS), seen(s.of("s", "y")), world(**back("wipe")), True, False, more=CACHED
    ),
    # activities
    "activities die with them": Case(
        (
            once(s.Await(s.var("common")), put("y"), name="kept", also=s.no(s.var("common")),
                 role=S),
            COMES_BACK,
        ),
        seen(s.of("s", "y")), world(**back("crash")), False, True, more=(KEEPS, COMMON),
    ),
    "none goes on while the lead is paused": Case(
        (
            once(put("x"), UNSEEN, put("x", NO), role=C),
            once(s.Await(), put("y"), UNSEEN, put("y", NO), role=S),
        ),
        seen(s.of("c", "x"), s.of("s", "y")), world(pause=2), False, True,
    ),
    "a crash of the lead in a pause of an activity": Case(
        (once(s.Await(), *HALF, role=S),), seen(DOWN_S, s.of("s", "x")),
        world(**of("crash", C), pause=1), True, False,
    ),
    "timers with keys die with them": Case(
        (
            on(INIT, S, s.Timer("t", True, 1, s.ME)),
            Handler(TIMEOUT, "t", (s.Bind("k"),), body=(s.If(s.var("common"), (put("y"),)),),
                    role=S),
            COMES_BACK,
        ),
        seen(s.of("s", "y")), world(**back("crash"), timing="asynchronous"), False, True,
        more=(COMMON,),
    ),
    # connections
    "no reset between them": Case(
        (SENDS, TAKES), eventually("disk"), world(links=("connected",), reset=1), False, True,
        more=(DISK,),
    ),
    "they are not told of one another": Case(
        (TOLD,), seen(s.of("c", "x")), world(**AGAIN, links=("connected",)), False, True
    ),
    "others are told of both": Case(
        tuple(
            Handler(DISCONNECTED, "", (), s.Bind("p"), guard=s.within(s.name("p"), s.members(role)),
                    body=(put(name),), role="other")
            for role, name in ((C, "x"), (S, "y"))
        ),
        never("told", "o", what=s.both(s.of("o", "x"), s.of("o", "y")), among=(("o", "other"),)),
        world(crash=1, links=("connected",)), True, False, roles=THREE,
    ),
    # the network
    "not cut": Case(
        (SENDS, TAKES), eventually("disk"), world(cuts=(("", "", -1),)), False, True,
        roles=THREE, more=(DISK,),
    ),
    "not cut one way": Case(
        (SENDS, TAKES), eventually("disk"), world(cuts=(("Proc", "Proc", 1),)), False, True,
        roles=THREE, more=(DISK,),
    ),
    "not split": Case(
        (SENDS, TAKES), eventually("disk"), world(partition=1), False, True,
        roles=THREE, more=(DISK,),
    ),
    **{
        f"not lost on {' '.join(links)}": Case(
            (SENDS, TAKES), eventually("disk"), world(links=links), False, True, more=(DISK,)
        )
        for links in (("lossy",), ("fair_loss",), ("fifo", "lossy"), ("persistent",))
    },
    "not lost on links of a rule": Case(
        (SENDS, TAKES), eventually("disk"), world(rules=((C, S, ("lossy",)),)), False, True,
        more=(DISK,),
    ),
    "lost on the way to others": Case(
        (on(INIT, "other", ONE), TAKES), eventually("disk"), world(links=("lossy",)), True, True,
        roles=THREE, more=(DISK,),
    ),
    "not omitted": Case(
        (SENDS, TAKES), eventually("disk"), world(omission=1), False, True, more=(DISK,)
    ),
    "not omitted in a round": Case(
        (SENDS, TAKES), eventually("disk"), world(omission=1, timing="synchronous"), False, True,
        more=(DISK,),
    ),
    # pauses
    "never both inside": Case(
        (once(*HALF, role=C), once(*HALF, role=S)),
        seen(s.of("c", "x"), s.of("s", "x")), world(pause=-1), False, True,
    ),
    "one pause of the lead": Case(
        (once(*HALF, role=S),), seen(s.of("s", "x")), world(**of("pause", C)), True, False
    ),
    "meanwhile the other does nothing": Case(
        (
            Handler("condition", guard=s.no(s.var("y")), body=(put("y"),), role=S),
            once(put("x"), UNSEEN, put("begun", NO), put("x", NO), role=C),
        ),
        Question(
            "waits", "leads", s.no(s.of("c", "x")), s.of("c", "x"), ("c",), among=(ABOUT[0],)
        ),
        world(pause=-1), False, False,
    ),
    "both go on": Case(
        (once(put("x"), UNSEEN, put("y"), role=S),),
        Question("goes_on", "leads", s.of("s", "y"), s.of("s", "x"), ("s",), (), ("s",),
                 (ABOUT[1],)),
        world(pause=-1), False, False,
    ),
    "a pause in upon recover": Case(
        (on(RECOVER, C, put("a"), UNSEEN, put("a", NO)), on(RECOVER, S, put("b"))),
        seen(s.of("c", "a"), s.of("s", "b")), world(crash=2, recover=True, pause=1), False, True,
        more=(A, V("b", "bool", NO, role=S)),
    ),
    "a pause behind the lead's": Case(
        (on(RECOVER, C, put("a")), on(RECOVER, S, UNSEEN, put("b"))),
        seen(s.of("c", "a"), s.no(s.of("s", "b")), s.no(DOWN_S)),
        world(**AGAIN, pause=1), True, True, more=(A, B),
    ),
    "a pause in upon init": Case(
        (on(INIT, C, *HALF), on(INIT, S, *HALF)),
        seen(s.of("c", "x"), s.of("s", "x")), world(pause=-1), False, True,
    ),
    **{
        f"they wake together, drift {drift}": Case(
            (
                on(INIT, C, s.Timer("t")), on(TIMEOUT, C, put("x"), name="t"),
                on(INIT, S, s.Timer("u", True, 3)),
                on(TIMEOUT, S, s.Timer("v", True, 4), name="u"),
                on(TIMEOUT, S, put("y"), name="v"),
            ),
            seen(s.of("s", "y"), s.no(s.of("c", "x"))),
            world(pause=1, timing="clocks", drift=drift), False, True,
        )
        for drift in (0, 1)
    },
    **{
        f"they are late together, drift {drift}": Case(
            (
                on(INIT, C, s.Timer("t")), on(TIMEOUT, C, put("x"), name="t"),
                on(INIT, S, s.Timer("u", True, 1)), on(TIMEOUT, S, put("y"), name="u"),
                on(INIT, "other", s.Timer("w", True, 3)), on(TIMEOUT, "other", put("y"), name="w"),
            ),
            never("late", "c", "s", "o", what=s.both(s.of("o", "y"), s.both(
                s.no(s.of("c", "x")), s.no(s.of("s", "y")))), among=(*ABOUT, ("o", "other"))),
            world(pause=1, timing="clocks", drift=drift), True, False, roles=THREE,
        )
        for drift in (0, 1)
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "joint",
    [pytest.param(True, id="together"), pytest.param(False, id="apart")],
)
@pytest.mark.parametrize("name", CASES)
def test_what_it_decides_that_they_die_together(name: str, joint: bool, tmp_path: Path) -> None:
    case = CASES[name]
    spec, modes = case.spec(joint), case.modes if joint else ("native",)
    (violated,) = agreed(spec, tmp_path / "world.bcast", modes).values()
    assert violated is (case.together if joint else case.apart), spec.text()
