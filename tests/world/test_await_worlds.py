"""Worlds in which an ``await`` decides a verdict: random ones seldom have any."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
from tests.world.sorts import BOOL
from tests.world.test_pauses import MODES, NO, YES, flag, never, once, put, world

ALONE = world(n=1)
MESSAGES = (("ONE", ()), ("BIT", (BOOL,)))


@dataclass(frozen=True)
class Case:
    """``violated``: whether the property is, by what the page says."""

    handlers: tuple[Handler, ...]
    variables: tuple[V, ...]
    question: Question
    violated: bool
    world: World = ALONE

    @property
    def spec(self) -> Spec:
        asked = any(handler.event == REQUEST for handler in self.handlers)
        handlers = self.handlers if asked else (*self.handlers, ask(s.Skip()))
        protocol = Protocol("Top", "Service", MESSAGES, self.variables, handlers)
        return Spec(protocol, self.world, (self.question,))


def number(name: str, kind: str = "state") -> V:
    return V(name, "0..3", s.number(0), kind)


def stable(name: str) -> V:
    return V(name, "bool", NO, "stable state")


def add(name: str, by: int = 1) -> s.Assign:
    sign = "+" if by > 0 else "-"
    return s.Assign(name, s.op(f"({{}} {sign} 1)", lambda v: v + by, s.var(name)))


def wait(condition: s.Expr | None = None) -> s.Await:
    return s.Await(condition)


def eventually(what: s.Expr) -> Question:
    return Question("in_the_end", "leads", what, None, ("p",), correct=("p",))


def value(name: str, number: int) -> s.Expr:
    return s.equal(s.of("p", name), s.number(number))


def at_most_once(name: str = "x") -> Question:
    return never("twice", "p", what=s.at_least(s.of("p", name), s.number(2)))


def ask(*body: s.Statement) -> Handler:
    return Handler(REQUEST, "broadcast", (s.Bind("m"),), body=body)


def bit(value: s.Expr) -> s.Send:
    return s.Send(s.message("BIT", value), s.ALL)


def twice(*body: s.Statement) -> tuple[Handler, ...]:
    """A handler that two messages begin."""
    one = s.Send(s.message("ONE"), s.ALL)
    return once(one), once(one, name="sent"), Handler(RECEIVE, "ONE", body=body)


def by_bits(*body: s.Statement) -> tuple[Handler, ...]:
    """A handler that a true and then a false message begin."""
    return once(bit(YES), bit(NO)), Handler(RECEIVE, "BIT", (s.Bind("v"),), body=body)


V_, BUSY = s.name("v"), s.var("busy")
FREE, GO = s.no(BUSY), s.var("go")
READ = s.Let("v", s.var("x"))
WRITE = s.Assign("x", s.op("({} + 1)", lambda v: v + 1, V_))
LOCK, OPEN = (wait(FREE), put("busy")), put("busy", NO)
ENTERS = (add("within"), wait(), add("within", -1))
STORES = (wait(), put("y", V_), add("x"))
STARTED = (flag("begun"), flag("sent"))
ALL = (*STARTED, number("x"), flag("y"), flag("busy"), flag("go"), flag("done"), number("within"))
BOTH_COUNT = eventually(value("x", 2))
IN_ORDER = never("overtakes", "p", what=s.both(value("x", 2), s.of("p", "y")))
DONE = eventually(s.of("p", "done"))
TURNS = Handler(CONDITION, guard=YES, body=(put("busy", FREE),))
COUNTS = (add("x"), wait(GO), put("done"))
KEEPS = (stable("begun"), flag("done"))
AGAIN = Handler(
    CONDITION, guard=s.no(s.var("done")), body=(*LOCK, wait(), OPEN, put("done")),
)  # fmt: skip
LATE = never("late", "p", what=s.both(s.of("p", "y"), s.no(s.of("p", "done"))))
OVER = (Handler(INIT, body=(s.Timer("t"),)), Handler(TIMEOUT, "t", body=(put("y"),)))
HALF = (put("y"), s.Perform(s.ME), put("y", NO))
SEEN = never("half", "p", what=s.of("p", "y"))
WATCHES = once(wait(s.var("y")), put("done"), name="sent")
ENTERED = never(
    "enters", "p", what=s.either_of(s.of("p", "done"), s.both(s.of("p", "y"), s.of("p", "go")))
)
REST = (put("y"), s.Perform(s.ME), put("done"))
LEAVES = once(put("y"), s.Perform(s.ME), put("y", NO), wait(), put("done"))
BOTH = never("both", "p", what=s.both(s.of("p", "y"), s.of("p", "done")))
ONE_INSIDE = (wait(), add("within"), s.Perform(s.ME), add("within", -1))
TOLD = (
    once(s.Send(s.message("ONE"), s.minus(s.ALL, s.only(s.ME)))),
    Handler(RECEIVE, "ONE", body=(put("y"), wait(), put("done"))),
)
GOES_ON = Question("goes_on", "leads", s.of("p", "done"), s.of("p", "y"), ("p",), correct=("p",))
ANSWERS = (
    once(s.Send(s.message("ONE"), s.minus(s.ALL, s.only(s.ME))), wait(s.var("y")), put("done")),
    Handler(RECEIVE, "ONE", body=(put("y"),)),
)
FIFO = world(n=1, links=("fifo",))
CRASHES = world(n=1, crash=1, recover=True)
ANY_PAUSES = world(-1, n=1)
ASYNCHRONOUS = world(n=1, timing="asynchronous")
CLIENT = world(n=1, clients=(("p1", ("a", "b")),))
EACH = Handler(
    CONDITION, guard=s.within(s.ME, s.received("BIT", V_)), body=COUNTS, binds=(("v", BOOL),)
)  # fmt: skip
SELF = Handler(
    RECEIVE, "BIT", (s.Bind("v"),),
    body=(wait(), s.If(V_, (bit(YES),), (put("done"),))),
)  # fmt: skip
ACTS = Handler(CONDITION, guard=YES, body=(wait(), add("x")), called="acts")
COUNTED = (
    once(s.Var("v", s.number(1)), wait(), s.SetVar("v", s.number(2)), wait(),
         s.Assign("x", V_)),
)  # fmt: skip

WORLDS = {
    "an old value": Case(twice(READ, wait(), WRITE), ALL, BOTH_COUNT, True),
    "look again": Case(twice(wait(), READ, WRITE), ALL, BOTH_COUNT, False),
    "a lock": Case(twice(*LOCK, READ, wait(), WRITE, OPEN), ALL, BOTH_COUNT, False),
    "two inside": Case(twice(*ENTERS), ALL, at_most_once("within"), True),
    "one inside, with a lock": Case(
        twice(*LOCK, *ENTERS, OPEN), ALL, at_most_once("within"), False
    ),
    "one inside, with yield": Case(
        twice(add("within"), s.Yield(), add("within", -1)), ALL, at_most_once("within"), False
    ),
    "writes overtake": Case(by_bits(*STORES), ALL, IN_ORDER, True, FIFO),
    "writes do not overtake": Case(by_bits(*STORES[1:]), ALL, IN_ORDER, False, FIFO),
    "a message begins again": Case(twice(*COUNTS), ALL, at_most_once(), True),
    "a request begins again": Case((ask(*COUNTS),), ALL, at_most_once(), True, CLIENT),
    "a condition does not": Case(
        (Handler(CONDITION, guard=YES, body=COUNTS),), ALL, at_most_once(), False
    ),
    "a condition behind its end": Case(
        (Handler(CONDITION, guard=s.no(s.at_least(s.var("x"), s.number(2))),
                 body=(add("x"), wait())),), ALL, at_most_once(), True,
    ),
    "a condition with other names": Case((*by_bits()[:1], EACH), ALL, at_most_once(), True),
    "a condition with the same names": Case(
        (once(bit(YES), bit(YES)), EACH), ALL, at_most_once(), False
    ),
    "a timeout does not": Case(
        (Handler(TIMEOUT, body=COUNTS),), ALL, at_most_once(), False, ASYNCHRONOUS
    ),
    "a timer does not": Case(
        (OVER[0], Handler(TIMEOUT, "t", body=(s.Timer("t"), *COUNTS))), ALL, at_most_once(),
        False, ASYNCHRONOUS,
    ),
    "a budget counts beginnings": Case((ACTS,), ALL, at_most_once(), False,
                                       world(n=1, budget=1)),
    "a budget of two": Case((ACTS,), ALL, at_most_once(), True, world(n=1, budget=2)),
    "a crash loses it": Case((once(wait(), put("done")),), KEEPS, DONE, True, CRASHES),
    "nothing of it comes back": Case(
        (
            once(wait(s.var("y")), put("done"), also=s.no(s.var("y"))),
            Handler(RECOVER, body=(put("y"),)),
        ),
        (*KEEPS, flag("y")), never("back", "p", what=s.of("p", "done")), False, CRASHES,
    ),
    "no crash": Case((once(wait(), put("done")),), KEEPS, DONE, False),
    "a stable lock outlives": Case(
        (AGAIN,), (stable("busy"), flag("done")), DONE, True, CRASHES
    ),
    "a lock dies": Case((AGAIN,), (flag("busy"), flag("done")), DONE, False, CRASHES),
    "it goes on beside conditions": Case(
        (Handler(INIT, body=(wait(), put("done"))), TURNS), ALL, DONE, False
    ),
    "a lock may starve": Case(
        (Handler(INIT, body=(wait(FREE), put("done"))), TURNS), ALL, DONE, True
    ),
    "each of one place goes on": Case((by_bits()[0], SELF), ALL, DONE, False),
    "names are kept": Case(COUNTED, ALL, eventually(value("x", 2)), False),
    "a condition on what is kept": Case(
by_bits(wait(V_), add("x")), ALL, at_most_once(), False
    ),
    "a condition on what is kept comes true": Case(
        by_bits(wait(V_), add("x")), ALL, eventually(value("x", 1)), False
    ),
    "a round waits": Case(
        (*OVER, once(wait(), put("done"))), ALL, LATE, False, world(n=1, timing="synchronous")
    ),
    "no round waits for a condition": Case(
        (*OVER, once(wait(GO), put("done"))), ALL, LATE, True, world(n=1, timing="synchronous")
    ),
    "timers are handled meanwhile": Case(
        (*OVER, once(wait(s.var("y")), put("done"))), ALL, DONE, False,
        world(n=1, timing="clocks", drift=0),
    ),
    "nobody enters": Case((once(wait(), *HALF), WATCHES), ALL, ENTERED, False),
    "a pause inside": Case((once(wait(), *HALF),), ALL, SEEN, True, world(1, n=1)),
    "no pause inside": Case((once(wait(), *HALF),), ALL, SEEN, False),
    "nobody enters a pause": Case(
        (once(wait(), *HALF), WATCHES), ALL, ENTERED, False, world(-1, n=1)
    ),
    "it is left behind a pause": Case((LEAVES,), ALL, BOTH, False, world(1, n=1)),
    "a paused activity is alone": Case(
        (Handler(CONDITION, guard=YES, body=ONE_INSIDE),), ALL, at_most_once("within"), False,
        ANY_PAUSES,
    ),
    "two activities, of which one pauses": Case(
        twice(*ONE_INSIDE), ALL, at_most_once("within"), False, world(1, n=1)
    ),
    "it goes on after any pauses": Case((once(wait(), *REST),), ALL, DONE, False, ANY_PAUSES),
    "pauses of a condition": Case(
        (
            Handler(INIT, body=(wait(), put("done"))),
            Handler(CONDITION, guard=YES, body=(*TURNS.body, s.Perform(s.ME), put("y", BUSY))),
        ),
        ALL, DONE, False, ANY_PAUSES,
    ),
    "a crash inside a paused activity": Case(
        (once(wait(), *REST, also=s.no(GO)), Handler(RECOVER, body=(put("go"),))),
        (*KEEPS, flag("y"), flag("go")),
        never("back", "p", what=s.both(s.of("p", "go"), s.of("p", "done"))), False,
        world(-1, n=1, crash=1, recover=True),
    ),
    "no cut": Case(ANSWERS, ALL, DONE, False, world()),
    "what it waits for is cut off": Case(
        ANSWERS, ALL, DONE, True, world(cuts=(("", "", 1),))
    ),
    "what it waits for is split off": Case(ANSWERS, ALL, DONE, True, world(partition=1)),
    "it goes on behind cuts": Case(TOLD, ALL, GOES_ON, False, world(cuts=(("", "", -1),))),
    "it goes on in a part": Case(TOLD, ALL, GOES_ON, False, world(partition=-1)),
    "in upon init": Case((Handler(INIT, body=(wait(GO), put("done"))), once(put("go"))), ALL,
                         DONE, False),
}  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("name", WORLDS)
def test_what_an_await_decides(name: str, tmp_path: Path) -> None:
    (violated,) = agreed(WORLDS[name].spec, tmp_path / "world.bcast", MODES).values()
    assert violated is WORLDS[name].violated
