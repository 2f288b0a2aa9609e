"""`upon recover` is required to run only where the world has recoveries."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.results.verdict import Word
from checker.session.pipeline import Options, run_check

SPEC = """
protocol Pair {
  role a(1) { state up : 0..1 = 0  upon recover { up := 1 } }
  role b(1) { state up : 0..1 = 0  upon recover { up := 1 } }
  property small : always forall p in a: p.up <= 1
}
check of_world of Pair { %s  prove small }
"""


@pytest.mark.parametrize(
    ("faults", "word", "never"),
    [
        ("", Word.HOLDS, ""),
        ("faults crash <= 1", Word.HOLDS, ""),
        ("faults crash <= 1, recover", Word.HOLDS, ""),
        ("faults crash <= 1 of a, recover of a", Word.HOLDS, ""),
        ("faults crash <= 1 of b, recover of a", Word.VACUOUS, "upon recover (line 3) never ran"),
    ],
)
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_only_recoveries_that_the_world_has(
    faults: str, word: Word, never: str, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "pair.bcast"
    path.write_text(SPEC % faults, encoding="utf-8")
    report = run_check(str(path), "of_world", Options(engine=engine, reduce="none"))
    (verdict,) = report.verdicts
    assert verdict.word is word
    assert never in verdict.reason
