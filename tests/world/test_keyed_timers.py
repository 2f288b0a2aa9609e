"""Worlds in which the keys of a timer decide a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import (
    CONDITION,
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
VARIABLES = (
    V("begun", "bool", s.const("false", False)),
    V("off", "bool", s.const("false", False)),
    V("heard", "set<Proc>", s.EMPTY),
    V("twice", "bool", s.const("false", False)),
)
K, HEARD = s.name("k"), s.var("heard")


def starts(key: s.Expr, units: int = 1) -> s.Timer:
    return s.Timer("t", True, units, key)


def cancels(key: s.Expr) -> s.Timer:
    return s.Timer("t", False, key=key)


def begins(*body: s.Statement) -> Handler:
    return Handler(CONDITION, guard=s.no(s.var("begun")), body=(s.Assign("begun", s.TRUE), *body))


ALL = s.For("w", s.ALL, (starts(s.name("w")),))
OTHERS = s.For("w", s.ALL, (s.If(s.no(s.equal(s.name("w"), s.ME)), (cancels(s.name("w")),)),))
NOTES = Handler(TIMEOUT, "t", (s.Bind("k"),), body=(s.Assign("heard", K, "+="),))
GIVES_UP = Handler(
    TIMEOUT,
    "t",
    (s.Bind("k"),),
    body=(s.Assign("heard", K, "+="), s.Assign("off", s.TRUE), cancels(s.ME)),
)
WAITS = Handler(
    TIMEOUT, "t", (s.Bind("k"),), body=(s.Await(s.var("off")), s.Assign("heard", K, "+="))
)
"""The rest of it waits, and meanwhile other keys expire."""
OPENS = Handler(
    CONDITION, guard=s.both(s.var("begun"), s.no(s.var("off"))), body=(s.Assign("off", s.TRUE),)
)
STARTS_AGAIN = Handler(
    TIMEOUT,
    "t",
    (s.Bind("k"),),
    body=(s.Assign("twice", s.within(K, HEARD)), s.Assign("heard", K, "+="), starts(K),
          s.Await(s.var("off"))),
)  # fmt: skip
SLOWLY = s.For(
    "w",
    s.ALL,
    (s.If(s.equal(s.name("w"), s.ME), (starts(s.name("w"), 2),), (starts(s.name("w")),)),),
)
HAS_ALL = s.at_least(s.size(s.of("p", "heard")), s.number(2))
HAS_ITSELF = s.within(s.name("p"), s.of("p", "heard"))
HAS_ANOTHER = s.both(s.within(s.name("q"), s.of("p", "heard")),
                     s.no(s.equal(s.name("p"), s.name("q"))))  # fmt: skip


def never(what: s.Expr) -> Question:
    return Question("asked", "always", s.no(what), None, ("p", "q"))


def again(what: s.Expr) -> Question:
    return Question("asked", "leads", what, None, ("p",))


ASYNCHRONOUS: dict[str, Any] = {"timing": "asynchronous"}
LOCK_STEP: dict[str, Any] = {"timing": "synchronous"}
CLOCKS: dict[str, Any] = {"timing": "clocks", "drift": 1}
LATE: dict[str, Any] = {"timing": "clocks", "drift": 1, "pause": 1}
ITSELF_FIRST = never(s.both(HAS_ITSELF, s.no(HAS_ALL)))
OTHER_FIRST = never(s.both(HAS_ANOTHER, s.no(HAS_ALL)))
WORLDS: dict[str, tuple[tuple[Handler, ...], Question, dict[str, Any], bool]] = {
    "each key has a timer of its own": ((begins(ALL), NOTES), never(HAS_ALL), ASYNCHRONOUS, True),
    "one key is not another": ((begins(starts(s.ME)), NOTES), never(HAS_ANOTHER), ASYNCHRONOUS,
                               False),
    "each is fair": ((begins(ALL), NOTES), again(HAS_ALL), ASYNCHRONOUS, False),
    "a cancelled one does not expire": ((begins(ALL, OTHERS), NOTES), never(HAS_ANOTHER),
                                        ASYNCHRONOUS, False),
    "others than the cancelled one do": ((begins(ALL, cancels(s.ME)), NOTES), never(HAS_ANOTHER),
                                         ASYNCHRONOUS, True),
    "cancelled when another expires": ((begins(ALL), GIVES_UP), again(HAS_ITSELF), ASYNCHRONOUS,
                                       True),
    "keys have activities of their own": ((begins(ALL), WAITS, OPENS), again(HAS_ALL), ASYNCHRONOUS,
                                          False),
    "a key has one activity": ((begins(ALL), STARTS_AGAIN), never(s.of("p", "twice")), ASYNCHRONOUS,
                               False),
    "meanwhile another key starts": ((begins(ALL), STARTS_AGAIN), never(HAS_ALL), ASYNCHRONOUS,
                                     True),
    "in any order": ((begins(ALL), NOTES), ITSELF_FIRST, ASYNCHRONOUS, True),
    "the longer one in the next round": ((begins(SLOWLY), NOTES), ITSELF_FIRST, LOCK_STEP, False),
    "the shorter one in this": ((begins(SLOWLY), NOTES), OTHER_FIRST, LOCK_STEP, True),
    "the longer one a tick later": ((begins(SLOWLY), NOTES), ITSELF_FIRST, CLOCKS, False),
    "a late process has both": ((begins(SLOWLY), NOTES), ITSELF_FIRST, LATE, True),
}  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("name", WORLDS)
def test_a_key_decides(name: str, tmp_path: Path) -> None:
    handlers, question, more, violated = WORLDS[name]
    protocol = Protocol("Top", "Service", (), VARIABLES, (*handlers, REQUESTED))
    spec = Spec(protocol, World(**{"n": 2, **more}), (question,))
    assert agreed(spec, tmp_path / "world.bcast", MODES) == {question.name: violated}
