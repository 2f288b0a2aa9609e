"""Small worlds that combine features, by design: the tool says what the definition says.

Each pair of features that go together is in some world.  For a long run, an hour or so:
``BIVALENCE_LONG=3600 pytest tests/world/test_pairs.py``; or ``python -m tests.world.sweep``.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.world.asking import telling
from tests.world.compare import compared, differences, said
from tests.world.drawing import spec_of
from tests.world.features import covered, covering_sets, pairs
from tests.world.judge import Graph, TooMany, explore

SECONDS = float(os.environ.get("BIVALENCE_LONG", "0"))
STATES = 700
SETS = covering_sets(0, 9)
BESIDE = ("", "native plain", "reference", "native fine")
"""A sample of the worlds is asked in one of these ways, too."""


def world(position: int) -> Graph:
    """A world with the features at ``position``, and few states."""
    for seed in range(position, position + 10_000, 100):
        try:
            return explore(spec_of(SETS[position], seed), STATES)
        except (TooMany, RecursionError):
            continue
    raise AssertionError("no small world has these features")


def test_all_pairs_are_covered() -> None:
    assert set(pairs()) <= set().union(*(covered(features) for features in SETS))


@pytest.mark.parametrize("position", range(len(SETS)), ids=lambda i: "+".join(sorted(SETS[i])))
def test_both_say_the_same(position: int, tmp_path: Path) -> None:
    graph, verdicts = telling(world(position))
    file = tmp_path / "world.bcast"
    file.write_text(graph.model.spec.text(), encoding="utf-8")
    modes = ["native"]
    if position % 8 < 4:
        modes.append(BESIDE[position % 4])
    answers = {mode: said(file, mode) for mode in modes if mode}
    assert differences(graph, verdicts, answers) == [], graph.model.spec.text()


@pytest.mark.skipif(not SECONDS, reason="takes as many seconds as BIVALENCE_LONG says")
def test_many_worlds(tmp_path: Path) -> None:
    start, seed, wrong = time.monotonic(), 1, list[str]()
    while time.monotonic() - start < SECONDS:
        for position, features in enumerate(covering_sets(seed, 3 + seed % 4)):
            spec, file = spec_of(features, 1000 * seed + position), tmp_path / "world.bcast"
            try:
                found = compared(spec, file, ("native",), 3 * STATES)
            except (TooMany, RecursionError):
                continue
            if found:
                wrong.append(file.read_text(encoding="utf-8"))
            if time.monotonic() - start > SECONDS:
                break
        seed += 1
    assert not wrong, "\n\n".join(wrong[:3])


