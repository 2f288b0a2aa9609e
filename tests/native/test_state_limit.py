"""Where a search ends at a number of states, what is told does not depend on the threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.native import engine as native
from checker.engines.native.search import search
from checker.engines.options import Options
from checker.results.answer import Limits
from checker.results.verdict import Report
from checker.session.pipeline import run_check

COUNTERS = """
protocol P {
  state x : 0..3 = 0
  state y : 0..3 = 0
  state z : 0..3 = 0
  upon condition x < 3 { x += 1 }
  upon condition y < 3 { y += 1 }
  upon condition z < 3 and x <= y { z += 1 }
  property true_ : always forall p in Proc: p.x <= 3
}
check three of P { n = 3  prove true_ }
"""
LIMIT = 20_000


@pytest.fixture
def counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(search, "PARALLEL_FROM", 64)
    monkeypatch.setattr(native, "SOME", 1000)
    path = tmp_path / "counters.bcast"
    path.write_text(COUNTERS)
    return str(path)


def told(report: Report) -> tuple[object, ...]:
    reasons = [(v.word, v.reason) for v in report.verdicts]
    counted = (report.distinct_states, report.depth, report.transitions)
    return *counted, report.stopped, report.exhaustive, report.weights, reasons


def test_any_number_of_threads_tells_the_same(counters: str) -> None:
    limits = Limits(max_states=LIMIT)
    found = [
        run_check(counters, "three", Options(reduce="none", threads=threads, limits=limits))
        for threads in (1, 2, 3)
    ]
    assert found[0].stopped == limits.no_more_states and found[0].distinct_states == LIMIT
    assert found[0].transitions > 0 and found[0].weights
    assert told(found[0]) == told(found[1]) == told(found[2])


@pytest.mark.slow
def test_transitions_are_of_levels_that_were_expanded_to_their_end(counters: str) -> None:
    """As they are where the search ends there by itself."""
    many = Limits(max_states=LIMIT)
    for engine in ("native", "reference"):
        options = Options(engine=engine, reduce="none", limits=many)
        cut = run_check(counters, "three", options)
        deep = Limits(max_depth=cut.depth - 2)
        whole = run_check(counters, "three", Options(engine=engine, reduce="none", limits=deep))
        assert cut.transitions == whole.transitions
