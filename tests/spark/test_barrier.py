"""The barrier exchange, its tasks as threads: the answers of the native engine, whatever the number
of shards, wherever it was interrupted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checker.engines import native
from checker.exploration.run_folder import RunFolder
from checker.kernels.image import build
from checker.system.evaluate import RunFault
from checker.system.ir import TransitionSystem
from checker.witness.answer import Answer, Limits, Unsupported
from tests.agreement.test_random_systems import system_of, whole
from tests.kernels.test_models import COUNTS
from tests.spark.gang import answer, begun, job_of, outcome

SAME = (
    "distinct_states depth exhaustive transitions violations fault reached_marks premises ends"
    " stopped fair undecided"
).split()


def compare(found: Answer, expected: Answer) -> None:
    for name in SAME:
        assert getattr(found, name) == getattr(expected, name), name


def expected_of(system: TransitionSystem, limits: Limits) -> Answer | None:
    try:
        return native.explore(system, limits, threads=1)
    except (Unsupported, RunFault):
        return None


@pytest.mark.parametrize("seed", range(40))
def test_random_systems(seed: int, tmp_path: Path) -> None:
    system = system_of(seed) if seed % 2 else whole(seed)
    for limits in (Limits(max_depth=3), Limits(max_depth=seed % 3)):
        expected = expected_of(system, limits)
        if expected is None:
            continue
        for shards in (1, 2, 3):
            folder = tmp_path / f"{limits.max_depth}-{shards}"
            compare(answer(system, folder, shards, limits), expected)


@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize(("system", "count"), COUNTS, ids=[s.name for s, _ in COUNTS])
def test_numbers_of_states(
    system: TransitionSystem, count: int, shards: int, tmp_path: Path
) -> None:
    found = answer(system, tmp_path, shards, Limits())
    assert found.distinct_states == count
    compare(found, native.explore(system, Limits(), threads=2))
