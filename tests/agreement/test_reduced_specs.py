"""Random specs from text to report: the same verdicts with reductions and without.

For a long run: ``BIVALENCE_LONG=500 pytest tests/agreement/test_reduced_specs.py``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.results.answer import Limits
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from tests.agreement.specs import random_spec

SPECS = int(os.environ.get("BIVALENCE_LONG", "0")) or 12
STATES = 100_000 if "BIVALENCE_LONG" in os.environ else 2_000
SHARDS = 4


def words(report: Report) -> dict[str, Word]:
    """The verdicts, by the names of properties."""
    return {v.property: v.word for v in report.verdicts}


def compared(path: Path, modes: tuple[str, ...], fine: bool = False) -> int:
    """Compares the verdicts on a spec; gives how many of ``modes`` left something out.

    An error of a run ends a search: all that is not violated before is in error, in any mode.
    """
    limits = Limits(max_states=STATES)
    try:
        expected = run_check(
            str(path), "c", Options(reduce="none", limits=limits, threads=1, fine_steps=fine)
        )
    except SpecError:
        return 0
    fails = Word.ERROR in words(expected).values()
    if not expected.exhaustive and not fails:
        return 0
    used = 0
    for mode in modes:
        found = run_check(str(path), "c", Options(reduce=mode, threads=1, fine_steps=fine))
        if fails:
            assert {*words(found).values()} <= {Word.ERROR, Word.VIOLATED}, mode
        else:
            assert words(found) == words(expected), mode
            assert found.never in ((), expected.never), mode
        used += bool(found.reduced.used)
    return used


@pytest.mark.parametrize("shard", range(SHARDS))
def test_specs(shard: int, tmp_path: Path) -> None:
    """Goes on after its share of specs while nothing was left out of any of them."""
    used = 0
    for seed in range(shard, 10 * SPECS, SHARDS):
        if seed >= SPECS and used:
            break
        path = tmp_path / f"random{seed}.bcast"
        path.write_text(random_spec(seed), encoding="utf-8")
        used += compared(
            path, ("symmetry", "por", "all") if seed % 5 == 0 else ("all",), fine=seed % 4 == 1
        )
    assert used
