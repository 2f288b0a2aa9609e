"""A run may end with messages in transit that need not arrive; that is not called quiescent."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.render.terminal.canvas import as_text
from checker.render.terminal.text import trace_view
from checker.session.pipeline import Options, run_check

SPEC = """
protocol P(asks: Proc) {{
  message ASK
  state asked = false
  state got = false
  upon condition not asked and self == asks {{ asked := true  send ASK to Proc minus {{self}} }}
  upon receive ASK from p {{ got := {taken} }}
  property comes "p2 hears of it." : forall p in Proc: eventually (p.got or p.asked)
}}
check c of P {{ n = 2  asks = p1  {world}  prove comes }}
"""
ENDS = "ASK from p1 to p2 is in transit and need not arrive."


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize(
    ("world", "taken", "ending"),
    [
        ("links perfect", "false", "After step 2 the system is quiescent."),
        ("links lossy", "true", f"requires another step: {ENDS}"),
        ("links lossy, bounded 1", "true", f"requires another step: {ENDS}"),
        ("links stubborn", "false", "nothing that happens changes anything any more."),
    ],
)
def test_an_end_is_quiescent_where_nothing_is_in_transit(
    world: str, taken: str, ending: str, fine: bool, tmp_path: Path
) -> None:
    if fine and "perfect" in world:
        ending = ending.replace("step 2", "step 3")
    file = tmp_path / "a.bcast"
    file.write_text(SPEC.format(world=world, taken=taken), encoding="utf-8")
    report = run_check(str(file), "c", Options(explain=5.0, fine_steps=fine))
    trace = report.verdicts[0].trace
    assert trace is not None and trace.ends
    shown = " ".join(as_text(trace_view(trace), 200).split())
    assert ending in shown
    assert trace.quiescent is ("quiescent" in ending)
    assert shown.count("system is quiescent") == (2 if trace.quiescent else 0)
