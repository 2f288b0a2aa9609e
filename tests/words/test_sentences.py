"""What is said of each kind of event."""

from __future__ import annotations

from typing import get_args

import pytest

from checker.model.ir import FLIP
from checker.results import events as ev
from checker.results.events import Call, Event
from checker.words.events import doing, sentence

SAID: list[tuple[Event, str]] = [
    (ev.Handled("upon init", process="p1"), "p1: upon init"),
    (ev.Sent("M(a)", ("p2", "p3"), process="p1"), "p1 sends M(a) to p2, p3"),
    (ev.Sent("M(a)", (), process="p1"), "p1 sends M(a) to nobody"),
    (ev.CopyLeft("M", "p2", process="p1"), "M leaves p1 for p2"),
    (ev.Received("M", "p2", process="p1"), "p1 receives M from p2"),
    (ev.Requested(Call("propose", ("1",)), process="p1"), "p1 is asked: propose(1)"),
    (ev.Indicated(Call("rb.done"), process="p1"), "p1 indicates rb.done()"),
    (ev.Indicated(Call("", ("a",)), process="p1"), "p1 indicates a"),
    (ev.Performed("go", process="p1"), "p1 performs go"),
    (ev.Stored("log", "{a}", process="p1"), "p1 stores log = {a}"),
    (ev.TimerChanged("start", "t", process="p1"), "p1 starts the timer `t`"),
    (ev.TimerChanged("cancel", "", process="p1"), "p1 cancels the timer"),
    (ev.TimedOut("t", process="p1"), "p1's timer `t` expires"),
    (ev.TimedOut("", process="p1"), "p1's timer expires"),
    (ev.Chosen("x", "1", process="p1"), "p1 starts with x = 1"),
    (ev.Chosen("x", "1"), "the run starts with x = 1"),
    (ev.Drawn("x", "1", process="p1"), "p1 draws x = 1"),
    (ev.Drawn(FLIP, "true", process="p1"), "p1 flips true"),
    (ev.Drawn("x", "1"), "chance shows x = 1"),
    (ev.Crashed(process="p1"), "p1 crashes"),
    (ev.PowerFailed(process="p1"), "p1 loses its power"),
    (ev.DiskLost(process="p1"), "p1 crashes and loses its disk"),
    (ev.AlternativeTaken("fails", process="p1"), "p1 takes the alternative `fails`"),
    (ev.Left("v", "1", process="p1"), "p1 is left with v = 1"),
    (ev.Synced("x, y", process="p1"), "p1 syncs x, y"),
    (ev.SyncFailed("x", process="p1"), "p1 fails to sync x"),
    (ev.Recovered(process="p1"), "p1 comes back up"),
    (
        ev.Recovered(process="p1", lost=(ev.Forgotten("x", "1", "0"),)),
        "p1 comes back up, and has lost x = 1",
    ),
    (
        ev.Recovered(process="p1", lost=(ev.Forgotten("x", "1" * 99, "0"),)),
        "p1 comes back up, and has lost its x",
    ),
    (ev.Paused(process="p1"), "p1 pauses"),
    (ev.Resumed(process="p1"), "p1 goes on after its pause"),
    (ev.Lost("M", "p2", process="p1"), "the link loses M from p1 to p2"),
    (ev.Lost("M", "p2", "p2", process="p1"), "p2 omits M from p1 to p2"),
    (
        ev.Lost("M", "p2", down="p1", process="p1"),
        "M from p1 to p2 was in transit when p1 crashed, and is lost with it",
    ),
    (ev.Lost("M", "p2", down="p2", process="p1"), "M from p1 to p2 is lost while p2 is down"),
    (ev.Forged("M", "p2", process="p3"), "p3, which is Byzantine, makes p2 receive M from p3"),
    (
        ev.Forged("M", "p2", "p1", process="p3"),
        "p3, which is Byzantine, makes p2 receive M from p1",
    ),
    (ev.TurnedFaulty("p1"), "p1 omits a message and is faulty from now on"),
    (ev.CrashForeseen("p1"), "oracles foresee that p1 will crash"),
    (ev.Partitioned(("p1", "p2")), "the network splits: {p1, p2} cut off"),
    (ev.Healed(), "the network heals"),
    (ev.Cut("p1", "p2"), "the link between p1 and p2 is cut"),
    (ev.Cut("p1", "p2", one_way=True), "the link from p1 to p2 is cut"),
    (ev.Reset("p1", "p2"), "the connection between p1 and p2 is reset"),
    (
        ev.Disconnected("p2", process="p1"),
        "p1 learns that its connection to p2 is gone",
    ),
    (ev.CutHealed("p1", "p2"), "the link between p1 and p2 heals"),
    (ev.CutHealed("p1", "p2", one_way=True), "the link from p1 to p2 heals"),
    (
        ev.OracleIndicated(Call("fd.suspect", ("p2",)), process="p1"),
        "the detector tells p1 that it suspects p2",
    ),
    (
        ev.OracleIndicated(Call("fd.restore", ("p2",)), process="p1"),
        "the detector tells p1 that it no longer suspects p2",
    ),
    (
        ev.OracleIndicated(Call("c.decide", ("1",)), process="p1"),
        "the oracle `c` indicates decide(1) to p1",
    ),
    (ev.OracleIndicated(Call("done"), process="p1"), "the oracle indicates done() to p1"),
    (
        ev.OracleAsked("p1", "c", Call("propose", ("1",))),
        "p1 asks the oracle `c`: propose(1)",
    ),
    (ev.DetectorSettled(), "the detector settles"),
    (
        ev.DetectorSettled("p1"),
        "the detector settles: p1 does not crash any more, and that is eventually known",
    ),
    (ev.ClockTicked("p1"), "the clock of p1 ticks"),
    (ev.ClocksTicked(), "all clocks tick"),
    (ev.RoundEnded(), "a round ends, the next one begins"),
    (ev.BecameSynchronous(), "the system becomes synchronous"),
]


@pytest.mark.every
@pytest.mark.parametrize(("event", "said"), SAID)
def test_an_event_as_a_sentence(event: Event, said: str) -> None:
    assert sentence(event) == said


def test_each_kind_of_event_is_among_them() -> None:
    assert {type(event) for event, _ in SAID} == {*get_args(Event)}


def test_effects_have_a_participle() -> None:
    effects = {type(event) for event, _ in SAID if doing(event)}
    assert effects == {*get_args(ev.Effect)}
