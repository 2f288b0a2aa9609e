"""Folded rows: the same states as whole rows, whatever happens on the way."""

from __future__ import annotations

import ctypes
import random
from array import array
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.engines.native import engine as native
from checker.engines.native.checkpoint.checkpoint import Checkpoint
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.fields import BATCH, RecordLayout, Worker
from checker.engines.native.codegen.folded_set import CHUNK, Fold, FoldedSet
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.codegen.jit import Effort, Kernel, _compile, _function
from checker.engines.native.codegen.make_image import digest_of, module_text
from checker.engines.native.search import folding, search
from checker.engines.native.search import store as stores
from checker.engines.native.search.folding import Nodes, shape_of
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.store import OutOfMemory, Store
from checker.engines.native.search.worker_memory import WorkerMemory
from checker.engines.options import Options
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.model.types import IntT
from checker.records import replace
from checker.reductions.reduction_plan import NOTHING
from checker.results.answer import Answer, Limits, Unsupported
from checker.results.verdict import Report
from checker.session.pipeline import run_check
from tests.agreement.generator import Generator
from tests.native import models
from tests.native.test_resume import IDENTITY, explore
from tests.native.test_store import Weak, rows_of
from tests.native.test_threads import small_tables, told
from tests.properties.test_buchi_automaton import random_formula

SPECS = Path(__file__).resolve().parents[2] / "specs"
WORDS = (4, *(pytest.param(words, marks=pytest.mark.slow) for words in (5, 13, 32)))
Row = tuple[int, ...]


class WeakFolded(FoldedSet):
    """Very many states, and very many nodes, have the same fingerprint."""

    def fingerprint(self) -> Fn:
        return Weak(self.words, 60, 0, tracks=False).fingerprint()

    def _mix(self, fn: Fn, word: Val) -> Val:
        few = fn.and_(word, const(3))
        return fn.or_(fn.shl(few, const(30)), fn.shl(few, const(62)))


class LastLine(FoldedSet):
    """The search for every state, and every node, begins in the last line of a table."""

    def _mix(self, fn: Fn, word: Val) -> Val:
        return fn.or_(super()._mix(fn, word), const(0xFFFFFFFF))


class OneNode(FoldedSet):
    """Workers take nodes one by one."""

    chunk = 1


@lru_cache
def folding_kernel(words: int, kind: type[FoldedSet] = FoldedSet) -> Kernel:
    """The code of a seen set whose rows can be folded, and of nothing else."""
    seen = kind(words, 60, 0, tracks=True)
    text = module_text(seen.functions(), public=True)
    engine = _compile(text, digest_of(text), Effort.FULL, cache=False)
    image = SimpleNamespace(
        shape=RecordLayout(words, 0, 0), level_limit=0, level_shift=0, compact=0, folds=True
    )

    def function(name: str, count: int, result: object = ctypes.c_uint64) -> object:
        return _function(engine, name, result, count)

    made = SimpleNamespace(
        image=cast(KernelImage, image),
        batch=function("insert_batch", 3, None),
        fingerprint=function("fingerprint", 1),
        reinsert=function("reinsert", 5, None),
        lookup=function("lookup", 2),
        fold_rows=function("fold_rows", 6),
        unfold_rows=function("unfold_rows", 5, None),
        index_nodes=function("index_nodes", 3, None),
        engine=engine,
    )
    return cast(Kernel, made)


def own(store: Store) -> Any:
    """The kernel of a store, with the functions that only these tests compile."""
    return store.kernel


def put(store: Store, crew: WorkerMemory, states: list[Row]) -> None:
    """Puts states into a worker's batch."""
    rows = bytes(rows_of(states))
    ctypes.memmove(crew.batch.address, rows, len(rows))
    for i in range(len(states)):
        address = crew.batch.address + i * store.width
        crew.hashes.words()[i] = own(store).fingerprint(address)
    crew.put(Worker.OVERFLOW, 0)


