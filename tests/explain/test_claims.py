"""Claims and obligations of violated properties, compared with the runs."""

from __future__ import annotations

import pytest

from checker.explain.claims import MOST_OBLIGATIONS, claims, obligations
from checker.resources import specs
from checker.results.events import Performed
from checker.results.trace import Claim, Obligation
from checker.results.truth import facts, word_of
from tests.explain.test_verdict_sentences import CASES, of_library
from tests.explain.violations import Violation, violation


def claimed(found: Violation) -> tuple[Claim, ...]:
    return claims(found.system, found.prop, found.run, found.trace)


def demanded(found: Violation) -> tuple[Obligation, ...]:
    return obligations(found.system, found.prop, found.run, found.trace)


def test_claims_of_agreement() -> None:
    found = of_library("broadcast/eager_reliable_without_relay.bcast::crash_one", "agreement")
    always, never = (True,) * 4, (False,) * 4
    assert claimed(found) == (
        Claim("p2 is correct", "correct(p2)", always, "premise"),
        Claim("p3 is correct", "correct(p3)", always, "premise"),
        Claim(
            "p2 delivered a from p1",
            "(p1, a) in delivered(p2)",
            (False, False, True, True),
            "premise",
        ),
        Claim("p3 delivered a from p1", "(p1, a) in delivered(p3)", never, "goal"),
    )


def test_obligations_of_agreement() -> None:
    found = of_library("broadcast/eager_reliable_without_relay.bcast::crash_one", "agreement")
    assert demanded(found) == (
        Obligation("p3 delivers a", 2),
        Obligation("p2 delivers a", 2, 2),
    )


def test_obligations_from_the_start() -> None:
    found = of_library("consensus/paxos.bcast::outvoted", "termination")
    assert demanded(found) == (
        Obligation("p1 decides", 0),
        Obligation("a1 decides", 0),
        Obligation("p2 decides", 0, 5),
    )


def test_obligations_to_last() -> None:
    found = of_library("detectors/heartbeat.bcast::partly_synchronous", "eventual_strong_accuracy")
    first, *others = demanded(found)
    assert first == Obligation("from some time on p1 does not suspect p2", 0)
    assert all(one.met is not None for one in others)


def test_somebody_is_claimed_of_anybody() -> None:
    found = of_library("commit/two_phase_commit.bcast::no_fault", "nbac_abort_validity")
    texts = [(claim.text, claim.formula, claim.role) for claim in claimed(found)]
    assert texts == [
        ("c1 decided 0", "0 in decided(c1)", "premise"),
        ("some process proposed 0", "0 in proposed(q)", "goal"),
        ("some process has crashed", "crashed(q)", "goal"),
    ]


def test_single_states_demand_nothing_in_the_end() -> None:
    found = of_library("consensus/wait_for_all_but_one.bcast::no_fault", "consensus_agreement")
    assert demanded(found) == ()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_claimed_is_so(case: tuple[str, ...]) -> None:
    """At the moment that a fact is about, and for as long as it says."""
    name, prop, *_ = case
    found = of_library(name, prop)
    made = claimed(found)
    assert made
    for claim in made:
        assert len(claim.truths) == len(found.trace.steps)
        assert "…" not in claim.text + claim.formula
    word = word_of(found.system, found.prop, found.run)
    told = facts(found.system, found.prop, found.run)
    assert {fact.role for fact in told} & {"premise", "goal"}
    for fact in told:
        row = word.truth(fact.atom, fact.names) if fact.range is None else [fact.true]
        match fact.mode:
            case "now":
                assert row[fact.at if fact.range is None else 0] is fact.true
            case "never":
                assert not any(row[word.loop :])
            case "always":
                assert all(row[word.loop :])
            case "again":
                assert set(row[word.loop :]) == {True, False}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_violated_obligation_comes_first_and_is_not_met(case: tuple[str, ...]) -> None:
    name, prop, *_ = case
    found = of_library(name, prop)
    demands = demanded(found)
    assert len(demands) <= MOST_OBLIGATIONS
    assert len({demand.text for demand in demands}) == len(demands)
    if demands:
        assert demands[0].met is None
    for demand in demands:
        assert 0 <= demand.opened < len(found.trace.steps)
        assert demand.met is None or demand.opened <= demand.met < len(found.trace.steps)


def test_obligations_open_where_they_became_true_and_not_where_the_property_looks_next() -> None:
    fine = violation(
        specs() / "exactly_once/one_process.bcast", "log_then_act", "at_least_once over effects",
        fine=True,
    )  # fmt: skip
    rows = {one.text: one.truths for one in claimed(fine)}
    (performed,) = (
        s.number for s in fine.trace.steps for e in s.events if isinstance(e, Performed)
    )
    lost, done = demanded(fine)
    assert lost.opened == rows["p1 submitted b"].index(True)
    assert lost.met is None
    assert (done.opened, done.met) == (2, performed)
