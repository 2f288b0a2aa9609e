"""The visited set and the rows of all workers, which native code reads and writes.

Each worker appends the states that it finds first to its own rows; a level is one contiguous range
of the rows of each worker.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import weakref
from collections import deque
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct, field

from checker.engines import budgets
from checker.engines.native.codegen.fields import BATCH, LINE, Context, Worker
from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.search.findings import Best, LevelReport
from checker.engines.native.search.memory import (
    RESERVED,
    Buffer,
    available_memory,
    installed_memory,
    unnamed_file,
)

FIRST_SLOTS = 1 << 13
_NOTED = (
    Worker.TRANSITIONS, Worker.ENDS, Worker.BEYOND, Worker.LONE, Worker.BACK, Worker.FOUND,
    Worker.TURNED,
)  # fmt: skip
"""The workers' notes on a level, reset when they are reported."""

LOAD = 7 / 8
"""The greatest part of the slots that is ever in use."""
QUICKLY = 1 << 18
"""A table of fewer slots grows fourfold: so little is not worth saving."""
SMALLEST = 1.05
"""The smallest factor by which a table grows."""
COMPACTLY = 1.5
"""The factor by which a table of fingerprints grows: to fill it all rows are read from the disk."""
ROWS_ON_DISK = 16
"""For how many times the installed memory rows have addresses."""
LEAST = 1 << 20
"""In compact mode the least number of bytes of a worker's rows that go to the disk together."""
TOGETHER = 1 << 16
"""The number of states from which on threads fill a table together."""
PIECE = 1 << 14
"""The number of rows that a thread puts into the table at a time."""


class OutOfMemory(Exception):
    """The tables can't grow; the message says why."""


class WorkerMemory(Struct):
    """The memory of one worker: its record and its rows; ``starts[d]`` is its first row of level
    ``d``.

    ``desk``: has the record, on pages of its own, so that no two workers write to the same cache
    lines; ``spilled``: the bytes at the beginning of the rows that are on the disk.
    """

    record: ctypes.Array[ctypes.c_uint64]
    control_block: Buffer
    rows: Buffer
    batch: Buffer
    hashes: Buffer
    labels: Buffer
    starts: list[int] = field(default_factory=lambda: [0])
    spilled: int = 0

    def get(self, which: int) -> int:
        return int(self.record[which])

    def put(self, which: int, value: int) -> None:
        self.record[which] = value

    @property
    def address(self) -> int:
        return ctypes.addressof(self.record)

    @property
    def count(self) -> int:
        return self.get(Worker.COUNT)

    @property
    def fixed_bytes(self) -> int:
        """The bytes of what does not grow."""
        return sum(one.size for one in (self.control_block, self.batch, self.hashes, self.labels))


Make = Callable[[str, int], Buffer]
"""Returns a buffer of a size, for the purpose with this name."""


def private_memory(name: str, size: int) -> Buffer:
    """Memory of this process; rows have addresses to grow into, and keep theirs on the disk."""
    reserved = min(ROWS_ON_DISK * installed_memory(), RESERVED)
    return Buffer(size, reserved if name.startswith("rows") else 0)