def insert(store: Store, who: int, states: list[Row]) -> None:
    """Inserts states, in batches, as a search does; a batch without room is repeated."""
    crew, at = store.workers[who], 0
    while at < len(states):
        batch = states[at : at + BATCH]
        put(store, crew, batch)
        crew.put(Worker.CAP, crew.count + max(0, store.room))
        own(store).batch(store.context_address, crew.address, len(batch))
        if not crew.get(Worker.OVERFLOW):
            at += len(batch)
        elif store.has_window(crew):
            store.grow()
        else:
            store.settle()


def rows_in(store: Store) -> list[Row]:
    width = store.shape.words
    words = [block.cast("Q") for block in store.blocks(0)]
    return [tuple(b[i : i + width]) for b in words for i in range(0, len(b), width)]


def in_use(table: Buffer, words: int) -> int:
    """The number of 32-bit slots in use, of a table of so many words."""
    return sum(1 for slot in table.halves()[: 2 * words] if slot)


def known(store: Store, state: Row) -> bool:
    row = (ctypes.c_uint64 * len(state))(*state)
    return store.kernel.lookup(store.context_address, ctypes.addressof(row)) != (1 << 64) - 1


def mixed(words: int, seed: int, count: int, spread: int = 4) -> list[Row]:
    """States in which few words change at a time, with repetitions."""
    draw = random.Random(seed)
    state, found = [0] * words, list[Row]()
    for _ in range(count):
        shift = draw.choice((0, 31, 32, 63 - spread))
        state[draw.randrange(words)] = draw.randrange(spread) << shift
        found.append(tuple(state))
    return found


