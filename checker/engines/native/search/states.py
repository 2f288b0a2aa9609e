"""The states of a search as liveness checking uses them, and the core of their graph."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from checker.engines.native.codegen.letters import STOPPED, letter_words, pack_params
from checker.engines.native.liveness.automaton_tables import MOST_LETTERS, Letters
from checker.engines.native.liveness.graph import Graph, Numbers
from checker.engines.native.liveness.graph_query import GraphQuery, Nodes
from checker.engines.native.liveness.lasso import Key
from checker.engines.native.search.explored import Explored, Undecided
from checker.engines.native.search.memory import Buffer
from checker.model.ir import Property
from checker.model.types import Value
from checker.results.answer import State

BLOCK = 1 << 16
"""The number of states between two checks of the time limit."""


def _together(words: tuple[int, ...]) -> int:
    return sum(word << 64 * i for i, word in enumerate(words))


class Unevaluable(Exception):
    """A property can't be evaluated in the state with these words."""

    def __init__(self, words: tuple[int, ...]) -> None:
        super().__init__()
        self.words = words


class Propositions:
    """The propositions and justice conditions that hold in the states of ``search``."""

    def __init__(self, search: Explored, numbers: Numbers) -> None:
        self.search, self.numbers = search, numbers

    def justice(self, states: array[int] | None) -> Buffer | None:
        """64 bits for each of ``states`` (``None``: all): the justice conditions that hold."""
        code = self.search.kernel.justice_bits
        return None if code is None else self._ask(code, 8, states)

    def letters(
        self, number: int, states: array[int] | None, prop: Property, values: tuple[Value, ...]
    ) -> Letters:
        """The letters of ``states`` (``None``: all): which propositions hold.

        Raises :class:`Undecided` where there are too many.
        """
        params = array("Q", [*pack_params(prop, values), 0])
        code, words = self.search.kernel.letters[number], letter_words(len(prop.propositions))
        count = self.numbers.count if states is None else len(states)
        out = self._ask(code, 8 * words or 2, states, params.buffer_info()[0])
        if not words:
            return Letters(out, count, range(1 << len(prop.propositions)))
        return self._number_letters(out, count, words)

    def _number_letters(self, found: Buffer, count: int, words: int) -> Letters:
        """Numbers the combinations of propositions that occur; ``found`` has so many words for
        each of ``count`` states.
        """
        known: dict[int, int] = {}
        numbers = Buffer(2 * count)
        out, source = numbers.bytes().cast("H"), found.words()
        for begin in range(0, count, BLOCK):
            self.search.check_time()
            end = min(count, begin + BLOCK)
            columns = [source[begin * words + i : end * words : words] for i in range(words)]
            combinations = (_together(each) for each in zip(*columns, strict=True))
            block = [known.setdefault(each, len(known)) for each in combinations]
            if len(known) > MOST_LETTERS:
                raise Undecided(
                    f"more than {MOST_LETTERS:,} combinations of its propositions occur"
                )
            out[begin:end] = memoryview(array("H", block))
        return Letters(numbers, count, list(known))

    def some(self, number: int, states: array[int] | None) -> Buffer:
        """16 bits for each of ``states`` (``None``: all): 1 where a persistence property's
        condition holds for some assignment.
        """
        return self._ask(self.search.kernel.some[number], 2, states)

    def _ask(
        self, code: Callable[..., int], size: int, states: array[int] | None, *more: int
    ) -> Buffer:
        count = self.numbers.count if states is None else len(states)
        out, at = Buffer(size * count), 0
        for rows, begin, end, first in self._rows(states):
            if states is None:
                chosen, at, stop = 0, begin, end
                rows += (begin - first) * self.numbers.store.width
            else:
                chosen = states.buffer_info()[0] + 4 * at
                stop = bisect_left(states, end, at)
            given = (rows, chosen, stop - at, first, out.address + size * at, *more)
            while (lost := code(*given)) == STOPPED:
                self.search.check_time()
                self.search.kernel.stop.clear()
            if lost:
                where = at + lost - 1
                raise Unevaluable(self.numbers.words(where if states is None else states[where]))
            at = stop
        return out

    def _rows(self, states: array[int] | None) -> Iterator[tuple[int, int, int, int]]:
        """Whole rows of all states that are asked for: the address of that with the number
        ``first`` if it were there, the numbers from which and up to which they are there, and
        ``first``."""
        store = self.numbers.store
        for (first, last), crew in zip(self.numbers.stretches, store.workers, strict=True):
            begin = first
            while begin < last:
                if states is not None and store.nodes is not None:
                    following = bisect_left(states, begin)
                    begin = last if following == len(states) else min(last, states[following])
                end = min(last, begin + store.together(last - first))
                rows = store.expandable(crew, crew, begin - first, end - first)
                yield rows, begin, end, first
                begin = end

    def state(self, number: int) -> State:
        """The values of a state."""
        return self.search.kernel.image.layout.unpack(self.numbers.words(number))

    def key(self, states: Sequence[int]) -> Key:
        """The key of the nodes of a product over ``states``, which does not depend on their
        numbers.
        """
        count, words = len(states), self.numbers.words

        def key(node: int) -> tuple[tuple[int, ...], int]:
            return words(states[node % count]), node // count

        return key


