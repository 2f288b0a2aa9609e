"""Worlds in which what clocks show decides a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import INIT, RECOVER, TIMEOUT, Handler, Question, Variable, World
from tests.world.test_pauses import MODES, Case, flag, never, once, put

P, Q = s.clock("p"), s.clock("q")


def above(a: s.Expr, b: s.Expr, most: int) -> s.Expr:
    """Whether ``a`` is more than ``most`` above ``b``."""
    return s.op(f"({{}} - {{}} > {most})", lambda x, y: x - y > most, a, b)


def shows(value: int, clock: s.Expr = P) -> s.Expr:
    return s.at_least(clock, s.number(value))


def world(drift: int, until: int, **more: Any) -> World:
    clients = (("c1", ("a",)),) if more.get("n") == 0 else (("p1", ("a",)),)
    given = {"timing": "clocks", "drift": drift, "until": until, "clients": clients}
    return World(**{**given, **more})


def case(
    question: Question, given: World, violated: bool, *handlers: Handler, flags: str = "x begun",
    messages: tuple[str, ...] = (),
) -> Case:  # fmt: skip
    variables = tuple(flag(name) for name in flags.split())
    return Case(handlers, variables, question, given, violated, messages=messages)


APART = never("apart", "p", "q", what=above(P, Q, 1))
AT_ALL = never("at_all", "p", "q", what=above(P, Q, 0))
THREE = never("three", "p", what=shows(3))
SET = never("set", "p", what=s.of("p", "x"))
EARLY = once(put("x"), also=s.no(s.at_least(s.NOW, s.number(1))))
LATER = once(put("x"), also=s.at_least(s.NOW, s.number(2)))
OVER = (
    Handler(INIT, body=(s.Timer("t", True, 1),)),
    Handler(TIMEOUT, "t", body=(put("x"),)),
)
MISSED = never("missed", "p", what=s.both(shows(2), s.no(s.of("p", "x"))))


def looks(*between: s.Statement) -> Handler:
    """A handler that looks at its clock before and behind something."""
    before = s.If(shows(1, s.NOW), (), (put("early"),))
    behind = s.If(shows(1, s.NOW), (put("late"),), ())
    return once(before, *between, behind)


BOTH = never("both", "p", what=s.both(s.of("p", "early"), s.of("p", "late")))
ACT = s.Perform(s.number(1))
WAITS = once(put("early"), s.Await(s.at_least(s.NOW, s.number(2))), put("late"))
STOPS = once(s.If(shows(1, s.NOW), (), (ACT, put("x"))))
TOO_LATE = never("too_late", "p", what=s.both(s.done("performed", s.number(1), 1), shows(1)))

# What was true when a handler acted, in ghosts: that the time was over for somebody.
OF_TIME = (
    Variable("over", "bool", s.FALSE, "ghost shared state"),
    Variable("rude", "bool", s.FALSE, "ghost state"),
)
IN_TIME = once(ACT, s.Ghost((s.Assign("rude", s.var("over")),)), also=s.no(shows(1, s.NOW)))
ENDS = once(
    s.Perform(s.number(2)), s.Ghost((put("over"),)), name="x", also=s.at_least(s.NOW, s.number(2))
)
RUDE = never("rude", "p", what=s.of("p", "rude"))


def looked(pauses: int) -> Case:
    """Processes that act while it is early, by what a guard has read from their clocks."""
    flags = (flag("begun"), flag("x"), *OF_TIME)
    return Case((IN_TIME, ENDS), flags, RUDE, world(1, 2, pause=pauses), pauses != 0)


WORLDS = {
    "a guard looks at the clock": looked(0),
    "and then it is late": looked(1),
    "and it is late, by any number of pauses": looked(-1),
    "no further apart than the drift": case(APART, world(1, 3), False),
    "as far apart as the drift": case(AT_ALL, world(1, 3), True),
    "without drift never apart": case(AT_ALL, world(0, 3), False),
    "two apart": case(APART, world(2, 3), True),
    "not beyond the end": case(THREE, world(1, 2), False),
    "up to the end": case(THREE, world(1, 3), True),
    "all to the end": case(THREE, world(0, 3), True),
    "none beyond it": case(THREE, world(0, 2), False),
    "at 0 in the beginning": case(SET, world(0, 2), True, EARLY),
    "later": case(SET, world(0, 2), True, LATER),
    "time ends before": case(SET, world(0, 1), False, LATER),
    "time waits for a timer": case(MISSED, world(1, 3), False, *OVER),
    "time goes on in a pause": case(MISSED, world(1, 3, pause=1), True, *OVER),
    "all go on in a pause": case(MISSED, world(0, 3, pause=1), True, *OVER),
    "a handler takes no time": case(
        BOTH, world(1, 2), False, looks(ACT), flags="early late begun"
    ),
    "a handler that pauses has looked before": case(
        BOTH, world(1, 2, pause=1), False, looks(ACT), flags="early late begun"
    ),
    "what is behind a yield looks again": case(
        BOTH, world(1, 2), True, looks(s.Yield()), flags="early late begun"
    ),
    "what is behind an await looks again": case(
        BOTH, world(1, 2), True, looks(s.Await()), flags="early late begun"
    ),
    "an await waits for a time": case(BOTH, world(0, 2), True, WAITS, flags="early late begun"),
    "which may not come": case(BOTH, world(0, 1), False, WAITS, flags="early late begun"),
    "an act behind a pause is late": case(TOO_LATE, world(1, 2, pause=1), True, STOPS),
    "who is down for good delays nobody": case(APART, world(1, 3, crash=1), True),
    "who may come back keeps up": case(APART, world(1, 3, crash=1, recover=True), False),
    "without drift, too": case(AT_ALL, world(0, 2, crash=1, recover=True), False),
    "it shows the time after a recovery": case(
        SET, world(0, 2, crash=1, recover=True), True,
        Handler(RECOVER, body=(s.If(shows(2, s.NOW), (put("x"),), ()),)),
    ),
}  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("name", WORLDS)
def test_what_a_clock_decides(name: str, tmp_path: Path) -> None:
    (violated,) = agreed(WORLDS[name].spec, tmp_path / "world.bcast", MODES).values()
    assert violated is WORLDS[name].violated
