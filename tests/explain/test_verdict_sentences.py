"""The verdict in sentences, on the library's broken protocols: each was compared with its run."""

from __future__ import annotations

from functools import cache

import pytest

from checker.explain.realisation import title
from checker.explain.verdict_sentences import LONGEST, sentences
from checker.records import replace
from checker.resources import specs
from tests.explain.violations import Violation, violation

CASES = {
    "agreement, which a relay would have saved": (
        "broadcast/eager_reliable_without_relay.bcast::crash_one",
        "agreement",
        "Agreement fails: p2, which is correct, delivered a; p3, which is correct, never does.",
        "p1 crashed after its DATA(p1, a) reached only p2, and p2 sends p3 nothing after that.",
        "After step 3 the system is quiescent.",
    ),
    "what a faulty process delivered": (
        "broadcast/eager_reliable.bcast::crash_one",
        "uniform_agreement",
        "Uniform agreement fails: p1, which crashed later, delivered a; p2, which is correct,"
        " never does.",
        "p1 crashed before its DATA(p1, a) reached anybody else.",
        "After step 3 the system is quiescent.",
    ),
    "both messages and both processes": (
        "total_order/sequencer_takeover.bcast::crash_one",
        "uniform_total_order",
        "Uniform total order fails: p2 delivered b, then a; p3 delivered a, then b.",
        "p1 crashed at step 4.",
    ),
    "an order that one process has not kept": (
        "broadcast/fifo.bcast::no_numbers",
        "fifo_order",
        "FIFO order fails: p1 broadcast a, then b; p2 delivered b without having delivered a.",
    ),
    "what may have caused what": (
        "broadcast/fifo.bcast::not_causal",
        "causal_order",
        "Causal order fails: p2's broadcast of b may have caused p1's broadcast of a; p3"
        " delivered a without having delivered b.",
    ),
    "two decisions": (
        "consensus/wait_for_all_but_one.bcast::no_fault",
        "consensus_agreement",
        "Consensus agreement fails: p2 decided 0 and p3 decided 1.",
    ),
    "nobody in particular": (
        "consensus/leader.bcast::zero_for_ones",
        "consensus_validity",
        "Consensus validity fails: p2 decided 0 and no process proposed 0.",
    ),
    "nobody, in two ways": (
        "commit/two_phase_commit.bcast::no_fault",
        "nbac_abort_validity",
        "NBAC abort validity fails: c1 decided 0 and no process proposed 0 or has crashed.",
    ),
    "somebody who waits for the dead": (
        "commit/two_phase_commit.bcast::crash_one",
        "nbac_termination",
        "NBAC termination fails: c1, which is correct, never decides.",
        "p2 crashed at step 2.",
        "After step 3 the system is quiescent.",
    ),
    "a duel without an end": (
        "consensus/paxos.bcast::duel",
        "proposers_decide",
        "`proposers_decide` fails: p1 never decides.",
        "Steps 4 to 11 repeat forever: p1, p2 and a1 keep going, every message that is sent is"
        " received, and nothing that must happen is put off forever.",
    ),
    "losses without an end": (
        "links/alternating_bit.bcast::lossy_for_ever",
        "all_arrive",
        "`all_arrive` fails: the size of r1.got is never 3.",
        "Steps 1 to 3 repeat forever: s1 keeps going, DATA(false, 1) gets lost again and again,"
        " and nothing that must happen is put off forever.",
    ),
    "an effect that came twice, and the crash that made it": (
        "exactly_once/winch.bcast::lower_then_log",
        "at_most_once over effects",
        "At most once over effects fails: act 1 had its effect twice.",
        "p1 performed 1 at step 1 and again at step 3.",
        "p1 crashed after performing 1 and before storing made = 1, and came back later.",
    ),
    "an effect that never came": (
        "exactly_once/winch.bcast::log_then_lower",
        "arrives",
        "`arrives` fails: p1 is correct and act 1 is never performed.",
        "p1 crashed after storing made = 1 and before performing 1, and came back later.",
        "After step 3 the system is quiescent.",
    ),
    "one of two changes": (
        "exactly_once/two_changes.bcast::plain",
        "both_or_neither",
        "`both_or_neither` fails: act (1, a) was performed; act (2, a) was not performed.",
        "s1 crashed after performing (1, a) and before performing (2, a).",
    ),
    "a message that outlives its sender": (
        "broadcast/gossip.bcast::one_round_crash_one",
        "agreement",
        "Agreement fails: p3, which is correct, delivered a; p2, which is correct, never does.",
        "p1 crashed at step 2; its GOSSIP(p1, a, 0) reached only p3, and p3 sends p2 nothing"
        " after that.",
        "After step 3 the system is quiescent.",
    ),
    "a delivery that came twice": (
        "links/perfect.bcast::without_memory",
        "no_duplication",
        "No duplication fails: p2 delivered a twice.",
        "p2 delivered a at step 2 and again at step 3.",
    ),
    "a loss": (
        "links/perfect.bcast::without_repetition",
        "reliable_delivery",
        "Reliable delivery fails: p1 sent a to p2 and p2 never delivers a.",
        "The network lost DATA(a) from p1 to p2.",
        "After step 2 the system is quiescent.",
    ),
    "a detector's mistake": (
        "consensus/hierarchical.bcast::wrong_detector",
        "consensus_agreement",
        "Consensus agreement fails: p1 decided a and p2 decided b.",
        "p2 suspected p1, which had not crashed.",
    ),
    "what a detector never says": (
        "detectors/trivial.bcast::says_nothing",
        "strong_completeness",
        "Strong completeness fails: p1, which is correct, never suspects p2, which crashed.",
        "p2 crashed at step 1.",
        "After step 1 the system is quiescent.",
    ),
    "what a detector says again and again": (
        "detectors/increasing_timeout.bcast::impatient_for_ever",
        "eventual_strong_accuracy",
        "Eventual strong accuracy fails: p1 suspects p2 again and again.",
        "Steps 7 to 16 repeat forever: p1 and p2 keep going, every message that is sent is"
        " received, and nothing that must happen is put off forever.",
    ),
    "liars": (
        "byzantine/consistent_echo.bcast::forged_senders",
        "consistency",
        "Consistency fails: p1, which is correct, delivered a from p1; p3, which is correct,"
        " delivered forged from p1.",
        "p2, which is Byzantine, sent ECHO(forged) to p3 (in the names of p1, p2 and p3) and"
        " ECHO(a) to p1 (in the names of p2 and p3).",
    ),
    "a liar that keeps silent": (
        "byzantine/bracha.bcast::three",
        "validity",
        "Validity fails: p1, which is correct, broadcast a and never delivers it.",
        "p3, which is Byzantine, sends nothing.",
        "After step 3 the system is quiescent.",
    ),
    "a split network": (
        "exactly_once/partitioned_queue.bcast::majority_split",
        "served",
        "`served` fails: p1 submitted a and never delivers it.",
        "The network splits: {p2, p3} cut off.",
        "After step 4 no fairness assumption requires another step: WRITE(a) from p1 to p2 and"
        " WRITE(a) from p1 to p3 are in transit and need not arrive.",
    ),
    "state": (
        "exactly_once/failover.bcast::without_numbers",
        "at_most_once",
        "`at_most_once` fails: b1.written is 2, not at most 1.",
        "A timer expired: producer1 at step 1.",
    ),
    "two at once": (
        "time/leases.bcast::beyond_the_bound",
        "one_holder",
        "`one_holder` fails: h1.holding is true and h2.holding is true.",
        "A timer expired: g1 at step 11.",
    ),
}


