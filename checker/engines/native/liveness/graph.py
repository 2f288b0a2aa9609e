"""The graph of a finished search: its steps, each with the fairness constraint that it takes.

States are numbered worker by worker.  After the states of each worker comes one number that denotes
no state, where that worker's edges end.
"""

from __future__ import annotations

import ctypes
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from msgspec import Struct

from checker.engines.budgets import when_done
from checker.engines.native.codegen.fields import Context, Mode, Worker
from checker.engines.native.codegen.graph_fields import STRONG, WEAK
from checker.engines.native.codegen.jit import Kernel, graph_kernel
from checker.engines.native.search.explored import GraphStates, Undecided
from checker.engines.native.search.memory import Buffer, available_memory
from checker.engines.native.search.store import Store
from checker.engines.native.search.worker_memory import WorkerMemory
from checker.model.ir import FairnessKind
from checker.results.answer import Limits

ROWS = 1 << 14
"""The number of states between two checks of the time limit."""
FIRST_KEYS = 1 << 10

Piece = tuple[int, int, int, int]
"""Whole rows: the address from which one can be found by its place, the first place, that after the
last one, and the number of the state that would be at place 0."""


class Numbers:
    """The states of a graph, by number; ``steps`` bounds the number of their steps."""

    def __init__(self, ground: GraphStates) -> None:
        self.store, self.steps = ground.store, ground.steps
        self.firsts: list[int] = []
        self.count = 0
        for crew in self.store.workers:
            self.firsts.append(self.count)
            self.count += crew.count + 1
        if self.count >= 1 << 32:
            raise Undecided("there are more than 2^32 states")

    def place(self, number: int) -> tuple[WorkerMemory, int]:
        """The worker and the row of a state."""
        who = bisect_right(self.firsts, number) - 1
        return self.store.workers[who], number - self.firsts[who]

    def words(self, number: int) -> tuple[int, ...]:
        """The words of a state."""
        crew, row = self.place(number)
        rows = self.store.expandable(crew, crew, row, row + 1)
        words = ctypes.c_uint64 * self.store.shape.words
        return tuple(words.from_address(rows + row * self.store.width))

    def find(self, words: Sequence[int]) -> int:
        """The number of the state with these words; :data:`NONE` where it was not found."""
        row, out, kernel = Buffer(8 * len(words)), Buffer(4), self.store.kernel
        row.words()[: len(words)] = memoryview(array("Q", words))
        assert kernel.locate is not None
        kernel.locate(self.store.context_address, row.address, 1, out.address)
        return int(out.halves()[0])

    def depth(self, number: int) -> int:
        """The level of a state."""
        crew, row = self.place(number)
        return bisect_right(crew.starts, row) - 1

    def level(self, depth: int) -> list[tuple[int, int]]:
        """The ranges of the numbers of the states of a level."""
        found = []
        for first, crew in zip(self.firsts, self.store.workers, strict=True):
            if depth < len(crew.starts):
                begin, end = self.store.range_of(crew, depth)
                if begin < end:
                    found.append((first + begin, first + end))
        return found

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """The ranges of the numbers that denote states."""
        return [(f, f + c.count) for f, c in zip(self.firsts, self.store.workers, strict=True)]

    def pieces(self, reader: WorkerMemory, owner: WorkerMemory, first: int) -> Iterator[Piece]:
        """All rows of ``owner``, whose first one has the number ``first``, some at a time."""
        at = 0
        while at < owner.count:
            stop = min(owner.count, at + self.store.together(ROWS))
            yield self.store.expandable(reader, owner, at, stop), at, stop, first
            at = stop

    def publish(self) -> None:
        """Makes the numbers available to native code."""
        store, kernel = self.store, self.store.kernel
        for i, first in enumerate(self.firsts):
            store.context[Context.PREFIX + i] = first
        if store.shape.words > 1:
            return
        store.numbers = Buffer(4 * store.slots, counted=0)  # the store counts it
        store.context[Context.VALS] = store.numbers.address

        def number(crew: WorkerMemory) -> None:
            kernel.number(store.context_address, crew.address)

        with ThreadPoolExecutor(len(store.workers)) as pool:
            list(pool.map(number, store.workers))


