"""Random handlers do what their second definition says: the same ends of all runs, or an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import checker
from checker.results.answer import Limits
from checker.results.verdict import Word
from tests.agreement.random_programs import spec_of
from tests.selection import by_turns

PROGRAMS = 400 if os.environ.get("BIVALENCE_LONG") else 18
HOLDS = {Word.HOLDS, Word.VACUOUS, Word.BOUNDED}


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_the_ends_are_the_same(number: int, tmp_path: Path) -> None:
    text, ends = spec_of(number, statements=8)
    path = tmp_path / "random.bcast"
    path.write_text(text, encoding="utf-8")
    for engine in by_turns(("reference", "native", "symbolic"), str(number)):
        limits = Limits(max_depth=2) if engine == "symbolic" else Limits()
        try:
            report = checker.check(str(path), "c", engine=engine, limits=limits)
        except checker.diagnostics.SpecError as refused:
            assert {found.code for found in refused.diagnostics} == {"E007"}  # too wide for it
            continue
        words = {verdict.property: verdict.word for verdict in report.verdicts}
        if ends is None:
            assert set(words.values()) == {Word.ERROR}, text
        else:
            assert words.pop("known") in HOLDS, text
            assert set(words.values()) <= {Word.VIOLATED}, text
