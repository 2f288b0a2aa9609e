"""Checks of the library, with each kind of reduction and without: the same verdicts.

For all checks: ``BIVALENCE_LONG=1 pytest tests/agreement/test_library_reductions.py``; those that
have more than ``STATES`` states are left out.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from checker.options import Options
from checker.pipeline import run_check
from checker.resources import specs
from checker.witness.answer import Limits
from checker.witness.verdict import Report, Word
from tests.finite_checks import finite_checks

LONG = bool(os.environ.get("BIVALENCE_LONG"))
STATES = 300_000 if LONG else 3_000
EVERY = 1 if LONG else 17
"""One of so many checks is asked."""

CHECKS = [
    (path, name)
    for path in sorted(specs().rglob("*.bcast"))
    for name in finite_checks(path.read_text(encoding="utf-8"))
][::EVERY]


@cache
def without(path: Path, name: str) -> Report:
    options = Options(reduce="none", limits=Limits(max_states=STATES, timeout=120.0))
    return run_check(str(path), name, options)


def words(report: Report) -> dict[str, Word]:
    return {v.property: v.word for v in report.verdicts}


@pytest.mark.parametrize("mode", ["symmetry", "por", "auto"])
@pytest.mark.parametrize(
    ("path", "name"), CHECKS, ids=[f"{p.parent.name}/{p.stem}-{n}" for p, n in CHECKS]
)
def test_verdicts_are_the_same(path: Path, name: str, mode: str) -> None:
    expected = without(path, name)
    if not expected.exhaustive and Word.ERROR not in words(expected).values():
        pytest.skip(f"more than {STATES:,} states")
    found = run_check(str(path), name, Options(reduce=mode))
    assert words(found) == words(expected)
    assert found.never in ((), expected.never)
    met = {e.what: e.met for e in expected.expectations}  # numbers that change are not compared
    assert all(e.met == met[e.what] for e in found.expectations)
    assert {e.what for e in found.expectations} >= words(found).keys() & met.keys()
    assert found.distinct_states <= expected.distinct_states or not found.exhaustive
