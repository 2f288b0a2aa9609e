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
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from checker.engines import budgets
from checker.engines.native.codegen.fields import BATCH, LINE, Context, Worker
from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.search import folding, narrowing
from checker.engines.native.search.findings import Best, LevelReport
from checker.engines.native.search.folding import SAMPLE, Nodes, forget, reference_bits, shape_of
from checker.engines.native.search.memory import (
    RESERVED,
    Buffer,
    address_of,
    available_memory,
    installed_memory,
    unnamed_file,
)
from checker.engines.native.search.narrowing import Places, least_slots
from checker.engines.native.search.worker_memory import WorkerMemory

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
SHORT = 0.5
"""Memory is short when the tables take so much of what they may take: then rows are folded."""
WORTH_IT = 0.5
"""Rows stay whole if, folded, they would take more than this part of their bytes."""
WINDOW = 4096
"""The largest number of whole rows, its newest ones, that a worker has where rows are folded."""
FOLDED_GROWTH = 1.8
"""The factor by which a table of folded rows grows: to fill it all rows are unfolded."""
BLOCK = 1024
"""The number of rows that are unfolded at a time."""
READ = 1 << 14
"""The number of whole rows that are read at a time."""
TOGETHER = 1 << 16
"""The number of states from which on threads fill a table together."""
PIECE = 1 << 14
"""The number of rows that a thread puts into the table at a time."""


class OutOfMemory(Exception):
    """The tables can't grow; the message says why."""


class TableLost(MemoryError):
    """There is no room to make the table again, so the search can't go on."""


Make = Callable[[str, int], Buffer]
"""Returns a buffer of a size, for the purpose with this name."""


def private_memory(name: str, size: int) -> Buffer:
    """Memory of this process; rows have addresses to grow into, and keep theirs on the disk."""
    reserved = min(ROWS_ON_DISK * installed_memory(), RESERVED)
    return Buffer(size, reserved if name.startswith("rows") else 0)