class States(Propositions):
    """The states of ``search``, their graph, and the propositions that hold in them.

    ``justice_bits``: 64 bits for each, the justice conditions that hold there (``None`` where there
    is none); ``full``: a word with all of these bits set.
    """

    def __init__(self, search: Explored, numbers: Numbers, graph: Graph) -> None:
        super().__init__(search, numbers)
        self.graph = graph
        self.full = (1 << len(search.system.justice)) - 1
        self.justice_bits = self.justice(None)


class Core(Struct, frozen=True):
    """The graph of the states of fair components; ``states``: their numbers in the whole one."""

    graph: Graph
    states: array[int]
    justice_bits: Buffer | None

    def nodes(self) -> Nodes:
        """All of them."""
        return Nodes.of(range(len(self.states)))

    def numbers_of(self, nodes: Nodes) -> array[int]:
        """The numbers in the whole graph."""
        return array("I", (self.states[node] for node in nodes))

    def nearest(self, question: GraphQuery, numbers: Numbers) -> list[int]:
        """The fair nodes, of a query without an automaton, of the smallest depth."""
        best, found = -1, list[int]()
        for first, crew in zip(numbers.firsts, numbers.store.workers, strict=True):
            begin = bisect_left(self.states, first)
            end = bisect_left(self.states, first + crew.count)
            for node in question.fair_nodes(begin, end):
                depth = numbers.depth(self.states[node])
                if best < 0 or depth < best:
                    best, found = depth, []
                if depth > best:
                    break
                found.append(node)
        return found


def core_of(states: States) -> Core | None:
    """The core of the graph; ``None`` where there is no fair component."""
    whole = states.graph
    question = GraphQuery(whole, justice_bits=states.justice_bits, full=states.full)
    question.every()
    if not question.fair():
        return None
    states.search.check_time()
    code, chosen = question.code, array("I")
    local, core = Buffer(4 * whole.states), Buffer(4 * whole.states)
    count = code.select(question.task, local.address, core.address)
    chosen.frombytes(core.bytes()[: 4 * count])
    start = Buffer(8 * (count + 1))
    edges = code.compress(question.task, local.address, start.address, 0, 0)
    targets, labels = Buffer(4 * edges), Buffer(4 * edges)
    given = (local.address, start.address, targets.address, labels.address)
    code.compress(question.task, *given)
    graph = Graph(count, start, targets, labels, edges, whole.kinds, [(0, count)])
    return Core(graph, chosen, states.justice(chosen))
