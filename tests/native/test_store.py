"""The seen set and its rows, as Python grows them: nothing is lost or kept twice, and memory is
what was promised at any moment."""

from __future__ import annotations

import array
import ctypes
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.fields import RecordLayout, Worker
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.codegen.jit import Effort, Kernel, _compile, _function
from checker.engines.native.codegen.make_image import digest_of, module_text
from checker.engines.native.codegen.routing import Routing
from checker.engines.native.codegen.visited_set import VisitedSet
from checker.engines.native.search import store as stores
from checker.engines.native.search.store import LOAD, OutOfMemory, Store

BITS = 60


class Weak(VisitedSet):
    """A seen set in which very many states have the same fingerprint."""

    def fingerprint(self) -> Fn:
        fn = Fn("fingerprint", [("row", 0)], 64, "alwaysinline")
        total: Val = const(0)
        for i in range(self.words):
            total = fn.xor(total, fn.load(fn.at(fn.args[0], i), 64))
        few = fn.and_(total, const(7))
        fn.ret(fn.or_(fn.shl(few, const(29)), fn.shl(few, const(61))))
        return fn


@lru_cache
def kernel_of(words: int, weak: bool = False, compact: int = 0) -> Kernel:
    """The code of a seen set for rows of so many words, and of nothing else."""
    seen = (Weak if weak else VisitedSet)(words, BITS, 0, tracks=False, compact=compact)
    functions = [*seen.functions(), *Routing(seen).functions()]
    text = module_text(functions, public=True)
    engine = _compile(text, digest_of(text), Effort.FULL, cache=False)
    image = SimpleNamespace(
        shape=RecordLayout(words, 0, 0), level_limit=0, level_shift=0, compact=compact
    )

    def function(name: str, count: int, result: object = ctypes.c_uint64) -> object:
        return _function(engine, name, result, count)

    return cast(
        Kernel,
        SimpleNamespace(
            image=cast(KernelImage, image),
            take=function("take", 5),
            reinsert=function("reinsert", 5, None),
            lookup=function("lookup", 2),
            engine=engine,
        ),
    )


def rows_of(states: Sequence[tuple[int, ...]]) -> memoryview:
    return memoryview(array.array("Q", [word for state in states for word in state])).cast("B")


def insert(store: Store, who: int, states: Sequence[tuple[int, ...]]) -> None:
    """Inserts states with the record of one worker, and grows on the way, as a shard does."""
    crew, rows, at = store.workers[who], rows_of(states), 0
    crew.put(Worker.SHARDS, 1)
    address = ctypes.addressof(ctypes.c_char.from_buffer(rows))
    while at < len(states):
        if store.scarce:
            store.grow()
        crew.put(Worker.CAP, crew.count + store.room)
        given = (store.context_address, crew.address, address, at, len(states))
        at = store.kernel.take(*given)


def kept(store: Store) -> Iterator[tuple[int, ...]]:
    width = store.shape.words
    for crew in store.workers:
        words = crew.rows.words()
        for i in range(crew.count):
            yield tuple(words[i * width : (i + 1) * width])


def check(store: Store, states: set[tuple[int, ...]]) -> None:
    """Each state is there once, in the rows and in the table, and can be found."""
    assert sorted(kept(store)) == sorted(states)
    assert sum(1 for slot in store.table.words()[: store.slots] if slot) == len(states)
    size = 8 * store.shape.words
    for crew in store.workers:
        for i in range(crew.count):
            address = crew.rows.address + i * size
            assert 0 <= store.kernel.lookup(store.context_address, address) < store.slots


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("words", [1, 2, 3, 5])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 30), count=st.integers(1, 300), spread=st.integers(1, 40))
def test_it_is_a_set(words: int, weak: bool, seed: int, count: int, spread: int) -> None:
    rng = random.Random(seed)
    states = [tuple(rng.randrange(spread) for _ in range(words)) for _ in range(count)]
    store = Store(kernel_of(words, weak), 1, None, slots=16)
    insert(store, 0, states)
    check(store, set(states))
    for state in [tuple(rng.randrange(spread, 2 * spread) for _ in range(words)) for _ in range(9)]:
        row = (ctypes.c_uint64 * words)(*state)
        assert store.kernel.lookup(store.context_address, ctypes.addressof(row)) == (1 << 64) - 1


