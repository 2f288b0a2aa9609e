"""Small worlds with choices by chance: for properties they are choices like any other.

Beside chance there are crash faults, recovery, layers, ghosts, bounds, definitions and procedures,
and variants, each with the others.  For a long run, as many seconds as it says:
``BIVALENCE_LONG=600 pytest tests/world/test_chance_worlds.py``.
"""

from __future__ import annotations

import random
from itertools import combinations, count
from pathlib import Path

import pytest

from tests.selection import first_by_default
from tests.world.abbreviating import abbreviated
from tests.world.asking import telling
from tests.world.compare import differences, said
from tests.world.drawing import spec_of
from tests.world.features import closed, together
from tests.world.judge import TooMany, explore
from tests.world.long_runs import LONG, while_there_is_time

BESIDE = (
    "crash", "recover", "between_handlers", "omission", "fair_loss", "layer", "choices_below",
    "stable", "shared", "bound", "inputs", "budget", "perform", "yield", "for", "either", "choose",
    "flip", "require", "ghosts", "definitions", "variant",
)  # fmt: skip
PAIRS = [pair for pair in combinations(BESIDE, 2) if together({*pair} & {*BESIDE[:-3]})]
random.Random(0).shuffle(PAIRS)
MODES = ("native", "reference", "native plain", "reference fine", "native fine")
WRITTEN = {"definitions", "variant"}
"""What is no feature of a world but of how it is written."""
BY_DEFAULT = 16


def in_a_variant(text: str) -> str:
    """The same protocol, as a variant of one whose requests do nothing but deliver."""
    head, _, rest = text.rpartition("check c of ")
    name, _, clauses = rest.partition(" ")
    before, begin, top = head.rpartition(f"protocol {name} ")
    (asked,) = (line for line in top.splitlines() if line.startswith("  upon request"))
    opening = asked[: asked.index("{")]
    idle = f"{before}{begin}{top.replace(asked, opening + '{ skip }')}"
    return f"{idle}variant Again of {name} {{\n{asked}\n}}\n\ncheck c of Again {clauses}"


def decided(position: int, seed: int, path: Path, most: int = 200) -> bool:
    """Whether there was such a world, of which both say the same."""
    pair = PAIRS[position % len(PAIRS)]
    try:
        spec = spec_of(closed({*pair, "chance"} - WRITTEN), seed)
        spec = abbreviated(spec, seed) if "definitions" in pair else spec
        graph, verdicts = telling(explore(spec, most))
    except (TooMany, RecursionError):
        return False
    text = graph.model.spec.text()
    if "by chance" not in text:
        return False
    path.write_text(in_a_variant(text) if "variant" in pair else text, encoding="utf-8")
    mode = MODES[position % len(MODES)]
    found = differences(graph, verdicts, {mode: said(path, mode)})
    assert found == [], path.read_text(encoding="utf-8")
    return True


@pytest.mark.parametrize("position", first_by_default(range(len(PAIRS)), BY_DEFAULT))
def test_both_say_the_same_of_chance(position: int, tmp_path: Path) -> None:
    path = tmp_path / "chance.bcast"
    if not any(decided(position, position + 1000 * again, path) for again in range(12)):
        pytest.skip("no small world has these features: see the long run")


@LONG
def test_many_worlds_with_chance(tmp_path: Path) -> None:
    path = tmp_path / "chance.bcast"
    assert sum(decided(seed, seed, path, 1500) for seed in while_there_is_time(count(1)))
