"""What is proved on paper about valence is true of the library's protocols.

FLP: Fischer, Lynch and Paterson, J. ACM 32 (1985).  The inputs that are bivalent follow from the
protocols' texts, as the comments say, and not from the tool.
"""

from __future__ import annotations

from itertools import product

import pytest

from checker.results.valence import Valence
from tests.valence.library import by_input, opens, valence_of

ASYNCHRONOUS = (
    "commit/two_phase_commit::all_say_yes",
    "commit/two_phase_commit::crash_one",
    "commit/two_phase_commit::crash_any",
    "commit/two_phase_commit::no_fault",
    "commit/two_phase_commit::coordinator_or_participant",
    "consensus/leader::leader_no_fault",
    "consensus/leader::leader_crash_one",
    "consensus/wait_for_all::no_fault",
    "consensus/wait_for_all::crash_one",
    "consensus/paxos::outvoted",
    "consensus/paxos::duel",
    "consensus/ben_or::unlucky_coins",
)
"""Protocols without a clock and without a detector, which keep agreement."""
DISAGREEING = ("consensus/leader::impatient_no_fault", "consensus/wait_for_all_but_one::crash_one")


def corner(report: Valence, name: str) -> str:
    return next(c.kept for c in report.corners if c.name == name)


@pytest.mark.parametrize("name", ASYNCHRONOUS)
def test_two_adjacent_inputs_of_different_valence_need_the_process_in_which_they_differ(
    name: str,
) -> None:
    """Lemma 2: a run without that process is one from both inputs, so it decides neither."""
    report = valence_of(name)
    assert corner(report, "agreement") == "kept"
    for pair in report.adjacent:
        assert pair.without == ()


@pytest.mark.parametrize("name", ASYNCHRONOUS)
def test_inputs_are_bivalent_where_both_values_are_possible_and_nobody_is_needed(name: str) -> None:
    """Lemma 2 itself: if from no input one process is waited for, some input is bivalent."""
    report = valence_of(name)
    nobody = all(each.open for start in report.starts for each in start.without)
    if nobody and corner(report, "nontriviality") == "kept":
        assert any(len(start.open) > 1 for start in report.starts)


@pytest.mark.parametrize("name", ASYNCHRONOUS)
def test_who_holds_the_decision_is_waited_for(name: str) -> None:
    """Lemma 3: steps of different processes commute, so one process takes all steps that decide;
    and a run without it could be put before each of them, so there is none that decides."""
    for found in valence_of(name).critical:
        assert found.holder
        assert found.without_holder == ()


def test_some_of_these_protocols_have_critical_states_and_adjacent_inputs() -> None:
    assert any(valence_of(name).critical for name in ASYNCHRONOUS)
    assert any(valence_of(name).adjacent for name in ASYNCHRONOUS)


@pytest.mark.parametrize("name", [*ASYNCHRONOUS, *DISAGREEING])
def test_a_corner_is_given_up(name: str) -> None:
    """The theorem: all of these are asynchronous, and none tosses coins but Ben-Or's, whose coin is
    a free choice.  Where nobody may crash, being able to stop one is what counts."""
    assert "given up" in {corner(valence_of(name), c) for c in ("agreement", "termination")}


@pytest.mark.parametrize("name", DISAGREEING)
def test_agreement_is_what_impatience_costs(name: str) -> None:
    report = valence_of(name)
    assert corner(report, "agreement") == "given up"
    assert report.disagreement is not None
    assert len(report.disagreement.still_open[-1].values) == 2


def test_who_waits_for_all_is_univalent() -> None:
    """All inputs are known to all who decide, so the smallest is what it always is."""
    for name in ("consensus/wait_for_all::no_fault", "consensus/wait_for_all::crash_one"):
        expected = {"".join(v): min(v) for v in product("01", repeat=3)}
        assert opens(valence_of(name)) == expected


def test_a_coordinator_with_patience_has_nothing_to_choose() -> None:
    """Two-phase commit commits where all say yes, and aborts otherwise; a coordinator without
    patience may abort in any case."""
    patient = {"00": "0", "01": "0", "10": "0", "11": "1"}
    assert opens(valence_of("commit/two_phase_commit::crash_one")) == patient
    assert opens(valence_of("commit/two_phase_commit::no_fault")) == {**patient, "11": "01"}


def test_one_zero_can_be_lost_with_the_process_that_has_it_and_two_can_not() -> None:
    """FloodSet decides the smallest input that somebody who is left has heard, with one crash."""
    report = valence_of("consensus/flood_set::two_rounds")
    inputs = ("".join(v) for v in product("01", repeat=3))
    expected = {v: {0: "1", 1: "01"}.get(v.count("0"), "0") for v in inputs}
    assert opens(report) == expected
    assert all(corner(report, c.name) == "kept" for c in report.corners)
    assert report.undecided is None


def test_six_of_the_eight_inputs_of_ben_or_are_bivalent() -> None:
    """Where two differ, the one that is not heard may be the one that makes a majority; then coins
    decide.  Where all agree each majority is the same."""
    found = opens(valence_of("consensus/flp/rounds::coins"))
    assert found.pop("000") == "0"
    assert found.pop("111") == "1"
    assert set(found.values()) == {"01"}
    assert len(found) == 6


def test_without_coins_the_majority_is_kept_and_a_run_never_decides() -> None:
    report = valence_of("consensus/flp/rounds::no_coins")
    inputs = ("".join(v) for v in product("01", repeat=3))
    assert opens(report) == {v: "1" if v.count("1") > 1 else "0" for v in inputs}
    assert report.undecided is not None and report.undecided.kind == "undecided"


@pytest.mark.parametrize("name", ["consensus/paxos::duel", "consensus/ben_or::unlucky_coins"])
def test_a_fair_run_stays_bivalent_forever(name: str) -> None:
    run = valence_of(name).undecided
    assert run is not None and run.kind == "bivalent"
    trace = run.trace
    assert trace.closing is not None and trace.loop is not None and trace.ledger
    assert {len(each.values) for each in trace.still_open} == {2}
    assert not any(fate.deliveries for fate in trace.fates)
    assert len(run.schedule) == trace.length - trace.loop


def test_the_leader_is_needed_from_the_start() -> None:
    report = valence_of("consensus/leader::leader_crash_one")
    assert {each.process for each in report.blocking} == {"p1"}
    for key, start in by_input(report).items():
        assert start.open == (key[0],)
        assert next(w.open for w in start.without if w.process == "p1") == ()
    assert {pair.process for pair in report.adjacent} == {"p1"}
