"""The seen set and the rows of all workers: what native code reads and writes.

Each worker appends the states that it finds first to its own rows; a level is one contiguous
range of the rows of each worker.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from checker.exploration.findings import Best, Report
from checker.exploration.memory import Buffer, available
from checker.kernels.fields import BATCH, Context, Worker
from checker.kernels.jit import Kernel

FIRST_SLOTS = 1 << 13
LOAD = 0.6
"""At most this part of the slots is ever in use."""


class OutOfMemory(Exception):
    """The tables can't grow; the message says why."""


@dataclass
class Crew:
    """One worker: its record and its rows; ``starts[d]`` is its first row of level ``d``."""

    record: ctypes.Array[ctypes.c_uint64]
    rows: Buffer
    batch: Buffer
    hashes: Buffer
    labels: Buffer
    starts: list[int] = field(default_factory=lambda: [0])

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


Make = Callable[[str, int], Buffer]
"""Gives a buffer of a size, for what has this name."""


def private(_: str, size: int) -> Buffer:
    """Memory of this process."""
    return Buffer(size)


class Store:
    """The tables of one search with ``workers`` workers; ``memory`` bounds their bytes.

    ``make``: where tables and rows are; ``slots``: of the seen set, to begin with.
    """

    def __init__(
        self,
        kernel: Kernel,
        workers: int,
        memory: int | None,
        make: Make = private,
        slots: int = FIRST_SLOTS,
    ) -> None:
        self.kernel, self.shape, self.memory = kernel, kernel.image.shape, memory
        self.context = (ctypes.c_uint64 * self.shape.context_words)()
        self.slots, self.make = slots, make
        self.table = self._table(slots)
        self.numbers: Buffer | None = None
        self.crew = [self._crew(i) for i in range(workers)]
        self._addresses()

    def _crew(self, number: int) -> Crew:
        width = self.shape.words * 8
        crew = Crew(
            (ctypes.c_uint64 * self.shape.worker_words)(),
            self.make(f"rows-{number}", int(self.slots * LOAD) * width),
            Buffer(BATCH * width),
            Buffer(BATCH * 8),
            Buffer(BATCH * 4),
        )
        crew.put(Worker.ID, number)
        crew.put(Worker.BATCH, crew.batch.address)
        crew.put(Worker.HASHES, crew.hashes.address)
        crew.put(Worker.BATCH_LABELS, crew.labels.address)
        return crew

    def _table(self, slots: int) -> Buffer:
        return self.make(f"table-{slots}", slots * 8)

    def _addresses(self) -> None:
        self.context[Context.TABLE] = self.table.address
        self.context[Context.MASK] = self.slots - 1
        for i, crew in enumerate(self.crew):
            self.context[Context.ROWS + i] = crew.rows.address

    @property
    def context_address(self) -> int:
        return ctypes.addressof(self.context)

    @property
    def states(self) -> int:
        return sum(crew.count for crew in self.crew)

    @property
    def used(self) -> int:
        """Bytes in use: the table, and the rows that hold states."""
        return self.slots * 8 + self.states * self.shape.words * 8

    @property
    def room(self) -> int:
        """How many states may still be added before the table has to grow."""
        return int(self.slots * LOAD) - self.states

    def grow(self) -> None:
        """A larger table; raises :class:`OutOfMemory` where that can't be."""
        slots = self.slots * (8 if self.slots < 1 << 18 else 4 if self.slots < 1 << 20 else 2)
        row_bytes = self.shape.words * 8
        peak = self.used + slots * 8 + self.states * row_bytes
        if self.memory is not None and peak > self.memory:
            raise OutOfMemory(f"the memory limit of {self.memory:,} bytes was reached")
        if peak - self.used > available():
            raise OutOfMemory("there is no memory left for a larger table")
        try:
            table = self._table(slots)
            for crew in self.crew:
                needed = int(slots * LOAD) * row_bytes
                crew.rows = crew.rows.larger(needed, crew.count * row_bytes)
        except MemoryError as error:
            raise OutOfMemory("there is no memory left for a larger table") from error
        self.table, self.slots = table, slots
        self._addresses()
        self._reinsert()

    def _reinsert(self) -> None:
        level = self.context[Context.LEVEL]
        depths = max(len(crew.starts) for crew in self.crew)
        for depth in range(depths):
            self.context[Context.LEVEL] = self.level_tag(depth)
            for crew in self.crew:
                begin, end = self.range_of(crew, depth)
                self.kernel.reinsert(self.context_address, crew.address, begin, end)
        self.context[Context.LEVEL] = level

    def level_tag(self, depth: int) -> int:
        """What a key of a state of level ``depth`` holds beside the state."""
        image = self.kernel.image
        return min(depth, image.level_limit) << image.level_shift if image.level_limit else 0

    def open_level(self, depth: int) -> None:
        """From now on new states belong to level ``depth``."""
        self.context[Context.LEVEL] = self.level_tag(depth)
        for i, crew in enumerate(self.crew):
            crew.starts.append(crew.count)
            self.context[Context.NEXT_START + i] = crew.count

    def hold(self, starts: list[int], count: int) -> None:
        """Tables and rows hold the ``count`` states of levels that start with these rows already;
        only for one worker."""
        (crew,) = self.crew
        crew.starts = list(starts)
        crew.put(Worker.COUNT, count)
        self.context[Context.LEVEL] = self.level_tag(len(starts) - 1)
        self.context[Context.NEXT_START] = starts[-1]

    def drop(self, levels: int) -> None:
        """Forgets all but so many levels (at least one); only for one worker."""
        (crew,) = self.crew
        if levels < len(crew.starts):
            self.hold(crew.starts[:levels], crew.starts[levels])
            self.table.clear()
            self._reinsert()

    def range_of(self, crew: Crew, depth: int) -> tuple[int, int]:
        """The rows of level ``depth`` among those of ``crew``."""
        end = crew.starts[depth + 1] if depth + 1 < len(crew.starts) else crew.count
        return crew.starts[depth], end

    def level_size(self, depth: int) -> int:
        ranges = (self.range_of(crew, depth) for crew in self.crew)
        return sum(end - begin for begin, end in ranges)

    def deepest(self) -> int:
        """The last level that has states (0 where there are none at all)."""
        depth = len(self.crew[0].starts) - 1
        while depth and not self.level_size(depth):
            depth -= 1
        return depth

    def add(self, words: Sequence[int]) -> None:
        """Adds an initial state."""
        while not self.room:
            self.grow()
        crew = self.crew[0]
        crew.put(Worker.CAP, crew.count + self.room)
        row = (ctypes.c_uint64 * self.shape.words)(*words)
        self.kernel.add(self.context_address, crew.address, ctypes.addressof(row))

    def reserve(self, states: int) -> None:
        """Room for so many more states; raises :class:`OutOfMemory`."""
        while self.room < states:
            self.grow()

    def take(self, rows: memoryview) -> None:
        """States of the level that was opened last; each was never seen before.

        Raises :class:`OutOfMemory`.
        """
        width = self.shape.words * 8
        count = rows.nbytes // width
        self.reserve(count)
        crew = min(self.crew, key=lambda one: one.count)
        begin, end = crew.count, crew.count + count
        crew.rows.bytes()[begin * width : end * width] = rows
        crew.put(Worker.COUNT, end)
        self.kernel.reinsert(self.context_address, crew.address, begin, end)

    def best(self, which: int) -> Best | None:
        """The smallest state noted by any worker in the best record at ``which``; forgets it."""
        found: list[Best] = []
        for crew in self.crew:
            if crew.get(which):
                words = tuple(crew.get(which + 2 + i) for i in range(self.shape.words))
                found.append((crew.get(which + 1), words))
                crew.put(which, 0)
        return min(found, default=None)

    def total(self, which: int) -> int:
        """The sum of one word of all workers' records."""
        return sum(crew.get(which) for crew in self.crew)

    def report(self) -> Report:
        """What the workers have noted since the last one; they begin again from nothing."""
        shape, marks = self.shape, 0
        for crew in self.crew:
            for i in range(-(-shape.marks // 64)):
                marks |= crew.get(Worker.MARKS + i) << 64 * i
        report = Report(
            premises=tuple(bool(self.total(shape.premise + i)) for i in range(shape.properties)),
            worst=tuple(self.best(shape.best(i)) for i in range(shape.properties)),
            fault=self.best(shape.fault),
            lost=self.best(shape.lost),
            back=bool(self.total(Worker.BACK)),
            tape=bool(self.total(Worker.TAPE)),
            newcomer=bool(self.total(Worker.FOUND)),
            transitions=self.total(Worker.TRANSITIONS),
            ends=self.total(Worker.ENDS),
            marks=marks,
        )
        for crew in self.crew:
            for which in (Worker.TRANSITIONS, Worker.ENDS, Worker.BACK, Worker.FOUND):
                crew.put(which, 0)
        return report

    def know(self, premises: Collection[int], violations: Collection[int]) -> None:
        """Properties, by number, of which the premise, or a violation, need not be looked for."""
        for i in range(self.shape.properties):
            self.context[Context.FLAGS + i] = i in premises
            self.context[Context.FLAGS + self.shape.properties + i] = i in violations
