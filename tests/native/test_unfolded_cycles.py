"""Cycles of a search under symmetry are searched without it: what is reported, and when not."""

from __future__ import annotations

import pytest

from checker.engines.native.liveness import unfolding
from checker.resources import specs
from checker.results.answer import Limits
from checker.session.pipeline import Options, run_check

ROUNDS = str(specs() / "consensus" / "flp" / "rounds.bcast")
LEASES = str(specs() / "time" / "leases.bcast")


def test_how_many_states_are_searched_without_symmetry_is_said() -> None:
    report = run_check(ROUNDS, "no_coins", Options(audit=True))
    assert report.exit_code == 0
    assert report.distinct_states == 14_626
    assert report.reduced.text[-1] == "cycles unfolded: 5,208 more states"
    assert report.audit is not None and "the same verdicts" in report.audit.said


def test_where_no_violation_can_last_nothing_is_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfolding, "_Unfolding", None)
    report = run_check(LEASES, "fenced", Options())
    assert report.exit_code == 0
    assert report.distinct_states == 4_469
    assert report.reduced.used == ("symmetry",) and len(report.reduced.text) == 1


def test_symmetry_is_given_up_where_most_states_are_on_cycles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unfolding, "MOST", 0.1)
    report = run_check(ROUNDS, "no_coins", Options())
    assert report.exit_code == 0
    assert report.distinct_states == 83_882
    assert ("symmetry", "the state graph has a cycle") in report.reduced.unused


def test_a_limit_ends_the_search_of_cycles() -> None:
    options = Options(limits=Limits(max_states=15_000))
    report = run_check(ROUNDS, "no_coins", options)
    words = {verdict.property: verdict.word.value for verdict in report.verdicts}
    assert words["termination"] == "unknown"
    assert "15,000" in str(report)
