"""Where all that is asked is decided nobody goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker.options import Options
from checker.pipeline import run_check
from checker.witness.answer import DECIDED

COUNTERS = """
protocol P {
  state x : 0..3 = 0
  state y : 0..3 = 0
  state z : 0..3 = 0
  upon condition x < 3 { x += 1 }
  upon condition y < 3 { y += 1 }
  upon condition z < 3 { z += 1 }
  property small : always forall p in Proc: p.x == 0
  property true_ : always forall p in Proc: p.x <= 3
}
check one of P { n = 2  expect small violated }
check two of P { n = 2  expect small violated  prove true_ }
check counts of P { n = 2  expect small violated  expect states 4096 }
"""

PLAIN = Options(reduce="none", explain=None)


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("counters") / "counters.bcast"
    path.write_text(COUNTERS)
    return path


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_level_is_finished_and_nothing_more(counters: Path, engine: str) -> None:
    """Of 4,096 states; one step leads to six, two steps to 21 more."""
    report = run_check(str(counters), "one", replace(PLAIN, engine=engine))
    assert (report.stopped, report.exhaustive, report.never) == (DECIDED, False, ())
    assert report.distinct_states == 1 + 6 + 21
    (verdict,) = report.verdicts
    assert verdict.word.value == "violated" and verdict.trace is not None
    assert verdict.trace.length == 1
    assert report.exit_code == 0


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_one_that_is_not_decided_keeps_it_going(counters: Path, engine: str) -> None:
    report = run_check(str(counters), "two", replace(PLAIN, engine=engine))
    assert (report.stopped, report.exhaustive, report.distinct_states) == (None, True, 4096)


def test_who_asks_for_more_gets_it(counters: Path, tmp_path: Path) -> None:
    for name, options in (
        ("counts", PLAIN),
        ("one", replace(PLAIN, coverage=True)),
        ("one", replace(PLAIN, kinds=2)),
    ):
        report = run_check(str(counters), name, options)
        assert (report.stopped, report.distinct_states) == (None, 4096)


def test_any_number_of_threads_gives_the_same_run(counters: Path) -> None:
    found = [run_check(str(counters), "one", replace(PLAIN, threads=t)) for t in (1, 2, 5)]
    assert len({repr(report.verdicts) for report in found}) == 1
    assert len({report.distinct_states for report in found}) == 1