class Store:
    """The tables of one search with ``workers`` workers; ``memory`` bounds their bytes.

    ``make``: allocates tables and rows; ``slots``: of the visited set, to begin with.
    """

    def __init__(
        self,
        kernel: Kernel,
        workers: int,
        memory: int | None,
        make: Make = private_memory,
        slots: int = FIRST_SLOTS,
    ) -> None:
        self.kernel, self.shape, self.memory = kernel, kernel.image.shape, memory
        self.width = 8 * self.shape.words
        self._page = Buffer(8 * self.shape.context_words)
        self.context = (ctypes.c_uint64 * self.shape.context_words).from_address(self._page.address)
        self.slots, self.make = slots, make
        self.table = make("table", slots * 8)
        self.numbers: Buffer | None = None
        self.workers = [self._crew(i) for i in range(workers)]
        self._file: int | None = None
        self._written, self._before = 0, budgets.resident(with_files=True)
        self._addresses()

    def _crew(self, number: int) -> WorkerMemory:
        desk = Buffer(8 * self.shape.worker_words)
        crew = WorkerMemory(
            (ctypes.c_uint64 * self.shape.worker_words).from_address(desk.address),
            desk,
            self.make(f"rows-{number}", int(self.slots * LOAD) * self.width),
            Buffer(BATCH * self.width),
            Buffer(BATCH * 8),
            Buffer(BATCH * 4),
        )
        crew.put(Worker.ID, number)
        crew.put(Worker.BATCH, crew.batch.address)
        crew.put(Worker.HASHES, crew.hashes.address)
        crew.put(Worker.BATCH_LABELS, crew.labels.address)
        return crew

    def _addresses(self) -> None:
        self.context[Context.TABLE] = self.table.address
        self.context[Context.SLOTS] = self.slots
        for i, crew in enumerate(self.workers):
            self.context[Context.ROWS + i] = crew.rows.address

    @property
    def context_address(self) -> int:
        return ctypes.addressof(self.context)

    @property
    def states(self) -> int:
        return sum(crew.count for crew in self.workers)

    # -- memory ---------------------------------------------------------------------------------

    @property
    def used_bytes(self) -> int:
        """The bytes of memory in use: the table, rows that hold states, and their records."""
        rows = sum(_pages(crew.count * self.width) - crew.spilled for crew in self.workers)
        numbers = 0 if self.numbers is None else self.numbers.size
        return self.slots * 8 + rows + numbers + self._fixed_bytes

    @property
    def _partial_page_bytes(self) -> int:
        """Bytes that rows take at most because a page of them is begun."""
        return mmap.PAGESIZE * len(self.workers)

    @property
    def _moving_bytes(self) -> int:
        """Bytes of rows that are there twice for a moment when they grow, at most."""
        moving = (one for one in self.workers if not one.rows.grows_in_place)
        return max((_pages(one.count * self.width) - one.spilled for one in moving), default=0)

    @property
    def _fixed_bytes(self) -> int:
        return self._page.size + sum(crew.fixed_bytes for crew in self.workers)

    @property
    def room(self) -> int:
        """How many states may still be added before :meth:`grow` is needed.

        The first table may be filled under any limit.
        """
        room = int(self.slots * LOAD) - self.states
        if self.memory is None or self.slots <= FIRST_SLOTS:
            return room
        paid = (self.memory - self.used_bytes - self._partial_page_bytes) // self.width
        return max(0, min(room, paid))

    @property
    def scarce(self) -> bool:
        """Whether there is so little room that the table should grow before any state is added."""
        return self.room <= self.slots >> 6

    def grow(self, states: int = 0) -> None:
        """Makes room for more states, for ``states`` at least; raises :class:`OutOfMemory` where
        that can't be done.

        Where memory is short the table grows by less, and rows of old levels go to the disk.
        """
        least = int(max(SMALLEST * self.slots, (self.states + states) / LOAD + 1))
        least = -(-least // LINE) * LINE
        slots = max(least, int(self.slots * self._factor()) // LINE * LINE)
        if slots > self._most():
            self.spill()
            slots = min(slots, self._most())
        if slots < least:
            if self.room > self.slots >> 6 and self.room >= states:
                return  # rows have gone to the disk, and the table is large enough
            if self.memory is not None and self.memory < self.used_bytes + available_memory():
                raise OutOfMemory(f"the memory limit of {self.memory:,} bytes was reached")
            raise OutOfMemory("not enough memory for a larger table")
        try:
            rows = int(slots * LOAD) * self.width
            for crew in self.workers:
                crew.rows = crew.rows.larger(rows, crew.count * self.width)
            self._renew(slots)
        except MemoryError as error:
            self._addresses()
            raise OutOfMemory("not enough memory for a larger table") from error
        except BaseException:
            self._renew(slots)  # an interruption: there has to be a whole table in any case
            raise

    def _renew(self, slots: int) -> None:
        """Puts a table with so many slots in place of the old one, which is freed first: its
        contents can be recomputed from the rows.
        """
        self.table, self.slots = self.table.anew(slots * 8), slots
        self._addresses()
        self._reinsert()

    def unload(self) -> None:
        """Lets go of what was read from the disk, where the process exceeds the limit with it."""
        if self._file is None or self.memory is None:
            return
        if budgets.resident(with_files=True) - self._before > self.memory:
            for crew in self.workers:
                crew.rows.unload()

    def _factor(self) -> float:
        """The factor by which a table grows: table and rows take at most 1.3 times the bytes of a
        state and 8 more, for each state, even when the table has just grown; at most it doubles.
        """
        if self.slots < QUICKLY:
            return 4
        if self.kernel.image.compact:
            return COMPACTLY
        return min(2, 0.95 * LOAD * (1.3 + 0.3 * self.shape.words))

    def _most(self) -> int:
        """The number of slots that fit into memory together with rows for all states that they have
        room for.
        """
        limit = self.used_bytes + available_memory()
        if self.memory is not None:
            limit = min(limit, self.memory)
        beside = self._partial_page_bytes + self._moving_bytes
        left = limit - beside - (self.used_bytes - self.slots * 8) + self.states * self.width
        return int(left / (8 + LOAD * self.width)) // LINE * LINE

    def spill(self, least: int = 1) -> None:
        """Moves the rows of levels that have been expanded to the disk, where a limit of memory
        or compact mode asks for that and the disk has room; they can still be read.

        ``least``: fewer bytes of a worker's rows are not worth it.
        """
        asked = self.memory is not None or self.kernel.image.compact
        if not asked or self.make is not private_memory:
            return
        with contextlib.suppress(OSError):
            for crew in self.workers:
                old = crew.starts[-2] if len(crew.starts) > 1 else 0
                end = old * self.width // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
                if end >= crew.spilled + least:
                    if self._file is None:
                        self._file = unnamed_file()
                        weakref.finalize(self, os.close, self._file)
                    at, size = self._written, end - crew.spilled
                    self._written += size
                    crew.spilled += crew.rows.spill(crew.spilled, end, self._file, at)

    def _reinsert(self) -> None:
        """Puts all rows into an empty table."""
        pieces = deque[tuple[WorkerMemory, int, int, int]]()
        for crew in self.workers:
            for depth, start in enumerate(crew.starts):
                end = self.range_of(crew, depth)[1]
                tag = self.level_tag(depth)
                pieces.extend((crew, i, min(end, i + PIECE), tag) for i in range(start, end, PIECE))

        def work() -> None:
            with contextlib.suppress(IndexError):
                while True:
                    crew, begin, end, tag = pieces.popleft()
                    self.kernel.reinsert(self.context_address, crew.address, begin, end, tag)
                    self.unload()

        if len(self.workers) == 1 or self.states < TOGETHER:
            work()
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(len(self.workers)) as pool:
            for task in [pool.submit(work) for _ in self.workers]:
                task.result()

    def give_up_table(self) -> None:
        """Frees the table: from now on the rows are only read."""
        self.table, self.slots = Buffer(0), 0

    def level_tag(self, depth: int) -> int:
        """The bits that a key of a state of level ``depth`` holds besides the state."""
        image = self.kernel.image
        return min(depth, image.level_limit) << image.level_shift if image.level_limit else 0

    def open_level(self, depth: int) -> None:
        """Makes level ``depth`` the level of new states."""
        self.context[Context.LEVEL] = self.level_tag(depth)
        for i, crew in enumerate(self.workers):
            crew.starts.append(crew.count)
            self.context[Context.NEXT_START + i] = crew.count
        if self.kernel.image.compact:
            self.spill(LEAST)

    def hold(self, starts: list[int], count: int) -> None:
        """Takes over ``count`` states that tables and rows hold already, of levels that start with
        these rows; only for one worker.
        """
        (crew,) = self.workers
        crew.starts = list(starts)
        crew.put(Worker.COUNT, count)
        self.context[Context.LEVEL] = self.level_tag(len(starts) - 1)
        self.context[Context.NEXT_START] = starts[-1]

    def drop(self, levels: int) -> None:
        """Drops all but so many levels (at least one)."""
        if levels >= len(self.workers[0].starts):
            return
        for i, crew in enumerate(self.workers):
            crew.put(Worker.COUNT, crew.starts[levels])
            crew.starts = crew.starts[:levels]
            self.context[Context.NEXT_START + i] = crew.starts[-1]
        self.context[Context.LEVEL] = self.level_tag(levels - 1)
        self.table.clear()
        self._reinsert()

    def range_of(self, crew: WorkerMemory, depth: int) -> tuple[int, int]:
        """The rows of level ``depth`` among those of ``workers``."""
        end = crew.starts[depth + 1] if depth + 1 < len(crew.starts) else crew.count
        return crew.starts[depth], end

    def level_size(self, depth: int) -> int:
        ranges = (self.range_of(crew, depth) for crew in self.workers)
        return sum(end - begin for begin, end in ranges)

    def deepest(self) -> int:
        """The last level that has states (0 where there are none at all)."""
        depth = len(self.workers[0].starts) - 1
        while depth and not self.level_size(depth):
            depth -= 1
        return depth

    def add(self, words: Sequence[int]) -> None:
        """Adds an initial state."""
        if not self.room:
            self.grow(1)
        crew = self.workers[0]
        crew.put(Worker.CAP, crew.count + self.room)
        row = (ctypes.c_uint64 * self.shape.words)(*words)
        self.kernel.add(self.context_address, crew.address, ctypes.addressof(row))

    def reserve(self, states: int) -> None:
        """Makes room for so many more states at once, if memory admits that.  If it does not, there
        may still be room for all of them when rows of old levels have gone to the disk."""
        if self.room < states:
            with contextlib.suppress(OutOfMemory):
                self.grow(states)

    def take(self, rows: memoryview) -> None:
        """Adds states of the level that was opened last; none of them was visited before.

        Raises :class:`OutOfMemory`.
        """
        width, level = self.width, self.context[Context.LEVEL]
        while rows.nbytes:
            if not self.room:
                self.grow(1)
            crew = min(self.workers, key=lambda one: one.count)
            begin = crew.count
            end = begin + min(self.room, rows.nbytes // width)
            size = (end - begin) * width
            crew.rows.bytes()[begin * width : end * width] = rows[:size]
            rows = rows[size:]
            crew.put(Worker.COUNT, end)
            self.kernel.reinsert(self.context_address, crew.address, begin, end, level)

    def best(self, which: int) -> Best | None:
        """The smallest state noted by any worker in the best record at ``which``; resets it."""
        found: list[Best] = []
        for crew in self.workers:
            if crew.get(which):
                words = tuple(crew.get(which + 2 + i) for i in range(self.shape.words))
                found.append((crew.get(which + 1), words))
                crew.put(which, 0)
        return min(found, default=None)

    def total(self, which: int) -> int:
        """The sum of one word of all workers' records."""
        return sum(crew.get(which) for crew in self.workers)

    def report(self) -> LevelReport:
        """The workers' notes since the last report; resets them."""
        shape, marks = self.shape, 0
        for crew in self.workers:
            for i in range(-(-shape.marks // 64)):
                marks |= crew.get(Worker.MARKS + i) << 64 * i
        report = LevelReport(
            premises=tuple(bool(self.total(shape.premise + i)) for i in range(shape.properties)),
            worst=tuple(self.best(shape.best(i)) for i in range(shape.properties)),
            fault=self.best(shape.fault),
            lost=self.best(shape.unevaluable),
            back=bool(self.total(Worker.BACK)),
            tape=bool(self.total(Worker.TAPE)),
            newcomer=bool(self.total(Worker.FOUND)),
            turned=bool(self.total(Worker.TURNED)),
            transitions=self.total(Worker.TRANSITIONS),
            ends=self.total(Worker.ENDS),
            beyond=self.total(Worker.BEYOND),
            marks=marks,
            lone=sum(ctypes.c_int64(crew.get(Worker.LONE)).value for crew in self.workers),
        )
        for crew in self.workers:
            for which in _NOTED:
                crew.put(which, 0)
        return report

    def know(self, premises: Collection[int], violations: Collection[int]) -> None:
        """Sets the properties, by number, whose premise, or violation, need not be looked for."""
        for i in range(self.shape.properties):
            self.context[Context.FLAGS + i] = i in premises
            self.context[Context.FLAGS + self.shape.properties + i] = i in violations


def _pages(size: int) -> int:
    """The bytes of the pages that so many bytes take."""
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
