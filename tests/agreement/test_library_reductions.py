"""Checks of the library, with each kind of reduction and without: the same verdicts.

For all checks: ``BIVALENCE_LONG=1 pytest tests/agreement/test_library_reductions.py``; those that
have more than ``STATES`` states are left out.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.resources import specs
from checker.results.answer import Limits
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from tests.finite_checks import finite_checks
from tests.shared_runs import sharing

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
    ("path", "name"), [sharing(f"{p.parent.name}/{p.stem}-{n}", p, n) for p, n in CHECKS]
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
