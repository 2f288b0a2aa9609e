"""The traces of a report, explained together."""

from __future__ import annotations

import pytest

from checker.engines.options import Options
from checker.explain import counterfactual_queries
from checker.resources import specs
from checker.results.answer import INTERRUPTED, Answer
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
