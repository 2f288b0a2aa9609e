"""The table of a report is about the execution that is shown below it."""

from __future__ import annotations

import pytest

from checker.explain import reports
from checker.explain.counterfactual_queries import ExplainingBudget
from checker.instantiate.assemble import instantiate
from checker.properties.formula import ask
from checker.records import replace
from checker.resources import specs
from checker.results.judge import reason_of_violation
from checker.session.load import load_check
from checker.session.pipeline import Options, run_check

EAGER = str(specs() / "broadcast/eager_reliable.bcast")


def test_the_reason_is_about_the_explained_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    report = run_check(EAGER, "crash_one", Options())
    (violated,) = [v for v in report.verdicts if v.trace is not None]
    trace = violated.trace
    assert trace is not None and reason_of_violation(trace) in violated.reason
    sentence = trace.sentence.replace("p = p1, q = p2", "p = p1, q = p3")
    other = replace(trace, sentence=sentence, steps=(*trace.steps, trace.steps[-1]))
    assert reason_of_violation(other) != reason_of_violation(trace)
    monkeypatch.setattr("checker.explain.explain.explain", lambda *_, **__: other)
    system = instantiate(load_check(EAGER, "crash_one", {}), {}, ask).system
    explained = reports.explain_report(report, system, ExplainingBudget(1.0, 1))
    for before, after in zip(report.verdicts, explained.verdicts, strict=True):
        if before.trace is None:
            assert after == before
        else:
            assert after.reason == reason_of_violation(other)
            assert (after.word, after.expected) == (before.word, before.expected)
