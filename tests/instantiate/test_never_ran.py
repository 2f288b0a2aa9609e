"""A green that nothing supports is vacuous, and a guess of the tool is no error of a spec."""

from __future__ import annotations

from pathlib import Path

import pytest

import checker
from checker.results.verdict import Report, Word

UNHEARD = """
protocol P {
  message A
  state x = false
  state y = false
  upon condition not x { x := true }
  upon receive A { y := true }
  property quiet : always forall p in Proc: not p.y
}
check c of P { n = 2  prove quiet }
"""
UNASKED = """
protocol P implements ReliableBroadcast {
  state x = false
  upon request broadcast(m) { x := true }
  property idle : always forall p in Proc: not p.x
}
check c of P { n = 2  prove idle }
"""
ENDLESS = """
protocol P {
  state x : Nat = 0
  upon condition true { x := x + 1 }
  property PROPERTY
}
check c of P { n = 1  prove PROVED }
"""


def run(text: str, folder: Path, engine: str = "native") -> Report:
    file = folder / "spec.bcast"
    file.write_text(text, encoding="utf-8")
    return checker.check(str(file), engine=engine)


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("text", "handler"),
    [(UNHEARD, "upon receive A"), (UNASKED, "upon request broadcast(m)")],
)
def test_a_handler_that_nothing_can_reach_makes_a_verdict_vacuous(
    text: str, handler: str, engine: str, tmp_path: Path
) -> None:
    report = run(text, tmp_path, engine)
    assert [v.word for v in report.verdicts] == [Word.VACUOUS]
    assert any(handler in name for name in report.never)
    assert report.exit_code == 4


def test_what_outgrows_every_guess_is_unknown(tmp_path: Path) -> None:
    text = ENDLESS.replace("PROPERTY", "up : always forall p in Proc: p.x >= 0")
    report = run(text.replace("PROVED", "up"), tmp_path)
    assert [v.word for v in report.verdicts] == [Word.UNKNOWN]
    assert "give it a bound" in report.verdicts[0].reason
    assert report.exit_code == 3


def test_a_violation_is_told_though_the_system_has_no_end(tmp_path: Path) -> None:
    text = ENDLESS.replace("PROPERTY", "small : always forall p in Proc: p.x < 3")
    report = run(text.replace("PROVED", "small"), tmp_path)
    (verdict,) = report.verdicts
    assert verdict.word is Word.VIOLATED
    assert verdict.trace is not None
    assert verdict.trace.length == 3
    assert not report.exhaustive
