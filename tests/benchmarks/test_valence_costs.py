"""The benchmark of valence: it counts each state once, and says what is over its bounds."""

from __future__ import annotations

import pytest

from benchmarks import valence
from benchmarks.comparing import WrongAnswer
from checker.records import replace

SMALL = "consensus/paxos::duel"


def test_the_states_are_those_of_a_plain_search() -> None:
    row = valence.measured(SMALL, 1)
    assert row.states > row.bivalent > 0
    assert row.bytes <= valence.BYTES


def test_what_is_over_the_bounds_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    row = valence.Row(SMALL, 240, 392, 1.0, 1.0, 2, 48, 0)
    given = iter([replace(row, valence=3.0), replace(row, bytes=8), row])
    monkeypatch.setattr(valence, "measured", lambda *_: next(given))
    with pytest.raises(WrongAnswer, match=r"3.0 times the search, 2 bytes.*1.0 times.*8 bytes"):
        list(valence.rows([SMALL] * 3, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", valence.CASES)
def test_each_case_is_counted(name: str) -> None:
    row = valence.measured(name, 1)
    assert row.states > 50_000
    assert row.bytes == valence.BYTES
