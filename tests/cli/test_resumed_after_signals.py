"""A run that signals end at random moments, and that is resumed, gives the result of an undisturbed
run: the same counts, depth, verdicts and traces."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.cli.resuming import CASES, LEGS, SPARK, Disturbed, differences, undisturbed

HERE = [name for name in CASES if name != SPARK]
DIRECTED = ("rows on disk", "some of each")
"""Cases of the default run."""


def disturbed(name: str, folder: Path, seed: int) -> None:
    """Ends a run at random moments, resumes it, and compares the results."""
    rng = random.Random(f"{name} {seed}")
    whole, seconds = undisturbed(CASES[name], folder)
    run = Disturbed(CASES[name], folder, rng)
    delays = [rng.uniform(0.2, seconds) for _ in range(rng.randint(1, LEGS))]
    assert run.problems(whole, delays) == [], run.moments


@pytest.mark.every
@pytest.mark.parametrize("name", DIRECTED)
def test_a_resumed_run_gives_the_same_result(name: str, tmp_path: Path) -> None:
    whole, _ = undisturbed(CASES[name], tmp_path)
    run = Disturbed(CASES[name], tmp_path, random.Random(name))
    assert run.problems(whole, [0.0], saved=True) == []
    assert run.sessions == 2, "the first one was ended in the middle of the search"


@pytest.mark.slow
@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("seed", range(12))
def test_random_moments(seed: int, name: str, tmp_path: Path) -> None:
    disturbed(name, tmp_path, seed)


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.parametrize("seed", range(3))
def test_random_moments_on_spark(seed: int, tmp_path: Path) -> None:
    disturbed(SPARK, tmp_path, seed)


@pytest.mark.parametrize("field", ["distinct_states", "depth", "transitions", "verdicts"])
def test_a_difference_is_seen(field: str, tmp_path: Path) -> None:
    whole, _ = undisturbed("specs/oracles/two_phase.bcast::three", tmp_path)
    assert differences(whole, {**whole, field: None}) != []
    assert differences(whole, dict(whole)) == []
