"""The benchmark of symmetry with cycles: counts and violations have to be those that are known."""

from __future__ import annotations

import pytest

from benchmarks.liveness.cycles import CASES, WrongAnswer, explored, given_up, judge, system_of
from checker.records import replace

LEASES = next(case for case in CASES if case.check == "time/leases fenced")


def test_both_ways_store_what_is_known() -> None:
    system = system_of(LEASES)
    judge(LEASES, given_up(system)[0], LEASES.without)
    answer, seconds = explored(system, True)
    judge(LEASES, answer, LEASES.stored)
    assert seconds > 0
    for wrong in (replace(answer, distinct_states=1), replace(answer, undecided={"a": "why"})):
        with pytest.raises(WrongAnswer):
            judge(LEASES, wrong, LEASES.stored)
