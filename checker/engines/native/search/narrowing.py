"""The table of 32-bit slots: how large it is, what a slot holds, and how it grows in its place.

See :mod:`checker.engines.native.codegen.narrow_set`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from checker.engines.native.codegen.fields import LINE
from checker.engines.native.codegen.narrow_set import SLOT, Narrow
from checker.engines.native.search.memory import RESERVED, Buffer, installed_memory

LOAD = 0.86
"""The largest share of the slots that may be in use."""
GROWTH = 1.25
"""The factor by which the table grows.  It is read and written in order, so it may grow often."""
LEAST_NEAR, MOST_NEAR = 4, 8
"""The bits of a slot that hold the distance from home, at least and at most."""
REACH = (1 << MOST_NEAR) - 1
"""The number of lines after the last home: a state may be that far from its own."""
MOST_LINES = 1 << 31
"""A table has fewer lines than this: the product of two of their numbers must fit into a word."""
MOST_SLOTS = (MOST_LINES - 1 + REACH) * LINE
"""The most words of a table."""
FROM = 1 << 20
"""The least size, in words, of a table of 64-bit slots that may change to 32-bit slots."""
BLOCK = 1 << 16
"""The number of lines that are moved together; their copy does not count as memory in use."""
LINE_BYTES = 8 * LINE


def least_slots(bits: int) -> int | None:
    """Returns the size in words of the smallest table for states of ``bits`` bits; ``None`` if
    there is no such table."""
    lines = 1 << max(0, bits + LEAST_NEAR - SLOT)
    return (lines + REACH) * LINE if lines < MOST_LINES else None


class Places:
    """The layout of a table of ``slots`` words for states of ``bits`` bits, with the record that
    native code reads.
    """

    def __init__(self, bits: int, slots: int) -> None:
        self.bits, self.slots = bits, slots
        self.lines = slots // LINE - REACH
        assert 0 < self.lines < MOST_LINES, "there is no such table"
        known = min(self.lines.bit_length() - 1, bits - 1)
        near = min(MOST_NEAR, SLOT - (bits - known))
        assert near >= LEAST_NEAR, "a slot has no room for what tells states apart"
        self.record = (ctypes.c_uint64 * Narrow.SIZE)()
        self.record[Narrow.LINES] = self.lines
        self.record[Narrow.SHIFT] = 64 - bits + known
        self.record[Narrow.NEAR] = near
        self.record[Narrow.REACH] = (1 << near) - 1
        self.record[Narrow.LOST] = known
        self.record[Narrow.WHOLE], self.record[Narrow.PART] = divmod(1 << bits, self.lines)
        self.record[Narrow.INVERSE] = min((1 << 64) // self.lines, (1 << 64) - 1)

    @property
    def address(self) -> int:
        """The address of the record."""
        return ctypes.addressof(self.record)


def states_in(slots: int) -> int:
    """Returns the number of states for which a table of ``slots`` words has room."""
    return int(2 * (slots - REACH * LINE) * LOAD)


def slots_for(states: int) -> int:
    """Returns the size, in words, of a table with room for ``states`` states."""
    return (int(states / (2 * LINE * LOAD)) + 1 + REACH) * LINE


def new_table(slots: int) -> Buffer:
    """Returns an empty table; it can grow in its place if the system allows that."""
    return Buffer(8 * slots, min(installed_memory(), RESERVED))


class Moving:
    """The lines of a table that has grown from ``old`` to ``new`` places, and has all its states
    where they were: :meth:`blocks` takes them out.  Raises ``MemoryError``.
    """

    def __init__(self, old: Places, new: Places) -> None:
        self._old, self._new = old, new
        ahead = REACH * new.lines // (new.lines - old.lines) + 2
        self._lines = min(old.slots // LINE, BLOCK + ahead)
        self._copy = Buffer(self._lines * LINE_BYTES)

    def blocks(self, table: Buffer) -> Iterator[tuple[int, int, int]]:
        """Copies lines out of the table, from the end, and zeroes them there.  Yields the address
        of the copy, the first line and the number of lines.

        The states of a block have no new line before its first one, so that they are not put where
        something is left to be read.
        """
        end = self._old.slots // LINE
        while end:
            begin = max(0, end - BLOCK)
            if begin and (begin - REACH) * self._new.lines // self._old.lines < begin:
                begin = 0
            size = (end - begin) * LINE_BYTES
            ctypes.memmove(self._copy.address, table.address + begin * LINE_BYTES, size)
            ctypes.memset(table.address + begin * LINE_BYTES, 0, size)
            yield self._copy.address, begin, end - begin
            end = begin
