"""A fault is a fault wherever faults are counted: foreseen, or without a step of its own."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from checker.render.diagram.words import fate_of
from checker.render.terminal.text import trace_view
from checker.resources import specs
from checker.results.answer import Limits
from checker.results.events import Lost
from checker.results.trace import Cost, Explanation, Trace
from checker.session.pipeline import Options, run_check

FORESEEN = """
protocol FirstDelivered implements UniformConsensus {
  uses tob : UniformTotalOrderBroadcast
  message VALUE(v: 0..1)
  state done = false
  upon request propose(v) { tob.broadcast(VALUE(v)) }
  upon tob.deliver(p, VALUE(v)) when not done { done := true  decide(v) }
}
check crash_one of FirstDelivered {
  n = 2
  faults crash <= 1
  given tob as oracle
  clients { p1 proposes 0  p2 proposes 1 }
  expect uniform_consensus_agreement violated
}
check no_crash of FirstDelivered {
  n = 2
  given tob as oracle
  clients { p1 proposes 0  p2 proposes 1 }
  expect uniform_consensus_agreement holds
}
"""

ROUNDS = """
protocol Once {
  message M
  role sender(1) {
    state tired = false
    upon timeout when not tired { tired := true  send M to receiver }
  }
  role receiver(1) {
    state got = false
    upon receive M { got := true }
  }
  property arrives : eventually forall r in receiver: r.got
}
check losing of Once { links LINKS  timing synchronous  expect arrives violated }
"""


def explained(path: Path | str, check: str, prop: str) -> tuple[Trace, Explanation]:
    report = run_check(str(path), check, Options(explain=30.0))
    (trace,) = (v.trace for v in report.verdicts if v.property == prop)
    assert trace is not None and trace.explanation is not None
    return trace, trace.explanation


def shown(trace: Trace) -> str:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(trace_view(trace))
    return console.export_text()


def test_a_crash_that_is_foreseen_is_a_fault(tmp_path: Path) -> None:
    """Without a crash the property holds, so no run that violates it has no fault."""
    path = tmp_path / "foreseen.bcast"
    path.write_text(FORESEEN)
    (verdict,) = run_check(str(path), "no_crash", Options()).verdicts
    assert verdict.word == "holds"
    trace, said = explained(path, "crash_one", "uniform_consensus_agreement")
    assert said.before is not None and said.after is not None
    assert (said.before.faults, said.after.faults) == (1, 1)
    assert [a.outcome for a in said.ablations if a.kind == "fault"] == ["holds"]
    faulty = [f for f in trace.fates if f.crashed or f.faulty]
    assert len(faulty) == 1
    assert shown(trace).count("(correct)") == 1
    assert sorted(fate_of(trace, p) == "correct" for p in trace.processes) == [False, True]


@pytest.mark.parametrize("links", ["lossy", "lossy, fifo"])
def test_what_is_lost_at_the_end_of_a_round_is_lost(tmp_path: Path, links: str) -> None:
    path = tmp_path / "rounds.bcast"
    path.write_text(ROUNDS.replace("LINKS", links))
    trace, said = explained(path, "losing", "arrives")
    assert said.after is not None and said.after.faults == 1
    lost = [e for step in trace.steps for e in step.events if isinstance(e, Lost)]
    assert len(lost) == 1
    assert [a.outcome for a in said.ablations if a.kind == "fault"] == ["holds"]


def test_a_loss_that_the_violation_needs_stays() -> None:
    path = specs() / "links/sequence_numbers.bcast"
    _, said = explained(path, "lossy_for_ever", "all_arrive")
    assert said.after == Cost(1, 1, 3)
    assert [a.outcome for a in said.ablations if a.kind == "fault"] == ["holds"]


CUT = """
protocol P {
  message A
  state b = false
  upon condition not b { b := true  send A to all }
  upon receive A from p { skip }
  property x : always forall p in Proc: FAULT => not p.b
}
check c of P { n = 2  faults crash <= 1  expect x violated  allow unused }
"""


@pytest.mark.parametrize(("fault", "said"), [("crashed(p)", True), ("not crashed(p)", False)])
def test_that_no_run_takes_less_says_how_crashes_inside_are_counted(
    tmp_path: Path, fault: str, said: bool
) -> None:
    """Where the run has no fault there is no crash to be counted."""
    path = tmp_path / "cut.bcast"
    path.write_text(CUT.replace("FAULT", fault))
    trace, found = explained(path, "c", "x")
    assert found.least
    assert ("a crash inside a handler" in found.note) is said
    assert ("A crash inside a handler" in " ".join(shown(trace).split())) is said


@pytest.mark.parametrize("faults", ["faults crash <= 1", ""])
def test_what_holds_up_to_a_number_says_how_crashes_are_counted(
    tmp_path: Path, faults: str
) -> None:
    path = tmp_path / "cut.bcast"
    text = CUT.replace("FAULT", "crashed(p)").replace("  faults crash <= 1", f"  {faults}")
    path.write_text(text)
    options = Options(engine="symbolic", limits=Limits(max_depth=1), explain=None)
    report = run_check(str(path), "c", options)
    notes = [n for n in report.notes if "crash inside a handler" in n]
    assert len(notes) == (1 if faults else 0)


ON_ITS_WAY = """
protocol Once {
  message M
  role sender(1) {
    state sent = false
    upon condition not sent { sent := true  send M to receiver }
  }
  role receiver(1) {
    state got = false
    upon receive M { got := true }
  }
  property arrives : eventually forall r in receiver: r.got
  property soon : always forall s in sender, r in receiver: s.sent => r.got
}
check lossy of Once { links lossy  expect arrives violated  expect soon violated }
"""


def test_a_message_that_is_never_received_is_told(tmp_path: Path) -> None:
    path = tmp_path / "waits.bcast"
    path.write_text(ON_ITS_WAY, encoding="utf-8")
    trace, found = explained(path, "lossy", "arrives")
    assert trace.in_flight and found.after == Cost(0, 1, 1)
    assert "a message that is on its way forever counts as no fault" in found.note
    _, found = explained(path, "lossy", "soon")  # it may still be received
    assert "counts as no fault" not in found.note
