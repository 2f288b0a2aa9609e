"""Worlds in which a pause decides a verdict: random ones seldom have any."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.world import spec as s
from tests.world.compare import agreed
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
    World,
)
from tests.world.protocol import Variable as V

MODES = ("native plain", "native", "reference", "native fine")
REQUESTED = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
YES, NO = s.const("true", True), s.const("false", False)


def flag(name: str, role: str = "") -> V:
    return V(name, "bool", NO, role=role)


def put(name: str, value: s.Expr = YES) -> s.Assign:
    return s.Assign(name, value)


def once(*body: s.Statement, name: str = "begun", also: s.Expr = YES, role: str = "") -> Handler:
    """A condition that is taken once."""
    guard = s.both(s.no(s.var(name)), also)
    return Handler(CONDITION, guard=guard, body=(put(name), *body), role=role)


def never(name: str, *processes: str, what: s.Expr, among: Any = ()) -> Question:
    return Question(name, "always", s.no(what), None, processes, among=tuple(among))


@dataclass(frozen=True)
class Case:
    """``violated``: whether the property is, by what the page says."""

    handlers: tuple[Handler, ...]
    variables: tuple[V, ...]
    question: Question
    world: World
    violated: bool
    roles: tuple[tuple[str, int], ...] = ()
    messages: tuple[str, ...] = ()
    extra: tuple[Handler, ...] = field(default=(REQUESTED,))

    @property
    def spec(self) -> Spec:
        kinds = tuple((kind, ()) for kind in self.messages)
        protocol = Protocol(
            "Top", "Service", kinds, self.variables, (*self.handlers, *self.extra),
            roles=self.roles,
        )  # fmt: skip
        return Spec(protocol, self.world, (self.question,))


def world(pause: int = 0, **more: Any) -> World:
    return World(**{"n": 2, "pause": pause, **more})


# ---- inside a handler -------------------------------------------------------------------------

HALF = (once(put("x"), s.Perform(s.ME), put("x", NO)),)
FLAGS = (flag("begun"), flag("x"), flag("y"))
SEEN = never("half", "p", what=s.of("p", "x"))
BOTH = never("both", "p", "q", what=s.both(s.both(s.of("p", "x"), s.of("q", "x")),
             s.no(s.equal(s.name("p"), s.name("q")))))  # fmt: skip
TOGETHER = (once(s.Atomic((put("x"), s.Perform(s.ME), put("x", NO)))),)
BEFORE = (once(put("x"), s.Atomic((s.Perform(s.ME), put("x", NO)))),)
TIMED = (
    once(put("x"), s.Timer("t"), put("x", NO)),
    Handler(TIMEOUT, "t", body=(s.Skip(),)),
)
CANCELLED = (
    Handler(INIT, body=(s.Timer("t"),)),
    once(put("x"), s.Timer("t", False), put("x", NO)),
    Handler(TIMEOUT, "t", body=(s.Skip(),)),
)
ONLY_SENT = (
    once(put("x"), s.Send(s.message("ONE"), s.ALL)),
    Handler(RECEIVE, "ONE", body=(s.Skip(),)),
)
TWICE = (once(put("x"), s.Perform(s.ME), put("y"), s.Perform(s.ME), put("x", NO), put("y", NO)),)
SECOND = never("second", "p", what=s.both(s.of("p", "x"), s.of("p", "y")))
FIRST = never("first", "p", what=s.both(s.of("p", "x"), s.no(s.of("p", "y"))))
DEAF = (
    once(put("x"), s.Perform(s.ME), put("x", NO)),
    once(s.Send(s.message("ONE"), s.ALL), name="z"),
    Handler(RECEIVE, "ONE", body=(put("y", s.var("x")),)),
)
RUDE = never("rude", "p", what=s.of("p", "y"))
GOES_ON = Question("goes_on", "leads", s.of("p", "y"), s.of("p", "x"), ("p",), correct=("p",))
FINISHES = (once(put("x"), s.Perform(s.ME), put("y")),)
FROM_INIT = (Handler(INIT, body=(put("x"), s.Perform(s.ME), put("x", NO))),)
ASKED = Handler(
    REQUEST, "broadcast", (s.Bind("m"),), body=(put("x"), s.Perform(s.ME), put("x", NO))
)
LOOP = (
    Handler(INIT, body=(s.Send(s.message("ONE"), s.ALL),)),
    Handler(CONDITION, guard=YES, body=(put("x", s.no(s.var("x"))), s.Timer("t"))),
    Handler(TIMEOUT, "t", body=(s.Skip(),)),
    Handler(RECEIVE, "ONE", body=(put("y"),)),
)
ARRIVES = Question("arrives", "leads", s.of("p", "y"), None, ("p",), correct=("p",))
DIES = (once(put("x"), s.Perform(s.ME), put("x", NO), put("y")),)
DEAD = never("dead", "p", what=s.both(s.crashed("p"), s.of("p", "x")))
BACK = (
    once(put("x"), also=s.no(s.var("back"))),
    Handler(RECOVER, body=(put("back"), s.Perform(s.ME), put("x", NO))),
)
AT_FIRST = never("old", "p", what=s.both(s.of("p", "back"), s.of("p", "x")))
STORED = (*FLAGS, V("back", "bool", NO, "stable state"))
ASYNCHRONOUS = {"timing": "asynchronous"}

# ---- where something stands before it, or behind it -------------------------------------------

ALREADY = V("y", "bool", YES)
ONE_TO_ALL = s.Send(s.message("ONE"), s.ALL)
DEAF_TO_ONE = Handler(RECEIVE, "ONE", body=(s.Skip(),))
BY_TWO = never(
    "by_two", "p", "q",
    what=s.both(
        s.done("performed", s.name("p"), 1), s.no(s.done("performed", s.name("q"), 1))
    ),
)  # fmt: skip
TWO_THEN_ONE = never(
    "two_then_one", "p",
    what=s.both(s.done("performed", s.number(2), 1), s.no(s.done("performed", s.number(1), 1))),
)  # fmt: skip
BRANCHES = {
    name: (s.If(condition, (s.Skip(),), (s.Perform(s.number(2)),)), s.Perform(s.number(1)))
    for name, condition in (("acts", s.no(s.var("y"))), ("does not", s.var("y")))
}
MESSAGES = (
    Handler(INIT, body=(ONE_TO_ALL,)),
    Handler(RECEIVE, "ONE", body=(s.Send(s.message("TWO"), s.ALL),)),
    Handler(RECEIVE, "TWO", body=(put("x"), s.Send(s.message("THREE"), s.ALL), put("x", NO))),
    Handler(RECEIVE, "THREE", body=(s.Skip(),)),
)
AROUND = {
    "behind a branch that acts": Case(
        (Handler(INIT, body=BRANCHES["acts"]),), (ALREADY,), TWO_THEN_ONE, world(1, n=1), True
    ),
    "behind a branch that does not": Case(
        (Handler(INIT, body=BRANCHES["does not"]),), (ALREADY,), TWO_THEN_ONE, world(1, n=1), False
    ),
    "behind a branch of a condition": Case(
        (Handler(CONDITION, guard=s.var("y"), body=(*BRANCHES["acts"], put("y", NO))),),
        (ALREADY,), TWO_THEN_ONE, world(1, n=1), True,
    ),
    "between two rounds of a loop": Case(
        (once(s.For("q", s.ALL, (s.Perform(s.name("q")),))),), FLAGS, BY_TWO,
        world(1), True,
    ),
    "in no loop without a pause": Case(
        (Handler(INIT, body=(s.For("q", s.ALL, (s.Perform(s.name("q")),)),)),), FLAGS, BY_TWO,
        world(0, n=1), False,
    ),
    "a loop that assigns behind a send": Case(
        (once(s.For("q", s.ALL, (ONE_TO_ALL, put("x", s.no(s.var("x")))))), DEAF_TO_ONE), FLAGS,
        SEEN, world(1), True, messages=("ONE",),
    ),
    "a loop that assigns before a send": Case(
        (once(s.For("q", s.ALL, (put("x", s.no(s.var("x"))), ONE_TO_ALL))), DEAF_TO_ONE), FLAGS,
        SEEN, world(1), True, messages=("ONE",),
    ),
    "a branch that assigns behind a send": Case(
        (once(put("x"), ONE_TO_ALL, s.If(s.var("y"), (put("x", NO),))), DEAF_TO_ONE),
        (flag("begun"), flag("x"), ALREADY), SEEN, world(1), True, messages=("ONE",),
    ),
    "behind one message of several": Case(
        MESSAGES, FLAGS, SEEN, world(1, n=1), True, messages=("ONE", "TWO", "THREE")
    ),
    "an act behind a start": Case(
        (once(put("x"), s.Timer("t"), s.Perform(s.ME), put("x", NO)), *TIMED[1:]), FLAGS, SEEN,
        world(1, **ASYNCHRONOUS), True,
    ),
    "a start behind an act": Case(
        (once(put("x"), s.Perform(s.ME), put("x", NO), s.Timer("t")), *TIMED[1:]), FLAGS, SEEN,
        world(1, **ASYNCHRONOUS), True,
    ),
}  # fmt: skip
INSIDE = {
    "no pause": Case(HALF, FLAGS, SEEN, world(), False),
    "a pause before an act": Case(HALF, FLAGS, SEEN, world(1), True),
    "any number": Case(HALF, FLAGS, SEEN, world(-1), True),
    "two at once, one allowed": Case(HALF, FLAGS, BOTH, world(1), False),
    "two at once, two allowed": Case(HALF, FLAGS, BOTH, world(2), True),
    "two at once, any number": Case(HALF, FLAGS, BOTH, world(-1), True),
    "not in atomic": Case(TOGETHER, FLAGS, SEEN, world(1), False),
    "before atomic": Case(BEFORE, FLAGS, SEEN, world(1), True),
    "before a start": Case(TIMED, FLAGS, SEEN, world(1, **ASYNCHRONOUS), True),
    "before a cancel": Case(CANCELLED, FLAGS, SEEN, world(1, **ASYNCHRONOUS), True),
    "between two acts": Case(TWICE, FLAGS, SECOND, world(1), True),
    "before two acts": Case(TWICE, FLAGS, FIRST, world(1), True),
    "nothing is received meanwhile": Case(
        DEAF, (*FLAGS, flag("z")), RUDE, world(-1), False, messages=("ONE",)
    ),
    "it goes on": Case(FINISHES, FLAGS, GOES_ON, world(1), False),
    "it always goes on": Case(FINISHES, FLAGS, GOES_ON, world(-1), False),
    "in upon init": Case(FROM_INIT, FLAGS, SEEN, world(1), True),
    "in upon init, without": Case(FROM_INIT, FLAGS, SEEN, world(), False),
    "in a request": Case((), FLAGS, SEEN, world(1), True, extra=(ASKED,)),
    "messages still arrive": Case(
        LOOP, FLAGS, ARRIVES, world(-1, n=1, **ASYNCHRONOUS), False, messages=("ONE",)
    ),
    **AROUND,
    "a crash in a pause": Case(DIES, FLAGS, DEAD, world(1, crash=1), True),
    "what a recovery resets": Case(
        BACK, STORED, AT_FIRST, world(1, n=1, crash=1, recover=True), False
    ),
    "what a recovery resets, and a crash inside": Case(
        BACK, STORED, AT_FIRST, world(n=1, crash=2, recover=True), False
    ),
}


# ---- clocks -----------------------------------------------------------------------------------

ROLES = (("client", 1), ("server", 1))
ABOUT = (("c", "client"), ("s", "server"))


def two_timers(first: int, second: int) -> tuple[Handler, ...]:
    """A client whose timer is started, and is over, before that of a server."""
    begins = (s.Timer("t", True, first), s.Send(s.message("ONE"), s.members("server")))
    return (
        Handler(INIT, body=begins, role="client"),
        Handler(RECEIVE, "ONE", body=(s.Timer("u", True, second),), role="server"),
        Handler(TIMEOUT, "t", body=(put("x"),), role="client"),
        Handler(TIMEOUT, "u", body=(put("y"),), role="server"),
    )


LATE = never("late", "c", "s", what=s.both(s.of("s", "y"), s.no(s.of("c", "x"))), among=ABOUT)
CLOCKS = (flag("x", "client"), flag("y", "server"), flag("begun", "client"))
WAKES = (
    Handler(INIT, body=(s.Timer("t"),), role="client"),
    Handler(TIMEOUT, "t", body=(put("x"),), role="client"),
    Handler(INIT, body=(s.Timer("v", True, 2),), role="server"),
    Handler(TIMEOUT, "v", body=(s.Send(s.message("ONE"), s.ALL),), role="server"),
    Handler(RECEIVE, "ONE", body=(put("z"), s.Send(s.message("TWO"), s.ALL)), role="client"),
    Handler(RECEIVE, "TWO", body=(s.Timer("u", True, 2),), role="server"),
    Handler(TIMEOUT, "u", body=(put("y"),), role="server"),
)
STARTS_LATE = (
    once(s.Send(s.message("ONE"), s.members("server")), s.Timer("t", True, 3), role="client"),
    Handler(TIMEOUT, "t", body=(put("x"),), role="client"),
    Handler(RECEIVE, "ONE", body=(s.Timer("v", True, 5),), role="server"),
    Handler(TIMEOUT, "v", body=(s.Send(s.message("TWO"), s.ALL),), role="server"),
    Handler(
        RECEIVE, "TWO", body=(put("z"), s.Send(s.message("THREE"), s.ALL)), role="client"
    ),
    Handler(RECEIVE, "THREE", body=(s.Timer("u", True, 2),), role="server"),
    Handler(TIMEOUT, "u", body=(put("y"),), role="server"),
)  # fmt: skip
"""As soon as the client does something else it is not late any more; a timer is not over so soon
if it has been started late."""
WOKEN = never(
    "woken", "c", "s", among=ABOUT,
    what=s.both(s.both(s.of("c", "z"), s.of("s", "y")), s.no(s.of("c", "x"))),
)  # fmt: skip


def clocks(drift: int, pause: int = 0, **more: Any) -> World:
    given = {"n": 0, "timing": "clocks", "drift": drift, "clients": (("c1", ("a",)),)}
    return World(**{**given, "pause": pause, **more})


def of(role: str, most: int = 1) -> dict[str, Any]:
    return {"of_roles": (("pause", role, most),), "alone": frozenset({"pause"})}


TICKING = {
    f"{name}, drift {drift}": Case(handlers, variables, question, clocks(drift, *more), violated,
                                   roles=ROLES, messages=("ONE",))
    for drift in (0, 1)
    for name, handlers, variables, question, more, violated in (
        ("time waits", two_timers(1, 4), CLOCKS, LATE, (), False),
        ("one pause lets it go on", two_timers(1, 4), CLOCKS, LATE, (1,), True),
        ("any number", two_timers(1, 4), CLOCKS, LATE, (-1,), True),
    )
}  # fmt: skip
WORLDS = {
    **INSIDE,
    **TICKING,
    "of another role": Case(
        two_timers(1, 4), CLOCKS, LATE, clocks(0, 1, **of("server")), False, roles=ROLES,
        messages=("ONE",),
    ),
    "of its role": Case(
        two_timers(1, 4), CLOCKS, LATE, clocks(0, 1, **of("client")), True, roles=ROLES,
        messages=("ONE",),
    ),
    "a step ends it": Case(
        WAKES, (*CLOCKS, flag("z", "client")), WOKEN, clocks(0, 1, **of("client")), False,
        roles=ROLES, messages=("ONE", "TWO"),
    ),
    "a pause before a start": Case(
        STARTS_LATE, (*CLOCKS, flag("z", "client")), WOKEN, clocks(0, 1, **of("client")), True,
        roles=ROLES, messages=("ONE", "TWO", "THREE"),
    ),
    "no pause before a start": Case(
        STARTS_LATE, (*CLOCKS, flag("z", "client")), WOKEN, clocks(0, 1, **of("server")), False,
        roles=ROLES, messages=("ONE", "TWO", "THREE"),
    ),
    "a second pause": Case(
        WAKES, (*CLOCKS, flag("z", "client")), WOKEN, clocks(0, 2, **of("client", 2)), True,
        roles=ROLES, messages=("ONE", "TWO"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_what_a_pause_decides(name: str, tmp_path: Path) -> None:
    (violated,) = agreed(WORLDS[name].spec, tmp_path / "world.bcast", MODES).values()
    assert violated is WORLDS[name].violated
