"""Worlds in which the fairness of an optional handler decides a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.records import replace
from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import CONDITION, Handler
from tests.world.sorts import BOOL
from tests.world.test_await_worlds import (
    ALL,
    DONE,
    FREE,
    LATE,
    OVER,
    TURNS,
    V_,
    Case,
    bit,
    wait,
)
from tests.world.test_pauses import MODES, NO, YES, once, put, world

WEAK, STRONG = (("takes", False),), (("takes", True),)


def takes(*body: s.Statement, when: s.Expr = YES, **more: Any) -> Handler:
    return Handler(CONDITION, guard=when, body=body or (put("done"),), may=True, called="takes",
                   **more)  # fmt: skip


def fair(fairness: tuple[tuple[str, bool], ...], **more: Any) -> Any:
    return replace(world(**{"n": 1, **more}), fair=fairness)


SLOWLY = replace(TURNS, body=(*TURNS.body, s.Perform(s.ME), put("y", s.var("busy"))))
YIELDS = replace(TURNS, body=(s.Yield(), *TURNS.body))
EITHER = takes(s.If(V_, (put("done"),), (s.Skip(),)),
               when=s.within(s.ME, s.received("BIT", V_)), binds=(("v", BOOL),))  # fmt: skip

WORLDS = {
    "never has to be run": Case((takes(), TURNS), ALL, DONE, True, fair(())),
    "is run beside others": Case((takes(), TURNS), ALL, DONE, False, fair(WEAK)),
    "weak: need not be run if it is impossible again and again": Case(
        (takes(when=FREE), TURNS), ALL, DONE, True, fair(WEAK)
    ),
    "strong: is run if it is possible again and again": Case(
        (takes(when=FREE), TURNS), ALL, DONE, False, fair(STRONG)
    ),
    "strong: need not be run if it is possible for a while": Case(
        (takes(when=s.no(s.var("begun"))), once()), ALL, DONE, True, fair(STRONG)
    ),
    "each process runs it": Case((takes(),), ALL, DONE, False, fair(WEAK, n=2)),
    "whoever is correct": Case((takes(), TURNS), ALL, DONE, False, fair(WEAK, n=2, crash=1)),
    "other conditions have their own": Case(
        (takes(s.Skip()), once(put("done"))), ALL, DONE, False, fair(WEAK)
    ),
    "with any values": Case((once(bit(YES), bit(NO)), EITHER), ALL, DONE, True, fair(STRONG)),
    "no round waits": Case((*OVER, takes()), ALL, LATE, True, fair(WEAK, timing="synchronous")),
    "in some round": Case(
        (*OVER, takes(), TURNS), ALL, DONE, False, fair(WEAK, timing="synchronous")
    ),
    "pauses excuse nobody": Case((takes(), SLOWLY), ALL, DONE, False, fair(WEAK, pause=-1)),
    "a pause inside is no excuse": Case(
        (takes(s.Perform(s.ME), put("done")), TURNS), ALL, DONE, False, fair(WEAK, pause=1)
    ),
    "weak: impossible at a yield": Case((takes(), YIELDS), ALL, DONE, True, fair(WEAK)),
    "strong: behind a yield": Case((takes(), YIELDS), ALL, DONE, False, fair(STRONG)),
    "what follows an await is fair anyway": Case(
        (takes(wait(), put("done")), TURNS), ALL, DONE, False, fair(WEAK)
    ),
}


@pytest.mark.every
@pytest.mark.parametrize("name", WORLDS)
def test_what_fairness_decides(name: str, tmp_path: Path) -> None:
    (violated,) = agreed(WORLDS[name].spec, tmp_path / "world.bcast", MODES).values()
    assert violated is WORLDS[name].violated
