"""Several counterexamples of a check, each of another kind."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checker.engines.options import Options
from checker.explain import counterfactual_queries
from checker.explain.counterfactual_queries import ExplainingBudget
from checker.explain.diverse_counterexamples import ALL, DiverseRuns, find_diverse
from checker.explain.trace_equivalence import kind_of
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.properties.formula import ask
from checker.results.mismatch import ReplayMismatch
from checker.results.trace import Trace
from checker.results.verdict import PropertyVerdict
from checker.session import pipeline

SPECS = Path(__file__).resolve().parents[2] / "specs"
ORDER = ("total_order/sequencer_takeover.bcast", "crash_one", "total_order")


@cache
def verdict_of(file: str, check: str, name: str, kinds: int) -> PropertyVerdict:
    report = pipeline.run_check(str(SPECS / file), check, Options(kinds=kinds, reduce="none"))
    (verdict,) = [v for v in report.verdicts if v.property == name]
    return verdict


def runs_of(verdict: PropertyVerdict) -> list[Trace]:
    assert verdict.trace is not None
    return [verdict.trace, *verdict.others]


def test_each_is_of_another_kind_and_there_are_no_more_than_asked_for() -> None:
    verdict = verdict_of(*ORDER, kinds=3)
    assert len({kind_of(trace) for trace in runs_of(verdict)}) == 3 == len(runs_of(verdict))
    assert verdict.of_others == "there may be more"


def test_each_is_a_run_that_violates_the_property() -> None:
    for trace in runs_of(verdict_of(*ORDER, kinds=3)):
        assert pipeline.replay_trace(trace).steps == trace.steps


def test_where_only_one_kind_exists_that_is_said() -> None:
    file = "broadcast/eager_reliable.bcast"
    verdict = verdict_of(file, "crash_one", "uniform_agreement", kinds=5)
    (only,) = runs_of(verdict)
    assert [step.kind for step in only.steps] == ["start", "request", "receive", "crash"]
    assert verdict.of_others == ALL


def test_without_being_asked_there_is_one() -> None:
    verdict = verdict_of(*ORDER, kinds=1)
    assert not verdict.others and not verdict.of_others


def test_without_time_there_is_the_known_one() -> None:
    file, check, name = ORDER
    asked = pipeline.load_check(str(SPECS / file), check, {})
    system = estimate_capacities(lambda sizes: instantiate(asked, {}, ask, capacities=sizes)).system
    (prop,) = [p for p in system.properties if p.name == name]
    known = verdict_of(*ORDER, kinds=1).trace
    assert known is not None
    found = find_diverse(system, prop, known, 3, ExplainingBudget(0.0))
    assert found == DiverseRuns((), found.note)
    assert found.note.startswith("the time is over")


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), ReplayMismatch("no such step")])
def test_what_goes_wrong_makes_no_verdict_worse(
    problem: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise problem

    plain = verdict_of(*ORDER, kinds=1)
    monkeypatch.setattr(counterfactual_queries, "rerun", fail)
    file, check, name = ORDER
    report = pipeline.run_check(str(SPECS / file), check, Options(kinds=3, reduce="none"))
    (found,) = [v for v in report.verdicts if v.property == name]
    assert (found.word, found.reason, found.trace) == (plain.word, plain.reason, plain.trace)
    assert found.others == ()
    assert found.of_others == (
        "others can't be told: no such step"
        if isinstance(problem, ReplayMismatch)
        else "interrupted; there may be more"
    )
