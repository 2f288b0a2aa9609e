"""The graph of some states of a search: of those in which the violation of a property can last.

A cycle among them has steps from and to them alone, so that no other step need be kept.
"""

from __future__ import annotations

import ctypes
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain

from checker.engines.native.codegen.fields import Worker
from checker.engines.native.codegen.jit import graph_kernel
from checker.engines.native.codegen.row_selection import Code
from checker.engines.native.liveness.graph import (
    ROWS,
    Graph,
    GraphListener,
    Numbers,
    Piece,
    build_graph,
    count_steps,
)
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.worker_memory import WorkerMemory

LISTED = 1 << 16
"""The number of states that are listed at a time."""


class Selection:
    """Some of the states with ``numbers``, and numbers of their own, in the same order; after those
    of each worker comes one that denotes no state.

    ``alive``: a byte for each of ``numbers``, ALIVE for these states; ``states``: their numbers
    among all; ``steps`` bounds the number of their steps.
    """

    def __init__(self, numbers: Numbers, alive: Buffer) -> None:
        self.numbers, self.store, self.alive = numbers, numbers.store, alive
        self.steps, self.states = numbers.steps, array("I")
        self.firsts, self.count = list[int](), 0
        self._own = Buffer(4 * numbers.count)
        ctypes.memset(self._own.address, 0xFF, 4 * numbers.count)
        code, out = graph_kernel(), Buffer(4 * LISTED)
        for begin, end in numbers.stretches:
            self.firsts.append(self.count)
            for at in range(begin, end, LISTED):
                count = code.listed(alive.address, at, min(end, at + LISTED), out.address)
                code.rank(out.address, count, self.count, self._own.address)
                self.states.frombytes(out.bytes()[: 4 * count])
                self.count += count
            self.count += 1

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """The ranges of the own numbers that denote states."""
        ends = [*self.firsts[1:], self.count]
        return [(first, end - 1) for first, end in zip(self.firsts, ends, strict=True)]

    def own(self) -> Iterator[int]:
        """The own numbers of the states."""
        return chain(*(range(*each) for each in self.stretches))

    def number(self, own: int) -> int:
        """The number among all of the state with an own number."""
        return self.states[own - (bisect_right(self.firsts, own) - 1)]

    def pieces(self, reader: WorkerMemory, owner: WorkerMemory, first: int) -> Iterator[Piece]:
        """These rows of ``owner``, the first of which has the own number ``first``; see
        :meth:`Numbers.pieces`."""
        code, store = graph_kernel(), self.store
        room = Buffer(store.width * store.together(ROWS))
        for rows, at, stop, number in self.numbers.pieces(reader, owner, self._begin(owner)):
            codes = self.alive.address + number + at
            given = (rows + at * store.width, store.shape.words, codes, stop - at)
            count = code.pick(*given, 1 << Code.ALIVE, room.address)
            yield room.address, 0, count, first
            first += count

    def _begin(self, owner: WorkerMemory) -> int:
        """The number among all of the first row of ``owner``."""
        return self.numbers.firsts[owner.get(Worker.ID)]

    def graph(self, search: GraphListener) -> Graph:
        """The graph of these states by their own numbers; other states are ``NONE``.  Raises
        :class:`Undecided` where there is no room for it."""
        if len(self.states) < self.store.states:
            self.steps = count_steps(search.kernel, self, search.check_time)
        graph = build_graph(search, self.numbers, self)
        for begin, end in graph.written:
            graph_kernel().localize(graph.targets.address, begin, end, self._own.address)
        return graph
