"""`stable`: the warning where it has no effect, and shared state, which is stable anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.language.formatting.layout import format_text
from checker.session.load import load_check
from checker.session.pipeline import run_check

SAVING = """protocol Saving {
  message TICK
  state begun = false
  stable state saved = false
  upon condition not begun { begun := true  saved := true  send TICK to all }
  upon receive TICK { skip }
  property together : always forall p in Proc: p.begun => p.saved
  property calm : always forall p in Proc: p.begun or not p.begun
}
check c of Saving { n = 1  faults crash <= 1  PROVE  allow unused }
"""


@pytest.mark.parametrize(
    ("prove", "warned"),
    [
        ("prove together", False),
        ("prove calm", True),
        ("prove calm expect together violated", False),
        ("prove calm bound p.saved or not p.saved", False),
        ("prove calm view p.saved", False),
        ("prove calm invariant kept : forall p in Proc: p.saved or not p.saved", False),
        ("property own : always forall p in Proc: not p.saved  prove calm, own", False),
    ],
)
def test_a_warning_only_if_nothing_reads_it(tmp_path: Path, prove: str, warned: bool) -> None:
    file = tmp_path / "a.bcast"
    file.write_text(SAVING.replace("PROVE", prove), encoding="utf-8")
    found = [w.message for w in load_check(str(file), "c", {}).warnings if w.code == "C017"]
    message = "no process recovers here: `stable` of `saved` in `Saving` has no effect"
    assert found == [message] * warned


TABLE = """protocol Table {
  message TICK
  STABLEshared state done : set<Proc> = {}
  upon condition self not in done { done += self  send TICK to all }
  upon receive TICK { skip }
  property kept : always forall p in Proc: crashed(p) => p not in done
}
check c of Table { n = 2  faults crash <= 1, recover  expect kept violated  allow unused }
"""


def test_a_crash_does_not_change_shared_state(tmp_path: Path) -> None:
    counts = set()
    for stable in ("", "stable "):
        text = TABLE.replace("STABLE", stable)
        assert f"  {stable}shared state done" in format_text(text, "a.bcast")
        file = tmp_path / "a.bcast"
        file.write_text(text, encoding="utf-8")
        report = run_check(str(file), None, Options())
        (verdict,) = report.verdicts
        assert verdict.word.value == "violated"
        counts.add(report.distinct_states)
    assert len(counts) == 1
