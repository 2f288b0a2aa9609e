"""Worlds in which the budget of a named alternative decides a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import CONDITION, REQUEST, Handler, Protocol, Question, Spec, World
from tests.world.protocol import Variable as V

MODES = ("native plain", "native", "reference", "native fine")
REQUESTED = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
YES, NO = s.const("true", True), s.const("false", False)
FLAGS = tuple(V(name, "bool", NO) for name in ("begun", "before", "x", "y"))


def put(name: str, value: s.Expr = YES) -> s.Assign:
    return s.Assign(name, value)


def once(*body: s.Statement) -> Handler:
    return Handler(CONDITION, guard=s.no(s.var("begun")), body=(put("begun"), *body))


def either(*ways: tuple[str, s.Statement]) -> s.Either:
    names = tuple(name for name, _ in ways)
    return s.Either(tuple((None, (does,)) for _, does in ways), names)


def never(*parts: s.Expr) -> Question:
    what = parts[0]
    for part in parts[1:]:
        what = s.both(what, part)
    return Question("never", "always", s.no(what), None, ("p", "q"))


APART = s.no(s.equal(s.name("p"), s.name("q")))
BOTH = never(s.of("p", "x"), s.of("q", "x"), APART)
ONE = never(s.of("p", "x"), s.of("q", "x"))
TRIES = once(either(("fails", put("x")), ("works", put("y"))))
TWICE = once(
    either(("fails", put("x")), ("works", s.Skip())),
    either(("fails", put("y")), ("works", s.Skip())),
)
TWO = never(s.of("p", "x"), s.of("q", "y"), s.equal(s.name("p"), s.name("q")))
# Whoever crashes before it fails has left that to the others.
FAILS = s.Either(((None, (put("x"),)), (NO, (s.Skip(),))), ("fails", ""))
ACTS = once(put("before"), s.Perform(s.ME), FAILS)
LEFT = never(s.of("p", "before"), s.of("q", "x"), APART)
RETRIES = Handler(
    CONDITION,
    guard=s.no(s.var("x")),
    body=(either(("fails", put("y", s.no(s.var("y")))), ("works", put("x"))),),
)
DONE = Question("done", "recurs", s.of("p", "x"), None, ("p",))
WORLDS: tuple[tuple[tuple[Handler, ...], Question, dict[str, Any], bool], ...] = (
    ((TRIES,), ONE, {"taken": (("fails", 0, False),)}, False),
    ((TRIES,), ONE, {"taken": (("fails", 1, False),)}, True),
    ((TRIES,), BOTH, {"taken": (("fails", 1, False),)}, False),
    ((TRIES,), BOTH, {"taken": (("fails", 2, False),)}, True),
    ((TRIES,), BOTH, {"taken": (("fails", 1, True),)}, True),
    ((TRIES,), BOTH, {"taken": (("works", 0, False),)}, True),
    ((TWICE,), TWO, {"taken": (("fails", 1, True),)}, False),
    ((TWICE,), TWO, {"taken": (("fails", 2, False),)}, True),
    ((ACTS,), LEFT, {"taken": (("fails", 1, False),), "crash": 1}, True),
    ((ACTS,), LEFT, {"taken": (("fails", 1, False),)}, False),
    ((ACTS,), LEFT, {"taken": (("fails", 0, False),), "crash": 1}, False),
    ((RETRIES,), DONE, {"taken": (("fails", 2, False),)}, False),
    ((RETRIES,), DONE, {"taken": (("fails", 1, True),)}, False),
    ((RETRIES,), DONE, {"taken": (("works", 1, False),)}, True),
    ((RETRIES,), DONE, {"taken": ()}, True),
)


@pytest.mark.every
@pytest.mark.parametrize("number", range(len(WORLDS)))
def test_a_budget_decides(number: int, tmp_path: Path) -> None:
    handlers, question, more, violated = WORLDS[number]
    world = World(**{"n": 2, **more})
    protocol = Protocol("Top", "Service", (), FLAGS, (*handlers, REQUESTED))
    spec = Spec(protocol, world, (question,))
    assert agreed(spec, tmp_path / "spec.bcast", MODES) == {question.name: violated}
