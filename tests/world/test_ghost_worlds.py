"""Small worlds with ghosts: the tool says of them what the definition says.

For a long run, as many seconds as it says: ``BIVALENCE_LONG=600 pytest
tests/world/test_ghost_worlds.py``.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.selection import first_by_default
from tests.world.compare import compared
from tests.world.drawing import spec_of
from tests.world.features import closed, covering_sets, together
from tests.world.judge import TooMany

SECONDS = float(os.environ.get("BIVALENCE_LONG", "0"))
SETS = covering_sets(1, 4)
CUTS = ("", "crash", "recover", "stable", "bounded", "atomic")
"""Beside ghosts and the features of a covering, so that handlers are cut."""
MODES = (("native",), ("reference",), ("native fine",), ("native plain",))
BY_DEFAULT = 16


def decided(position: int, seed: int, path: Path, most: int = 300) -> bool:
    """Whether there was such a world, of which both say the same."""
    wanted = {*SETS[position % len(SETS)], *filter(None, [CUTS[position % len(CUTS)]])}
    features = closed(wanted)
    if not together(features):
        return False
    try:
        spec = spec_of(features | {"ghosts"}, seed)
        found = compared(spec, path, MODES[position % len(MODES)], most)
    except (TooMany, RecursionError):
        return False
    assert found == [], path.read_text()
    return True


@pytest.mark.parametrize("position", first_by_default(range(2 * BY_DEFAULT), BY_DEFAULT))
def test_both_say_the_same_of_ghosts(position: int, tmp_path: Path) -> None:
    path = tmp_path / "ghosts.bcast"
    if not any(decided(position + 7 * again, position + 1000 * again, path) for again in range(8)):
        pytest.skip("no small world has these features: see the long run")


@pytest.mark.skipif(not SECONDS, reason="takes as many seconds as BIVALENCE_LONG says")
def test_many_worlds_with_ghosts(tmp_path: Path) -> None:
    start, seed, told = time.monotonic(), 1, 0
    while time.monotonic() - start < SECONDS:
        told += decided(seed, seed, tmp_path / "ghosts.bcast", 1500)
        seed += 1
    assert told