class Graph(Struct):
    """Edges in compressed rows (see :mod:`checker.engines.native.codegen.graph_fields`).

    ``kinds``: a byte for each constraint, none for number 0; ``constraints``: the rows of words of
    those from number 1 on (:mod:`checker.engines.native.codegen.constraints`).  ``stretches``: the
    ranges of numbers that denote states; ``written``: the ranges of places that have edges.
    """

    states: int
    start: Buffer
    targets: Buffer
    labels: Buffer
    edges: int
    kinds: bytes
    stretches: list[tuple[int, int]]
    constraints: tuple[tuple[int, ...], ...] = ()
    written: Sequence[tuple[int, int]] = ()

    @property
    def bytes(self) -> int:
        """Bytes in use."""
        return 8 * self.edges + 8 * self.states

    def leading_to(self, state: int, among: Iterable[tuple[int, int]]) -> array[int]:
        """The states of these ranges from which a step leads to ``state``."""
        found, code = array("I"), graph_kernel().leading
        for begin, end in among:
            out = Buffer(4 * (end - begin))
            given = (self.start.address, self.targets.address, begin, end, state, out.address)
            found.frombytes(out.bytes()[: 4 * code(*given)])
        return found


def bytes_needed(states: int, steps: int, words: int) -> int:
    """An estimate from above of the bytes that a store and a graph of so many states and steps
    take.
    """
    table = 27 + (14 if words == 1 else 0)
    return states * (8 * words + table + 40) + 8 * steps


class GraphListener(Protocol):
    """What building a graph requires of a search; ``check_time`` raises where the time limit is
    reached.
    """

    @property
    def kernel(self) -> Kernel: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def check_time(self) -> Callable[[], None]: ...


class Numbered(Protocol):
    """States whose steps are the edges of a graph: all, or some of them, as :class:`Numbers` has
    them."""

    store: Store
    steps: int
    firsts: list[int]
    count: int

    @property
    def stretches(self) -> list[tuple[int, int]]: ...

    def pieces(self, reader: WorkerMemory, owner: WorkerMemory, first: int) -> Iterator[Piece]: ...


def count_steps(kernel: Kernel, of: Numbered, check_time: Callable[[], None]) -> int:
    """The number of steps of states, with those that lead nowhere new."""
    store, crew = of.store, of.store.workers[0]
    row = (ctypes.c_uint64 * store.shape.words)()
    crew.put(Worker.TARGET, ctypes.addressof(row))
    crew.put(Worker.MODE, Mode.PARENTS)
    crew.put(Worker.OVERFLOW, 0)
    before = crew.get(Worker.TRANSITIONS)
    for owner, first in zip(store.workers, of.firsts, strict=True):
        for rows, at, stop, _ in of.pieces(crew, owner, first):
            while at < stop:
                check_time()
                at = kernel.run(store.context_address, crew.address, rows, at, stop, 0)
                kernel.stop.clear()
    store.best(store.shape.parent)
    return crew.get(Worker.TRANSITIONS) - before


def build_graph(search: GraphListener, numbers: Numbers, of: Numbered | None = None) -> Graph:
    """The graph of the states that a search has found; edges to other states lead to ``NONE``.

    ``of``: the states that have edges, by their own numbers (``None``: all of them).  Edges lead to
    ``numbers`` in any case.  Raises :class:`Undecided` where there is no room for it.
    """
    of = of or numbers
    store, most = of.store, of.steps
    needed = 8 * most + 40 * of.count
    limit = search.limits.memory
    if limit is not None and store.used_bytes + needed > limit:
        why = f"the state graph exceeds the memory limit of {limit:,} bytes"
        raise Undecided(why)
    if needed > available_memory():
        raise Undecided("not enough memory for the state graph")
    alone = 8 * most * len(store.workers) > available_memory()
    rooms = 1 if alone else len(store.workers)
    search.kernel.stop.clear()
    numbers.publish()
    start = Buffer(8 * (of.count + 1))
    targets, labels = (Buffer(4 * most * rooms, counted=4 * most) for _ in range(2))
    store.context[Context.START] = start.address
    store.context[Context.TARGETS] = targets.address
    store.context[Context.LABELS] = labels.address
    writers = [
        _Writer(search, of, crew, start, i * most) for i, crew in enumerate(store.workers[:rooms])
    ]
    if rooms == 1:
        for crew, first in zip(store.workers, of.firsts, strict=True):
            writers[0].write(crew, first)
    else:
        _together(writers, of)
    constraints, edges = _join(writers, labels)
    plan = search.kernel.image.plan
    assert plan is not None
    codes = {FairnessKind.WEAK: WEAK, FairnessKind.STRONG: STRONG}
    kinds = bytes([0, *(codes[plan.groups[row[0]].kind] for row in constraints)])
    ends = [(one.begin, one.crew.get(Worker.EDGES)) for one in writers]
    parts = (of.count, start, targets, labels, edges, kinds, of.stretches, constraints)
    return Graph(*parts, written=ends)


