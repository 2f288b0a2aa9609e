"""The nodes that folded rows share, and which pieces of a row are neighbours in its tree.

See :mod:`checker.engines.native.codegen.folded_set`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache
from heapq import heappop, heappush

from msgspec import Struct

from checker.engines.native.codegen.fields import LINE, Worker
from checker.engines.native.codegen.folded_set import CHUNK, Fold
from checker.engines.native.codegen.jit import Kernel, compile_functions
from checker.engines.native.codegen.pair_numbers import number_pairs
from checker.engines.native.search.memory import RESERVED, Buffer, installed_memory

SAMPLE = 4096
"""The number of rows from which the shape of the trees follows."""
FIRST_NODES = 1 << 14
"""The number of nodes that there is room for at first, at least."""
LOAD = 7 / 8
"""The greatest part of the slots of the nodes' table that is in use."""
NODE_GROWTH = 1.4
"""The factor by which the nodes' table grows."""
REFERENCE_BITS = 31
"""The most bits of a reference to a row, of the 32 of a slot."""
MOST_NODES = (1 << 32) - CHUNK
"""A node has a number of 32 bits."""


class Shape(Struct, frozen=True):
    """The form of all trees: ``children`` are the positions of the parts of each node, from below,
    the last one the root; ``pieces`` come before nodes in the order of positions.
    """

    pieces: int
    children: tuple[tuple[int, int], ...]

    def ancestors(self, piece: int) -> int:
        """Bit set: the nodes above a piece."""
        above, position = 0, piece
        for node, parts in enumerate(self.children):
            if position in parts:
                above |= 1 << node
                position = self.pieces + node
        return above


def shape_of(rows: Sequence[bytes]) -> Shape:
    """A tree that has few nodes for some rows of equal length.

    Again and again those two parts become one that have the fewest different values together: what
    changes seldom, or changes together, is at the bottom.  Two parts have at least as many values
    together as either of them, so few pairs are counted.
    """
    pieces, numbers = len(rows[0]) // 4, PairNumbers(len(rows))
    columns: dict[int, Buffer] = {}
    different: dict[int, int] = {}
    waiting: list[tuple[int, bool, int, int]] = []  # values at least; if that is exact; parts
    children: list[tuple[int, int]] = []

    def enter(part: int, first: Buffer, second: Buffer) -> None:
        columns[part] = Buffer(4 * len(rows))
        different[part] = numbers.write(first, second, columns[part])
        for one in columns.keys() - {part}:
            least = max(different[one], different[part])
            heappush(waiting, (least, False, one, part))

    values = memoryview(b"".join(rows)).cast("I")
    column, nothing, counted = (Buffer(4 * len(rows)) for _ in range(3))
    for piece in range(pieces):
        column.halves()[: len(rows)] = values[piece::pieces]
        enter(piece, column, nothing)
    while len(columns) > 1:
        _, is_exact, first, second = heappop(waiting)
        if first not in columns or second not in columns:
            continue
        if not is_exact:
            count = numbers.write(columns[first], columns[second], counted)
            heappush(waiting, (count, True, first, second))
            continue
        enter(pieces + len(children), columns.pop(first), columns.pop(second))
        children.append((first, second))
    return Shape(pieces, tuple(children))


class PairNumbers:
    """Numbers for the pairs of two columns of ``count`` numbers of 32 bits (see
    :mod:`checker.engines.native.codegen.pair_numbers`)."""

    def __init__(self, count: int) -> None:
        self._count, self._bits = count, count.bit_length()
        self._table, self._number = Buffer(16 << self._bits), _number_pairs()

    def write(self, first: Buffer, second: Buffer, out: Buffer) -> int:
        """Writes a column of numbers, equal for equal pairs; returns how many different ones there
        are.
        """
        self._table.clear()
        columns = first.address, second.address, self._count
        return self._number(*columns, self._table.address, self._bits, out.address)


@lru_cache(maxsize=1)
def _number_pairs() -> Callable[..., int]:
    return compile_functions([number_pairs()]).function("number_pairs", 6)


