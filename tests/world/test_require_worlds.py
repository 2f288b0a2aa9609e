"""Worlds in which a `require` behind an effect decides a verdict: a branch that it ends does not
exist, not even up to a crash or a pause before it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import RECEIVE, Handler, Protocol, Spec, World
from tests.world.protocol import Variable as V
from tests.world.test_alternative_worlds import FLAGS, NO, REQUESTED, never, once, put

MODES = ("native plain", "native", "reference", "native fine")
SENDS = s.Send(s.message("ONE"), s.ALL)
HEARD = Handler(RECEIVE, "ONE", (), s.Bind("_"), body=(put("x"),))
KEPT = V("kept", "bool", NO, "stable state")
X = never(s.of("p", "x"))
STORED = replace(never(s.of("p", "kept")), name="nothing_kept")
WAITS = s.Require(s.var("y"))
NOTHING = s.Choose("v", s.op("{{ v for v in Proc when false }}", lambda: frozenset()))
GUESSES = (
    s.Choose("v", s.op("{{true, false}}", lambda: frozenset((True, False)))),
    s.Require(s.name("v")),
)
STOPS: tuple[dict[str, Any], ...] = (
    {"crash": 1},
    {"crash": 1, "recover": True},
    {"crash": 1, "links": ("fifo",), "bound": 1},
    {"power": 1, "recover": True},
    {"pause": 1},
    {"pause": 1, "crash": 1},
)
BODIES: tuple[tuple[tuple[s.Statement, ...], bool], ...] = (
    ((SENDS,), True),
    ((SENDS, WAITS), False),
    ((SENDS, put("kept"), WAITS, put("before")), False),
    ((put("before"), SENDS, s.Atomic((put("kept"), WAITS))), False),
    ((SENDS, s.If(s.var("before"), (s.Skip(),), (WAITS,)), put("before")), False),
    ((SENDS, put("before"), s.Require(s.var("before"))), True),
    ((SENDS, NOTHING), False),
    ((SENDS, put("before", NO), *GUESSES, s.Require(s.no(s.name("v"))), SENDS), False),
    ((SENDS, *GUESSES, put("before", s.name("v"))), True),
)
"""What a handler does that begins once, and whether somebody hears of it; `y` is never true."""


@pytest.mark.parametrize("stops", range(len(STOPS)))
@pytest.mark.parametrize("number", range(len(BODIES)))
def test_what_a_requirement_ends_was_never_begun(number: int, stops: int, tmp_path: Path) -> None:
    body, heard = BODIES[number]
    spec = Spec(
        Protocol("Top", "Service", (("ONE", ()),), (*FLAGS, KEPT), (once(*body), HEARD, REQUESTED)),
        World(**{"n": 2, **STOPS[stops]}),
        (X, STORED),
    )
    mode = MODES[(number + stops) % len(MODES)]
    found = agreed(spec, tmp_path / "spec.bcast", (mode,))
    assert found == {X.name: heard, STORED.name: False}
