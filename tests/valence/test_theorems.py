"""What is proved on paper about valence is true of the library's protocols.

FLP: Fischer, Lynch and Paterson, J. ACM 32 (1985).  The inputs that are bivalent follow from the
protocols' texts, as the comments say, and not from the tool.
"""

from __future__ import annotations

from itertools import combinations, product

import pytest

from checker import resources
from checker.engines.options import Options
from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.results.valence import Valence
from checker.simulate.choices import Choice, choices
from checker.valence.compute import compute
from checker.valence.question import question_of
from tests.selection import first_by_default
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
    "consensus/flexible_paxos::one_acceptor_dies",
    "consensus/flexible_paxos::two_acceptors_die",
    "consensus/flexible_paxos::all_and_one",
    "commit/paxos_commit::one_acceptor",
    "consensus/flp/rounds::no_coins",
    "consensus/paxos::anything_goes",
)
"""Protocols without a clock and without a detector, which keep agreement."""
BY_DEFAULT = 12
CRASHES = " crashes"
COMMUTING = (
    "consensus/leader::leader_crash_one",
    "consensus/paxos::duel",
    "consensus/ben_or::unlucky_coins",
    "commit/two_phase_commit::coordinator_or_participant",
    "consensus/wait_for_all::crash_one",
    "consensus/fast_paxos::nobody_recovers",
)
DISAGREEING = (
    "consensus/leader::impatient_no_fault",
    "consensus/wait_for_all_but_one::crash_one",
    "consensus/paxos::quorums_that_miss_each_other",
)


def corner(report: Valence, name: str) -> str:
    return next(c.kept for c in report.corners if c.name == name)


@pytest.mark.parametrize("name", first_by_default(ASYNCHRONOUS, BY_DEFAULT))
def test_two_adjacent_inputs_of_different_valence_need_the_process_in_which_they_differ(
    name: str,
) -> None:
    """Lemma 2: a run without that process is one from both inputs, so it decides neither."""
    report = valence_of(name)
    assert corner(report, "agreement") == "kept"
    for pair in report.adjacent:
        assert pair.without == ()


@pytest.mark.parametrize("name", first_by_default(ASYNCHRONOUS, BY_DEFAULT))
def test_inputs_are_bivalent_where_both_values_are_possible_and_nobody_is_needed(name: str) -> None:
    """Lemma 2 itself: if from no input one process is waited for, some input is bivalent."""
    report = valence_of(name)
    nobody = all(each.open for start in report.starts for each in start.without)
    if nobody and corner(report, "nontriviality") == "kept":
        assert any(len(start.open) > 1 for start in report.starts)


@pytest.mark.parametrize("name", first_by_default(ASYNCHRONOUS, BY_DEFAULT))
def test_who_holds_the_decision_is_waited_for(name: str) -> None:
    """Lemma 3: steps of different processes commute, so one process takes all steps that decide;
    and a run without it could be put before each of them, so there is none that decides."""
    for found in valence_of(name).critical:
        assert found.holder
        assert found.without_holder == ()


@pytest.mark.parametrize("name", first_by_default(COMMUTING, 2))
def test_steps_of_different_processes_commute(name: str) -> None:
    """Lemma 1, which lemma 3 stands on: of two steps that different processes can take each is
    still there after the other, and both orders lead to the same state, of the same valence."""
    file, _, check = name.partition("::")
    asked = question_of(
        str(resources.specs() / f"{file}.bcast"), check, Options(), None, free_inputs=True
    )
    computed = compute(asked, None)
    system, squares = computed.made.system, 0
    for state in _some_states(system):
        ways = [way for way in choices(system, state).ways if way.process and not way.idle]
        for one, other in combinations(ways, 2):
            if one.process == other.process or CRASHES in one.text + other.text:
                continue  # only so many may crash
            ends = [_after(system, a, b) for a, b in ((one, other), (other, one))]
            assert ends[0] == ends[1]
            assert computed.open(ends[0]) == computed.open(ends[1])
            squares += 1
    assert squares > 50


def _after(system: TransitionSystem, first: Choice, then: Choice) -> State:
    """The state after two steps."""
    found = [way for way in choices(system, first.successor).ways if way.text == then.text]
    assert len(found) == 1, f"{then.text}, after: {first.text}"
    return found[0].successor


def _some_states(system: TransitionSystem) -> list[State]:
    """The first states, breadth first."""
    found = dict.fromkeys(interpreter.initial_states(system))
    todo = list(found)
    for state in todo:
        if len(todo) >= 120:
            break
        for step in interpreter.successors(system, state):
            if step.successor is not None and step.successor not in found:
                found[step.successor] = None
                todo.append(step.successor)
    return todo


def test_where_a_vote_can_be_split_two_processes_can_each_decide() -> None:
    """Fast Paxos in which nobody recovers: steps of two acceptors lead to different values.  They
    commute, so after both nothing can be decided: FLP's protocols have no such state."""
    report = valence_of("consensus/fast_paxos::nobody_recovers")
    assert corner(report, "agreement") == "kept"
    assert corner(report, "termination") == "given up"
    for found in report.critical:
        assert found.holder == ""
        assert len({branch.process for branch in found.branches if branch.open}) > 1
    assert any(level.silent for level in report.levels)


def test_a_protocol_that_only_some_may_leave_gives_up_termination() -> None:
    """Acceptors may crash, and the only proposer may not: that is not what the theorem is about."""
    report = valence_of("consensus/flexible_paxos::one_acceptor_dies")
    assert report.undecided is None
    assert corner(report, "termination") == "given up"
    assert "p1" in next(c.reason for c in report.corners if c.name == "termination")


def test_some_of_these_protocols_have_critical_states_and_adjacent_inputs() -> None:
    assert any(valence_of(name).critical for name in ASYNCHRONOUS[:BY_DEFAULT])
    assert any(valence_of(name).adjacent for name in ASYNCHRONOUS[:BY_DEFAULT])


@pytest.mark.parametrize("name", first_by_default([*DISAGREEING, *ASYNCHRONOUS], 14))
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
