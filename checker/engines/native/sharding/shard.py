"""One shard of the states, in a process of its own: expands levels, sends the successors that other
shards own, and takes what they send.  An *exchange* transports the states.

Shard ``i`` of ``P`` owns a contiguous range of fingerprints
(:mod:`checker.engines.native.codegen.routing`), so that what it owns does not depend on which shard
found it.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterable, Iterator

from checker.engines.native.codegen.fields import BATCH, Context, Mode, Worker
from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.search.findings import Findings, LevelReport
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.store import Store

OUT_BYTES = 1 << 25
"""The bytes of successors that wait to be sent, for all shards together, about."""
FEW, MANY = 1 << 8, 1 << 15
"""The least and the greatest number of states that wait for each shard."""
SENT_BYTES, SENT_SHARE = 1 << 25, 32
"""The bytes in which recently sent states are remembered, and their part of a limit of memory at
most.  They need not fit into a core's cache, since every look is prefetched.
"""

Block = memoryview | bytes
"""Whole rows, one after the other."""


class Shard:
    """Shard ``index`` of ``shards`` of a search; ``memory`` bounds its bytes.

    ``keep``: successors that it owns itself go straight into its visited set, instead of being sent
    like all others; ``store``: has its states (of one worker; ``None``: it has none yet); ``sent``:
    the number of recently sent states that are remembered (a power of 2; ``None``: as many as fit
    into ``SENT_BYTES``); ``most``: the maximum number that wait for each shard.
    """

    def __init__(
        self,
        kernel: Kernel,
        index: int,
        shards: int,
        *,
        keep: bool,
        memory: int | None = None,
        store: Store | None = None,
        sent: int | None = None,
        most: int = MANY,
    ) -> None:
        self.kernel, self.index, self.shards, self.keep = kernel, index, shards, keep
        self.store = store or Store(kernel, 1, memory)
        self.crew = self.store.workers[0]
        self.width = 8 * self.store.shape.words
        sent = sent or _remembered(memory, self.width)
        self._sent = Buffer(sent * (8 + self.width))
        self._batch, self._hashes = Buffer(2 * BATCH * self.width), Buffer(2 * BATCH * 8)
        self._counts = (ctypes.c_uint64 * shards)()
        self._grain = 256
        self._taking, self._too_small = Mode.SEARCH, False
        for which, value in (
            (Worker.BATCH, self._batch.address),
            (Worker.HASHES, self._hashes.address),
            (Worker.SHARD, index),
            (Worker.SHARDS, shards),
            (Worker.OUT_COUNTS, ctypes.addressof(self._counts)),
            (Worker.SENT, self._sent.address),
            (Worker.SENT_MASK, sent - 1),
            (Worker.STAMP, 1),
            (Worker.MODE, Mode.ROUTE),
        ):
            self.crew.put(which, value)
        self._make_room(max(FEW, min(most, OUT_BYTES // (shards * self.width))))

    def _make_room(self, cap: int) -> None:
        """Makes room for ``cap`` states on their way to each shard; none is waiting."""
        self._cap = cap
        self._out = Buffer(cap * self.shards * self.width)
        self.crew.put(Worker.OUT, self._out.address)
        self.crew.put(Worker.OUT_CAP, cap)

    # -- what it has ----------------------------------------------------------------------------

    @property
    def states(self) -> int:
        """How many states it holds."""
        return self.store.states

    def level(self, depth: int) -> memoryview:
        """The states of a level, as rows; valid until states are added."""
        begin, end = self.store.range_of(self.crew, depth)
        return self.crew.rows.bytes()[begin * self.width : end * self.width]

    def size(self, depth: int) -> int:
        """How many of its states are in a level."""
        return self.store.level_size(depth)

    def restore(self, depth: int, blocks: Iterable[Block]) -> None:
        """Takes states of level ``depth``, in their order, before any sweep: levels come in order,
        from 0 on, each all at once.
        """
        self.begin_level(depth)
        for block in blocks:
            self.take(block)

    # -- a level --------------------------------------------------------------------------------

    def begin_level(self, depth: int) -> None:
        """Makes level ``depth`` the level of new states."""
        if depth:
            self.store.open_level(depth)
        self.crew.put(Worker.STAMP, depth + 1)

    def begin_sweep(self, found: Findings, names: list[str], *, last: bool) -> None:
        """Prepares the expansion of a level; premises and violations known by name are not
        evaluated again.

        ``last``: its successors are looked up only.
        """
        self.store.know(
            [i for i, name in enumerate(names) if name in found.premises],
            [i for i, name in enumerate(names) if name in found.violating],
        )
        self.store.context[Context.WHOLE] = found.whole
        self.crew.put(Worker.KEEP, self.keep and not last)
        self._taking = Mode.NEWCOMERS if last else Mode.ROUTE

    def expand(self, begin: int, end: int, seconds: float) -> int:
        """Expands rows from ``begin`` on, before ``end``, for about ``seconds``.

        Returns the position reached.  It stops early where a buffer of :meth:`outgoing` is full.
        Raises :class:`OutOfMemory`.
        """
        crew, now = self.crew, time.monotonic()
        until = now + seconds
        while begin < end and now < until:
            empty = not any(self._counts)
            crew.put(Worker.MODE, Mode.ROUTE)
            if self.keep:
                self._admit()
            crew.put(Worker.OVERFLOW, 0)
            stop = min(end, begin + self._grain)
            rows = crew.rows.address
            at = self.kernel.run(self.store.context_address, crew.address, rows, begin, stop, 0)
            before, now = now, time.monotonic()
            self.kernel.stop.clear()
            if at < stop and max(self._counts) >= self._cap:
                self._too_small = empty and at == begin
                return at
            if now - before < seconds / 8:
                self._grain = min(self._grain * 2, 1 << 18)
            elif now - before > seconds / 2:
                self._grain = max(self._grain // 4, 16)
            begin = at
        return begin

    def _admit(self) -> None:
        """Makes room for new states; raises ``OutOfMemory`` where there is none."""
        store, crew = self.store, self.crew
        overflow = crew.get(Worker.OVERFLOW) > 0
        if store.scarce or (overflow and store.room < store.slots >> 5):
            store.grow()
        crew.put(Worker.OVERFLOW, 0)
        crew.put(Worker.CAP, crew.count + store.room)

    def outgoing(self, least: int = 1) -> Iterator[tuple[int, bytes]]:
        """The shards for which at least so many states wait, each with these states as rows."""
        rows, size = self._out.bytes(), self._cap * self.width
        for owner, count in enumerate(self._counts):
            if count >= least or (self._too_small and count):
                begin = owner * size
                self._counts[owner] = 0
                yield owner, bytes(rows[begin : begin + count * self.width])
        if self._too_small:
            self._too_small = False
            self._make_room(4 * self._cap)

    @property
    def cap(self) -> int:
        """The number of states that have room on their way to one shard."""
        return self._cap

    def take(self, block: Block) -> None:
        """Inserts the states in ``block`` that it owns, unless it has visited them.

        Raises :class:`OutOfMemory`.
        """
        import pyarrow as pa

        given = pa.py_buffer(block)
        count, at, crew = given.size // self.width, 0, self.crew
        crew.put(Worker.MODE, self._taking)
        while at < count:
            self._admit()
            at = self.kernel.take(
                self.store.context_address, crew.address, given.address, at, count
            )
            if at < count:
                crew.put(Worker.OVERFLOW, 1)

    def report(self) -> LevelReport:
        """The notes since the last report."""
        return self.store.report()


def _remembered(memory: int | None, width: int) -> int:
    """Returns how many states of ``width`` bytes are remembered under a limit of ``memory``."""
    room = SENT_BYTES if memory is None else min(SENT_BYTES, memory // SENT_SHARE)
    return 1 << max(0, (room // (8 + width)).bit_length() - 1)
