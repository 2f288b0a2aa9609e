"""What an answer says does not depend on threads, nor on how often tables grow on the way; limits
of memory end a run cleanly, whatever it is doing."""

from __future__ import annotations

import random

import pytest

from checker.engines.native import engine as native
from checker.engines.native.search import search, store
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.results.answer import Answer, Limits, Unsupported
from tests.agreement.generator import Generator
from tests.native import models
from tests.properties.test_buchi_automaton import random_formula


def told(answer: Answer) -> Answer:
    """All of an answer but what depends on the machine, and on how the work was divided."""
    clean = {"seconds": 0.0, "liveness_seconds": 0.0, "bytes_per_state": 0.0}
    return replace(answer, **clean, bytes_per_edge=0.0)


@pytest.fixture(autouse=True)
def _much_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """All levels are for all threads, in small pieces, and tables are filled together."""
    monkeypatch.setattr(search, "PARALLEL_FROM", 2)
    monkeypatch.setattr(search, "LEAST_PIECE", 1)
    monkeypatch.setattr(store, "TOGETHER", 1)
    monkeypatch.setattr(store, "PIECE", 100)
    monkeypatch.setattr(store, "QUICKLY", 0)


def small_tables(monkeypatch: pytest.MonkeyPatch, slots: int = 64) -> None:
    monkeypatch.setattr(store, "FIRST_SLOTS", slots)
    monkeypatch.setattr(store.Store.__init__, "__defaults__", (store.private_memory, slots))


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("system", [models.two_phase(5), models.bag_log()], ids=lambda s: s.name)
def test_any_number_of_threads_says_the_same(
    system: TransitionSystem, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = told(native.explore(system, Limits(), threads=1))
    if small:
        small_tables(monkeypatch)
    for threads in (1, 2, 3, 8, 16):
        assert told(native.explore(system, Limits(), threads=threads)) == one


@pytest.mark.parametrize("threads", [1, 3])
def test_a_limit_of_memory_is_met_cleanly_anywhere(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a random system is asked: with a limit it says the same, or that it does not know,
    and never something else."""
    small_tables(monkeypatch, 8)
    ended = set()
    for seed in range(1, 40, 2):
        draw = random.Random(seed)
        formula = random_formula(draw, 3)
        system = Generator(draw.randrange).system(formula)
        try:
            whole = native.explore(system, Limits(max_states=3000), threads=1)
        except (RunFault, Unsupported):
            continue
        if not whole.exhaustive:
            continue
        for memory in (1, 30_000 * threads, 40_000 * threads, 60_000 * threads, 200_000 * threads):
            some = native.explore(system, Limits(memory=memory), threads=threads)
            if some.stopped is not None:
                ended.add("search")
                assert "memory limit" in some.stopped
                assert some.distinct_states <= whole.distinct_states
                assert some.transitions < whole.transitions and not some.exhaustive
                assert some.violations.keys() <= whole.violations.keys()
            elif some.undecided:
                ended.add("liveness")
                assert "memory limit" in next(iter(some.undecided.values()))
                assert some.distinct_states == whole.distinct_states
                assert some.violations.keys() <= whole.violations.keys()
            else:
                ended.add("all")
                assert told(some) == told(whole)
    assert ended == {"search", "liveness", "all"}


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_search_with_rows_on_the_disk_says_the_same(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is missing where rows of old levels are on the disk."""
    small_tables(monkeypatch)
    spilled = []
    spill = store.Store.spill

    def noted(self: store.Store) -> None:
        spill(self)
        spilled.append(sum(crew.spilled for crew in self.workers))

    monkeypatch.setattr(store.Store, "spill", noted)
    system = models.two_phase(6)
    whole = native.explore(system, Limits(), threads=threads)
    assert whole.distinct_states == 50_816
    ends = [
        native.explore(system, Limits(memory=memory + 30_000 * threads), threads=threads)
        for memory in range(400_000, 1_100_000, 100_000)
    ]
    assert max(spilled) > 0
    assert told(ends[-1]) == told(whole)
    for answer in ends:
        assert answer.stopped is None or "memory limit" in answer.stopped
        if answer.stopped is None:
            assert told(answer) == told(whole)
