"""The table of 32-bit slots: a set, exactly, however it is filled and whenever it grows."""

from __future__ import annotations

import ctypes
import random
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.engines.native import engine as native
from checker.engines.native.checkpoint.checkpoint import Checkpoint
from checker.engines.native.codegen.emit import Fn, const
from checker.engines.native.codegen.fields import BATCH, LINE, RecordLayout, Worker
from checker.engines.native.codegen.jit import Effort, Kernel, _compile, _function
from checker.engines.native.codegen.make_image import digest_of, module_text
from checker.engines.native.codegen.narrow_set import SLOT, Narrow, NarrowSet, shift_of
from checker.engines.native.codegen.visited_set import FACTOR, VisitedSet
from checker.engines.native.search import narrowing, search
from checker.engines.native.search import store as stores
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.narrowing import LEAST_NEAR, MOST_LINES, REACH, Places
from checker.engines.native.search.store import OutOfMemory, Store, TableLost
from checker.engines.native.search.worker_memory import WorkerMemory
from checker.engines.options import Options
from checker.model.evaluate import RunFault
from checker.model.ir import PropertyKind, TransitionSystem
from checker.records import replace
from checker.results.answer import Answer, Limits, Unsupported
from tests.agreement.generator import Generator
from tests.native import models, test_capacity_growth
from tests.native.test_resume import IDENTITY, explore
from tests.native.test_store import rows_of
from tests.native.test_threads import small_tables, told
from tests.properties.test_buchi_automaton import random_formula

WIDTHS = range(1, 63)


class InOrder(NarrowSet):
    """States are not mixed: those with near numbers begin in the same line."""

    def spread(self) -> Fn:
        fn = Fn("spread", [("row", 0)], 64, "alwaysinline")
        fn.ret(fn.shl(fn.load(fn.args[0], 64), const(64 - self.bits)))
        return fn


def compiled(seen: VisitedSet) -> Kernel:
    """The code of a visited set, and of nothing else."""
    text = module_text(seen.functions(), public=True)
    engine = _compile(text, digest_of(text), Effort.FULL, cache=False)
    narrow = isinstance(seen, NarrowSet)
    image = SimpleNamespace(
        shape=RecordLayout(1, 0, 0),
        layout=SimpleNamespace(bits=seen.bits),
        **dict(level_limit=0, level_shift=0, compact=0, folds=False, narrow=narrow),
    )

    def function(name: str, count: int, result: object = ctypes.c_uint64) -> object:
        return _function(engine, name, result, count)

    made = SimpleNamespace(
        image=image,
        batch=function("insert_batch", 3, None),
        mark=function("spread" if narrow else "fingerprint", 1),
        reinsert=function("reinsert", 5, None),
        lookup=function("lookup", 2),
        move_lines=function("move_lines", 6, None) if narrow else None,
        engine=engine,
    )
    return cast(Kernel, made)


@lru_cache
def kernels(bits: int, kind: type[NarrowSet] = NarrowSet) -> tuple[Kernel, Kernel]:
    """That for 64-bit slots, and that for 32-bit slots."""
    return compiled(VisitedSet(1, bits, 0, tracks=False)), compiled(kind(bits))


def new_store(
    bits: int, threads: int = 1, kind: type[NarrowSet] = NarrowSet, memory: int | None = None
) -> Store:
    """A store that changes to 32-bit slots as soon as it can."""
    wide, narrow = kernels(bits, kind)
    return Store(wide, threads, memory, slots=16, narrowing=lambda: narrow, early=True)


@pytest.fixture
def narrows_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables, which grow in small steps, block by block."""
    monkeypatch.setattr(narrowing, "FROM", 0)
    monkeypatch.setattr(narrowing, "MOST_NEAR", 5)
    monkeypatch.setattr(narrowing, "REACH", 31)
    monkeypatch.setattr(narrowing, "BLOCK", 16)
    monkeypatch.setattr(stores, "PIECE", 3)
    monkeypatch.setattr(stores, "TOGETHER", 40)


@pytest.fixture
def narrowed(narrows_soon: None, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of states at which searches have changed to 32-bit slots."""
    found, refill = list[int](), Store._refill
    small_tables(monkeypatch, 8)
    monkeypatch.setattr(narrowing, "REACH", 15)
    monkeypatch.setattr(narrowing, "MOST_NEAR", 4)
    monkeypatch.setattr(search, "PARALLEL_FROM", 2)
    monkeypatch.setattr(search, "LEAST_PIECE", 1)

    def noted(self: Store, *given: Any) -> None:
        found.append(self.states)
        refill(self, *given)

    monkeypatch.setattr(Store, "_refill", noted)
    return found


