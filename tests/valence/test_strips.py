"""What traces say is still open is what the whole state graph says, or is said to be less."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from checker import resources
from checker.engines.options import Options
from checker.explain import still_open
from checker.formats.json_format import trace_from_text, trace_to_text
from checker.records import replace
from checker.results.trace import StillOpen, Trace
from checker.results.verdict import STRIPS_ENDED, Report
from checker.session.pipeline import replay_trace, run_check
from checker.valence.strips import asked_of, with_strips

DECREE = """
protocol Decree implements Consensus {{
  message OUTCOME(v: 0..1)
  stable state mine : option<0..1> = none
  state done = false

  upon request propose(v) {{
    mine := some(v)
    send OUTCOME(v) to all
  }}

  upon receive OUTCOME(v) when not done {{
    done := true
    decide(v)
  }}
{more}
}}

check asked of Decree {{
  n = {n}
  {world}
  clients {{ p1 proposes 0  p2 proposes 1 }}
  prove {asked}
}}
"""
IMPATIENT = """
  upon timeout when is_some(mine) and not done {
    done := true
    decide(get(mine))
  }
"""
FLIPPED = """
  upon condition is_some(mine) and not done {
    done := true
    if flip() { decide(0) } else { decide(1) }
  }
"""
WORLDS = {
    "plain": (2, "", "", "consensus_agreement"),
    "crash and recovery": (2, "faults crash <= 1, recover", "", "consensus_integrity"),
    "partial synchrony": (2, "timing partial noise 1", IMPATIENT, "consensus_agreement"),
    "symmetry": (4, "faults crash <= 2", "", "uniform_consensus_agreement, termination"),
    "chance": (2, "", FLIPPED, "consensus_agreement"),
    "losses": (2, "links lossy", "", "termination"),
}
LIBRARY = (
    "consensus/leader::leader_crash_one",
    "consensus/leader::zero_for_ones",
    "consensus/paxos::duel",
    "consensus/paxos::outvoted",
    "consensus/wait_for_all_but_one::crash_one",
    "commit/three_phase_commit::wrong_suspicions",
    "commit/two_phase_commit::crash_any",
)
SLOW = (
    "consensus/ben_or::unlucky_coins",
    "consensus/ben_or::one_proposal_is_not_enough",
    "consensus/fast_paxos::nobody_recovers",
    "consensus/flexible_paxos::two_acceptors_die",
    "consensus/flp/rounds::no_coins",
    "consensus/hierarchical::crash_one",
    "consensus/hierarchical::wrong_detector",
    "consensus/flood_set::without_rounds",
    "commit/paxos_commit::late_votes",
)


def said_and_so(path: str, check: str, options: Options) -> list[tuple[Trace, Trace]]:
    """The traces of a check, as they are shown, and with the valence of the whole graph."""
    report = run_check(path, check, options)
    whole = with_strips(report, asked_of(path, check, options), None)
    found = list(zip(traces(report), traces(whole), strict=True))
    assert found
    return found


def traces(report: Report) -> list[Trace]:
    return [verdict.trace for verdict in report.verdicts if verdict.trace is not None]


def require_true(said: Trace, so: Trace) -> None:
    """What is said is true; what is said to be all, is."""
    assert len(so.still_open) == len(said.steps)
    assert len(said.still_open) in (0, len(said.steps))
    for here, there in zip(said.still_open, so.still_open, strict=False):
        assert set(here.values) <= set(there.values)
        assert here.perhaps_more or here.values == there.values
    for before, after in itertools.pairwise(said.still_open):
        assert {*before.values} >= {*after.values}


def in_library(name: str) -> tuple[str, str]:
    file, _, check = name.partition("::")
    return str(resources.specs() / f"{file}.bcast"), check


@pytest.mark.parametrize(
    "name", [*LIBRARY, *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW)]
)
def test_strips_of_the_library(name: str) -> None:
    for said, so in said_and_so(*in_library(name), Options()):
        require_true(said, so)
        if name in LIBRARY:
            assert said.still_open == so.still_open


@pytest.mark.parametrize("fine", [False, True], ids=["coarse", "fine"])
@pytest.mark.parametrize("world", WORLDS)
def test_strips_in_every_world(world: str, fine: bool, tmp_path: Path) -> None:
    """What can be decided is that of the system itself, whatever was reduced to find the run."""
    n, settings, more, asked = WORLDS[world]
    spec = tmp_path / "decree.bcast"
    spec.write_text(DECREE.format(n=n, world=settings, more=more, asked=asked))
    for said, so in said_and_so(str(spec), "asked", Options(fine_steps=fine)):
        require_true(said, so)
        assert said.still_open


@pytest.mark.parametrize("steps", [0, 1, 7, 30, 100, 300])
@pytest.mark.parametrize(
    "name", ["consensus/paxos::outvoted", "consensus/leader::leader_crash_one"]
)
def test_what_too_few_steps_leave_open_is_said(
    name: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(still_open, "STEPS", steps)
    for said, so in said_and_so(*in_library(name), Options()):
        require_true(said, so)


def test_no_step_is_no_strip_but_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(still_open, "STEPS", 0)
    report = run_check(*in_library("consensus/paxos::duel"), Options())
    assert not any(trace.still_open for trace in traces(report))
    assert still_open.UNKNOWN in report.notes


def test_an_interrupt_is_no_strip_but_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(still_open, "with_strips", interrupted)
    report = run_check(*in_library("consensus/paxos::duel"), Options())
    assert traces(report) and not any(trace.still_open for trace in traces(report))
    assert f"{STRIPS_ENDED}interrupted" in report.notes
    assert report.was_interrupted, "it ends what else was asked, and is not kept"


def test_what_takes_too_long_is_no_strip_but_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(still_open, "SECONDS", 0.0)
    report = run_check(*in_library("consensus/paxos::duel"), Options())
    assert not any(trace.still_open for trace in traces(report))
    assert still_open.UNKNOWN in report.notes and not report.was_interrupted
    assert not replay_trace(traces(report)[0]).still_open


def test_a_document_has_it_and_a_replay_finds_it_again() -> None:
    (trace,) = traces(run_check(*in_library("consensus/leader::leader_crash_one"), Options()))
    assert str(trace.still_open[0]) == "{0}"
    assert trace_from_text(trace_to_text(trace), "").still_open == trace.still_open
    assert replay_trace(replace(trace, still_open=())).still_open == trace.still_open
    vague = replace(trace, still_open=tuple(StillOpen(("0",), True) for _ in trace.steps))
    again = trace_from_text(trace_to_text(vague), "")
    assert again.still_open == vague.still_open and str(again.still_open[0]) == "{0,?}"


def test_a_protocol_without_decisions_has_none() -> None:
    path = str(resources.specs() / "broadcast" / "best_effort.bcast")
    report = run_check(path, "crash_one", Options())
    assert not any(trace.still_open for trace in traces(report))
    assert still_open.UNKNOWN not in report.notes
