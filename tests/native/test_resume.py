"""A run that was cut short and gone on with, anywhere and any number of times, ends like one that
was not."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checker.diagnostics import SpecError
from checker.engines.native import engine as native
from checker.engines.native.checkpoint import journal
from checker.engines.native.checkpoint.checkpoint import Checkpoint
from checker.engines.native.checkpoint.journal import Journal
from checker.engines.native.checkpoint.run_identity import Identity
from checker.engines.native.codegen.image import KernelImage, build
from checker.engines.native.search import search
from checker.engines.search_engine import HandedOver
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.results.answer import Answer, Limits, Progress, Unsupported
from tests.agreement.generator import Generator
from tests.native.models import two_phase
from tests.properties.test_buchi_automaton import random_formula

EXAMPLES, SHARDS = 60, 3
STATES = 400
IDENTITY = Identity("0", "a.bcast", "a")


def whole(seed: int) -> TransitionSystem:
    """A small random system, every other one with a question about whole runs."""
    draw = random.Random(seed)
    formula = random_formula(draw, 3) if seed % 2 else None
    return Generator(lambda count: draw.randrange(count)).system(formula)


def told(answer: Answer) -> Answer:
    """All of an answer but what depends on the machine, and on how the work was divided."""
    clean = {"seconds": 0.0, "liveness_seconds": 0.0, "bytes_per_state": 0.0}
    return replace(answer, **clean, bytes_per_edge=0.0)


def explore(
    system: TransitionSystem, run: Checkpoint, limits: Limits, threads: int = 1, **how: object
) -> Answer:
    def open_journal(image: KernelImage) -> Journal:
        return Journal(run.open(system, image), **how)  # type: ignore[arg-type]

    return native.explore(system, limits, threads=threads, journal=open_journal)


@pytest.mark.parametrize("shard", range(SHARDS))
@settings(
    max_examples=EXAMPLES // SHARDS,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32))
def test_stopped_at_every_level(
    shard: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    system = whole(seed * SHARDS + shard)
    try:
        expected = native.explore(system, Limits(max_states=STATES), threads=1)
    except (RunFault, Unsupported):
        assume(False)
        return
    assume(expected.stopped is None)
    location = str(tmp_path_factory.mktemp("runs") / "run")
    run = Checkpoint.begin(location, IDENTITY)
    for depth in range(expected.depth + 2):
        answer = explore(system, run, Limits(max_depth=depth), threads=1 + depth % 2)
        assert answer.depth == min(depth, expected.depth)
        run.unfinished = True
        run.leave()
        run = Checkpoint.resume(location, IDENTITY)
    assert told(answer) == told(expected)
    assert told(explore(system, run, Limits())) == told(expected)
    run.leave()


@pytest.fixture
def begun(tmp_path: Path) -> Checkpoint:
    return Checkpoint.begin(str(tmp_path / "run"), IDENTITY)


def again(run: Checkpoint) -> Checkpoint:
    """The same folder, as the next process finds it."""
    run.unfinished = True
    run.leave()
    assert run.staying
    return Checkpoint.resume(run.location, IDENTITY)


def interrupt(at: int) -> Callable[[Progress], None]:
    def listener(progress: Progress) -> None:
        if progress.states > at:
            raise KeyboardInterrupt

    return listener


def test_stopped_in_the_midst_of_levels(begun: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SLICE", 0.001)
    monkeypatch.setattr(search, "PARALLEL_FROM", 8)
    system, run = two_phase(6), begun
    for at in (100, 1_000, 20_000):

        def opened(image: KernelImage, run: Checkpoint = run) -> Journal:
            return Journal(run.open(system, image))

        answer = native.explore(system, Limits(), threads=2, listener=interrupt(at), journal=opened)
        assert answer.stopped == "interrupted"
        run = again(run)
    for limits in (Limits(max_states=30_000), Limits(memory=1 << 19)):
        assert explore(system, run, limits, threads=2).stopped is not None
        run = again(run)
    answer = explore(system, run, Limits(), threads=2)
    assert (answer.distinct_states, answer.stopped) == (50_816, None)
    run.leave()


def test_resumed_within_the_memory_that_an_undisturbed_run_needs(tmp_path: Path) -> None:
    system = two_phase(6)
    limits = [Limits(memory=size << 16) for size in range(8, 64)]
    least = next(one for one in limits if native.explore(system, one, threads=1).stopped is None)
    for depth in (5, 10, 13, 16, 18):
        run = Checkpoint.begin(str(tmp_path / str(depth)), IDENTITY)
        explore(system, run, replace(least, max_depth=depth))
        run = again(run)
        answer = explore(system, run, least)
        assert (answer.distinct_states, answer.stopped) == (50_816, None), depth
        run.leave()


def test_every_level_is_committed_where_there_is_time(
    begun: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SHARE", 0)
    system = two_phase(5)
    answer = explore(system, begun, Limits(), every=0.0)
    folder = begun.open(system, build(system))
    assert folder.committed_depth == max(folder.parts()) == answer.depth + 1
    assert sum(part.rows for level in folder.parts().values() for part in level) == 8_832
    markers = [name for name in folder.place.files() if name.endswith("_SUCCESS")]
    assert len(markers) == answer.depth + 2
    begun.leave()


def test_all_levels_are_there_where_somebody_wants_them(begun: Checkpoint) -> None:
    system = two_phase(5)
    explore(system, begun, Limits(), whole=True)
    folder = begun.open(system, build(system))
    assert sum(part.rows for level in folder.parts().values() for part in level) == 8_832
    begun.leave()


def test_goes_elsewhere_when_a_level_is_large(begun: Checkpoint) -> None:
    system = two_phase(6)
    with pytest.raises(HandedOver):
        explore(system, begun, Limits(), graduate_at=2_000)
    folder = begun.open(system, build(system))
    sizes = {level: sum(p.rows for p in parts) for level, parts in folder.parts().items()}
    assert sizes[folder.committed_depth] >= 2_000 > sizes[folder.committed_depth - 1]
    with pytest.raises(HandedOver) as caught:
        explore(system, begun, Limits(), graduate_at=2_000)
    assert caught.value.seconds == 0.0
    answer = explore(system, begun, Limits())
    assert (answer.distinct_states, answer.exhaustive) == (50_816, True)
    begun.leave()


@pytest.mark.parametrize("memory", [1 << 20, 1 << 22])
def test_goes_elsewhere_when_memory_is_short(
    begun: Checkpoint, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SMALL", 100)
    system = two_phase(7)
    with pytest.raises(HandedOver):
        explore(system, begun, Limits(memory=memory), graduate_at=10**9)
    folder = begun.open(system, build(system))
    assert folder.committed_depth > 3
    assert explore(system, begun, Limits()).distinct_states == 296_448
    begun.leave()


def test_a_disk_that_is_full_ends_the_run_and_nothing_more(
    begun: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SHARE", 0)
    system, written = two_phase(5), []

    def write(self: Journal, *rest: object) -> object:
        written.append(1)
        if len(written) > 7:
            raise OSError(28, "No space left on device", "there")
        return real(self, *rest)  # type: ignore[arg-type]

    real = Journal._write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "_write", write)
        answer = explore(system, begun, Limits(), every=0.0)
    assert answer.stopped == f"the run can't be saved in {begun.location}: no space left on device"
    assert answer.depth == 8
    run = again(begun)
    assert explore(system, run, Limits()).distinct_states == 8_832
    run.unfinished = False
    run.leave()
    assert not run.staying
    assert not Path(run.location).exists()


def test_what_cannot_be_written_is_said_before_anything_is_explored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError) as caught:
        Checkpoint.begin(str(tmp_path / "file" / "run"), IDENTITY)
    (found,) = caught.value.diagnostics
    assert found.code == "E014"
    assert "not a directory" in found.message


def test_parts_of_several_shards_are_gone_on_with(
    begun: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a cluster leaves them: several parts a level, by shards."""
    system = two_phase(6)
    with pytest.raises(HandedOver):
        explore(system, begun, Limits(), graduate_at=500)
    folder = begun.open(system, build(system))
    found, parts = folder.latest(), folder.parts()
    assert found is not None
    rows = {level: b"".join(b for p in of for b in folder.read(p)) for level, of in parts.items()}
    begun.place.delete_folder("levels")
    width, split = 8 * folder.words, []
    for level, states in rows.items():
        for shard in range(3):
            mine = [states[i : i + width] for i in range(shard * width, len(states), 3 * width)]
            split.append(folder.write(level, shard, 3, [memoryview(b"".join(mine))]))
    folder._committed = None
    folder.commit(found, split)
    answer = explore(system, begun, Limits(), threads=2)
    assert (answer.distinct_states, answer.exhaustive) == (50_816, True)
    begun.leave()