@pytest.fixture
def folds_soon(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Rows are folded when a table is full for the first time, and nodes grow in small steps."""
    outcomes: list[bool] = []
    fold = Store._fold

    def noted(self: Store) -> bool:
        outcomes.append(fold(self))
        return outcomes[-1]

    monkeypatch.setattr(Store, "_fold", noted)
    monkeypatch.setattr(stores, "SHORT", 0)
    monkeypatch.setattr(stores, "WORTH_IT", 99)
    monkeypatch.setattr(stores, "BLOCK", 7)
    monkeypatch.setattr(folding, "FIRST_NODES", 2 * CHUNK)
    return outcomes


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("kind", [FoldedSet, WeakFolded, LastLine])
def test_states_are_found_once(kind: type[FoldedSet], words: int, folds_soon: list[bool]) -> None:
    store = Store(folding_kernel(words, kind), 1, None, slots=16, folds=True)
    states = mixed(words, words, 1500 if kind is FoldedSet else 400)
    insert(store, 0, states)
    assert folds_soon == [True] and store.nodes is not None and store.stride == 8
    assert sorted(rows_in(store)) == sorted(set(states))
    assert all(known(store, state) for state in states)
    assert not any(known(store, (9, *state[1:])) for state in states[::50])
    assert store.nodes.used <= len(set(states)) * 2 * words
    made, index = store.workers[0].get(Worker.NODE), store.nodes._index
    assert in_use(store.table, store.slots) == store.states, "none is behind the table"
    assert in_use(index, store.nodes.record[Fold.INDEX_SLOTS]) == made
    store.unfold()
    assert store.nodes is None and sorted(rows_in(store)) == sorted(set(states))
    assert all(known(store, state) for state in states)
    insert(store, 0, mixed(words, 99, 300))
    assert sorted(rows_in(store)) == sorted({*states, *mixed(words, 99, 300)})


def test_a_state_without_room_is_not_added(folds_soon: list[bool]) -> None:
    """Though it was compared with others, of the same fingerprint, before there was no room."""
    store, draw = (
        Store(folding_kernel(4, WeakFolded), 1, None, slots=16, folds=True),
        random.Random(3),
    )
    states = sorted({tuple(8 * draw.randrange(3) for _ in range(4)) for _ in range(60)})
    new = sorted({tuple(8 * draw.randrange(4) for _ in range(4)) for _ in range(60)} - {*states})
    insert(store, 0, states)
    (crew,) = store.workers
    for _ in range(300):
        for batch in ([draw.choice(states), draw.choice(new)], [draw.choice(states)]):
            put(store, crew, batch)
            crew.put(Worker.CAP, crew.count)
            own(store).batch(store.context_address, crew.address, len(batch))
            assert crew.get(Worker.OVERFLOW) == (len(batch) == 2)
            assert store.states == len(states)


def test_there_are_no_more_whole_rows_than_there_is_room_for(folds_soon: list[bool]) -> None:
    """However many rows a worker may add: those that have no room are added once others have been
    folded."""
    store = Store(folding_kernel(4), 1, None, slots=16, folds=True)
    states = sorted(set(mixed(4, 1, 400)))
    insert(store, 0, states[:100])
    store.grow(300)
    (crew,) = store.workers
    _, end, _ = store.nodes.window(0) if store.nodes else (0, 0, 0)
    put(store, crew, states[100:200])
    crew.put(Worker.CAP, crew.count + 1000)
    own(store).batch(store.context_address, crew.address, 100)
    assert crew.get(Worker.OVERFLOW) and crew.count == end and not store.has_window(crew)
    assert sorted(rows_in(store)) == states[:end]
    store.settle()
    assert store.has_window(crew) and sorted(rows_in(store)) == states[:end]
    assert all(known(store, state) == (i < end) for i, state in enumerate(states))


def test_rows_are_folded_once_there_is_room_for_their_nodes(
    folds_soon: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that lacked it are whole, and the same ones, until then."""
    store = Store(folding_kernel(4), 1, None, slots=16, folds=True)
    insert(store, 0, mixed(4, 1, 40))
    store.grow(10)
    (crew,), nodes = store.workers, store.nodes
    assert nodes is not None
    before, more = rows_in(store), Store._more_nodes
    nodes.record[Fold.CAP] = nodes.used
    crew.put(Worker.NODE_END, crew.get(Worker.NODE))
    new = [(i, i << 40, 1 << 50, i) for i in range(3, 8)]
    put(store, crew, new)
    crew.put(Worker.CAP, crew.count + len(new))
    own(store).batch(store.context_address, crew.address, len(new))
    assert not crew.get(Worker.OVERFLOW)

    def refuses(_: Store) -> None:
        raise OutOfMemory("none")

    monkeypatch.setattr(Store, "_more_nodes", refuses)
    with pytest.raises(OutOfMemory):
        store.settle()
    assert sorted(rows_in(store)) == sorted({*before, *new})
    monkeypatch.setattr(Store, "_more_nodes", more)
    store.settle()
    assert nodes.window(0)[0] == crew.count
    assert sorted(rows_in(store)) == sorted({*before, *new})


@pytest.mark.parametrize("threads", [2, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("words", [4, pytest.param(13, marks=pytest.mark.slow)])
def test_threads_find_states_once(
    words: int, threads: int, folds_soon: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same ones in different orders, into a table that is nearly full in the end; and no node
    is there twice."""
    store = Store(folding_kernel(words, OneNode), threads, None, slots=64, folds=True)
    first = [(0,) * words, *mixed(words, 1, 300)]
    insert(store, 0, first)
    draw, rest = random.Random(threads), sorted(set(mixed(words, 2, 1200, 9)))
    store.grow(len(rest))
    assert store.nodes is not None
    while store.nodes.cap < 4 * words * len(rest):
        store._more_nodes()
    for crew in store.workers:
        crew.put(Worker.OVERFLOW, 0)
        crew.put(Worker.CAP, crew.count + len(rest))
        crew.rows = crew.rows.larger(8 * (crew.count + len(rest)), 8 * crew.count)
        crew.whole = Buffer(len(rest) * store.width)
        given = (crew.whole.address, crew.count, len(rest))
        store.nodes.put_window(crew.get(Worker.ID), *given)
    store._addresses()
    orders = [draw.sample(rest, len(rest)) for _ in store.workers]

    def work(who: int) -> None:
        crew = store.workers[who]
        for at in range(0, len(rest), BATCH):
            batch = orders[who][at : at + BATCH]
            put(store, crew, batch)
            own(store).batch(store.context_address, crew.address, len(batch))
            assert not crew.get(Worker.OVERFLOW)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    assert sorted(rows_in(store)) == sorted({*first, *rest})
    monkeypatch.setattr(stores, "TOGETHER", 1)
    store.settle()
    assert sorted(rows_in(store)) == sorted({*first, *rest})
    unmade = {i for c in store.workers for i in range(c.get(Worker.NODE), c.get(Worker.NODE_END))}
    words_of = store.nodes._nodes.words()
    made = [words_of[i] for i in range(store.nodes.used) if i not in unmade]
    assert len(made) == len(set(made))


def test_numbers_without_a_node_are_not_found(folds_soon: list[bool]) -> None:
    """A pair of zeros is not where no node has been made yet, though there are zeros."""
    store = Store(folding_kernel(4), 1, None, slots=16, folds=True)
    (crew,) = store.workers
    states = [tuple(i + 1 + (place << 32) for place in range(1, 5)) for i in range(60)]
    insert(store, 0, states)
    assert store.nodes is not None
    nodes = store.nodes._nodes.words()
    assert 0 not in nodes[: crew.get(Worker.NODE)], "node 0 twice would be a pair of zeros"
    assert set(nodes[crew.get(Worker.NODE) : crew.get(Worker.NODE_END)]) == {0}
    store._more_nodes()
    states += [(0,) * 4, *(tuple(i << 40 for _ in range(4)) for i in range(1, 300))]
    insert(store, 0, states)
    assert sorted(rows_in(store)) == sorted(states)


class Interleaved(OneNode):
    """Another worker takes every fourth node, after its number was read and before it is taken."""

    def _take_nodes(self, fn: Fn, fold: Val, worker: Val) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fn, "cmpxchg", partial(_late, fn))
            super()._take_nodes(fn, fold, worker)


def _late(fn: Fn, place: Val, used: Val, taken: Val) -> tuple[Val, Val]:
    with fn.if_(fn.eq(fn.and_(used, const(3)), const(0))):
        fn.store(taken, place)
    return Fn.cmpxchg(fn, place, used, taken)


def test_a_node_is_taken_by_one_worker(
    folds_soon: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "FIRST_NODES", 1 << 14)
    store = Store(folding_kernel(4, Interleaved), 1, None, slots=16, folds=True)
    states = mixed(4, 7, 500)
    insert(store, 0, states)
    assert store.nodes is not None and store.nodes.used > 400
    nodes = store.nodes._nodes.words()
    assert not any(nodes[: store.nodes.used : 4]), "they are the other worker's"
    made = [pair for i, pair in enumerate(nodes[: store.nodes.used]) if i % 4]
    assert len(made) == len(set(made))
    assert sorted(rows_in(store)) == sorted(set(states))


def test_levels_begin_with_their_first_row(folds_soon: list[bool]) -> None:
    """A state of the next level that is found again leads back only if it is of an earlier one."""
    store = Store(folding_kernel(4), 2, None, slots=16, folds=True)
    states = [(i, 1, 2, 3) for i in range(60)]
    for who in (0, 1):
        insert(store, who, states[30 * who : 30 * who + 20])
    store.open_level(1)
    for who in (0, 1):
        insert(store, who, states[30 * who + 20 : 30 * who + 30])
    assert store.nodes is not None
    for i, state in enumerate(states):
        insert(store, 0, [state])
        assert store.report().back == (i % 30 < 20), i
    assert store.states == 60


def test_rows_are_folded_after_it_has_failed(
    folds_soon: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the attempt is left: no last row, no nodes to make."""
    store = Store(folding_kernel(4), 2, None, slots=64, folds=True)
    states = [(0, i & 15, i >> 4, 0) for i in range(500)]
    insert(store, 0, states[:20])
    with monkeypatch.context() as patch:
        patch.setattr(Nodes, "grow", _no_memory)
        patch.setattr(folding, "FIRST_NODES", CHUNK)
        with pytest.raises(OutOfMemory):
            insert(store, 1, states[20:])
    assert store.nodes is None and not folds_soon
    assert store.workers[0].get(Worker.KNOWN), "the first worker's rows were folded"
    for who in (1, 0):
        insert(store, who, states)
    assert store.nodes is not None and folds_soon == [True]
    assert sorted(rows_in(store)) == sorted(states)


def _no_memory(*_: object) -> None:
    raise MemoryError


@pytest.mark.parametrize("lacking", ["rows", "nodes"])
def test_initial_states_have_room(lacking: str, folds_soon: list[bool]) -> None:
    """None is left out when nodes are used up: it would never be found."""
    system = wide(models.two_phase(2))
    run = native._prepare_search(system, Limits(), NOTHING, 1, None, None, False)[0]
    words = run.store.shape.words
    store = Store(run.kernel, 1, None, slots=64 if lacking == "rows" else 1 << 12, folds=True)
    states = [(0,) * words]
    store.add(states[0])
    assert store._fold_first() and store.nodes is not None
    draw = random.Random(1)
    for _ in range(900):
        states.append(tuple(draw.getrandbits(8) for _ in range(words)))
        store.add(states[-1])
    assert sorted(rows_in(store)) == sorted(states)


def test_nodes_that_are_not_shared_are_not_worth_it(
    folds_soon: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "WORTH_IT", 0.5)
    draw = random.Random(5)
    states = [tuple(draw.getrandbits(64) for _ in range(5)) for _ in range(500)]
    store = Store(folding_kernel(5), 1, None, slots=16, folds=True)
    insert(store, 0, states)
    assert folds_soon[-1] is False and store.nodes is None and not store.folds
    assert sorted(rows_in(store)) == sorted(states)


def test_both_forms_of_rows_have_room(
    folds_soon: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While rows are folded, whole ones are still there: where that is too much, they stay."""
    monkeypatch.setattr(stores, "SHORT", 0.5)
    draw, memory = random.Random(2), 900_000
    states = [tuple(draw.getrandbits(64) for _ in range(4)) for _ in range(8_000)]
    store = Store(folding_kernel(4), 1, memory, folds=True)
    insert(store, 0, states)
    assert not folds_soon and not store._fold_first()
    assert folds_soon == [False] and store.nodes is None
    assert sorted(rows_in(store)) == sorted(states)


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_limit_of_memory_is_kept(threads: int, folds_soon: list[bool]) -> None:
    """What fits when folded is found, though whole rows would not fit."""
    memory = 600_000 + 100_000 * threads
    store = Store(folding_kernel(13), threads, memory, slots=64, folds=True)
    states = [(i & 63, i >> 6, *[7] * 11) for i in range(1, 12_000)]
    for who in range(threads):
        insert(store, who, states[who::threads])
        assert store.used_bytes <= memory
    assert sorted(rows_in(store)) == sorted(states)
    assert len(states) * store.width > memory
    assert store.nodes is not None
    assert store.nodes.bytes >= 8 * store.nodes.used + 4 * store.nodes.cap
    assert store.used_bytes > store.nodes.bytes + 8 * (store.slots + store.states)
    with pytest.raises(OutOfMemory, match="memory limit"):
        insert(store, 0, [(i, i, *[i] * 11) for i in range(100_000, 120_000)])
    assert store.used_bytes <= memory
    with pytest.raises(OutOfMemory, match="memory limit"):
        store.unfold()
    assert set(states) <= set(rows_in(store))


def test_more_slots_than_references_have_bits_for_are_not_folded(
    folds_soon: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "REFERENCE_BITS", 9)
    store = Store(folding_kernel(4), 1, None, slots=16, folds=True)
    states = mixed(4, 4, 3000)
    insert(store, 0, states)
    assert folds_soon == [True] and store.nodes is None
    assert sorted(rows_in(store)) == sorted(set(states))


def test_a_shape_is_a_tree_over_all_pieces() -> None:
    draw = random.Random(1)
    for words in (4, 7, 32):
        rows = [draw.randbytes(8) * words for _ in range(3)]
        shape = shape_of(rows)
        parts = [part for pair in shape.children for part in pair]
        assert len(shape.children) == 2 * words - 1
        assert sorted(parts) == list(range(4 * words - 2))
        for piece in range(2 * words):
            above, position = set(), piece
            while position < 4 * words - 2:
                node = next(i for i, pair in enumerate(shape.children) if position in pair)
                assert node + 2 * words > position
                above.add(node)
                position = node + 2 * words
            assert shape.ancestors(piece) == sum(1 << node for node in above)


def test_what_changes_seldom_is_at_the_bottom() -> None:
    """Pieces that are always the same share one node for all states."""
    rows = [bytes([0] * 28 + [i, 0, 0, 0]) for i in range(100)]
    shape = shape_of(rows)
    assert 7 in shape.children[-1]


@pytest.mark.parametrize("seed", range(20))
def test_the_parts_with_the_fewest_values_together_become_one(seed: int) -> None:
    """All pairs are counted here; the smallest one decides where several have as few values."""
    draw = random.Random(seed)
    pieces, sizes = 2 * draw.randint(2, 8), [1, 2, 3, 40]
    ranges = [draw.choice(sizes) for _ in range(pieces)]
    kinds = [[draw.randrange(size) for size in ranges] for _ in range(draw.randint(1, 30))]
    rows = [[draw.choice(kinds)[i] if i % 3 else kind[i] for i in range(pieces)] for kind in kinds]
    packed = [b"".join(value.to_bytes(4, "little") for value in row) for row in rows]
    parts: dict[int, list[Any]] = {i: [row[i] for row in rows] for i in range(pieces)}
    for node, pair in enumerate(shape_of(packed).children, pieces):
        together = {(a, b): list(zip(parts[a], parts[b], strict=True)) for a, b in pairs_of(parts)}
        assert pair == min(together, key=lambda ab: (len(set(together[ab])), ab))
        parts = {at: values for at, values in parts.items() if at not in pair}
        parts[node] = together[pair]


def pairs_of(parts: dict[int, list[Any]]) -> list[tuple[int, int]]:
    return [(a, b) for a in parts for b in parts if a < b]


def wide(system: TransitionSystem) -> TransitionSystem:
    """The same system with words that do not change."""
    pads = [models.variable(f"pad {i}", IntT(0, (1 << 61) - 1), i << 40) for i in range(5)]
    return replace(system, variables=(*system.variables, *pads))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "system", [models.two_phase(5), models.inner_fifo(3, 3)], ids=lambda s: s.name
)
def test_a_search_says_the_same(
    system: TransitionSystem,
    threads: int,
    folds_soon: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = wide(system)
    monkeypatch.setattr(stores, "SHORT", 9)
    whole = told(native.explore(system, Limits(), threads=1))
    monkeypatch.setattr(stores, "SHORT", 0)
    monkeypatch.setattr(search, "PARALLEL_FROM", 2)
    monkeypatch.setattr(search, "LEAST_PIECE", 1)
    small_tables(monkeypatch, 8)
    assert told(native.explore(system, Limits(), threads=threads)) == whole
    assert True in folds_soon


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 80), marks=pytest.mark.slow)])
def test_random_systems_say_the_same(
    seeds: range, folds_soon: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With safety and liveness, runs and counts: all that an answer has."""
    small_tables(monkeypatch, 8)
    for seed in seeds:
        draw = random.Random(seed)
        system = wide(Generator(draw.randrange).system(random_formula(draw, 3)))
        answers: list[object] = []
        for short, threads in ((9, 1), (0, 1), (0, 2)):
            monkeypatch.setattr(stores, "SHORT", short)
            try:
                answers.append(
                    told(native.explore(system, Limits(max_states=900), threads=threads))
                )
            except (RunFault, Unsupported) as error:
                answers.append(repr(error))
        assert answers[0] == answers[1], seed
        if not (isinstance(answers[0], Answer) and answers[0].stopped):
            assert answers[0] == answers[2], seed
    assert folds_soon.count(True) >= len(seeds) // 2


@pytest.mark.parametrize(
    ("before", "after"), [(0, 9), (9, 0), pytest.param(0, 0, marks=pytest.mark.slow)]
)
def test_a_run_is_resumed_from_either_form(
    before: int,
    after: int,
    folds_soon: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A run that ended with folded rows continues with whole ones, and the other way round."""
    system, location = wide(models.two_phase(5)), str(tmp_path / "run")
    monkeypatch.setattr(stores, "SHORT", 9)
    whole = told(native.explore(system, Limits(), threads=1))
    small_tables(monkeypatch)
    monkeypatch.setattr(stores, "SHORT", before)
    run = Checkpoint.begin(location, IDENTITY)
    assert explore(system, run, Limits(max_depth=9), threads=2).depth == 9
    assert (True in folds_soon) == (before == 0)
    folds_soon.clear()
    run.unfinished = True
    run.leave()
    run = Checkpoint.resume(location, IDENTITY)
    monkeypatch.setattr(stores, "SHORT", after)
    assert told(explore(system, run, Limits())) == whole
    assert (True in folds_soon) == (after == 0)
    run.leave()


LIBRARY = (
    ("replication/kafka_partition", "two", 16_981),
    ("replication/kafka_ladder", "high_watermark", None),
    ("consensus/flexible_paxos", "three_and_two", 7_959),
    ("replication/state_machine", "one_client", 130_217),
)


def in_both_forms(
    file: str, name: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[Report, Report]:
    """The reports on a check of the library with whole and with folded rows, which agree in
    verdicts, counterexamples and counts."""
    spec, options = str(SPECS / f"{file}.bcast"), Options(threads=threads)
    reports = list[Report]()
    for short in (9, 0):
        monkeypatch.setattr(stores, "SHORT", short)
        reports.append(run_check(spec, name, options))
    whole, folded = reports
    assert folded.verdicts == whole.verdicts
    assert folded.distinct_states == whole.distinct_states
    assert (folded.transitions, folded.depth) == (whole.transitions, whole.depth)
    assert folded.reduced == whole.reduced
    return whole, folded


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("file", "name", "states"), LIBRARY, ids=lambda value: str(value))
def test_the_library_says_the_same(
    file: str,
    name: str,
    states: int | None,
    threads: int,
    folds_soon: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counts, verdicts and counterexamples."""
    small_tables(monkeypatch)
    whole, folded = in_both_forms(file, name, threads, monkeypatch)
    assert folded.distinct_states == (states or whole.distinct_states)
    assert True in folds_soon


def test_equal_pairs_have_equal_numbers() -> None:
    """As many as there are different ones, in the order in which they are met."""
    draw = random.Random(5)
    for count, values in ((1, 1), (1, 9), (64, 3), (500, 40), (4096, 1 << 32)):
        columns = [[draw.randrange(values) for _ in range(count)] for _ in range(2)]
        columns[0][0] = columns[1][0] = values - 1
        given = [Buffer(4 * count) for _ in range(3)]
        for column, buffer in zip(columns, given, strict=False):
            buffer.halves()[:count] = memoryview(array("I", column))
        known: dict[tuple[int, int], int] = {}
        pairs = zip(*columns, strict=True)
        expected = [known.setdefault(pair, len(known)) for pair in pairs]
        numbers = folding.PairNumbers(count)
        for _ in range(2):
            assert numbers.write(*given) == len(known)
            assert list(given[2].halves()[:count]) == expected


@pytest.mark.parametrize("settled", [False, True])
def test_levels_are_dropped(settled: bool, folds_soon: list[bool]) -> None:
    """Whole rows as well as folded ones; and the same states can be found again."""
    store = Store(folding_kernel(4), 1, None, slots=64, folds=True)
    first, later = sorted(set(mixed(4, 1, 200))), [(i, 1 << 50, 0, i) for i in range(90)]
    insert(store, 0, first)
    store.open_level(1)
    insert(store, 0, later)
    if settled:
        store.settle()
    assert store.nodes is not None and store.level_size(1) == len(later)
    store.drop(1)
    assert store.nodes.window(0)[0] <= store.states, "there is no room before the first whole row"
    assert sorted(rows_in(store)) == first and store.states == len(first)
    assert not any(known(store, state) for state in later)
    insert(store, 0, [*first, *reversed(later)])
    assert rows_in(store)[len(first) :] == later[::-1]
    assert all(known(store, state) for state in [*first, *later])
