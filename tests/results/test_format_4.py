"""Traces of format 4, which earlier versions wrote, are read as they were meant."""

from __future__ import annotations

from typing import Any

import pytest

from checker.diagnostics import SpecError
from checker.formats.json_format import trace_from_json, trace_to_json
from checker.results import events as ev
from checker.results.events import Call, Event
from tests.render.runs import everything
from tests.results.by_hand import trace

AT = {"file": "hand.bcast", "line": 3, "column": 1}


def old(kind: str, sentence: str, process: str = "", **rest: Any) -> dict[str, Any]:
    """An event as format 4 has it."""
    empty = {"name": "", "message": "", "peers": [], "arguments": [], "at": AT}
    return {"kind": kind, "sentence": sentence, "process": process, **empty, **rest}


def pair(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


WHO: Any = {"process": "p1", "at": ev.At("hand.bcast", 3, 1)}
WORLD: Any = {"at": ev.At("hand.bcast", 3, 1)}

EVENTS: list[tuple[dict[str, Any], Event]] = [
    (old("handler", "", "p1", name="upon init", arguments=[pair("m", "a")]),
     ev.Handled("upon init", (("m", "a"),), **WHO)),
    (old("send", "", "p1", message="M(a)", peers=["p1", "p2"]),
     ev.Sent("M(a)", ("p1", "p2"), **WHO)),
    (old("copy", "", "p1", message="M", peers=["p2"]), ev.CopyLeft("M", "p2", **WHO)),
    (old("receive", "", "p1", message="M", peers=["p2"]), ev.Received("M", "p2", **WHO)),
    (old("lose", "", "p1", message="M", peers=["p2"], name="p3"), ev.Lost("M", "p2", "p3", **WHO)),
    (old("forge", "p1, which is Byzantine, makes p2 receive M from p3", "p1", message="M",
         peers=["p2"]), ev.Forged("M", "p2", "p3", **WHO)),
    (old("forge", "p1, which is Byzantine, makes p2 receive M from p1", "p1", message="M",
         peers=["p2"]), ev.Forged("M", "p2", **WHO)),
    (old("request", "", "p1", name="send((a, b), c)", arguments=[pair("m", "(a, b)")]),
     ev.Requested(Call("send", ("(a, b)", "c"), (("m", "(a, b)"),)), **WHO)),
    (old("indication", "", "p1", name="rb.done()"), ev.Indicated(Call("rb.done"), **WHO)),
    (old("detect", "", "p1", name="fd.suspect(p2)", arguments=[pair("p", "p2")]),
     ev.OracleIndicated(Call("fd.suspect", ("p2",), (("p", "p2"),)), **WHO)),
    (old("crash", "", "p1"), ev.Crashed(**WHO)),
    (old("recover", "", "p1"), ev.Recovered(**WHO)),
    (old("perform", "", "p1", name="go"), ev.Performed("go", **WHO)),
    (old("store", "", "p1", name="log = {a = 1}"), ev.Stored("log", "{a = 1}", **WHO)),
    (old("choice", "", "p1", name="x = 1"), ev.Chosen("x", "1", **WHO)),
    (old("coin", "", "p1", name="heads"), ev.Drawn("", "heads", **WHO)),
    (old("timer", "", "p1", name="starts the timer `t`"), ev.TimerChanged("start", "t", **WHO)),
    (old("timer", "", "p1", name="cancels the timer"), ev.TimerChanged("cancel", "", **WHO)),
    (old("timeout", "", "p1", name="t"), ev.TimedOut("t", **WHO)),
    (old("world", "the network splits: {p2, p3} cut off"), ev.Partitioned(("p2", "p3"), **WORLD)),
    (old("world", "the network heals"), ev.Healed(**WORLD)),
    (old("world", "p2 omits a message and is faulty from now on"), ev.TurnedFaulty("p2", **WORLD)),
    (old("world", "oracles foresee that p2 will crash"), ev.CrashForeseen("p2", **WORLD)),
    (old("world", "the detector settles"), ev.DetectorSettled(**WORLD)),
    (old("world", "the detector settles: p2 does not crash any more, and that is eventually known"),
     ev.DetectorSettled("p2", **WORLD)),
    (old("world", "p1 asks the oracle `cons`: propose(1)"),
     ev.OracleAsked("p1", "cons", Call("propose", ("1",)), **WORLD)),
    (old("world", "the clock of p2 ticks"), ev.ClockTicked("p2", **WORLD)),
    (old("world", "all clocks tick"), ev.ClocksTicked(**WORLD)),
    (old("world", "a round ends, the next one begins"), ev.RoundEnded(**WORLD)),
    (old("world", "the system becomes synchronous"), ev.BecameSynchronous(**WORLD)),
]  # fmt: skip


def document(*events: dict[str, Any]) -> dict[str, Any]:
    """A trace of format 4 with one step in which these events happen."""
    whole = trace_to_json(trace(everything().steps[1]))
    (start, step) = whole["steps"]
    for name in ("witness", "lacking"):
        del whole[name]
    return {**whole, "format": 4, "steps": [start, {**step, "events": list(events)}]}


@pytest.mark.parametrize(("event", "means"), EVENTS)
def test_each_event_means_what_it_did(event: dict[str, Any], means: Event) -> None:
    assert trace_from_json(document(event)).steps[1].events == (means,)


def test_each_kind_of_event_is_among_them() -> None:
    kinds = {kind for kind in vars(ev).values() if hasattr(kind, "__struct_config__")}
    tagged = {kind for kind in kinds if kind.__struct_config__.tag and kind is not ev.World}
    newer = {
        ev.Cut, ev.CutHealed, ev.Paused, ev.Resumed,
        ev.PowerFailed, ev.DiskLost, ev.Left, ev.Synced, ev.SyncFailed,
        ev.Disconnected, ev.Reset, ev.AlternativeTaken,
    }  # fmt: skip
    known = {kind for kind in tagged if kind.__name__[0] != "_"} - newer
    assert {type(means) for _, means in EVENTS} == known


@pytest.mark.parametrize(
    "event", [old("world", "it rains"), old("receive", "", "p1", message="M"), {"kind": "send"}]
)
def test_others_are_refused(event: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as refused:
        trace_from_json(document(event))
    assert refused.value.diagnostics[0].code == "E006"