class Store:
    """The tables of one search with ``workers`` workers; ``memory`` bounds their bytes.

    ``make``: allocates tables and rows; ``slots``: words of the visited set, to begin with;
    ``folds``: rows may be folded when they have become many.  ``nodes``: those of folded rows
    (``None``: rows are whole); ``width`` and ``stride``: the bytes of a state, and of its row.
    ``narrowing``: gives the kernel for a table of 32-bit slots, if there is time for it.  The
    search changes to that table when memory is short, or (``early``) as soon as it would not be
    larger; ``places``: that table.
    """

    def __init__(
        self,
        kernel: Kernel,
        workers: int,
        memory: int | None,
        make: Make = private_memory,
        slots: int = FIRST_SLOTS,
        *,
        folds: bool = False,
        narrowing: Callable[[], Kernel | None] | None = None,
        early: bool = False,
    ) -> None:
        self.kernel, self.shape, self.memory = kernel, kernel.image.shape, memory
        self.width = self.stride = 8 * self.shape.words
        self.folds = folds and kernel.image.folds
        self.nodes: Nodes | None = None
        self.narrowing, self.early = narrowing, early
        self.places: Places | None = None
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
        self.context[Context.FOLD] = 0 if self.nodes is None else self.nodes.address
        self.context[Context.NARROW] = 0 if self.places is None else self.places.address
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
        rows = sum(_pages(crew.count * self.stride) - crew.spilled for crew in self.workers)
        others = (0 if one is None else one.bytes for one in (self.nodes,))
        numbers = 0 if self.numbers is None else self.numbers.size
        return self.slots * 8 + rows + numbers + sum(others) + self._fixed_bytes

    def _places(self, slots: int) -> int:
        """The number of states for which a table has room, by its words."""
        if self.places is not None:
            return narrowing.states_in(slots)
        return int(slots * self._density)

    @property
    def _density(self) -> float:
        """The number of states for which a word of the table has room."""
        if self.places is not None:
            return 2 * narrowing.LOAD
        return LOAD if self.nodes is None else 2 * LOAD

    @property
    def _bytes_of_state(self) -> float:
        """The bytes that a state takes beside its slot."""
        shared = 0.0 if self.nodes is None else self.nodes.bytes / max(1, self.states)
        return self.stride + shared

    @property
    def _limit(self) -> int:
        """The bytes of memory that may be in use."""
        limit = self.used_bytes + available_memory()
        return limit if self.memory is None else min(limit, self.memory)

    def _out_of_memory(self) -> OutOfMemory:
        if self.memory is not None and self.memory <= self._limit:
            return OutOfMemory(f"the memory limit of {self.memory:,} bytes was reached")
        return OutOfMemory("not enough memory for a larger table")

    @property
    def _partial_page_bytes(self) -> int:
        """Bytes that rows take at most because a page of them is begun."""
        return mmap.PAGESIZE * len(self.workers)

    @property
    def _moving_bytes(self) -> int:
        """Bytes of rows that are there twice for a moment when they grow, at most."""
        moving = (one for one in self.workers if not one.rows.grows_in_place)
        return max((_pages(one.count * self.stride) - one.spilled for one in moving), default=0)

    @property
    def _fixed_bytes(self) -> int:
        return self._page.size + sum(crew.fixed_bytes for crew in self.workers)

    @property
    def room(self) -> int:
        """How many states may still be added before :meth:`grow` is needed.

        The first table may be filled under any limit.
        """
        room = self._places(self.slots) - self.states
        if self.memory is None or self.slots <= FIRST_SLOTS:
            return room
        paid = (self.memory - self.used_bytes - self._partial_page_bytes) / self._bytes_of_state
        return max(0, min(room, int(paid)))

    @property
    def scarce(self) -> bool:
        """Whether there is so little room that the table should grow before any state is added."""
        return self._full or self._crowded or (self.nodes is not None and self.nodes.scarce)

    @property
    def _crowded(self) -> bool:
        """Whether some state has found no free slot within reach."""
        return self.total(Worker.CROWDED) > 0

    @property
    def _full(self) -> bool:
        return self.room <= self.slots >> 6

    def grow(self, states: int = 0) -> None:
        """Makes room for more states, for ``states`` at least; raises :class:`OutOfMemory` where
        that can't be done.

        Where memory is short the table grows by less, and rows of old levels go to the disk.
        """
        self.settle()
        changed = self._narrow_first() or self._fold_first()
        enough = not self._crowded and not self._full and self.room >= states
        if changed and enough:
            return
        least = int(max(SMALLEST * self.slots, self._slots_for(self.states + states)))
        least = -(-least // LINE) * LINE
        slots = max(least, int(self.slots * self._factor()) // LINE * LINE)
        bits = reference_bits(slots, len(self.workers))
        if self.nodes is not None and bits > folding.REFERENCE_BITS:
            self.unfold()
            self.grow(states)
            return
        if slots > self._most():
            self.spill()
            slots = min(slots, self._most())
        if slots < least:
            if not self._crowded and not self._full and self.room >= states:
                return  # rows have gone to the disk, and the table is large enough
            raise self._out_of_memory()
        try:
            self._more_rows(self._places(slots))
            (self._renew if self.places is None else self._stretch)(slots)
        except TableLost:
            raise
        except MemoryError as error:
            self._addresses()
            raise OutOfMemory("not enough memory for a larger table") from error
        except BaseException:
            self._renew(slots)  # an interruption: there has to be a whole table in any case
            raise

    def _more_rows(self, states: int) -> None:
        """Gives every worker room for the rows of so many states."""
        for crew in self.workers:
            crew.rows = crew.rows.larger(states * self.stride, crew.count * self.stride)

    def _renew(self, slots: int) -> None:
        """Puts a table with so many slots in place of the old one, which is freed first: its
        contents can be recomputed from the rows.
        """
        if self.places is not None:
            self._refill(slots)
            return
        self.table, self.slots = self.table.anew(slots * 8), slots
        if self.nodes is not None:
            self.nodes.refer(slots, len(self.workers))
        self._addresses()
        self._reinsert()

    # -- slots of 32 bits -----------------------------------------------------------------------

    def _narrow_first(self) -> bool:
        """Changes to a table of 32-bit slots where that is due and there is room for one; returns
        whether it did.
        """
        if self.narrowing is None or not self.states:
            return False
        least = least_slots(self.kernel.image.layout.bits)
        if least is None:
            self.narrowing = None
            return False
        slots = max(least, narrowing.slots_for(int(self.states * narrowing.GROWTH)))
        due = self.early and least <= self._factor() * self.slots
        due = due or self.used_bytes >= SHORT * self._limit
        fits = self.used_bytes + 8 * (slots - self.slots) <= self._limit
        if not (due and fits) or self.slots < narrowing.FROM:
            return False
        try:
            table = narrowing.new_table(slots)
        except MemoryError:
            return False
        kernel = self.narrowing()
        if kernel is None:
            return False
        self.kernel, self.narrowing = kernel, None
        self._refill(slots, table)
        return True

    def _refill(self, slots: int, table: Buffer | None = None) -> None:
        """Puts all rows into an empty table of 32-bit slots; into a larger one if a state finds no
        slot within reach.  Raises :class:`TableLost`.
        """
        while True:
            try:
                self._more_rows(narrowing.states_in(slots))
                self.table = table or narrowing.new_table(slots)
            except MemoryError as error:
                raise TableLost("not enough memory for a larger table") from error
            self.places, self.slots = Places(self.kernel.image.layout.bits, slots), slots
            self._addresses()
            self._forget_crowds()
            self._reinsert()
            if not self._crowded:
                return
            slots, table = int(slots * narrowing.GROWTH) // LINE * LINE, None

    def _stretch(self, slots: int) -> None:
        """Moves the states of a table of 32-bit slots, in its place, to so many words."""
        old = self.places
        assert old is not None and self.kernel.move_lines is not None
        new = Places(old.bits, slots)
        moving = narrowing.Moving(old, new)
        self.table = self.table.larger(8 * slots, 8 * self.slots)
        self.places, self.slots = new, slots
        self._addresses()
        self._forget_crowds()
        given = self.context_address, self.workers[0].address
        for copy, first, count in moving.blocks(self.table):
            pieces = deque[Callable[[], None]]()
            piece = -(-count // (4 * len(self.workers)))
            for at in range(0, count, piece):
                part = (copy + 8 * LINE * at, first + at, min(piece, count - at), old.address)
                pieces.append(partial(self.kernel.move_lines, *given, *part))
            self._in_threads(pieces)
        if self._crowded:
            self._refill(slots)

    def _forget_crowds(self) -> None:
        for crew in self.workers:
            crew.put(Worker.CROWDED, 0)

    # -- folded rows ----------------------------------------------------------------------------

    def _fold_first(self) -> bool:
        """Folds rows, or makes room for more nodes, where either is due; returns whether it did.

        Raises :class:`OutOfMemory`.
        """
        if self.nodes is None:
            fits = reference_bits(2 * self.slots, len(self.workers)) <= folding.REFERENCE_BITS
            short = self.states and self.used_bytes >= SHORT * self._limit
            return bool(self.folds and fits and short and self._fold())
        if not self.nodes.scarce:
            return False
        self._more_nodes()
        return True

    def _fold(self) -> bool:
        """Folds all rows, into a table of twice the size, since they take much less memory then;
        returns whether it did: not where they share too little, or there is no room for both forms.
        """
        limit, slots = self._limit, 2 * self.slots
        if self.used_bytes + self.states * (8 + WORTH_IT * self.width) > limit:
            self.spill()
        window = max(BLOCK, min(WINDOW, self.states // 8))
        beside = 8 * self.states + len(self.workers) * window * self.width
        left, worth = limit - self.used_bytes - beside, WORTH_IT * self.states * self.width
        first = max(self.workers, key=lambda one: one.count)
        whole, step = first.rows.bytes(), first.count // SAMPLE * self.width or self.width
        starts = range(0, first.count * self.width, step)
        rows = [bytes(whole[at : at + self.width]) for at in starts]
        nodes, size = Nodes(shape_of(rows), self.states // 2), int(2 * slots * LOAD) * 8
        forget([crew.record for crew in self.workers])
        folded = list[Buffer]()
        for crew in self.workers:
            crew.last, crew.scratch = Buffer(2 * self.width), Buffer(BLOCK * self.width)
            crew.put(Worker.LAST, crew.last.address)
            roots = self.make(f"rows-{crew.get(Worker.ID)}", size)
            folded.append(roots)
            for at in range(0, crew.count, READ):
                end = min(crew.count, at + READ)
                self._fold_rows(nodes, crew, crew.rows.address, at, end, roots.address)
                if 8 * nodes.used > worth or nodes.bytes > left:
                    self.folds = False
                    return False
        for i, (crew, roots) in enumerate(zip(self.workers, folded, strict=True)):
            crew.rows, crew.spilled, crew.whole = roots, 0, Buffer(window * self.width)
            nodes.put_window(i, crew.whole.address, crew.count, window)
        self.nodes, self.stride = nodes, 8
        self._renew(max(self.slots, min(slots, self._most())))
        return True

    def has_window(self, crew: WorkerMemory) -> bool:
        """Whether there is room for another whole row of a worker: there always is where rows are
        not folded."""
        return self.nodes is None or crew.count < self.nodes.window(crew.get(Worker.ID))[1]

    def settle(self) -> None:
        """Folds the rows that are whole, if rows are folded.  Raises :class:`OutOfMemory`."""
        nodes, reached = self.nodes, [0 for _ in self.workers]
        if nodes is None:
            return
        windows = [nodes.window(i) for i in range(len(self.workers))]

        def fold(i: int) -> None:
            assert self.kernel.fold_rows is not None
            crew, (begin, _, address) = self.workers[i], windows[i]
            given = (address, max(begin, reached[i]), crew.count, crew.rows.address)
            reached[i] = self.kernel.fold_rows(nodes.address, crew.address, *given)

        def left() -> list[int]:
            return [i for i, crew in enumerate(self.workers) if reached[i] < crew.count]

        while todo := left():
            self._in_threads(deque(partial(fold, i) for i in todo))
            if left():
                self._more_nodes()
        for i, crew in enumerate(self.workers):
            nodes.move_window(i, crew.count)

    def _fold_rows(
        self, nodes: Nodes, crew: WorkerMemory, rows: int, at: int, end: int, roots: int
    ) -> None:
        """Writes the roots of rows; both are numbered from the addresses on."""
        assert self.kernel.fold_rows is not None
        while at < end:
            at = self.kernel.fold_rows(nodes.address, crew.address, rows, at, end, roots)
            if at < end:
                self._grow_nodes(nodes)

    def _take_whole(self, crew: WorkerMemory, rows: memoryview, end: int) -> int:
        """Puts the first rows behind a worker's whole ones, as far as there is room, at most up to
        ``end``; returns up to where."""
        assert self.nodes is not None and crew.whole is not None
        begin, room, _ = self.nodes.window(crew.get(Worker.ID))
        end = min(end, room)
        size = (end - crew.count) * self.width
        at = (crew.count - begin) * self.width
        crew.whole.bytes()[at : at + size] = rows[:size]
        return end

    def _more_nodes(self) -> None:
        """Makes room for more nodes; raises :class:`OutOfMemory`."""
        assert self.nodes is not None
        if self.memory is not None and self.used_bytes + self.nodes.growth > self.memory:
            self.spill()
        if self.used_bytes + self.nodes.growth > self._limit:
            raise self._out_of_memory()
        self._grow_nodes(self.nodes)

    def _grow_nodes(self, nodes: Nodes) -> None:
        unmade = [(one.get(Worker.NODE), one.get(Worker.NODE_END)) for one in self.workers]
        try:
            nodes.grow(self.kernel, unmade)
        except MemoryError as error:
            raise OutOfMemory("not enough memory for a larger table") from error

    def keep_whole(self) -> None:
        """From now on, rows are not folded, and slots keep 64 bits."""
        self.folds, self.narrowing = False, None

    def unfold(self) -> None:
        """Makes rows whole again, for good; raises :class:`OutOfMemory`."""
        nodes, self.folds = self.nodes, False
        if nodes is None:
            return
        slots = -(-int(self.states / LOAD + 1) // LINE) * LINE
        needed = self.states * self.width + max(0, slots - self.slots) * 8
        if self.used_bytes + needed > self._limit:
            raise self._out_of_memory()
        assert self.kernel.unfold_rows is not None
        whole = list[Buffer]()
        for crew in self.workers:
            whole.append(self.make(f"rows-{crew.get(Worker.ID)}", crew.count * self.width))
            given = (self.context_address, crew.address, 0, crew.count, whole[-1].address)
            self.kernel.unfold_rows(*given)
        for crew, rows in zip(self.workers, whole, strict=True):
            crew.rows, crew.spilled = rows, 0
            crew.last = crew.scratch = crew.whole = None
        self.nodes, self.stride = None, self.width
        self._renew(slots)

    def together(self, most: int) -> int:
        """The number of rows that :meth:`expandable` can give at a time: ``most`` at most."""
        return most if self.nodes is None else min(most, BLOCK)

    def expandable(self, reader: WorkerMemory, owner: WorkerMemory, begin: int, end: int) -> int:
        """The address from which a row can be found by its number, for rows from ``begin`` on, at
        most BLOCK before ``end``: ``reader`` unfolds them.
        """
        if self.nodes is None:
            return owner.rows.address
        assert self.kernel.unfold_rows is not None and reader.scratch is not None
        assert end - begin <= BLOCK, "there is no room for more whole rows"
        into = reader.scratch.address
        self.kernel.unfold_rows(self.context_address, owner.address, begin, end, into)
        return into - begin * self.width

    def blocks(self, depth: int) -> Iterator[memoryview]:
        """The states of level ``depth`` as whole rows, some at a time."""
        for crew in self.workers:
            begin, end = self.range_of(crew, depth)
            if self.nodes is None:
                rows, step = crew.rows.bytes(), READ
                for at in range(begin, end, step):
                    yield rows[at * self.width : min(end, at + step) * self.width]
                continue
            assert self.kernel.unfold_rows is not None
            for at in range(begin, end, BLOCK):
                stop = min(end, at + BLOCK)
                whole = bytearray((stop - at) * self.width)
                given = (crew.address, at, stop, address_of(memoryview(whole)))
                self.kernel.unfold_rows(self.context_address, *given)
                yield memoryview(whole)

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
        if self.places is not None:
            return narrowing.GROWTH
        if self.nodes is not None:
            return FOLDED_GROWTH
        if self.slots < QUICKLY:
            return 4
        if self.kernel.image.compact:
            return COMPACTLY
        return min(2, 0.95 * LOAD * (1.3 + 0.3 * self.shape.words))

    def _most(self) -> int:
        """The number of slots that fit into memory together with rows for all states that they have
        room for.
        """
        limit = self._limit
        beside = self._partial_page_bytes + self._moving_bytes
        each = self._bytes_of_state
        left = limit - beside - (self.used_bytes - self.slots * 8) + self.states * each
        most = int(left / (8 + self._density * each)) // LINE * LINE
        return most if self.places is None else min(most, narrowing.MOST_SLOTS)

    def _slots_for(self, states: int) -> int:
        """The words of a table with room for that many states."""
        tail = 0 if self.places is None else narrowing.REACH * LINE
        return int(states / self._density + 1) + tail

    def spill(self, least: int = 1) -> None:
        """Moves the rows of levels that have been expanded to the disk, where a limit of memory
        or compact mode asks for that and the disk has room; they can still be read.

        ``least``: fewer bytes of a worker's rows are not worth it.
        """
        rarely_read = self.kernel.image.compact or self.places is not None
        asked = self.memory is not None or rarely_read
        if not asked or self.make is not private_memory:
            return
        with contextlib.suppress(OSError):
            for crew in self.workers:
                old = crew.starts[-2] if len(crew.starts) > 1 else 0
                end = old * self.stride // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
                if end >= crew.spilled + least:
                    if self._file is None:
                        self._file = unnamed_file()
                        weakref.finalize(self, os.close, self._file)
                    at, size = self._written, end - crew.spilled
                    self._written += size
                    crew.spilled += crew.rows.spill(crew.spilled, end, self._file, at)

    def _reinsert(self) -> None:
        """Puts all rows into an empty table."""
        pieces = deque[Callable[[], None]]()
        for crew in self.workers:
            for depth, start in enumerate(crew.starts):
                end = self.range_of(crew, depth)[1]
                tag = self.level_tag(depth)
                given = (self.context_address, crew.address)
                pieces.extend(
                    partial(self.kernel.reinsert, *given, i, min(end, i + PIECE), tag)
                    for i in range(start, end, PIECE)
                )
        self._in_threads(pieces)

    def _in_threads(self, pieces: deque[Callable[[], None]]) -> None:
        """Calls the functions, which fill a table in native code, on all threads."""

        def work() -> None:
            with contextlib.suppress(IndexError):
                while True:
                    pieces.popleft()()
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
        """Makes level ``depth`` the level of new states.  Raises :class:`OutOfMemory`."""
        self.settle()
        self.context[Context.LEVEL] = self.level_tag(depth)
        for i, crew in enumerate(self.workers):
            crew.starts.append(crew.count)
            self.context[Context.NEXT_START + i] = crew.count
        if self.kernel.image.compact or (self.places is not None and self.early):
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
            if self.nodes is not None:
                self.nodes.move_window(i, min(self.nodes.window(i)[0], crew.count))
            self.context[Context.NEXT_START + i] = crew.starts[-1]
        self.context[Context.LEVEL] = self.level_tag(levels - 1)
        if self.places is not None:
            self._refill(self.slots)
            return
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
        """Adds an initial state.  Raises :class:`OutOfMemory`."""
        crew, row = self.workers[0], (ctypes.c_uint64 * self.shape.words)(*words)
        full = not self.room
        while True:
            if full and self.has_window(crew):
                self.grow(1)
            elif full:
                self.settle()
            crew.put(Worker.OVERFLOW, 0)
            crew.put(Worker.CAP, crew.count + self.room)
            self.kernel.add(self.context_address, crew.address, ctypes.addressof(row))
            full = crew.get(Worker.OVERFLOW) > 0
            if not full:
                return

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
            if not all(map(self.has_window, self.workers)):
                self.settle()
            crew = min(self.workers, key=lambda one: one.count)
            begin = crew.count
            end = begin + min(self.room, rows.nbytes // width)
            if self.nodes is None:
                crew.rows.bytes()[begin * width : end * width] = rows[: (end - begin) * width]
            else:
                end = self._take_whole(crew, rows, end)
            rows = rows[(end - begin) * width :]
            crew.put(Worker.COUNT, end)
            self.kernel.reinsert(self.context_address, crew.address, begin, end, level)
            if self._crowded:
                self._refill(self.slots)

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
