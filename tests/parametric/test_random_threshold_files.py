"""Verdicts on random files of threshold automata are those of a plain search of small sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.proving.threshold import prove_file
from checker.results.verdict import Word
from tests.parametric.random_threshold_files import File
from tests.selection import some

FEW, MANY = some(40), 1500
WITH_RESETS = some(15), 500
UNDECIDED = ("E122", "E123", "two encodings", "no invariant was found")


def disagreements(
    seeds: range, folder: Path, *, resets: bool = False
) -> tuple[list[str], int, int]:
    """What differs, and how many specifications are decided, and how many are not.  The second
    check allows more where a guard joins a rising and a falling comparison by `||`."""
    found, decided, undecided = [], 0, 0
    for seed in seeds:
        file = File(seed, resets)
        path = folder / "random.ta"
        path.write_text(file.text, "utf-8")
        for verdict in prove_file(str(path), Options()).report.verdicts:
            violated = file.violated(verdict.property)
            refused = any(why in verdict.reason for why in UNDECIDED)
            if verdict.word is Word.UNKNOWN and refused:
                undecided += 1
                continue
            decided += 1
            if (verdict.word is Word.VIOLATED) != violated or verdict.word is Word.UNKNOWN:
                found.append(f"{seed} {verdict.property}: {verdict.word} {verdict.reason}")
    return found, decided, undecided


def test_verdicts_are_those_of_a_search(tmp_path: Path) -> None:
    found, decided, undecided = disagreements(range(FEW), tmp_path)
    assert found == []
    assert decided > 2 * undecided


@pytest.mark.slow
def test_many_verdicts_are_those_of_a_search(tmp_path: Path) -> None:
    found, _, _ = disagreements(range(FEW, MANY), tmp_path)
    assert found == []


def test_verdicts_with_resets_are_those_of_a_search(tmp_path: Path) -> None:
    found, decided, undecided = disagreements(range(WITH_RESETS[0]), tmp_path, resets=True)
    assert found == []
    assert decided > undecided


@pytest.mark.slow
def test_many_verdicts_with_resets_are_those_of_a_search(tmp_path: Path) -> None:
    found, _, _ = disagreements(range(*WITH_RESETS), tmp_path, resets=True)
    assert found == []
