"""The shuffle exchange: the answers of the native engine, whatever the number of shards, whatever
becomes of what executors keep, wherever it was interrupted."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.engines.native import engine as native
from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import compile_image
from checker.engines.native.search import reduction_stats
from checker.engines.native.search.reduction_stats import SAMPLE
from checker.engines.native.sharding import shard_cache
from checker.engines.native.sharding.shard_cache import LOCK, STATE, ShardCache
from checker.engines.spark import local_prefix, shard_handle, shuffle, stages
from checker.engines.spark.job import STOP
from checker.model.ir import TransitionSystem
from checker.reductions.choose import VERDICTS, choose
from checker.results.answer import INTERRUPTED, Limits
from tests.agreement.test_random_systems import system_of, whole
from tests.native.models import two_phase
from tests.native.test_models import COUNTS
from tests.spark import gang
from tests.spark.gang import begun, job_of
from tests.spark.relay import Relay, answer, outcome
from tests.spark.test_barrier import (
    DECIDED_SOON,
    compare,
    ends_where_all_is_decided,
    expected_of,
)
from tests.spark.test_liveness_in_shards import made

LARGE = max(COUNTS, key=lambda entry: entry[1])


@pytest.fixture(autouse=True)
def _nothing_in_the_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not even the first levels; executors have a folder for their files."""
    monkeypatch.setattr(local_prefix, "LIGHT", -1)
    place = tmp_path / "local"
    place.mkdir()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(place))


@pytest.mark.parametrize("seed", range(30))
def test_random_systems(seed: int, tmp_path: Path) -> None:
    system = system_of(seed) if seed % 2 else whole(seed)
    for limits in (Limits(max_depth=3), Limits(max_depth=seed % 3)):
        expected = expected_of(system, limits)
        if expected is None:
            continue
        for shards in (1, 2, 3):
            folder = tmp_path / f"{limits.max_depth}-{shards}"
            compare(answer(system, folder, shards, limits), expected)


@pytest.mark.parametrize(("shards", "chain"), [(1, 3), (2, 1), (3, 8)])
@pytest.mark.parametrize(("system", "count"), COUNTS, ids=[s.name for s, _ in COUNTS])
def test_numbers_of_states(
    system: TransitionSystem,
    count: int,
    shards: int,
    chain: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shuffle, "CHAIN", chain)
    found = answer(system, tmp_path / "run", shards, Limits())
    assert found.distinct_states == count
    compare(found, native.explore(system, Limits(), threads=2))


@pytest.mark.parametrize("light", [-1, 1 << 12, 1 << 28])
def test_first_levels_in_the_driver(
    light: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_prefix, "LIGHT", light)
    for seed in range(20):
        system = system_of(seed) if seed % 2 else whole(seed)
        for limits in (Limits(max_depth=3), Limits(max_depth=seed % 3)):
            expected = expected_of(system, limits)
            if expected is not None:
                folder = tmp_path / f"{seed}-{limits.max_depth}"
                compare(answer(system, folder, 2, limits), expected)


# -- interrupted and gone on with ---------------------------------------------------------------


@pytest.mark.parametrize("stop_at", [1, 20, 60])
def test_goes_on_with_other_shards(stop_at: int, tmp_path: Path) -> None:
    system, count = LARGE
    folder = tmp_path / "run"
    first = answer(system, folder, 3, Limits(max_states=stop_at))
    assert not first.exhaustive and first.distinct_states >= min(stop_at, count)
    for shards in (2, 1):
        again = answer(system, folder, shards, Limits())
        assert again.distinct_states == count
        compare(again, native.explore(system, Limits(), threads=1))


def test_interrupt(tmp_path: Path) -> None:
    system, _ = LARGE
    folder = tmp_path / "run"
    image = build(system)
    run = begun(folder, system, image)

    def between(level: int) -> None:
        if level == 2:
            run.say(STOP, {"stop": True})

    seen = outcome(job_of(system, image, run, 2, Limits()), between)
    assert seen.stopped == INTERRUPTED
    assert run.committed_depth == seen.complete.depth > 0
    run.say(STOP, {"stop": False})
    compare(answer(system, folder, 2, Limits()), native.explore(system, Limits(), threads=1))


def test_memory_limit(tmp_path: Path) -> None:
    system = two_phase(6)  # more than the first table has room for
    seen = answer(system, tmp_path / "run", 2, Limits(memory=1))
    assert seen.stopped == "the memory limit of 1 bytes was reached: 0 for each of 2 shards"
    compare(
        answer(system, tmp_path / "run", 2, Limits()), native.explore(system, Limits(), threads=1)
    )


def test_the_limit_of_states_is_named_as_it_was_applied(tmp_path: Path) -> None:
    system = two_phase(4)
    for how in (answer, gang.answer):
        found = how(system, tmp_path / how.__module__, 2, Limits(max_states=100))
        states, depth = found.distinct_states, found.depth
        assert states > 100
        assert found.stopped == (
            f"the limit of 100 states was reached: there are {states:,} at the end of level {depth}"
        )


@pytest.mark.parametrize("sample", [SAMPLE, 1 << 6], ids=["all", "a sample"])
@pytest.mark.parametrize("limits", [Limits(), Limits(max_depth=5)], ids=["whole", "bounded"])
def test_what_reductions_spare_is_the_same(
    limits: Limits, sample: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduction_stats, "SAMPLE", sample)
    system = made("oracles/two_phase.bcast::five")
    plan = choose(system, "auto", VERDICTS)
    expected = native.explore(system, limits, plan=plan, threads=1)
    assert expected.reduced.without is not None and expected.reduced.without > 0
    for how in (answer, gang.answer):
        for shards in (1, 3):
            folder = tmp_path / f"{how.__module__}-{shards}"
            found = how(system, folder, shards, limits, plan=plan)
            assert (found.stopped, found.distinct_states) == (
                expected.stopped,
                expected.distinct_states,
            )
            assert found.reduced == expected.reduced


