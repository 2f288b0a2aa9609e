"""A run-time error is found with each reduction, and the run to it is one of the system."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.reductions.registry import modes
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check

BEHIND = """
protocol P(a: Proc, b: Proc) {
  message OLD
  message READ(i: 0..1)
  state begun = false
  state log : seq<bool, max 1> = []
  state seen = false
  upon condition not begun at a {
    begun := true
    SENDS
    send READ(0) to b
  }
  upon receive READ(i) { seen := log[i] }
  property unseen : always not b.seen
}
check c of P { n = 2  a = p1  b = p2  links LINKS  prove unseen  allow unused }
"""
"""Messages that no handler takes are in front of one whose reception fails."""


def checked(folder: Path, mode: str, *, links: str, dead: int) -> Report:
    path = folder / "behind.bcast"
    sends = "  ".join(["send OLD to b"] * dead)
    path.write_text(BEHIND.replace("SENDS", sends).replace("LINKS", links), encoding="utf-8")
    return run_check(str(path), "c", Options(reduce=mode, threads=1))


@pytest.mark.every
@pytest.mark.parametrize("mode", modes())
@pytest.mark.parametrize("dead", [1, 3])
def test_behind_messages_of_no_effect(mode: str, dead: int, tmp_path: Path) -> None:
    """They are received on the way, and have to find room in the queue, whose size is guessed."""
    report = checked(tmp_path, mode, links="fifo", dead=dead)
    (verdict,) = report.verdicts
    assert verdict.word is Word.ERROR
    assert verdict.trace is not None and verdict.trace.failure is not None
    assert verdict.trace.failure.code == "R003"
    assert verdict.trace.length == 1 + dead


@pytest.mark.every
@pytest.mark.parametrize("mode", modes())
@pytest.mark.parametrize("links", ["perfect", "persistent"])
def test_beside_messages_of_no_effect(mode: str, links: str, tmp_path: Path) -> None:
    report = checked(tmp_path, mode, links=links, dead=1)
    assert [verdict.word for verdict in report.verdicts] == [Word.ERROR]
