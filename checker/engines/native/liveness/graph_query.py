"""Queries of the state graph: Python's side of
:mod:`checker.engines.native.codegen.graph_fields`."""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Iterable, Iterator

from msgspec import Struct

from checker.engines.native.codegen.graph_fields import NONE, Member, QueryField
from checker.engines.native.codegen.jit import graph_kernel
from checker.engines.native.liveness.automaton_tables import TRIVIAL, Product
from checker.engines.native.liveness.graph import Graph
from checker.engines.native.search.memory import Buffer


class Nodes(Struct, frozen=True):
    """A list of nodes that native code reads: ``count`` times 32 bits."""

    buffer: Buffer
    count: int

    @staticmethod
    def of(nodes: Iterable[int]) -> Nodes:
        """These nodes."""
        found = array("I", nodes)
        buffer = Buffer(4 * len(found))
        ctypes.memmove(buffer.address, found.buffer_info()[0], 4 * len(found))
        return Nodes(buffer, len(found))

    def __iter__(self) -> Iterator[int]:
        return iter(self.buffer.halves()[: self.count])

    def select(self, letters: Buffer, good: bytes) -> Nodes:
        """The nodes whose letters, given for one after the other, are ``good``: 1 and not 0."""
        out, table = Buffer(4 * self.count), ctypes.create_string_buffer(good, len(good))
        given = (self.buffer.address, letters.address, self.count)
        count = graph_kernel().chosen(*given, ctypes.addressof(table), out.address)
        return Nodes(out, count)