@cache
def of_library(name: str, prop: str, *, fine: bool = False) -> Violation:
    file, _, check = name.partition("::")
    return violation(specs() / file, check, prop, fine=fine)


def said(found: Violation) -> tuple[str, ...]:
    return sentences(found.system, found.prop, found.run, found.trace)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_library(case: tuple[str, ...]) -> None:
    name, prop, *expected = case
    assert said(of_library(name, prop)) == tuple(expected)


@pytest.mark.parametrize(
    "case",
    [CASES[name] for name in ("agreement, which a relay would have saved", "two decisions")],
)
def test_effects_that_are_steps_are_told_in_the_same_way(case: tuple[str, ...]) -> None:
    name, prop, first, *_ = case
    said_first = said(of_library(name, prop, fine=True))[0]
    assert said_first.partition(":")[0] == first.partition(":")[0]
    assert ("never does" in said_first) == ("never does" in first)


def test_help_that_did_come_is_not_denied() -> None:
    """p2 sends p3 a broadcast of its own after it has delivered p1's."""
    found = of_library("broadcast/best_effort.bcast::two_senders", "agreement")
    assert "sends" not in " ".join(said(found))


def test_there_are_few_sentences() -> None:
    for case in CASES.values():
        assert len(case) - 2 <= LONGEST


def test_a_property_that_does_not_tell_is_said_as_before() -> None:
    found = of_library("links/perfect.bcast::without_memory", "no_duplication")
    silent = replace(found.prop, reading=None)
    first, *_ = sentences(found.system, silent, found.run, found.trace)
    assert first == found.trace.sentence


def test_names_become_titles() -> None:
    assert title("uniform_agreement") == "Uniform agreement"
    assert title("fifo_order") == "FIFO order"
    assert title("at_most_once over effects") == "At most once over effects"


def test_a_message_that_was_sent_again_has_reached_whom_it_reached_before() -> None:
    found = of_library("broadcast/eager_reliable.bcast::crash_one", "uniform_agreement")
    (copies,) = {c.sender: c for c in found.trace.copies}.values()
    first = replace(copies, step=1, received=("p2",), missing=("p3",))
    twice = replace(found.trace, copies=(first, replace(copies, step=2)))
    crash = sentences(found.system, found.prop, found.run, twice)[1]
    assert crash == "p1 crashed after its DATA(p1, a) reached only itself and p2."
