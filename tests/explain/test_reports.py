"""The traces of a report, explained together."""

from __future__ import annotations

import pytest

from checker.cli.progress import Meter
from checker.engines.options import Options
from checker.explain import counterfactual_queries, reports
from checker.resources import specs
from checker.results.answer import INTERRUPTED, Answer, Progress
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


def test_the_progress_of_explaining_is_none_of_the_search() -> None:
    heard: list[Progress] = []
    reports._explaining(heard.append)(Progress(384_395, 7, 12, 0.5, 0))
    assert (heard[0].phase, heard[0].states) == ("explaining", 0)
    assert Meter("spec.bcast", silent=True)._line(heard[0]) == "spec.bcast: explaining, 0 s"
