"""A time limit that ends the explanation of a violation for all sizes is no interrupt."""

from __future__ import annotations

import pytest

from checker.engines.budgets import BudgetExhausted
from checker.engines.options import Options
from checker.explain import explain as explaining
from checker.explain.counterfactual_queries import ExplainingBudget
from checker.proving.dispatch_check import answer_check
from checker.resources import specs
from checker.results.answer import INTERRUPTED
from checker.results.trace import Trace

OVER = "the time limit of 10 s was reached"


@pytest.mark.parametrize(
    ("error", "why"), [(BudgetExhausted(OVER), OVER), (KeyboardInterrupt(), INTERRUPTED)]
)
def test_what_ended_an_explanation_is_what_stopped_the_check(
    error: KeyboardInterrupt, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(system: object, trace: Trace, clock: ExplainingBudget) -> Trace:
        def part() -> Trace:
            raise error

        return explaining._Telling(system, clock.part(0.5), True).attempt(part, trace, "it")  # type: ignore[arg-type]

    monkeypatch.setattr(explaining, "explain", ended)
    spec = str(specs() / "byzantine/echo.bcast")
    report = answer_check(spec, "one_process_short", Options(explain=5.0))
    unknown = [verdict.reason for verdict in report.verdicts if verdict.word == "unknown"]
    assert set(unknown) <= {why} and (unknown or report.stopped == why)
    assert report.was_interrupted is (why == INTERRUPTED)
