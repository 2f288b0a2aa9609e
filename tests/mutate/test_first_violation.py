"""The search of a mutant ends where it is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from checker import resources
from checker.proving import dispatch_check
from checker.results.verdict import Word
from tests.mutate.test_mutate_command import fates, judged, spec_in

LONG = """\
protocol Long {
  state x : 0..400 = 0
  state early = true
  upon condition x < 400 as counts {
    x := x + 1
    early := false
  }
  property starts "It is early at first." : always forall p in Proc: p.x >= 1 or p.early
  property later "It is not early later." : always forall p in Proc: p.x == 0 or not p.early
  property small "It stays small." : always forall p in Proc: p.x <= 400
}
check long of Long { n = 1 prove starts, small, later }
"""


@pytest.mark.parametrize(("words", "every"), [((), False), (("--every-check",), True)])
def test_a_violation_ends_the_search(
    words: tuple[str, ...], every: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, states = dispatch_check.answer_check, list[int]()

    def noting(*given: Any) -> Any:
        report = answer(*given)
        if any(v.property == "later" and v.word is Word.VIOLATED for v in report.verdicts):
            states.append(report.distinct_states)
        return report

    monkeypatch.setattr(dispatch_check, "answer_check", noting)
    report = judged(spec_in(tmp_path, LONG), *words)
    assert fates(report)["without `early := false`"] == "killed"
    assert bool(states) and (max(states) > 400) == every


@pytest.mark.parametrize(
    "some", [("--sample", "6", "--seed", "1"), pytest.param((), marks=pytest.mark.slow)]
)
def test_the_fates_are_those_of_whole_searches(some: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "fifo.bcast"
    shutil.copy(resources.specs() / "broadcast" / "eager_reliable.bcast", path)
    assert fates(judged(path, *some)) == fates(judged(path, "--every-check", *some))


def test_an_expected_violation_ends_nothing(tmp_path: Path) -> None:
    """Another property fails behind it."""
    text = LONG.replace("x <= 400", "x < 400 or p.early").replace("p.x == 0 or", "p.x < 0 or")
    text = text.replace("prove starts, small, later", "prove small expect later violated")
    text = text.replace("x < 400 as", "x < 399 as")
    report = judged(spec_in(tmp_path, text))
    assert fates(report)["one less: `x < 399`"] == "killed"