def put(store: Store, crew: WorkerMemory, states: list[int]) -> None:
    """Puts states into a worker's batch."""
    rows = bytes(rows_of([(state,) for state in states]))
    ctypes.memmove(crew.batch.address, rows, len(rows))
    for i in range(len(states)):
        crew.hashes.words()[i] = cast(Any, store.kernel).mark(crew.batch.address + 8 * i)
    crew.put(Worker.OVERFLOW, 0)


def insert(store: Store, who: int, states: list[int], at: int = 0) -> int:
    """Inserts states in batches up to one for which there is no room; returns the first of it."""
    crew = store.workers[who]
    while at < len(states):
        batch = states[at : at + BATCH]
        put(store, crew, batch)
        cast(Any, store.kernel).batch(store.context_address, crew.address, len(batch))
        if crew.get(Worker.OVERFLOW):
            return at
        at += len(batch)
    return at


def insert_all(store: Store, orders: list[list[int]]) -> None:
    """Threads insert states, each in its order, and the table grows between their rounds."""
    at = [0] * len(orders)
    with ThreadPoolExecutor(len(orders)) as pool:
        while any(n < len(order) for n, order in zip(at, orders, strict=True)):
            if store.scarce or any(crew.get(Worker.OVERFLOW) for crew in store.workers):
                store.grow()
            for crew in store.workers:
                crew.put(Worker.CAP, crew.count + store.room // len(orders))
            at = list(pool.map(partial(insert, store), range(len(orders)), orders, at))


def known(store: Store, state: int) -> bool:
    row = ctypes.c_uint64(state)
    return store.kernel.lookup(store.context_address, ctypes.addressof(row)) != (1 << 64) - 1


def check(store: Store, states: set[int], draw: random.Random) -> None:
    """Each state is there once, in the rows and in the table, and no other one is."""
    kept = [word for crew in store.workers for word in crew.rows.words()[: crew.count]]
    assert sorted(kept) == sorted(states)
    slots = store.table.halves() if store.places else store.table.words()
    in_use = sum(1 for slot in slots[: store.slots * (2 if store.places else 1)] if slot)
    assert in_use == len(states)
    assert all(known(store, state) for state in states)
    bits = store.kernel.image.layout.bits
    others = {draw.getrandbits(bits) for _ in range(200)}
    others |= {state ^ 1 << draw.randrange(bits) for state in list(states)[:200]}
    assert not any(known(store, state) for state in others - states)


# -- the bijection ---------------------------------------------------------------------------------


def unmixed(mixed: int, bits: int) -> int:
    """The state that has been mixed, step by step backwards."""
    back, mask = pow(FACTOR, -1, 1 << bits), (1 << bits) - 1
    mixed ^= mixed >> shift_of(bits)
    for _ in range(2):
        mixed = mixed * back & mask
        mixed ^= mixed >> shift_of(bits)
    return mixed


@lru_cache
def mixers() -> dict[int, Any]:
    functions = []
    for bits in WIDTHS:
        functions.append(NarrowSet(bits).spread())
        functions[-1].name = f"spread_{bits}"
    text = module_text(functions, public=True)
    engine = _compile(text, digest_of(text), Effort.FULL, cache=False)
    return {bits: _function(engine, f"spread_{bits}", ctypes.c_uint64, 1) for bits in WIDTHS}


def mix(bits: int, state: int) -> int:
    row = ctypes.c_uint64(state)
    high = mixers()[bits](ctypes.addressof(row))
    assert high & (1 << 64 - bits) - 1 == 0, "what is below is 0"
    return int(high >> 64 - bits)


@pytest.mark.parametrize("bits", WIDTHS)
def test_mixing_can_be_undone(bits: int) -> None:
    """So it is a bijection: what can be undone is injective, and the range is that of states."""
    draw, top = random.Random(bits), (1 << bits) - 1
    states = {0, 1, top, top - 1 & top, top >> 1, *(1 << i for i in range(bits))}
    states |= {draw.getrandbits(bits) for _ in range(300)}
    if bits <= 11:
        states = set(range(1 << bits))
        assert {mix(bits, state) for state in states} == states
    for state in states:
        assert unmixed(mix(bits, state), bits) == state


def placed(places: Places, mixed: int) -> tuple[int, int]:
    """Home and remainder by their definition, with numbers of any size."""
    product = mixed * places.lines
    rest = product % (1 << places.bits)
    return product >> places.bits, rest >> places.record[Narrow.LOST]


@pytest.mark.parametrize("seed", range(300))
def test_home_and_remainder_are_the_state(seed: int) -> None:
    draw = random.Random(seed)
    bits = draw.randrange(2, 59)
    fewest = max(1, 1 << max(0, bits + LEAST_NEAR - SLOT))
    most = min(MOST_LINES - 1, max(fewest, 1 << draw.randrange(1, 32)))
    lines = draw.choice((fewest, most, draw.randint(fewest, most)))
    places = Places(bits, (lines + REACH) * LINE)
    near, limit = places.record[Narrow.NEAR], 1 << 64
    assert places.record[Narrow.REACH] == (1 << near) - 1 <= REACH
    top = (1 << bits) - 1
    some = draw.getrandbits(bits)
    neighbours = range(max(0, some - 99), min(top, some + 99) + 1)
    seen = dict[tuple[int, int], int]()
    for mixed in {0, top, *neighbours, *(draw.getrandbits(bits) for _ in range(99))}:
        line, remainder = placed(places, mixed)
        assert seen.setdefault((line, remainder), mixed) == mixed
        assert line < lines and (remainder << near) + places.record[Narrow.REACH] < 1 << SLOT
        part = line * places.record[Narrow.PART] + (remainder << places.record[Narrow.LOST])
        assert part + lines < limit >> 1, "it fits into a word"
        over = part + lines - 1
        least = over * places.record[Narrow.INVERSE] >> 64
        up = least + (over - least * lines >= lines)
        assert up == over // lines
        assert line * places.record[Narrow.WHOLE] + up == mixed
        high = mixed << 64 - bits
        assert high * lines >> 64 == line
        assert high * lines % limit >> places.record[Narrow.SHIFT] == remainder


# -- the table -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [6, 11, 20, 33, 34, 36])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_a_set(bits: int, seed: int, narrows_soon: None) -> None:
    draw = random.Random(seed)
    states = [draw.getrandbits(bits) for _ in range(draw.randrange(100, 6000))]
    states += draw.sample(states, 50)
    store = new_store(bits)
    insert_all(store, [states])
    assert store.places is not None or len(set(states)) < 1000
    check(store, set(states), draw)


@pytest.mark.parametrize("bits", [10, 14, 16])
@pytest.mark.parametrize("seed", range(3))
def test_lines_that_are_full(bits: int, seed: int, narrows_soon: None) -> None:
    """States that begin in the same few lines go on to others, and have the table grow where the
    distance has no room in a slot.
    """
    draw = random.Random(seed)
    crowds, stretched = list[int](), Store._stretch
    store = new_store(bits, kind=InOrder)

    def noted(self: Store, slots: int) -> None:
        crowds.append(self.total(Worker.CROWDED))
        stretched(self, slots)

    begin = draw.randrange(1 << bits - 1)
    states = [begin + draw.randrange(900) for _ in range(3000)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "_stretch", noted)
        insert_all(store, [[state % (1 << bits) for state in states]])
    check(store, {state % (1 << bits) for state in states}, draw)
    assert store.places is not None
    assert any(crowds) or bits == 10


def test_the_last_line_has_lines_behind_it(narrows_soon: None) -> None:
    store, draw = new_store(16, kind=InOrder), random.Random(1)
    states = [(1 << 16) - 1 - i for i in range(800)]
    insert_all(store, [states])
    assert store.places is not None
    check(store, set(states), draw)


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("kind", [NarrowSet, InOrder])
def test_threads_insert_the_same_states(
    threads: int, kind: type[NarrowSet], narrows_soon: None
) -> None:
    """In different orders, while the table grows again and again."""
    draw = random.Random(threads)
    states = draw.sample(range(1 << 14), 5000)
    store = new_store(14 if kind is InOrder else 30, threads, kind)
    insert_all(store, [draw.sample(states, len(states)) for _ in range(threads)])
    assert store.places is not None
    check(store, set(states), draw)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_table_grows_in_its_place(threads: int, narrows_soon: None) -> None:
    """By any factor, in blocks of any size."""
    draw = random.Random(threads)
    states = draw.sample(range(1 << 34), 3000)
    store = new_store(34, threads)
    insert_all(store, [states[i::threads] for i in range(threads)])
    assert store.places is not None
    for block in (1, 7, 100, 1 << 20):
        for factor in (1.05, 1.3, 2.7):
            narrowing.BLOCK = block  # the fixture has it back in the end
            where = store.table.address
            store._stretch(int(store.slots * factor) // LINE * LINE)
            assert store.table.address == where or not store.table.grows_in_place
            check(store, set(states), draw)


def test_levels_are_dropped_and_taken(narrows_soon: None) -> None:
    draw, store = random.Random(5), new_store(34)
    states = draw.sample(range(1 << 34), 3000)
    insert_all(store, [states[:1000]])
    store.open_level(1)
    insert_all(store, [states[1000:2000]])
    assert store.places is not None
    store.drop(1)
    check(store, set(states[:1000]), draw)
    store.open_level(1)
    store.take(rows_of([(state,) for state in states[1000:]]))
    check(store, set(states), draw)


def test_rows_that_find_no_place_are_taken_all_the_same(narrows_soon: None) -> None:
    draw, store = random.Random(5), new_store(16, kind=InOrder)
    insert_all(store, [list(range(0, 1 << 16, 100))])
    assert store.places is not None
    store.open_level(1)
    store.take(rows_of([(100 * i + k,) for i in range(9) for k in range(1, 100)]))
    check(store, {*range(0, 1 << 16, 100), *range(900)}, draw)


def test_a_table_has_fewer_lines_than_fit(
    narrows_soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, store = random.Random(5), new_store(30)
    states = draw.sample(range(1 << 30), 9000)
    monkeypatch.setattr(narrowing, "MOST_SLOTS", 4000)
    with pytest.raises(OutOfMemory):
        insert_all(store, [states])
    assert store.places is not None and 3800 < store.slots <= 4000
    check(store, set(store.workers[0].rows.words()[: store.states]), draw)


def test_a_growing_table_has_no_second_one(
    narrows_soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is copied is a block, and no more than is needed at the beginning of the table."""
    draw, store, made = random.Random(5), new_store(34), list[int]()
    states = draw.sample(range(1 << 34), 20_000)
    insert_all(store, [states])
    assert store.places is not None
    create = Buffer.__init__

    def noted(self: Buffer, size: int, *given: Any, **named: Any) -> None:
        made.append(size)
        create(self, size, *given, **named)

    monkeypatch.setattr(Buffer, "__init__", noted)
    before = store.slots * 8
    store.grow()
    assert store.table.grows_in_place
    assert sum(made) <= 64 * (16 + 31 * 6) < before / 4
    check(store, set(states), draw)


def test_an_interruption_leaves_a_whole_table(
    narrows_soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, store = random.Random(5), new_store(34)
    states = draw.sample(range(1 << 34), 20_000)
    insert_all(store, [states])
    assert store.places is not None
    in_threads, done = Store._in_threads, list[None]()

    def interrupted(self: Store, pieces: Any) -> None:
        done.append(None)
        if len(done) == 3:
            raise KeyboardInterrupt
        in_threads(self, pieces)

    monkeypatch.setattr(Store, "_in_threads", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.grow()
    assert len(done) > 3
    check(store, set(states), draw)


def test_a_table_that_is_lost_is_not_searched(
    narrows_soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No memory for a larger table: before anything has moved it is whole, and behind that the
    search can't go on, not even where more room was a wish.
    """
    draw, store = random.Random(5), new_store(34)
    states = draw.sample(range(1 << 34), 2000)
    insert_all(store, [states])
    assert store.places is not None
    with monkeypatch.context() as patch:
        patch.setattr(Buffer, "__init__", _no_memory)
        with pytest.raises(OutOfMemory):
            store.grow()
    check(store, set(states), draw)
    monkeypatch.setattr(Store, "_crowded", True)
    monkeypatch.setattr(narrowing, "new_table", _no_memory)
    with pytest.raises(TableLost):
        store.reserve(5000)


def _no_memory(*_: object, **__: object) -> None:
    raise MemoryError


# -- searches --------------------------------------------------------------------------------------


def safe(system: TransitionSystem) -> TransitionSystem:
    """``system`` with its safety properties only."""
    kept = [p for p in system.properties if p.kind is PropertyKind.INVARIANT]
    return replace(system, properties=tuple(kept))


ALL = safe(models.two_phase(5))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("compact", [False, True])
def test_a_search_says_the_same(
    compact: bool, threads: int, narrowed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "SHORT", 9)
    whole = told(native.explore(ALL, Limits(), threads=1))
    assert not narrowed
    monkeypatch.setattr(stores, "SHORT", 9 if compact else 0)
    assert told(native.explore(ALL, Limits(), threads=threads, compact=compact)) == whole
    assert narrowed


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 90), marks=pytest.mark.slow)])
def test_random_systems_say_the_same(
    seeds: range, narrowed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts, verdicts and runs: all that an answer has; those that ask for liveness, too."""
    for seed in seeds:
        draw = random.Random(seed)
        system = Generator(draw.randrange).system(random_formula(draw, 3))
        system = safe(system) if seed % 3 else system
        answers: list[object] = []
        for short, threads in ((9, 1), (0, 1), (0, 2)):
            monkeypatch.setattr(stores, "SHORT", short)
            try:
                found = native.explore(system, Limits(max_states=900), threads=threads)
                answers.append(told(found))
            except (RunFault, Unsupported) as error:
                answers.append(repr(error))
        assert answers[0] == answers[1], seed
        if not (isinstance(answers[0], Answer) and answers[0].stopped):
            assert answers[0] == answers[2], seed


@pytest.mark.parametrize("depth", [3, 9])
def test_a_depth_limit_looks_for_newcomers(
    depth: int, narrowed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "SHORT", 9)
    whole = told(native.explore(ALL, Limits(max_depth=depth), threads=1))
    monkeypatch.setattr(stores, "SHORT", 0)
    assert told(native.explore(ALL, Limits(max_depth=depth), threads=2)) == whole


@pytest.mark.parametrize(("before", "after"), [(0, 9), (9, 0), (0, 0)])
def test_a_run_is_resumed_from_either_table(
    before: int,
    after: int,
    narrowed: list[int],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    location = str(tmp_path / "run")
    monkeypatch.setattr(stores, "SHORT", 9)
    whole = told(native.explore(ALL, Limits(), threads=1))
    monkeypatch.setattr(stores, "SHORT", before)
    run = Checkpoint.begin(location, IDENTITY)
    assert explore(ALL, run, Limits(max_depth=9), threads=2).depth == 9
    assert bool(narrowed) == (before == 0)
    narrowed.clear()
    run.unfinished = True
    run.leave()
    run = Checkpoint.resume(location, IDENTITY)
    monkeypatch.setattr(stores, "SHORT", after)
    assert told(explore(ALL, run, Limits())) == whole
    assert bool(narrowed) == (after == 0)
    run.leave()


def test_a_larger_capacity_goes_on_from_a_narrow_table(
    narrowed: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "late.bcast"
    path.write_text(test_capacity_growth.LATE)
    options = Options(reduce="none", threads=2)
    monkeypatch.setattr(stores, "SHORT", 9)
    whole, _ = test_capacity_growth.run(str(path), "all", options, monkeypatch)
    assert not narrowed
    monkeypatch.setattr(stores, "SHORT", 0)
    found, made = test_capacity_growth.run(str(path), "all", options, monkeypatch)
    assert narrowed and len(made.capacities) > 2
    assert all(restart.kept for restart in found.restarts)
    assert test_capacity_growth.told(found) == test_capacity_growth.told(whole)


def test_a_limit_of_memory_is_kept(narrowed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What fits into a narrow table is found, and rows of expanded levels are on the disk."""
    monkeypatch.setattr(stores, "SHORT", 9)
    system = safe(models.two_phase(6))
    whole = native.explore(system, Limits(), threads=2)
    wanted = 10 * whole.distinct_states
    assert native.explore(system, Limits(memory=wanted), threads=2).stopped is not None
    monkeypatch.setattr(stores, "SHORT", 0.2)
    assert told(native.explore(system, Limits(memory=wanted), threads=2)) == told(whole)
    assert narrowed


def test_a_search_that_is_to_end_does_not_wait(
    narrowed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of time is kept while the compiler works."""
    over, begun = Event(), list[None]()

    def slow(*_: object) -> None:
        begun.append(None)
        over.wait(60)

    monkeypatch.setattr(stores, "SHORT", 0)
    monkeypatch.setattr(search, "compile_image", slow)
    limits = Limits(timeout=5)
    found = native.explore(ALL, limits, threads=1)
    over.set()
    assert begun and not narrowed and found.stopped == limits.no_more_time
