"""The number of states of TwoPhase for any number of participants, counted by hand."""

from __future__ import annotations

import pytest

from checker.engines.options import Options
from checker.resources import specs
from checker.session.pipeline import run_check
from checker.session.published import read_numbers

UNDECIDED = ("working", "aborted alone", "prepared, unread", "prepared, read")
COMMITTED = ("prepared, read", "committed, read")
ABORTED = (
    *("working", "aborted, never prepared", "prepared, unread", "prepared, read"),
    *("aborted after it prepared, unread", "aborted after it prepared, read"),
)
"""What a participant can be in, and whether the manager has read that it is prepared, by what the
manager has decided.  The participants are independent of each other: before a decision each does
these steps alone, and behind it nothing but the decision is read.  A commitment is decided when all
have been read; none is lost, and nobody prepares after an abort that it knows.
"""


def states(participants: int) -> int:
    return sum(len(kinds) ** participants for kinds in (UNDECIDED, COMMITTED, ABORTED))


def test_it_is_what_others_published() -> None:
    published = {
        (each.check, *each.settings.values()): each.states
        for each in read_numbers(specs() / "oracles" / "tla.tsv")
        if each.check and each.check.startswith("oracles/two_phase.bcast")
    }
    sizes = {"three": 3, "five": 5, "eight": 8, "nine": 9}
    found = {name.partition("::")[2]: count for (name, *_), count in published.items()}
    assert found.keys() == sizes.keys()
    assert all(found[name] == states(size) for name, size in sizes.items())


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_a_search_finds_so_many(size: int) -> None:
    options = Options(reduce="none", settings={"n": str(size)})
    report = run_check(str(specs() / "oracles" / "two_phase.bcast"), "three", options)
    assert report.distinct_states == states(size)
