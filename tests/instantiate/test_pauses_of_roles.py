"""Pauses of several roles with different bounds, which the second definition has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.results.verdict import Word
from checker.session.pipeline import run_check

LOOP = """
protocol Loop {
  message ONE
  role client(1) {
    state heard = false
    state x = false
    upon condition true { x := not x  perform self  perform self  start t }
    upon timeout t { }
    upon receive ONE { heard := true }
  }
  role server(1) { upon init { send ONE to all client } }
  property hears : forall p in client: eventually p.heard
}
check c of Loop { timing asynchronous  faults FAULTS  prove hears }
"""


@pytest.mark.parametrize(
    "faults", ["pause", "pause of client", "pause of client, pause <= 1 of server",
               "pause, pause <= 1 of server", "pause <= 1"]
)  # fmt: skip
def test_a_client_that_pauses_without_end_still_hears(faults: str, tmp_path: Path) -> None:
    """Nobody's pauses are an excuse, whether or not those of others are counted."""
    path = tmp_path / "loop.bcast"
    path.write_text(LOOP.replace("FAULTS", faults), encoding="utf-8")
    for engine in ("native", "reference"):
        (verdict,) = run_check(str(path), "c", Options(engine=engine)).verdicts
        assert verdict.word is Word.HOLDS, (engine, faults)
