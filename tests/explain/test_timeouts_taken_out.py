"""Counterfactuals of timeouts: what had been if a timer had not expired, or once less."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.render.terminal.canvas import as_text
from checker.render.terminal.explained import ablations_view
from checker.results.events import TimedOut
from checker.session.pipeline import Options, run_check

SPEC = """
protocol Wait(asks: Proc) {{
  message GO
  state got = false
  state asked = false
  state gave : 0..2 = 0
  upon condition not asked and self == asks {{ asked := true  send GO to Proc minus {{self}} }}
  upon receive GO from p {{ got := true }}
  upon timeout when not got and gave < {most} and self != asks {{ gave += 1 }}
  property patient : {formula}
}}
check c of Wait {{ n = {n}  asks = p1  timing asynchronous  allow unused  prove patient }}
"""
ONCE = "always forall p in Proc: p.gave == 0"
TWICE = "always forall p in Proc: p.gave < 2"


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize(
    ("n", "most", "formula", "wanted"),
    [
        (2, 1, ONCE, {"the expiry of p2's timer": "holds"}),
        (3, 1, ONCE, {"the expiry of p2's timer": "violated"}),
        (2, 2, TWICE, {"one of the 2 expiries of p2's timer": "holds"}),
        (
            3,
            1,
            "always not (forall p in Proc: p.gave == 1 or p.asked)",
            {"the expiry of p2's timer": "holds", "the expiry of p3's timer": "holds"},
        ),
    ],
)
def test_a_timeout_is_essential_where_the_property_holds_without_it(
    n: int, most: int, formula: str, wanted: dict[str, str], fine: bool, tmp_path: Path
) -> None:
    file = tmp_path / "a.bcast"
    file.write_text(SPEC.format(n=n, most=most, formula=formula), encoding="utf-8")
    report = run_check(str(file), "c", Options(explain=60.0, fine_steps=fine))
    trace = report.verdicts[0].trace
    assert trace is not None and trace.explanation is not None
    found = {a.what: a for a in trace.explanation.ablations if a.kind == "timeout"}
    assert {what: a.outcome for what, a in found.items()} == wanted
    for a in found.values():
        assert any(isinstance(e, TimedOut) for e in trace.steps[a.step].events)
    view = ablations_view(trace)
    assert view is not None
    shown = as_text(view, 200)
    for what, outcome in wanted.items():
        said = "the property would hold without it" if outcome == "holds" else "another execution"
        assert any(what in line and said in line for line in shown.splitlines())
