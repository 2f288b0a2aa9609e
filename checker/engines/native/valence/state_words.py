"""The words of the states of a graph, as native code keeps and draws them
(:mod:`checker.engines.native.codegen.valence_words`)."""

from __future__ import annotations

import ctypes
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from checker.engines.native.codegen.jit import graph_kernel
from checker.engines.native.codegen.valence_words import FULL, NUMBERED, WHOLE, TableField
from checker.engines.native.liveness.graph import Graph
from checker.engines.native.search.memory import Buffer
from checker.engines.valence import WordLayout

MOST = 1 << NUMBERED
"""The largest number of different words of which each can have a number."""

Ranges = Sequence[tuple[int, int]]
"""Ranges of numbers of states."""


class TooManyWords(Exception):
    """There are more different words than have a number."""


class StateWords:
    """A word for each of ``count`` states.

    ``bits``: what a state has, :data:`NUMBERED` or :data:`WHOLE`; ``most``: different words.
    """

    def __init__(self, layout: WordLayout, count: int, bits: int, most: int = MOST) -> None:
        self.layout, self.count, self.bits, self._code = layout, count, bits, graph_kernel()
        self._words = Buffer(bits // 8 * count)
        self._table = (ctypes.c_uint64 * TableField.WORDS)()
        if bits == NUMBERED:
            self._known, self._slots = Buffer(8 * most, counted=0), Buffer(8 * most, counted=0)
            self._table[TableField.KNOWN] = self._known.address
            self._table[TableField.MOST] = most
            self._table[TableField.SLOTS] = self._slots.address
            self._table[TableField.SHIFT] = 64 - (2 * most).bit_length() + 1
        self._given = ctypes.addressof(self._table), self._words.address
        self._kept = self._words.bytes().cast("H" if bits == NUMBERED else "Q")[:count]

    @property
    def bytes(self) -> int:
        """Bytes for each state."""
        return self.bits // 8

    def __getitem__(self, state: int) -> int:
        """The word of a state."""
        return self._named(self._kept[state])

    def _named(self, kept: int) -> int:
        return int(self._known.words()[kept]) if self.bits == NUMBERED else kept

    # -- drawing --------------------------------------------------------------------------------

    def plant(self, letters: Buffer) -> None:
        """Gives each state the values of its letter as decided, and nothing more.  Raises
        :class:`TooManyWords`."""
        times = self.layout.begin(1)
        _require_room(self._code.plant[self.bits](letters.address, self.count, times, *self._given))

    def draw(
        self,
        graph: Graph,
        kept: Iterable[int],
        levels: Iterable[Ranges],
        check_time: Callable[[], None],
    ) -> None:
        """Takes over bits of successors until nothing changes; raises :class:`TooManyWords`.

        ``kept``: the bits that an edge with each label takes over, from label 1 on; ``levels``: the
        states in an order in which steps lead mostly back, to what comes first.
        """
        bits = array("Q", [0, *kept])
        arrays = (graph.start.address, graph.targets.address, graph.labels.address)
        given = (*arrays, bits.buffer_info()[0], *self._given)
        order = [part for level in levels for part in reversed(level)]
        changed = 1
        while changed:
            changed = 0
            for begin, end in order:
                check_time()
                changed += _require_room(self._code.draw[self.bits](*given, begin, end))

    # -- queries --------------------------------------------------------------------------------

    def tally(self, states: Ranges) -> dict[int, int]:
        """How many of these states have each word."""
        if self.bits == WHOLE:
            return sum((Counter(self._kept[begin:end]) for begin, end in states), Counter())
        total = self._table[TableField.COUNT]
        counts = Buffer(8 * total)
        for begin, end in states:
            self._code.tally(self._words.address, begin, end, counts.address)
        known = zip(self._known.words()[:total], counts.words()[:total], strict=True)
        return {word: count for word, count in known if count}

    def with_words(self, states: Ranges, wanted: set[int]) -> list[int]:
        """Those of these states whose word is ``wanted``."""
        kept = wanted
        if self.bits == NUMBERED:
            known = self._known.words()[: self._table[TableField.COUNT]]
            kept = {number for number, word in enumerate(known) if word in wanted}
        ranges = (enumerate(self._kept[begin:end], begin) for begin, end in states)
        return [state for each in ranges for state, what in each if what in kept]

    def critical(self, graph: Graph, states: Ranges, *, listed: bool) -> tuple[int, list[int]]:
        """How many of these states are critical; where ``listed``, which."""
        layout, total, found = self.layout, 0, list[int]()
        code = self._code.critical[self.bits]
        for begin, end in states:
            out = Buffer(4 * (end - begin)) if listed else None
            total += code(
                graph.start.address,
                graph.targets.address,
                *self._given,
                begin,
                end,
                layout.whole,
                layout.whole << layout.decided_at,
                out.address if out else 0,
            )
            if out:
                found.extend(out.halves()[: total - len(found)])
        return total, found

    def waiting(self, states: Ranges, *, bivalent: bool, among: int = 0) -> array[int]:
        """Those of these states in which nothing is decided, and more than one value is open (where
        ``bivalent``); ``among``: the address of a byte for each state, 0 where it is not meant."""
        layout, chosen = self.layout, array("I")
        low, decided = layout.whole if bivalent else 0, layout.whole << layout.decided_at
        for begin, end in states:
            out = Buffer(4 * (end - begin))
            given = (*self._given, begin, end, low, decided, among, out.address)
            chosen.frombytes(out.bytes()[: 4 * self._code.waiting[self.bits](*given)])
        return chosen


def _require_room(done: int) -> int:
    if done == FULL:
        raise TooManyWords
    return done
