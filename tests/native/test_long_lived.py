"""A process that checks one spec after the other does not grow."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from checker.model import names
from checker.results.verdict import Word
from checker.session.pipeline import Options, run_check

RUNS, FIRST, SLACK = 200, 20, 300
SPEC = """
// %(number)d
protocol Counting {
  state x : 0..2 = 0
  state y%(number)d : 0..%(most)d = 0
  message M
  upon condition x < 2 { x := x + 1  send M to all }
  upon receive M from p when y%(number)d < 2 { y%(number)d := y%(number)d + 1 }
  property small : always forall p in Proc: p.x != 2
  property ends : eventually (exists p in Proc: p.x == 2)
}
check counting of Counting { n = 1 expect small violated expect ends holds }
"""


def objects() -> Counter[str]:
    """How many objects there are of each type, beside the names of nodes that are kept to be
    shared: some thousands at most, however many specs there are."""
    names._own_names.cache_clear()
    names._joined.cache_clear()
    gc.collect()
    return Counter(f"{type(each).__module__}.{type(each).__name__}" for each in gc.get_objects())


def handles() -> tuple[int, int]:
    """Open files, and mapped pieces of memory."""
    maps = Path("/proc/self/maps").read_text().count("\n")
    return len(os.listdir("/proc/self/fd")), maps


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what is open is counted in /proc")
def test_two_hundred_texts_in_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    spec = tmp_path / "spec.bcast"
    before, open_before = Counter[str](), (0, 0)
    for number in range(RUNS):
        spec.write_text(SPEC % {"number": number, "most": 3 + number})
        report = run_check(str(spec), None, Options(threads=1))
        assert [v.word for v in report.verdicts] == [Word.VIOLATED, Word.HOLDS]
        if number == FIRST:
            before, open_before = objects(), handles()
    more = objects() - before
    assert more.total() < SLACK, more.most_common(10)
    files, maps = handles()
    assert files <= open_before[0]
    assert maps <= open_before[1] + 20
