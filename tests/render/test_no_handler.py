"""A picture says of a message that arrives that no handler takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.formats.exports import export
from checker.render.diagram.picture import picture_of
from checker.render.terminal.canvas import as_text
from checker.render.terminal.text import trace_view
from checker.results.trace import NO_HANDLER, Trace
from checker.session.pipeline import Options, run_check

SPEC = """
protocol P(asks: Proc) {
  message ASK
  message ANSWER(k: 0..1)
  message NOTE
  state asked = false
  state got = false
  upon condition not asked and self == asks { asked := true  send ASK to Proc minus {self} }
  upon receive ASK from p { send ANSWER(0) to p  send NOTE to p }
  upon receive ANSWER(k) when k == 1 { got := true }
  COUNTS
  property comes "The answer comes." : eventually exists p in Proc: p.got
}
check c of P { n = 2  asks = p1  prove comes  allow unused }
"""


def trace_of(tmp_path: Path, counts: str, fine: bool) -> Trace:
    file = tmp_path / "a.bcast"
    file.write_text(SPEC.replace("COUNTS", counts), encoding="utf-8")
    report = run_check(str(file), "c", Options(fine_steps=fine, engine="reference"))
    found = report.verdicts[0].trace
    assert found is not None
    return found


@pytest.mark.parametrize("fine", [False, True])
def test_what_no_handler_takes_is_said_at_its_arrival(tmp_path: Path, fine: bool) -> None:
    trace = trace_of(tmp_path, "", fine)
    lost = [s.events[0].message for s in trace.steps if s.untaken]
    assert sorted(lost) == ["ANSWER(0)", "NOTE"]
    assert {s.untaken for s in trace.steps} == {"", "p1"}
    assert as_text(trace_view(trace), 100).count(NO_HANDLER) == 2
    said = [
        line.text
        for mark in picture_of(trace).marks
        if mark.label is not None
        for line in mark.label.lines
    ]
    assert said.count(NO_HANDLER) == 2
    assert export("mermaid", trace).count(NO_HANDLER) == 2


@pytest.mark.parametrize("fine", [False, True])
def test_what_is_taken_or_counted_is_not(tmp_path: Path, fine: bool) -> None:
    counts = "upon condition #received(NOTE) > 2 and not got { got := true }"
    trace = trace_of(tmp_path, counts, fine)
    assert [s.events[0].message for s in trace.steps if s.untaken] == ["ANSWER(0)"]
