"""Public models with known numbers of states."""

from __future__ import annotations

import pytest

from checker.engines.native import engine as native
from checker.engines.native.search import search
from checker.engines.reference import engine as reference
from checker.model.ir import TransitionSystem
from checker.results.answer import Limits
from tests.native import models

COUNTS = [
    (models.two_phase(3), 288),
    (models.two_phase(5), 8832),
    (models.bcast_folklore(2, 0), 36),
    (models.bcast_folklore(3, 1), 3700),
    (models.inner_fifo(3, 3), 3864),
    (models.bag_log(), 5),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("system", "count"), COUNTS, ids=[s.name for s, _ in COUNTS])
def test_numbers_of_states(
    system: TransitionSystem, count: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 16)
    answer = native.explore(system, Limits(), threads=threads)
    assert answer.distinct_states == count
    assert answer.exhaustive


def test_a_violation_has_a_shortest_path_whatever_the_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 1)
    system = models.bag_log()
    expected = reference.explore(system, Limits())
    answers = [native.explore(system, Limits(), threads=n) for n in (1, 2, 3)]
    assert expected.violations.keys() == {"nothing logged"}
    for answer in answers:
        assert answer.violations == answers[0].violations
        path = answer.violations["nothing logged"].states
        assert len(path) == len(expected.violations["nothing logged"].states) == 3
        assert answer.ends == expected.ends
        assert answer.fair is expected.fair is True
