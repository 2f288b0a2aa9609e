"""How many steps each handler has: of all states, or of a sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.native import engine
from checker.engines.native.search import step_counts
from checker.engines.options import Options
from checker.render.terminal.canvas import as_text
from checker.render.terminal.coverage import coverage_view
from checker.render.terminal.reduction_summary import reduction_rows
from checker.results.answer import Limits
from checker.results.verdict import CountedSteps
from checker.session.pipeline import run_check

PICK = """
protocol Pick {
  message WORK(k: 0..3)
  message IDLE()
  state done : set<0..3> = {}
  state started : bool = false
  upon condition not started as start {
    choose x in 1..3
    started := true
    send WORK(x) to all
  }
  upon receive WORK(k) from p { done := done + k }
  upon receive IDLE() from p { done := {} }
}
check two of Pick {
  n = 2
  links lossy
  faults crash <= 1
  allow unused
}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "pick.bcast"
    file.write_text(PICK, encoding="utf-8")
    return file


def counted(spec: Path, **asked: object) -> CountedSteps:
    options = Options(coverage=True, reduce="none", **asked)  # type: ignore[arg-type]
    found = run_check(str(spec), "two", options).steps
    assert found is not None
    return found


def test_engines_count_alike(spec: Path) -> None:
    by_interpreter = counted(spec, engine="reference")
    assert by_interpreter == counted(spec, engine="native", threads=2)
    assert by_interpreter.every and by_interpreter.steps > by_interpreter.states > 100
    texts = [each.text for each in by_interpreter.handlers]
    assert texts == ["upon receive WORK(k) from p", "start", "upon receive IDLE() from p"]
    assert by_interpreter.handlers[-1].steps == 0
    in_handlers = sum(each.steps for each in by_interpreter.handlers)
    assert in_handlers < by_interpreter.steps  # losses and crashes have no handler


def test_a_sample_is_said_to_be_one(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = counted(spec)
    monkeypatch.setattr(step_counts, "COUNTED", 200)
    sampled = counted(spec)
    assert (sampled.states, sampled.every) == (200, False)
    assert sampled.of == "a sample of 200 states" and whole.of == f"all {whole.states:,} states"
    for one, other in zip(sampled.handlers[:1], whole.handlers[:1], strict=True):
        assert abs(one.steps / sampled.steps - other.steps / whole.steps) < 0.15


def test_what_is_unknown_says_which_handler_has_most_steps(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SOME", 100)
    limits = Limits(max_states=300)
    report = run_check(str(spec), "two", Options(limits=limits, engine="native", reduce="none"))
    assert report.steps is not None and not report.steps.every and report.coverage is None
    rows = dict(reduction_rows(report, verbose=False))
    assert "of `upon receive WORK(k) from p`" in rows["steps"]
    assert "a sample of" in rows["steps"]
    assert run_check(str(spec), "two", Options()).steps is None  # nothing ended the search


def test_counts_are_in_documents_and_tables(spec: Path) -> None:
    report = run_check(str(spec), "two", Options(coverage=True))
    assert report.steps is not None
    text = as_text(coverage_view(report.coverage or (), report.steps), 100)
    most = report.steps.handlers[0]
    assert f"{most.steps:,} steps" in text and report.steps.share(most.steps) in text
    assert report.steps.of in text