class Nodes:
    """The nodes of all trees of a ``shape``, their table, and the record that native code reads."""

    def __init__(self, shape: Shape, most: int) -> None:
        self.shape = shape
        self._page = Buffer(8 * Fold.SIZE)
        self.record = (ctypes.c_uint64 * Fold.SIZE).from_address(self._page.address)
        for node, (first, second) in enumerate(shape.children):
            self.record[Fold.CHILDREN + node] = first | second << 8
        for piece in range(shape.pieces):
            self.record[Fold.ANCESTORS + piece] = shape.ancestors(piece)
        reserved = min(installed_memory(), RESERVED)
        self._nodes, self._index = Buffer(8 * CHUNK, reserved), Buffer(0)
        self._room(max(FIRST_NODES, most))

    @property
    def address(self) -> int:
        """The address of the record."""
        return ctypes.addressof(self.record)

    @property
    def used(self) -> int:
        """The number of nodes that workers have taken."""
        return int(self.record[Fold.USED])

    @property
    def cap(self) -> int:
        """The number of nodes that there is room for."""
        return int(self.record[Fold.CAP])

    @property
    def bytes(self) -> int:
        """The bytes of memory in use."""
        return 8 * self.used + self._index.size + self._page.size

    @property
    def scarce(self) -> bool:
        """Whether there is room for so few nodes that there should be more first."""
        return self.cap - self.used < max(self.cap >> 5, 4 * CHUNK)

    @property
    def growth(self) -> int:
        """The bytes by which :meth:`grow` will need more memory, with all new nodes in use."""
        return round((NODE_GROWTH - 1) * self.cap * (8 + 4 / LOAD))

    def _room(self, nodes: int) -> None:
        """Makes room for that many nodes, with an empty table."""
        slots = -(-int(nodes / LOAD / 2 + 1) // LINE) * LINE
        self._nodes = self._nodes.larger(8 * nodes, 8 * self.used)
        self._index = self._index.anew(8 * slots)
        record = self.record
        record[Fold.NODES], record[Fold.INDEX] = self._nodes.address, self._index.address
        record[Fold.INDEX_SLOTS], record[Fold.CAP] = slots, nodes
        record[Fold.NODE_BITS] = (nodes + 1).bit_length()

    def grow(self, kernel: Kernel, unmade: Sequence[tuple[int, int]]) -> None:
        """Makes room for more nodes; ``unmade``: those that workers have taken and not made, from,
        up to but not including.  Raises ``MemoryError``.
        """
        if self.cap >= MOST_NODES:
            raise MemoryError("there are more parts of states than can be numbered")
        self._room(min(MOST_NODES, int(self.cap * NODE_GROWTH)))
        assert kernel.index_nodes is not None
        at = 0
        for begin, end in [*sorted(unmade), (self.used, self.used)]:
            kernel.index_nodes(self.address, at, max(at, begin))
            at = max(at, end)

    def window(self, worker: int) -> tuple[int, int, int]:
        """A worker's rows that are whole: from, up to where there is room for them, and the address
        of row 0, were it whole."""
        begin, end, address = (self.record[at + worker] for at in (Fold.FROM, Fold.END, Fold.WHOLE))
        return begin, end, address

    def put_window(self, worker: int, address: int, begin: int, rows: int) -> None:
        """A worker's rows are whole from row ``begin`` on, which is at ``address``; there is room
        for ``rows`` of them."""
        record, width = self.record, 4 * self.shape.pieces
        record[Fold.FROM + worker], record[Fold.END + worker] = begin, begin + rows
        record[Fold.WHOLE + worker] = (address - begin * width) % (1 << 64)

    def move_window(self, worker: int, begin: int) -> None:
        """A worker's rows are whole from row ``begin`` on: those before are folded, and there are
        none behind."""
        old, end, address = self.window(worker)
        first = (address + old * 4 * self.shape.pieces) % (1 << 64)
        self.put_window(worker, first, begin, end - old)

    def refer(self, slots: int, workers: int) -> None:
        """Lays out the slots of a visited set, by its number of words."""
        self.record[Fold.ROW_BITS] = _row_bits(slots)
        self.record[Fold.SLOT_BITS] = reference_bits(slots, workers)


def _row_bits(slots: int) -> int:
    """The bits of the number of a worker's row, where one may have all of them, from 1 on."""
    return (2 * slots + 1).bit_length()


def reference_bits(slots: int, workers: int) -> int:
    """The bits of a reference to a row, by the words of the visited set."""
    return _row_bits(slots) + (workers - 1).bit_length()


def forget(records: Sequence[ctypes.Array[ctypes.c_uint64]]) -> None:
    """Workers know no last row, and have no nodes to make."""
    for record in records:
        for which in (Worker.KNOWN, Worker.NODE, Worker.NODE_END):
            record[which] = 0
