"""The benchmark of `judge`: right histories, their wrong twins, and what is no such verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import judging


@pytest.mark.every
@pytest.mark.parametrize("case", judging.CASES, ids=lambda case: case.name)
def test_a_history_and_its_twin_differ_in_one_row(case: judging.Case) -> None:
    right, wrong = (list(case.rows(60, twin)) for twin in (False, True))
    assert len(right) == len(wrong)
    assert sum(ours != theirs for ours, theirs in zip(right, wrong, strict=True)) == 1


def test_another_verdict_ends_the_run(tmp_path: Path) -> None:
    case = judging.CASES[1]
    file, _ = judging.written(case.rows(60, True), tmp_path)
    assert judging.judged(file, case.options, 1).seconds > 0
    with pytest.raises(SystemExit, match="exit code 1, expected 0"):
        judging.judged(file, case.options, 0)
