"""Worlds in which an oracle has to say what nobody can take, or may not say at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.session.pipeline import run_check
from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import (
    CONDITION,
    INDICATION,
    REQUEST,
    Handler,
    Protocol,
    Question,
    Spec,
    Uses,
    World,
)
from tests.world.test_pauses import MODES, flag, put

FLAGS = (flag("told"), flag("ready"), flag("set"))
TOLD = Question("told", "leads", s.of("p", "told"), None, ("p",), correct=("p",))
SAFE = Question("safe", "always", s.no(s.of("p", "told")), None, ("p",))
LAYERS = {
    "cons": ("Consensus", "propose", "cons.decide", (s.Bind("v"),)),
    "low": ("BestEffortBroadcast", "broadcast", "low.deliver", (s.Bind("p"), s.Shape("A", ()))),
}
READY = s.var("ready")
GETS_READY = Handler(CONDITION, guard=s.no(s.var("set")), body=(put("set"), put("ready")))
HESITATES = Handler(
    CONDITION, guard=s.no(s.var("set")), body=(put("set"), s.Flip((put("ready"),)))
)  # fmt: skip


def world(layer: str, *body: s.Statement, more: tuple[Handler, ...] = (), crash: int = 0) -> Spec:
    """A process that asks ``layer``, and what it does when it is answered."""
    interface, word, answer, values = LAYERS[layer]
    value = s.message("A") if layer == "low" else s.number(1)
    asks = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Ask(layer, word, (value,)),))
    handlers = (asks, Handler(INDICATION, answer, values, body=body), *more)
    uses = (Uses(layer, None, interface),)
    top = Protocol("Top", "Service", (("A", ()),), FLAGS, handlers, uses)
    clients = (("p1", ("a",)),) if layer == "low" else (("p1", ("a",)), ("p2", ("b",)))
    return Spec(top, World(n=2, oracles=(layer,), clients=clients, crash=crash), (TOLD, SAFE))


WORLDS = {
    "it answers": ((put("told"),), (), {"told": False, "safe": True}),
    "nobody can take its answer": (
        (s.Require(s.FALSE), put("told")), (), {"told": False, "safe": False},
    ),
    "it waits until its answer can be taken": (
        (s.Require(READY), put("told")), (GETS_READY,), {"told": False, "safe": True},
    ),
    "some never get ready": (
        (s.Require(READY), put("told")), (HESITATES,), {"told": False, "safe": True},
    ),
    "its answer is taken or not": (
        (s.If(READY, (put("told"),)),), (GETS_READY,), {"told": True, "safe": True},
    ),
}  # fmt: skip
"""What is done with an answer, what else; which of the two properties is violated."""


@pytest.mark.every
@pytest.mark.parametrize("crash", [0, 1])
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", WORLDS)
def test_an_oracle_keeps_its_promise(name: str, layer: str, crash: int, tmp_path: Path) -> None:
    """A run in which it never can is none, as its requirements say."""
    body, more, expected = WORLDS[name]
    spec = world(layer, *body, more=more, crash=crash)
    found = agreed(spec, tmp_path / "world.bcast", MODES)
    assert found["safe"] is expected["safe"]
    if not (layer == "low" and crash):  # what a process that crashes broadcasts need not come
        assert found["told"] is expected["told"]


@pytest.mark.parametrize("requires", [True, False])
def test_a_report_says_which_runs_are_left_out(requires: bool, tmp_path: Path) -> None:
    body = (s.Require(READY),) if requires else ()
    spec, path = world("cons", *body, put("told"), more=(GETS_READY,)), tmp_path / "world.bcast"
    path.write_text(spec.text(), encoding="utf-8")
    notes = run_check(str(path), "c", Options()).notes
    assert any("`require`" in note for note in notes) is requires
