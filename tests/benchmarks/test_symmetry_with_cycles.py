"""The benchmark of symmetry with cycles: counts and violations have to be those that are known."""

from __future__ import annotations

import pytest

from benchmarks.liveness.cycles import (
    CASES,
    MONITORED,
    WrongAnswer,
    explored,
    given_up,
    judge,
    system_of,
)
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


def test_few_states_are_searched_without_symmetry_if_there_is_a_monitor() -> None:
    case = next(case for case in MONITORED if case.check == "replication/bookkeeper one_entry")
    system = system_of(case)
    for answer, _ in (given_up(system), explored(system, True)):
        judge(case, answer, case.searched)
