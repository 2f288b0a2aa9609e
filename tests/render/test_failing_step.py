"""The step in which a run-time error occurs is drawn, as far as it went."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.formats.json_format import trace_from_text, trace_to_text
from checker.render.diagram.picture import picture_of
from checker.render.diagram.svg import svg_of
from checker.render.html.script_data import data_of
from checker.render.terminal.canvas import as_text
from checker.render.terminal.spacetime import spacetime
from checker.results.trace import Trace
from checker.session.pipeline import run_check

HEAD = """
protocol Err {
  message WORK(k: 0..3)
  state seen : seq<0..3, max 1> = []
  state started : bool = false
  upon condition not started as start {
    started := true
    send WORK(1) to Proc minus {self}
  }
"""
KINDS = {
    "capacity": "upon receive WORK(k) from p { seen := seen ++ [k, k] }",
    "index": "upon receive WORK(k) from p { if seen[k] == 1 { started := true } }",
    "empty": "upon receive WORK(k) from p { if last(seen) == k { started := true } }",
}


def failed(folder: Path, handler: str, **asked: str) -> Trace:
    spec = folder / "err.bcast"
    spec.write_text(f"{HEAD}  {handler}\n}}\ncheck two of Err {{ n = 2 }}\n", encoding="utf-8")
    report = run_check(str(spec), "two", Options(**asked))  # type: ignore[arg-type]
    (trace,) = (v.trace for v in report.verdicts if v.trace is not None)
    return trace


@pytest.mark.parametrize("kind", KINDS)
def test_its_message_arrives_and_it_has_a_mark(kind: str, tmp_path: Path) -> None:
    trace = failed(tmp_path, KINDS[kind])
    assert trace.failure is not None and trace.failing is not None
    code, last = trace.failure.code, trace.failing
    assert last.number == len(trace.steps) == trace.length + 1
    text = as_text(spacetime(trace), 80)
    assert f"✘ error {code}" in text and "✘ ends in a run-time error" in text
    assert "●◄─" in text or "─►●" in text
    picture = picture_of(trace)
    assert any(mark.step == last.number and mark.lane == last.process for mark in picture.marks)
    (arrow,) = [arrow for arrow in picture.arrows if arrow.ended == last.number]
    assert arrow.receiver == last.process
    assert [v.step for v in picture.violations] == [last.number]
    assert f"error {code} here" in svg_of(picture)


def test_engines_draw_the_same(tmp_path: Path) -> None:
    one, other = (
        failed(tmp_path, KINDS["index"], engine=engine) for engine in ("reference", "native")
    )
    assert one.failing == other.failing is not None


def test_documents_and_pages_have_it(tmp_path: Path) -> None:
    trace = failed(tmp_path, KINDS["empty"])
    assert trace_from_text(trace_to_text(trace)) == trace
    data = data_of(trace)
    assert data["steps"][-1]["h"].endswith("from p1")
    assert data["failing"]  # so the page says that the state is the one before the last step
    assert all("from p1 to p2" not in each.text for each in trace.in_flight)


def test_an_error_before_anything_happens_has_no_step(tmp_path: Path) -> None:
    trace = failed(tmp_path, "upon condition started and seen[1] == 1 as reads { skip }")
    assert trace.failure is not None and trace.failing is None
    assert not data_of(trace)["failing"]
    text = as_text(spacetime(trace), 80)
    assert "✘" not in text and f"a run-time error: {trace.failure.code}" in text