def _together(writers: list[_Writer], of: Numbered) -> None:
    with ThreadPoolExecutor(len(writers)) as pool:
        work = zip(writers, of.store.workers, of.firsts, strict=True)
        tasks = [pool.submit(writer.write, crew, first) for writer, crew, first in work]
        try:
            for task in tasks:
                when_done(task)
        except BaseException:
            for writer in writers:
                writer.halt = True
            writers[0].search.kernel.stop.tell()
            raise


class ConstraintTable:
    """The constraints that a worker meets, numbered from 1 on in the order in which it does."""

    def __init__(self, kernel: Kernel, crew: WorkerMemory) -> None:
        self._kernel, self._crew, plan = kernel, crew, kernel.image.plan
        self.width = plan.words if plan else 1
        self._keys, self._table = Buffer(8 * self.width * FIRST_KEYS), Buffer(8 * FIRST_KEYS)
        self._slots = 2 * FIRST_KEYS
        crew.put(Worker.KEY_COUNT, 0)
        self._publish()

    def _publish(self) -> None:
        self._crew.put(Worker.KEYS, self._keys.address)
        self._crew.put(Worker.KEY_TABLE, self._table.address)
        self._crew.put(Worker.KEY_MASK, self._slots - 1)

    def __len__(self) -> int:
        """How many there are."""
        return self._crew.get(Worker.KEY_COUNT)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another one."""
        return self._slots - 1 < 2 * len(self)

    def grow(self) -> None:
        """Makes room for more."""
        used = 8 * self.width * len(self)
        self._slots *= 4
        self._keys = self._keys.larger(4 * self.width * self._slots, used)
        self._table = Buffer(4 * self._slots)
        self._publish()
        self._crew.put(Worker.OVERFLOW, 0)
        rekey = self._kernel.rekey
        assert rekey is not None
        rekey(self._crew.address)

    def rows(self, begin: int = 0) -> list[tuple[int, ...]]:
        """Their rows, in the order of their numbers, but for the first ``begin``."""
        words, width = self._keys.words(), self.width
        return [tuple(words[i * width : (i + 1) * width]) for i in range(begin, len(self))]


class _Writer:
    """Writes edges, from position ``begin`` on, with the record of a worker."""

    def __init__(
        self, search: GraphListener, of: Numbered, crew: WorkerMemory, start: Buffer, begin: int
    ) -> None:
        self.search, self.of = search, of
        self.crew, self.start, self.begin = crew, start, begin
        self.halt = False
        crew.put(Worker.MODE, Mode.EDGES)
        crew.put(Worker.OVERFLOW, 0)
        crew.put(Worker.EDGES, begin)
        self.table = ConstraintTable(search.kernel, crew)

    def write(self, owner: WorkerMemory, first: int) -> None:
        """Writes the edges of all states of ``owner``, whose first one has number ``first``."""
        search, context, end = self.search, self.of.store.context_address, first
        for rows, at, stop, number in self.of.pieces(self.crew, owner, first):
            end = number + stop
            while at < stop:
                if self.halt:
                    return
                search.check_time()
                at = search.kernel.run(context, self.crew.address, rows, at, stop, number)
                if self.crew.get(Worker.OVERFLOW):
                    self.table.grow()
                elif at < stop and not self.halt:
                    search.check_time()
                    search.kernel.stop.clear()
        self.start.words()[end] = self.crew.get(Worker.EDGES)


def _join(writers: list[_Writer], labels: Buffer) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Gives each constraint one number; returns their rows, and the number of edges."""
    known: dict[tuple[int, ...], int] = {}
    edges = 0
    for writer in writers:
        names = array("I", [0])
        names.extend(known.setdefault(row, len(known) + 1) for row in writer.table.rows())
        end = writer.crew.get(Worker.EDGES)
        edges += end - writer.begin
        if any(i != name for i, name in enumerate(names)):
            graph_kernel().relabel(labels.address, writer.begin, end, names.buffer_info()[0])
    return tuple(known), edges
