"""Random specs: the same verdicts whether handlers or effects are steps.

For a long run: ``BIVALENCE_LONG=500 pytest tests/agreement/test_fine_steps.py``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.results.answer import Limits
from checker.results.verdict import Word
from checker.session.pipeline import run_check
from tests.agreement.watched import watched

SPECS = int(os.environ.get("BIVALENCE_LONG", "0")) or 12
SHARDS = 4
LIMITS = Limits(max_states=600)


def words(path: Path, fine: bool, engine: str) -> dict[str, Word]:
    """The verdicts, by the names of properties."""
    options = Options(engine=engine, fine_steps=fine, limits=LIMITS, threads=1)
    return {v.property: v.word for v in run_check(str(path), "c", options).verdicts}


@pytest.mark.parametrize("shard", range(SHARDS))
def test_steps_of_both_sizes_give_the_same_verdicts(shard: int, tmp_path: Path) -> None:
    decided = 0
    for seed in range(shard, SPECS, SHARDS):
        path = tmp_path / f"random{seed}.bcast"
        path.write_text(watched(seed), encoding="utf-8")
        engine = "native" if seed % 6 == 5 else "reference"
        try:
            coarse = words(path, False, engine)
        except SpecError:  # nothing is performed, or a formula is too large
            continue
        fine = words(path, True, engine)
        known = [n for n in coarse if Word.UNKNOWN not in (coarse[n], fine[n])]
        assert {n: fine[n] for n in known} == {n: coarse[n] for n in known}, path.read_text()
        decided += len(known)
    assert decided