class GraphQuery:
    """A graph, an automaton's reading of it, and the fairness of its executions.

    ``letters``: 16 bits for each state; ``justice_bits``: 64 bits for each state, the justice
    conditions that hold there; ``full``: all bits that a fair component has to have.
    """

    def __init__(
        self,
        graph: Graph,
        product: Product = TRIVIAL,
        letters: Buffer | None = None,
        justice_bits: Buffer | None = None,
        full: int = 0,
    ) -> None:
        self.graph, self.product, self.justice_bits, self.full = graph, product, justice_bits, full
        self.size = graph.states * product.copies
        if self.size >= NONE:
            raise MemoryError("the product has more than 2^32 nodes")
        self.code = graph_kernel()
        self._record = (ctypes.c_uint64 * QueryField.WORDS)()
        self.task = ctypes.addressof(self._record)
        self._kept: list[object] = []
        self.letters = letters or Buffer(2 * graph.states)
        self._graph()
        self._product()
        self.member = self._array(QueryField.MEMBER, self.size)
        self.index = self._array(QueryField.INDEX, 4 * self.size)
        self._constraints()
        self._searches = self._spreads = False

    # -- the record -----------------------------------------------------------------------------

    def get(self, which: QueryField) -> int:
        return int(self._record[which])

    def put(self, which: QueryField, value: int) -> None:
        self._record[which] = value

    def _array(self, which: QueryField, size: int) -> Buffer:
        buffer = Buffer(size)
        self._kept.append(buffer)
        self.put(which, buffer.address)
        return buffer

    def _pass_values(self, which: QueryField, values: array[int]) -> None:
        self._kept.append(values)
        self.put(which, values.buffer_info()[0])

    def _graph(self) -> None:
        graph = self.graph
        self.put(QueryField.STATES, graph.states)
        self.put(QueryField.START, graph.start.address)
        self.put(QueryField.TARGETS, graph.targets.address)
        self.put(QueryField.LABELS, graph.labels.address)
        self.put(QueryField.REQUIRED_BITS, self.full)
        self.put(
            QueryField.STATE_BITS, self.justice_bits.address if self.justice_bits is not None else 0
        )

    def _product(self) -> None:
        product = self.product
        self.put(QueryField.COPIES, product.copies)
        self.put(QueryField.ALPHABET, product.alphabet)
        self.put(QueryField.LETTERS, self.letters.address)
        self._pass_values(QueryField.WAYS, product.ways)
        self._pass_values(QueryField.NEXT, product.following)
        self._pass_values(QueryField.COPY_BITS, product.accepting)
        self._pass_values(QueryField.STAYS, array("B", product.stays))

    def _constraints(self) -> None:
        kinds = self.graph.kinds
        self._pass_values(QueryField.KINDS, array("B", kinds))
        for which in (QueryField.TAKEN, QueryField.COUNTED, QueryField.COUNT, QueryField.TOUCHED):
            self._array(which, 4 * len(kinds))
        self._array(QueryField.LAST, 8 * len(kinds))
        self.wanted = self._array(QueryField.WANTED, len(kinds))

    # -- fair components ------------------------------------------------------------------------

    def fair(self, roots: Nodes | None = None) -> int:
        """The number of fair components among ``roots`` (all nodes marked as candidates).

        Their nodes are marked afterwards.
        """
        if not self._searches:
            self._searches = True
            for which in (
                QueryField.STACK,
                QueryField.FRAME_NODE,
                QueryField.FRAME_LOW,
                QueryField.FRAME_WAY,
                QueryField.LEFT,
            ):
                self._array(which, 4 * self.size)
            self._array(QueryField.FRAME_EDGE, 8 * self.size)
        self.put(QueryField.FAIR, 0)
        code = self.code.components[self.product is not TRIVIAL]
        code(self.task, roots.buffer.address if roots else 0, roots.count if roots else self.size)
        while count := self.get(QueryField.LEFT_COUNT):
            again = Buffer(4 * count)
            ctypes.memmove(again.address, self.get(QueryField.LEFT), 4 * count)
            code(self.task, again.address, count)
        return self.get(QueryField.FAIR)

    def forget(self) -> None:
        """Unmarks all candidates and all fair nodes."""
        ctypes.memset(self.member.address, 0, self.size)

    def every(self) -> None:
        """Marks all nodes that denote states as candidates."""
        for copy in range(self.product.copies):
            for begin, end in self.graph.stretches:
                at = self.member.address + copy * self.graph.states + begin
                ctypes.memset(at, Member.CANDIDATE, end - begin)

    def fair_nodes(self, begin: int, end: int) -> Iterator[int]:
        """The fair nodes from ``begin`` up to, not including, ``end``, ascending."""
        mark = bytes([Member.FAIR])
        while (begin := self.member.find(mark, begin, end)) >= 0:
            yield begin
            begin += 1

    # -- breadth first --------------------------------------------------------------------------

    def begin_spreading(self, inside: int) -> None:
        """Empties the queue; ``inside``: the component to stay in, or 0."""
        if not self._spreads:
            self._spreads = True
            self._queue = self._array(QueryField.QUEUE, 4 * self.size)
            self._seen = self._array(QueryField.SEEN, 4 * self.size)
            self._out = self._array(QueryField.OUT, 4 * self.size)
        self.put(QueryField.SPREADING, self.get(QueryField.SPREADING) + 1)
        self.put(QueryField.INSIDE, inside)
        self.put(QueryField.QUEUED, 0)

    def push(self, node: int) -> None:
        """Makes ``node`` the first of the queue."""
        self._queue.halves()[0] = node
        self._seen.halves()[node] = self.get(QueryField.SPREADING)
        self.put(QueryField.QUEUED, 1)

    def is_reached(self, node: int) -> bool:
        """Whether ``node`` has been in the queue since it was emptied."""
        return bool(self._seen.halves()[node] == self.get(QueryField.SPREADING))

    def seed(self, begin: int, end: int) -> None:
        """Makes these states the start of executions."""
        self.code.seed(self.task, begin, end)

    def spread(self, begin: int) -> int:
        """One step from the queue's nodes from ``begin`` on; returns where the new nodes start."""
        end = self.get(QueryField.QUEUED)
        self.code.spread(self.task, begin, end)
        return end

    def queue(self) -> memoryview:
        """The nodes in the queue."""
        return self._queue.halves()[: self.get(QueryField.QUEUED)]

    def position(self, node: int) -> int:
        """Where in the queue a node is."""
        mark, at = node.to_bytes(4, sys.byteorder), -1
        while True:
            at = self._queue.find(mark, at + 1, 4 * self.get(QueryField.QUEUED))
            if at % 4 == 0:
                return at // 4

    def reported_nodes(self, count: int) -> list[int]:
        """The nodes that native code reported."""
        return list(self._out.halves()[:count])

    # -- single nodes ---------------------------------------------------------------------------

    def split(self, node: int) -> tuple[int, int]:
        """Copy and state of a node."""
        return divmod(node, self.graph.states)

    def edges(self, node: int) -> Iterator[tuple[int, int]]:
        """Target (or NONE) and constraint of each edge of the state of a node."""
        state = node % self.graph.states
        begin, end = self.graph.start.words()[state : state + 2]
        targets, labels = self.graph.targets.halves(), self.graph.labels.halves()
        return zip(targets[begin:end], labels[begin:end], strict=True)

    def copies_after(self, copy: int, state: int) -> list[int]:
        """The automaton states after ``copy`` reads ``state``."""
        product = self.product
        letter = ctypes.c_uint16.from_address(self.letters.address + 2 * state).value
        row = copy * product.alphabet + letter
        return list(product.following[product.ways[row] : product.ways[row + 1]])

    def steps(self, node: int) -> Iterator[tuple[int, int]]:
        """Each node that an edge leads to, with the constraint."""
        copy, _ = self.split(node)
        for target, label in self.edges(node):
            if target != NONE:
                for after in self.copies_after(copy, target):
                    yield after * self.graph.states + target, label

    def bits_at(self, node: int) -> int:
        """The justice conditions and accepting sets of a node."""
        copy, state = self.split(node)
        held = self.justice_bits.words()[state] if self.justice_bits is not None else 0
        return int(held) | self.product.accepting[copy]

    def component(self, node: int) -> int:
        """The component of a fair node."""
        return int(self.index.halves()[node])

    def is_fair(self, node: int) -> bool:
        """Whether a node is in some fair component."""
        return bool(self.member.bytes()[node] == Member.FAIR)

    def is_inside(self, node: int, component: int) -> bool:
        """Whether a node is one of a fair component."""
        return self.is_fair(node) and self.component(node) == component
