"""Counterfactuals, by the book on random systems and in the library."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from checker.explain.counterfactual_queries import ExplainingBudget
from checker.explain.counterfactuals import IF_DROPPED, counterfactuals_of
from checker.explain.verdict_sentences import sentences
from checker.render.html.content import ablation
from checker.resources import specs
from checker.results.events import Lost
from checker.results.rerun import rerun
from checker.results.trace import IN_EVERY_RUN, Counterfactual
from checker.words.events import sentence
from tests.explain.budgeted import Happening, happenings, shortest_within
from tests.explain.test_budgeted import violated
from tests.explain.violations import violation


def test_by_the_book() -> None:
    outcomes: Counter[tuple[str, str]] = Counter()
    for seed, system, path in violated(range(32)):
        (prop,) = system.properties
        run = rerun(system, path, prop)
        faults: Counter[Happening] = Counter()
        copies: dict[Happening, None] = {}
        for moment in run.moments:
            for happening in happenings(system, moment.events):
                if happening[0] == "got":
                    copies[happening] = None
                else:
                    faults[happening] += 1
        expected = [
            shortest_within(system, prop.bad, faults - Counter([fault]), None) for fault in faults
        ]
        expected += [shortest_within(system, prop.bad, faults, copy) for copy in copies]
        found = counterfactuals_of(system, prop, run, ExplainingBudget(60))
        assert [one.steps for one in found] == expected, seed
        for one in found:
            assert one.outcome == ("holds" if one.steps is None else "violated"), seed
        assert [one.kind for one in found] == ["fault"] * len(faults) + ["message"] * len(copies)
        outcomes.update((one.kind, one.outcome) for one in found)
    assert min(outcomes[k, o] for k in ("fault", "message") for o in ("holds", "violated")) > 1


def test_without_time_nothing_is_known() -> None:
    for _, system, path in violated(range(20)):
        (prop,) = system.properties
        for one in counterfactuals_of(system, prop, rerun(system, path, prop), ExplainingBudget(0)):
            assert one == Counterfactual(
                one.kind, one.what, one.step, "unknown", "the time for explaining, 0 s, is used up"
            )


SPLIT = "the split of the network that cuts off {p2, p3}"


@pytest.mark.parametrize(
    ("check", "name", "what"),
    [
        ("broadcast/eager_reliable.bcast::crash_one", "uniform_agreement", "the crash of p1"),
        ("broadcast/best_effort.bcast::crash_one", "agreement", "the crash of p1"),
        ("total_order/sequencer_takeover.bcast::crash_one", "total_order", "the crash of p1"),
        ("consensus/wait_for_all.bcast::crash_one", "termination", "the crash of p2"),
        ("byzantine/bracha.bcast::three", "validity", "p3 being Byzantine"),
        ("exactly_once/partitioned_queue.bcast::local_split", "held_in_the_end", SPLIT),
    ],
)
def test_without_the_fault_it_would_hold(check: str, name: str, what: str) -> None:
    path, _, called = check.partition("::")
    found = violation(specs() / path, called, name)
    (fault,) = (
        one
        for one in counterfactuals_of(found.system, found.prop, found.run, ExplainingBudget(60))
        if one.kind == "fault"
    )
    assert (fault.what, fault.outcome) == (what, "holds")


def test_without_a_message_that_comes_again() -> None:
    found = violation(specs() / "consensus/paxos.bcast", "duel", "proposers_decide")
    without = {
        one.what: one
        for one in counterfactuals_of(found.system, found.prop, found.run, ExplainingBudget(60))
    }
    assert without["PREPARE from p1 to a1"].outcome == "unknown"
    assert without["PREPARE from p1 to a1"].why == IN_EVERY_RUN
    assert without["OUTVOTED from a1 to p1"].outcome == "unknown"
    assert without["OUTVOTED from a1 to p1"].why == IF_DROPPED


@pytest.mark.parametrize("links", ["", "links fair_loss"])
def test_who_omits_a_message_is_named(links: str, tmp_path: Path) -> None:
    text = (specs() / "broadcast/best_effort.bcast").read_text()
    file = tmp_path / "omission.bcast"
    world = f"check omits of BasicBroadcast {{ n = 2 {links} faults omission <= 1"
    file.write_text(f"{text}\n{world}  clients {{ p1 broadcasts a }} prove uniform_agreement }}\n")
    found = violation(file, "omits", "uniform_agreement")
    (lost,) = (e for s in found.trace.steps for e in s.events if isinstance(e, Lost))
    what = f"COPY(a) from p1 to {lost.receiver}"
    assert sentence(lost) == f"p1 omits {what}"
    said = sentences(found.system, found.prop, found.run, found.trace)
    assert f"p1 omitted {what}." in said
    (fault, *_) = counterfactuals_of(found.system, found.prop, found.run, ExplainingBudget(60))
    assert (fault.what, fault.outcome) == (f"the omission of {what} by p1", "holds")


def test_what_every_fair_run_contains_has_no_counterfactual() -> None:
    """The page says "not applicable", as there is nothing that could be found out."""
    one = Counterfactual("message", "PREPARE from p1 to a1", 2, "unknown", IN_EVERY_RUN)
    assert ablation(one)["text"] == (
        "Without the message PREPARE from p1 to a1: not applicable (every fair run contains it)."
    )
