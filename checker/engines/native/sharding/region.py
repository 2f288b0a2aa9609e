"""Some levels of one shard, with queries about the successors of their states, and about which of
given states they have.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from checker.engines.native.codegen.fields import Context, Mode, Worker
from checker.engines.native.codegen.jit import Kernel, graph_kernel
from checker.engines.native.codegen.row_selection import Code
from checker.engines.native.liveness.graph import ConstraintTable
from checker.engines.native.search.memory import Buffer
from checker.engines.native.sharding.shard import Block, Shard

ASK_BYTES = 1 << 25
"""The bytes of successors that wait, for all shards together, about."""
FEW, MANY = 1 << 6, 1 << 16
"""The least and the greatest number of successors that wait for each shard, to begin with."""


class Region:
    """The states of shard ``index`` of ``shards``; ``memory`` bounds their bytes.

    They are numbered in the order in which they are loaded.
    """

    def __init__(self, kernel: Kernel, index: int, shards: int, memory: int | None = None) -> None:
        self.kernel, self.shards = kernel, shards
        self.shard = Shard(kernel, index, shards, keep=False, memory=memory)
        self.store, self.crew = self.shard.store, self.shard.crew
        self.width = self.shard.width
        self._counts = (ctypes.c_uint64 * shards)()
        self.crew.put(Worker.OUT_COUNTS, ctypes.addressof(self._counts))
        self._levels, self._numbered = 0, -1

    @property
    def count(self) -> int:
        """How many states it has."""
        return self.store.states

    @property
    def steps(self) -> int:
        """An upper bound on the number of steps from the states that were queried."""
        return self.crew.get(Worker.TRANSITIONS)

    def load(self, blocks: Iterable[Block]) -> None:
        """Adds one more level: the states of it that the shard owns.  Raises ``OutOfMemory`` and
        ``OSError``.
        """
        self.shard.restore(self._levels, blocks)
        self._levels += 1

    def rows(self, begin: int = 0) -> memoryview:
        """The states from number ``begin`` on."""
        return self.crew.rows.bytes()[begin * self.width : self.count * self.width]

    # -- successors -----------------------------------------------------------------------------

    def ask(self, rows: Block) -> Iterator[tuple[int, bytes, bytes]]:
        """The successors of states, in blocks: the shard that owns them, the successors, and for
        each 32 bits, the number among ``rows`` of its source.

        Contains all steps to other states; those of one state may be repeated.
        """
        for _, asked in self._asked(rows, Mode.ASK, None):
            yield from ((owner, found, sources) for owner, found, sources, _ in asked)

    def links(
        self, rows: Block, table: ConstraintTable
    ) -> Iterator[tuple[int, bytes, bytes, bytes]]:
        """The steps of states, as :meth:`ask` gives them, each once, and for each 32 bits, the
        number of its constraint in ``table`` (0: none); also those that leave a state as it is and
        take a constraint."""
        for at, asked in self._asked(rows, Mode.LINK, table):
            for owner, found, sources, labels in asked:
                # a state that was given up is done again from its first step on
                count = bisect_left(memoryview(sources).cast("I"), at)
                if count:
                    four = 4 * count
                    yield owner, found[: count * self.width], sources[:four], labels[:four]

    def _asked(
        self, rows: Block, mode: Mode, table: ConstraintTable | None
    ) -> Iterator[tuple[int, Iterator[tuple[int, bytes, bytes, bytes]]]]:
        """Yields how many states are done, with what waits for each shard then."""
        import pyarrow as pa

        source = pa.py_buffer(rows)
        count = source.size // self.width
        cap = max(FEW, min(MANY, ASK_BYTES // (self.shards * (self.width + 8))))
        self._make_out(cap)
        self.crew.put(Worker.MODE, mode)
        at = 0
        while at < count:
            self.crew.put(Worker.OVERFLOW, 0)
            given = (self.store.context_address, self.crew.address, source.address, at, count, 0)
            before, at = at, self.kernel.run(*given)
            yield at, self._waiting(cap)
            if table is not None and table.is_full:
                table.grow()
            elif at == before and self.kernel.stop.is_set:
                self.kernel.stop.clear()
            elif at == before:
                cap *= 4
                self._make_out(cap)

    def _make_out(self, cap: int) -> None:
        """Makes room for so many successors for each shard."""
        self._out = Buffer(cap * self.shards * self.width)
        self._sources, self._labels = (Buffer(cap * self.shards * 4) for _ in range(2))
        self.crew.put(Worker.OUT, self._out.address)
        self.crew.put(Worker.OUT_SOURCES, self._sources.address)
        self.crew.put(Worker.OUT_LABELS, self._labels.address)
        self.crew.put(Worker.OUT_CAP, cap)

    def _waiting(self, cap: int) -> Iterator[tuple[int, bytes, bytes, bytes]]:
        """Takes out what waits for each shard: rows, sources and labels."""
        out, sources, labels = self._out.bytes(), self._sources.bytes(), self._labels.bytes()
        for owner, waiting in enumerate(self._counts):
            if waiting:
                begin, end = owner * cap, owner * cap + waiting
                self._counts[owner] = 0
                rows = bytes(out[begin * self.width : end * self.width])
                four = slice(4 * begin, 4 * end)
                yield owner, rows, bytes(sources[four]), bytes(labels[four])

    # -- answers --------------------------------------------------------------------------------

    def numbers(self, rows: Block) -> tuple[Buffer, int]:
        """For each row 32 bits, the number of the state (``NONE``: it is not here); and how many
        are here.
        """
        import pyarrow as pa

        self._number()
        given = pa.py_buffer(rows)
        count = given.size // self.width
        out = Buffer(4 * count)
        assert self.kernel.locate is not None, "there is liveness"
        self.kernel.locate(self.store.context_address, given.address, count, out.address)
        return out, count

    def codes(self, rows: Block, start: int, alive: bytes) -> bytes:
        """For each row a :class:`Code`; ``alive``: those of its own states from ``start`` on."""
        numbers, count = self.numbers(rows)
        out = ctypes.create_string_buffer(max(1, count))
        given = (numbers.address, count, start, _address(alive), ctypes.addressof(out))
        graph_kernel().sort(*given)
        return out.raw[:count]

    def _number(self) -> None:
        """Makes the numbers of its states available to native code."""
        if self._numbered == self.count:
            return
        self._numbered = self.count
        self.store.context[Context.PREFIX] = 0
        if self.store.shape.words == 1:
            self.store.numbers = Buffer(4 * self.store.slots)
            self.store.context[Context.VALS] = self.store.numbers.address
            self.kernel.number(self.store.context_address, self.crew.address)


class StateFlags:
    """A byte for each of ``count`` states: :data:`Code.ALIVE`, or at first :data:`Code.DEAD`."""

    def __init__(self, count: int) -> None:
        self.count, self._buffer = count, Buffer(count)

    def settle(self, sources: Block, codes: Block, good: int) -> None:
        """Marks states with a good answer as alive; ``sources``: 32 bits for each, their number."""
        import pyarrow as pa

        given, said = pa.py_buffer(sources), pa.py_buffer(codes)
        assert given.size == 4 * said.size, "every question has its answer"
        graph_kernel().settle(self._buffer.address, given.address, said.address, said.size, good)

    def mark(self, numbers: Buffer, count: int) -> None:
        """Marks these states (or ``NONE``) as alive."""
        graph_kernel().mark(self._buffer.address, numbers.address, count)

    def whole(self) -> bytes:
        """The flags of all states."""
        return bytes(self._buffer.bytes()[: self.count])


def good(*codes: Code) -> int:
    """A bit for each of these codes."""
    return sum(1 << code for code in codes)


def pick_rows(rows: Block, width: int, codes: bytes, meant: int) -> memoryview:
    """The rows, of ``width`` bytes, whose code is ``good`` (a bit for each)."""
    import pyarrow as pa

    given, count = pa.py_buffer(rows), len(codes)
    assert given.size == width * count
    out = Buffer(given.size)
    total = graph_kernel().pick(
        given.address, width // 8, _address(codes), count, meant, out.address
    )
    return out.bytes()[: total * width]


def _address(data: bytes) -> int:
    """The address of bytes, valid as long as they live."""
    import pyarrow as pa

    return int(pa.py_buffer(data).address)