@pytest.mark.parametrize("threads", [2, 3, 8, 16])
@pytest.mark.parametrize("words", [1, 3])
def test_threads_that_insert_the_same_states(words: int, threads: int) -> None:
    """In different orders, into a table that is nearly full in the end."""
    rng = random.Random(threads)
    states = [(i,) * words for i in range(1, 1 + int(LOAD * (1 << 13)))]
    store = Store(kernel_of(words), threads, None, slots=1 << 13)
    orders = [rows_of(rng.sample(states, len(states))) for _ in store.workers]
    for crew in store.workers:
        crew.put(Worker.CAP, len(states))
        crew.put(Worker.SHARDS, 1)
        crew.rows = crew.rows.larger(8 * words * len(states), 0)

    def work(who: int) -> int:
        address = ctypes.addressof(ctypes.c_char.from_buffer(orders[who]))
        given = (store.context_address, store.workers[who].address, address, 0, len(states))
        return store.kernel.take(*given)

    store._addresses()
    with ThreadPoolExecutor(threads) as pool:
        assert list(pool.map(work, range(threads))) == [len(states)] * threads
    check(store, set(states))


@pytest.mark.parametrize("words", [1, 2, 3, 4, 6])
def test_memory_is_bounded_at_any_moment_of_growth(words: int) -> None:
    """Rows and table: 1.3 times (a packed state and 8 bytes), for each state; batches are extra."""
    store = Store(kernel_of(words), 1, None)
    (crew,), rng, most = store.workers, random.Random(words), 0.0
    bound = 1.3 * (8 * words + 8)
    sizes = []
    while store.states < 1_000_000:
        if store.scarce:
            states = store.states
            store.grow()
            sizes.append(store.table.size)
            if states > 300_000:
                most = max(most, (store.used_bytes - store._fixed_bytes) / states)
        fresh = min(store.room, 50_000)
        begin = crew.count
        crew.rows.words()[begin * words : (begin + fresh) * words] = memoryview(
            rng.randbytes(8 * words * fresh)
        ).cast("Q")
        for i in range(begin, begin + fresh):
            crew.rows.words()[i * words] = i
        crew.put(Worker.COUNT, begin + fresh)
        given = (store.context_address, crew.address, begin, begin + fresh, 0)
        store.kernel.reinsert(*given)
    assert 0 < most <= bound
    assert store.used_bytes - store._fixed_bytes < bound * store.states
    assert store._fixed_bytes < 1 << 17
    assert store.table.size == sizes[-1] == 8 * store.slots


@pytest.mark.parametrize("memory", [1 << 18, 1 << 20, 3_000_000])
@pytest.mark.parametrize("words", [1, 3])
def test_a_limit_of_memory_is_kept(words: int, memory: int) -> None:
    """And what was found before is all there; rows of old levels are on the disk, and readable."""
    store = Store(kernel_of(words), 1, memory)
    states: list[tuple[int, ...]] = []

    def fill() -> None:
        for depth in range(1, 1000):
            level = [(len(states) + i + 1,) * words for i in range(20_000)]
            states.extend(level)
            insert(store, 0, level)
            assert store.used_bytes <= memory
            store.open_level(depth)

    with pytest.raises(OutOfMemory, match="memory limit"):
        fill()
    assert store.used_bytes <= memory
    found = set(kept(store))
    assert found <= set(states)
    assert len(found) == store.states >= len(states) - 20_000
    check(store, found)
    if memory > 1 << 20:
        assert sum(crew.spilled for crew in store.workers) > 0
        assert store.states * 8 * (words + 1) > memory


def test_a_disk_without_room_is_a_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    store = Store(kernel_of(1), 1, 1 << 20)

    def fill() -> None:
        for depth in range(1, 100):
            insert(store, 0, [(10_000 * depth + i,) for i in range(10_000)])
            store.open_level(depth)

    with pytest.raises(OutOfMemory, match="memory limit"):
        fill()
    assert store.used_bytes <= 1 << 20
    check(store, set(kept(store)))


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interruption_leaves_a_whole_table(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "TOGETHER", 1)
    store = Store(kernel_of(2), threads, None)
    states = [(i, i) for i in range(1, 6000)]
    insert(store, 0, states)
    reinserted = store._reinsert
    calls = []

    def interrupted() -> None:
        calls.append(store.slots)
        if len(calls) == 1:
            raise KeyboardInterrupt
        reinserted()

    monkeypatch.setattr(store, "_reinsert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.grow()
    assert len(calls) == 2
    check(store, set(states))


def test_threads_fill_a_table_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "TOGETHER", 1)
    monkeypatch.setattr(stores, "PIECE", 7)
    store = Store(kernel_of(2), 8, None)
    states = [(i, 3 * i) for i in range(1, 7000)]
    for who in range(8):
        insert(store, who, states[who::8])
    store.grow()
    check(store, set(states))
