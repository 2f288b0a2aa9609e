"""The traces of a report, explained together."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from checker.cli.progress import Meter
from checker.engines.native import engine
from checker.engines.options import Options
from checker.explain import counterfactual_queries, reports
from checker.explain.explain import explain
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.resources import specs
from checker.results.answer import INTERRUPTED, Answer, Limits, Progress
from checker.session import pipeline

TWO = str(specs() / "total_order/sequencer_takeover.bcast")


def test_an_interrupt_ends_the_explaining_of_all_properties(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def interrupted(*given: object, **more: object) -> Answer:
        asked.append("once")
        return Answer("native", 1, 0, False, 0.0, stopped=INTERRUPTED)

    found = pipeline.run_check(TWO, "crash_one", Options())
    monkeypatch.setattr(
        counterfactual_queries, "native", type("Engine", (), {"explore": interrupted})
    )
    assert sum(v.trace is not None for v in found.verdicts) == 2
    report = pipeline.run_check(TWO, "crash_one", Options(explain=60.0, kinds=3))
    assert asked == ["once"]
    violated = [v for v in report.verdicts if v.trace is not None]
    assert [v.word for v in violated] == [v.word for v in found.verdicts if v.trace is not None]
    assert all(v.trace is not None and v.trace.explanation is not None for v in violated)


def test_nothing_is_done_in_the_time_of_a_query_but_answering_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a search leaves for others would not end where the budget does."""
    done: list[str] = []
    monkeypatch.setattr(engine, "SOME", 0)
    monkeypatch.setattr(engine, "MANY", 0)
    weights = "checker.engines.native.search.blowup.blowup"
    monkeypatch.setattr(weights, lambda *_: done.append("weights") or ((), ()))
    found = pipeline.run_check(TWO, "crash_one", Options())
    assert set(done) == {"weights"}
    done.clear()
    system = pipeline.open_check(TWO, "crash_one", Options()).system
    for verdict in found.verdicts:
        if verdict.trace is not None:
            explain(system, verdict.trace, counterfactual_queries.ExplainingBudget(60.0))
    assert not done


@pytest.mark.parametrize("ticks", [0, 3, 40])
def test_no_query_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch, ticks: int) -> None:
    """The clock goes on by a second whenever somebody looks at it."""
    looks = itertools.count()
    given: list[float] = []
    explore = engine.explore

    def in_time(system: TransitionSystem, limits: Limits, **how: Any) -> Answer:
        assert limits.timeout is not None and limits.timeout > 0
        given.append(limits.timeout)
        return explore(system, replace(limits, timeout=None), **how)

    found = pipeline.run_check(TWO, "crash_one", Options())
    system = pipeline.open_check(TWO, "crash_one", Options()).system
    trace = next(v.trace for v in found.verdicts if v.trace is not None)
    monkeypatch.setattr(
        counterfactual_queries, "native", type("Engine", (), {"explore": staticmethod(in_time)})
    )
    clock = counterfactual_queries.ExplainingBudget(float(ticks), now=lambda: float(next(looks)))
    told = explain(system, trace, clock, strict=True)
    assert len(given) < max(ticks, 1) and all(each < ticks for each in given)
    assert told.explanation is not None
    short = not ticks or "used up" in told.explanation.note
    assert short if ticks < 4 else given


def test_the_progress_of_explaining_is_none_of_the_search() -> None:
    heard: list[Progress] = []
    reports._explaining(heard.append)(Progress(384_395, 7, 12, 0.5, 0))
    assert (heard[0].phase, heard[0].states) == ("explaining", 0)
    assert Meter("spec.bcast", silent=True)._line(heard[0]) == "spec.bcast: explaining, 0 s"
