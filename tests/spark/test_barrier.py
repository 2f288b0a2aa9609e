"""The barrier exchange, its tasks as threads: the answers of the native engine, whatever the number
of shards, wherever it was interrupted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checker.engines.native import engine as native
from checker.engines.native.codegen import image
from checker.engines.options import Options
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.results.answer import DECIDED, Answer, Limits, Unsupported
from checker.session.pipeline import open_check
from tests.agreement.test_random_systems import system_of, whole
from tests.instantiate.test_state_bounds import climbing, counted_again
from tests.native.test_models import COUNTS
from tests.selection import first_by_default
from tests.spark.gang import answer

SAME = (
    "distinct_states depth exhaustive transitions violations fault reached_marks premises ends"
    " beyond stopped fair undecided"
).split()


def compare(found: Answer, expected: Answer) -> None:
    for name in SAME:
        assert getattr(found, name) == getattr(expected, name), name


def expected_of(system: TransitionSystem, limits: Limits) -> Answer | None:
    try:
        return native.explore(system, limits, threads=1)
    except (Unsupported, RunFault):
        return None


@pytest.mark.parametrize("seed", first_by_default(range(40), 16))
def test_random_systems(seed: int, tmp_path: Path) -> None:
    system = system_of(seed) if seed % 2 else whole(seed)
    for limits in (Limits(max_depth=3), Limits(max_depth=seed % 3)):
        expected = expected_of(system, limits)
        if expected is None:
            continue
        for shards in (1, 2, 3):
            folder = tmp_path / f"{limits.max_depth}-{shards}"
            compare(answer(system, folder, shards, limits), expected)


@pytest.mark.every
@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize(("system", "count"), COUNTS, ids=[s.name for s, _ in COUNTS])
def test_numbers_of_states(
    system: TransitionSystem, count: int, shards: int, tmp_path: Path
) -> None:
    found = answer(system, tmp_path, shards, Limits())
    assert found.distinct_states == count
    compare(found, native.explore(system, Limits(), threads=2))


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_states_beyond_a_bound_are_counted_by_their_owners(shards: int, tmp_path: Path) -> None:
    path = tmp_path / "climbing.bcast"
    path.write_text(climbing("bound p.term <= 3", "safe"), "utf-8")
    system = open_check(str(path), None, Options()).made.system
    states, within = counted_again((3, 3))
    found = answer(system, tmp_path / "run", shards, Limits())
    assert (found.distinct_states, found.beyond) == (states, states - within)
    compare(found, native.explore(system, Limits(), threads=2))


@pytest.mark.parametrize("seed", range(0, 24, 2))
@pytest.mark.parametrize("bits", [0, 1], ids=["no level in a key", "one bit for the level"])
def test_liveness_where_levels_are_not_known(
    bits: int, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What can't be told from the keys of states has to be taken for a cycle."""
    monkeypatch.setattr(image, "MIN_LEVEL_BITS", 99 if bits == 0 else 1)
    monkeypatch.setattr(image, "MAX_LEVEL_BITS", bits)
    system, limits = whole(seed), Limits(max_states=3000)
    expected = expected_of(system, limits)
    if expected is not None and expected.exhaustive:
        compare(answer(system, tmp_path, 2, Limits()), expected)


@pytest.mark.parametrize("seed", first_by_default(range(1, 24), 10))
def test_a_run_goes_on_with_other_shards(seed: int, tmp_path: Path) -> None:
    """Begun with some shards, stopped at every level, gone on with by others."""
    system = system_of(seed) if seed % 2 else whole(seed)
    expected = expected_of(system, Limits(max_depth=4))
    if expected is None or expected.fault is not None:
        return
    for depth in range(3):
        for shards in ((1, 3), (2, 1), (3, 2)):
            folder = tmp_path / f"{depth}-{shards[0]}"
            answer(system, folder, shards[0], Limits(max_depth=depth), commit_every=0.0)
            compare(answer(system, folder, shards[1], Limits(max_depth=4)), expected)


DECIDED_SOON = pytest.mark.parametrize("seed", [2, 3, 13, 15, 37])


def ends_where_all_is_decided(
    answer: Callable[[TransitionSystem, Path, int, Limits], Answer], seed: int, folder: Path
) -> None:
    """As the native engine does, also where the run is gone on with."""
    system, limits = system_of(seed), Limits(until_decided=True)
    expected = expected_of(system, limits)
    assert expected is not None and expected.stopped == DECIDED
    for shards in (1, 2):
        for _ in range(2):
            compare(answer(system, folder / f"{shards}", shards, limits), expected)


@DECIDED_SOON
def test_it_ends_where_all_is_decided(seed: int, tmp_path: Path) -> None:
    ends_where_all_is_decided(answer, seed, tmp_path)
