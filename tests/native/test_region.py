"""The states of a shard that are loaded again: as many as there are, in the order of the files."""

from __future__ import annotations

import random
from array import array

import pytest

from checker.engines.native.codegen.image import build
from checker.engines.native.search.findings import Findings
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.native.sharding.region import Region
from checker.engines.native.sharding.shard import Shard
from tests.native import models

MANY = 40_000


@pytest.fixture(scope="module")
def levels() -> list[bytes]:
    """Two levels of random rows of one word, no row twice."""
    bits = build(models.two_phase(8)).layout.bits
    rows = random.Random(7).sample(range(1 << bits), MANY)
    return [array("Q", some).tobytes() for some in (rows[: MANY // 2], rows[MANY // 2 :])]


@pytest.mark.parametrize("shards", [1, 3])
def test_states_are_numbered_in_the_order_of_the_files(levels: list[bytes], shards: int) -> None:
    kernel = kernel_of(build(models.two_phase(8)))
    given = array("Q", b"".join(levels))
    everywhere = list[int]()
    for index in range(shards):
        region = Region(kernel, index, shards)
        for level in levels:
            region.load([level[:80_000], level[80_000:]])
        rows = array("Q", bytes(region.rows()))
        owned = set(rows)
        assert rows.tolist() == [row for row in given if row in owned]
        everywhere += rows
    assert sorted(everywhere) == sorted(given)


@pytest.mark.parametrize("shards", [1, 3])
def test_what_is_taken_twice_is_there_once(levels: list[bytes], shards: int) -> None:
    kernel = kernel_of(build(models.two_phase(8)))
    total = 0
    for index in range(shards):
        shard = Shard(kernel, index, shards, keep=True)
        shard.begin_level(0)
        shard.begin_sweep(Findings(), ["consistent"], last=False)
        for block in (levels[0], levels[1][:999], levels[0][8_000:], levels[1]):
            shard.take(block)
        total += shard.states
        shard.begin_sweep(Findings(), ["consistent"], last=True)
        shard.take(levels[1])
        assert not shard.report().newcomer
        assert shard.states == len(set(array("Q", bytes(shard.level(0)))))
    assert total == MANY
