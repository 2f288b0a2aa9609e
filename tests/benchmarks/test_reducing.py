"""The benchmark of reductions: what is found with them has to be what there is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks import reducing, scaling
from benchmarks.comparing import WrongAnswer
from benchmarks.contestants import ROOT
from benchmarks.measure import COMPILER, Stopwatch
from benchmarks.reducing import AUTO, CHECKS, LARGE, LIBRARY, NONE, Check, Run, Saving
from checker.records import replace

compiled = pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no C compiler")

FULL = Run(100, 1.0, 2.0, 1_000, {"agreement": "holds"}, (), (), None, False, None)
REDUCED = replace(FULL, states=10, seconds=0.5, used=("symmetry",), without=100, exact=True)
CHECK = Check("specs/byzantine/bracha.bcast::four")


def test_every_check_is_there() -> None:
    for check in CHECKS.values():
        file, _, name = check.spec.partition("::")
        assert f"check {name} of" in (ROOT / file).read_text(), check.spec


def test_what_agrees() -> None:
    reducing.agree(Saving(CHECK, FULL, REDUCED))
    reducing.agree(Saving(CHECK, None, REDUCED))
    reducing.agree(Saving(CHECK, FULL, replace(REDUCED, without=120, exact=False)))


@pytest.mark.parametrize(
    "wrong",
    [
        replace(REDUCED, verdicts={"agreement": "violated"}),
        replace(REDUCED, states=101),
        replace(REDUCED, without=99),
    ],
)
def test_what_differs_is_an_error(wrong: Run) -> None:
    with pytest.raises(WrongAnswer):
        reducing.agree(Saving(CHECK, FULL, wrong))


def test_what_did_not_finish_is_no_ratio() -> None:
    stopped = replace(FULL, stopped="600 s", verdicts={"agreement": "unknown"})
    saving = Saving(replace(CHECK, group=LARGE), stopped, REDUCED)
    reducing.agree(saving)
    assert saving.fewer is None and saving.faster is None
    assert "over 100" in reducing.table([saving]).text()


def test_means() -> None:
    others = replace(REDUCED, states=25, seconds=0.125)
    savings = [Saving(CHECK, FULL, REDUCED), Saving(CHECK, FULL, others)]
    fewer, faster = reducing.means(savings)
    assert (round(fewer.mean, 2), round(faster.mean, 2)) == (6.32, 4.0)
    assert LIBRARY in fewer.what
    lines = reducing.table(savings).markdown()
    assert "| byzantine/bracha four | 100 | 10 | 10.00x |" in lines


@compiled
def test_a_check_of_the_library(tmp_path: Path) -> None:
    check = next(check for check in CHECKS.values() if check.quick and check.group == LIBRARY)
    stopwatch = Stopwatch(tmp_path)
    full, reduced = (reducing.play(check, mode, stopwatch, tmp_path) for mode in (NONE, AUTO))
    assert full.used == () and full.verdicts
    reducing.agree(Saving(check, full, reduced))


@compiled
@pytest.mark.slow
def test_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = scaling.QUICK
    found = scaling.scaled(name, 1, Stopwatch(tmp_path), tmp_path)
    assert {run.states for runs in found.values() for run in runs} == {8_832}
    assert "two_phase_5" in scaling.table({name: found}).text()
    wrong = replace(scaling.SPACES[name], states=8_831)
    monkeypatch.setattr(scaling, "SPACES", {name: wrong})
    with pytest.raises(WrongAnswer, match="not 8831"):
        scaling.scaled(name, 1, Stopwatch(tmp_path), tmp_path)
