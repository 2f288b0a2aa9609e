"""A handler that uses shared state, or asks an oracle, has no pause inside; others do."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.results.verdict import Word
from checker.session.pipeline import run_check

SPEC = """
interface Service {{ request broadcast(m: Msg) indication deliver(p: Proc, m: Msg) }}
protocol Top implements Service {{
  uses low : BestEffortBroadcast
  message ONE
  shared state crowd : set<Proc> = {{}}
  state half = false
  upon request broadcast(m) {{ half := true  {effect}  deliver(self, m)  half := false }}
  upon low.deliver(p, ONE) {{ skip }}
  property whole : always forall p in Proc: not p.half
}}
check c of Top {{
  n = 2
  faults pause <= 1
  {given}
  clients {{ p1 broadcasts a }}
  prove whole
  allow unused
}}
"""
ORACLE = "given low as oracle"


@pytest.mark.parametrize(
    ("effect", "given", "word"),
    [
        ("skip", ORACLE, Word.VIOLATED),
        ("low.broadcast(ONE)", "", Word.VIOLATED),
        ("low.broadcast(ONE)", ORACLE, Word.HOLDS),
        ("crowd := crowd union {self}", "", Word.HOLDS),
    ],
)
def test_where_a_pause_may_fall(effect: str, given: str, word: Word, tmp_path: Path) -> None:
    spec = tmp_path / "spec.bcast"
    spec.write_text(SPEC.format(effect=effect, given=given), encoding="utf-8")
    report = run_check(str(spec), "c", Options())
    assert [verdict.word for verdict in report.verdicts] == [word]