def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, _ = LARGE
    image = build(system)
    run = begun(tmp_path / "run", system, image)
    write = RunFolder.write

    def failing(self: RunFolder, level: int, *rest: object) -> Part:
        if level == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "disk")
        return write(self, level, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(RunFolder, "write", failing)
    seen = outcome(job_of(system, image, run, 2, Limits()))
    assert seen.broken == "disk: No space left on device"
    assert run.committed_depth == 2
    monkeypatch.undo()
    compare(
        answer(system, tmp_path / "run", 2, Limits()), native.explore(system, Limits(), threads=1)
    )


# -- what executors keep ------------------------------------------------------------------------


def _delete(place: Path) -> None:
    shutil.rmtree(place)


def _spoil(place: Path) -> None:
    (place / STATE).unlink(missing_ok=True)


def _cut(place: Path) -> None:
    for path in place.glob("table-*"):
        os.truncate(path, 4096)


def _scribble(place: Path) -> None:
    (place / STATE).write_text('{"digest": 3')


def _another(place: Path) -> None:
    path = place / STATE
    if path.exists():
        path.write_text(path.read_text().replace('"digest": "', '"digest": "0'))


@pytest.mark.parametrize("harm", [_delete, _spoil, _cut, _scribble, _another])
@pytest.mark.parametrize("shards", [1, 2])
def test_harm(harm: Callable[[Path], None], shards: int, tmp_path: Path) -> None:
    system, _ = LARGE

    def between(level: int) -> None:
        places = list((tmp_path / "local").glob("bivalence-*/*-of-*"))
        assert level == 0 or places
        for place in places[level % 2 :]:
            harm(place)

    found = answer(system, tmp_path / "run", shards, Limits(), between)
    compare(found, native.explore(system, Limits(), threads=1))


def test_somebody_else_has_it(tmp_path: Path) -> None:
    system, _ = LARGE
    image = build(system)
    run = begun(tmp_path / "run", system, image)
    job = job_of(system, image, run, 2, Limits())
    with ShardCache(str(tmp_path / "local"), shard_handle.run_name(job), 0, 2):
        seen = outcome(job)
    place = tmp_path / "local" / f"bivalence-{shard_handle.run_name(job)}"
    assert [p.name for p in (place / "00000-of-00002").iterdir()] == [LOCK]
    assert (place / "00001-of-00002" / STATE).exists()
    assert seen.states == LARGE[1]


@pytest.mark.parametrize("where", ["", "/nowhere"])
def test_no_place_for_files(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", where)
    system, count = LARGE
    assert answer(system, tmp_path / "run", 2, Limits()).distinct_states == count


def test_disk_of_the_executor_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(size: int, path: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    monkeypatch.setattr(shard_cache, "MappedBuffer", full)
    monkeypatch.setattr(ShardCache, "save", lambda *_: None)
    system, count = LARGE
    assert answer(system, tmp_path / "run", 2, Limits()).distinct_states == count


def test_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are made a second time, by executors that know more than they should."""
    made = Relay._run_levels

    def twice(self: Relay, length: int) -> list[stages.ShardState]:
        made(self, length)
        return made(self, length)

    monkeypatch.setattr(Relay, "_run_levels", twice)
    system, _ = LARGE
    found = answer(system, tmp_path / "run", 2, Limits())
    compare(found, native.explore(system, Limits(), threads=1))


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_kept_levels(levels: int, tmp_path: Path) -> None:
    """What is opened are the first levels, and they are whole."""
    system, _ = LARGE
    image = build(system)
    run = begun(tmp_path / "run", system, image)
    job = job_of(system, image, run, 1, Limits(max_depth=3))
    assert outcome(job).stopped is not None
    kernel, name = compile_image(image), shard_handle.run_name(job)
    sizes = {level: sum(p.rows for p in parts) for level, parts in run.parts().items()}
    with ShardCache(str(tmp_path / "local"), name, 0, 1) as cache:
        store = cache.open(kernel, levels, None)
        assert store.states == sum(sizes[level] for level in range(levels))
        row = store.workers[0].rows.address
        for i in range(store.states):
            assert kernel.lookup(store.context_address, row + 8 * i * image.shape.words) >= 0
        table = store.table.words()[: store.slots]
        assert sum(1 for slot in table if slot) == store.states


def test_tasks_that_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, _ = LARGE
    image = build(system)
    run = begun(tmp_path / "run", system, image)
    settled = stages._update_course

    def one_stops(job: object, depth: int, inbox: stages.InputBuffer) -> stages.ShardState:
        luggage = settled(job, depth, inbox)  # type: ignore[arg-type]
        if inbox.shard == 1:
            luggage.course.stopped = "late"
        return luggage

    monkeypatch.setattr(stages, "_update_course", one_stops)
    with pytest.raises(stages.InconsistentTasks):
        outcome(job_of(system, image, run, 2, Limits()))
    assert run.committed_depth == 0


@DECIDED_SOON
def test_it_ends_where_all_is_decided(seed: int, tmp_path: Path) -> None:
    ends_where_all_is_decided(answer, seed, tmp_path)
