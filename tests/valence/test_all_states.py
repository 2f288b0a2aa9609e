"""Valence is asked of all states as they are, and by each engine alike."""

from __future__ import annotations

from typing import Any

import pytest

from checker import resources
from checker.engines.options import Options
from checker.formats.json_format import report_to_json
from checker.records import replace
from checker.results.answer import Limits
from checker.results.valence import Valence
from checker.session.pipeline import run_check
from checker.valence.analysis import analyse
from checker.valence.compute import compute
from checker.valence.question import question_of
from tests.valence.library import valence_of

CHECKS = (
    "consensus/paxos::duel",
    "consensus/leader::leader_crash_one",
    "commit/two_phase_commit::coordinator_or_participant",
)


def counts(report: Valence) -> dict[str, Any]:
    """Everything that does not depend on which of several runs is shown."""
    document = report_to_json(report)
    kind = None if report.undecided is None else report.undecided.kind
    shown = ("engine", "seconds", "critical", "undecided", "disagreement", "bytes_per_state")
    kept = {k: v for k, v in document.items() if not k.endswith("seconds") and k not in shown}
    return {**kept, "kind": kind}


@pytest.mark.parametrize("name", CHECKS)
def test_reference_and_native_say_the_same(name: str) -> None:
    assert counts(valence_of(name, "reference")) == counts(valence_of(name, "native"))


@pytest.mark.parametrize("mode", ["all", "symmetry"])
def test_no_reduction_is_used(mode: str) -> None:
    path = str(resources.specs() / "consensus" / "leader.bcast")
    plain = Options(reduce="none")
    whole = run_check(path, "leader_crash_one", plain).distinct_states
    named = replace(plain, reduce=mode)
    report = analyse(
        compute(question_of(path, "leader_crash_one", named, None, free_inputs=False), None)
    )
    assert report.states == sum(level.states for level in report.levels)
    assert report.states <= whole  # fewer histories are kept, and nothing else is left out
    again = question_of(path, "leader_crash_one", plain, None, free_inputs=False)
    assert counts(analyse(compute(again, None))) == counts(report)


def test_more_threads_change_nothing() -> None:
    path = str(resources.specs() / "consensus" / "flood_set.bcast")
    found = []
    for threads in (1, 2):
        options = Options(threads=threads)
        asked = question_of(path, "two_rounds", options, None, free_inputs=True)
        document = report_to_json(analyse(compute(asked, None)))
        found.append({k: v for k, v in document.items() if not k.endswith("seconds")})
    assert found[0] == found[1]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_graph_that_is_not_complete_has_no_valence(engine: str) -> None:
    path = str(resources.specs() / "consensus" / "leader.bcast")
    options = Options(engine=engine, limits=Limits(max_states=20))
    asked = question_of(path, "leader_crash_one", options, None, free_inputs=True)
    report = analyse(compute(asked, None))
    assert report.stopped == "the limit of 20 states was reached"
    assert report.exit_code == 3
    assert not (report.starts or report.levels or report.corners)
