"""Small worlds that combine features, by design: the tool says what the definition says.

Each pair of features that go together is in some world.  For a long run, an hour or so:
``BIVALENCE_LONG=3600 pytest tests/world/test_pairs.py``; or ``python -m tests.world.sweep``.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from tests.selection import first_by_default
from tests.world.abbreviating import abbreviated
from tests.world.asking import telling
from tests.world.compare import compared, differences, said
from tests.world.drawing import spec_of
from tests.world.features import covered, covering_sets, pairs
from tests.world.judge import Graph, TooMany, explore
from tests.world.long_runs import LONG, SECONDS, while_there_is_time

STATES = 120
SETS = covering_sets(0, 8)
BY_DEFAULT = 45
"""So many sets, which have three of five pairs, are in the default run, too."""
MODES = ("reference",) * 3 + ("native", "reference fine") + ("reference",) * 2
MODES += ("native plain", "native fine")
"""In which way a world is asked, one after another; one with many states by machine code."""


def world(features: frozenset[str], seed: int) -> Graph:
    """A world with ``features`` and few states, every other one written with definitions; there may
    be none that a short run has time for."""
    write = abbreviated if seed % 2 else lambda spec, _: spec
    for most in (STATES, 4 * STATES, *((40 * STATES,) if SECONDS else ())):
        for again in range(6):
            try:
                drawn = spec_of(features, seed + 1000 * again)
                return explore(write(drawn, seed), most)
            except (TooMany, RecursionError):
                continue
    pytest.skip("no small world has these features: see the long run")


def test_all_pairs_are_covered() -> None:
    assert set(pairs()) <= set().union(*(covered(features) for features in SETS))


@pytest.mark.parametrize(
    "position",
    first_by_default(range(len(SETS)), BY_DEFAULT),
    ids=lambda i: "+".join(sorted(SETS[i])),
)
def test_both_say_the_same(position: int, tmp_path: Path) -> None:
    graph, verdicts = telling(world(SETS[position], position), 2)
    file, mode = tmp_path / "world.bcast", MODES[position % len(MODES)]
    mode = "native" if len(graph.states) > STATES else mode
    file.write_text(graph.model.spec.text(), encoding="utf-8")
    found = differences(graph, verdicts, {mode: said(file, mode)})
    assert found == [], graph.model.spec.text()


@LONG
def test_many_worlds(tmp_path: Path) -> None:
    wrong = list[str]()
    drawn = (
        (1000 * seed + position, features)
        for seed in count(1)
        for position, features in enumerate(covering_sets(seed, 3 + seed % 4))
    )
    for number, features in while_there_is_time(drawn):
        spec, file = spec_of(features, number), tmp_path / "world.bcast"
        spec = abbreviated(spec, number) if number % 2 else spec
        try:
            found = compared(spec, file, ("native",), 10 * STATES)
        except (TooMany, RecursionError):
            continue
        if found:
            wrong.append(file.read_text(encoding="utf-8"))
    assert not wrong, "\n\n".join(wrong[:3])
