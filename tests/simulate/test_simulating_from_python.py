"""Random walks from Python: the report is that of the command."""

from __future__ import annotations

import pytest

from checker.api import simulate
from checker.diagnostics import SpecError
from checker.resources import specs
from checker.results.verdict import Word

EAGER = str(specs() / "broadcast" / "eager_reliable.bcast")


def test_a_violation_is_found_and_replayed() -> None:
    report = simulate(EAGER, "crash_one", seed=7, walks=1000)
    words = {verdict.property: verdict for verdict in report.verdicts}
    assert words["uniform_agreement"].word is Word.VIOLATED
    assert words["uniform_agreement"].trace is not None
    assert report.walks is not None


def test_the_same_seed_walks_the_same_ways_with_any_engine_and_threads() -> None:
    runs = [
        simulate(EAGER, "crash_one", seed=7, walks=40, **how)
        for how in ({}, {"threads": 2}, {"engine": "reference"})
    ]
    assert len({(run.walks.walks, run.walks.steps) for run in runs if run.walks}) == 1


def test_settings_and_limits_are_those_that_are_given() -> None:
    report = simulate(EAGER, "crash_one", seed=1, walks=5, steps=3, settings={"crash": "none"})
    assert report.walks is not None
    assert report.walks.walks == 5 and report.walks.steps <= 15
    assert all(verdict.word is Word.UNKNOWN for verdict in report.verdicts)


def test_walks_need_an_end_and_a_check() -> None:
    with pytest.raises(ValueError, match="neither"):
        simulate(EAGER, "crash_one", seed=1, walks=None)
    with pytest.raises(SpecError):
        simulate(EAGER, "no_such_check", seed=1)
