"""The valence of all states of a native search.

The graph of steps is that of liveness, of an attributed system: a label says whose step an edge is.
Words are drawn backwards, level by level from the last one, until nothing changes; a graph whose
steps all lead to later levels needs one round, and one more that changes nothing.
"""

from __future__ import annotations

import ctypes
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from checker.engines import budgets
from checker.engines.attribution import Attributed, attributed
from checker.engines.native.codegen.fair_components import STRONG, WEAK
from checker.engines.native.codegen.graph_fields import QueryField
from checker.engines.native.codegen.jit import graph_kernel
from checker.engines.native.liveness.graph import Graph, Numbers, build_graph
from checker.engines.native.liveness.graph_query import GraphQuery, Nodes
from checker.engines.native.liveness.lasso import shortest
from checker.engines.native.search.explored import Explored, Undecided
from checker.engines.native.search.memory import Buffer, MemoryBudget
from checker.engines.native.search.states import States, Unevaluable
from checker.engines.valence import WIDEST, ValenceGraph, ValenceProblem
from checker.model import interpreter
from checker.model.interpreter import Constraint
from checker.model.ir import (
    FALSE,
    TRUE,
    FairnessKind,
    Property,
    PropertyKind,
    TransitionSystem,
)
from checker.results.answer import Answer, Path, State, Unsupported, stop_reason

DECIDED = "@decided"
KINDS = {FairnessKind.WEAK: WEAK, FairnessKind.STRONG: STRONG}


def searched_system(problem: ValenceProblem) -> Attributed:
    """The attributed system, with a property whose propositions are what is decided.

    Raises ``Unsupported`` where a word has no room.
    """
    layout = problem.layout
    if layout.bits > WIDEST:
        raise Unsupported(
            f"{layout.values} values and {layout.processes} processes are {layout.bits} bits for"
            f" each state, and {WIDEST} are the most"
        )
    letters = Property(
        DECIDED, PropertyKind.LIVENESS, FALSE, TRUE, "", propositions=problem.decided
    )
    return attributed(replace(problem.system, properties=(letters,)))


class NativeValence(ValenceGraph):
    """The words of the states of a search that is over."""

    def __init__(
        self, problem: ValenceProblem, by: Attributed, search: Explored, answer: Answer
    ) -> None:
        self.layout, self.answer = problem.layout, answer
        self._system: TransitionSystem = problem.system
        self._by, self._search = by, search
        self._fair: tuple[States, GraphQuery] | None = None
        self._budget = MemoryBudget(search.limits.memory, lambda: search.load().used_bytes)
        if not answer.exhaustive or answer.fault is not None:
            return
        try:
            with budgets.raising_when_exhausted(), self._budget.enforced():
                self._build()
        except (Undecided, MemoryError) as error:
            self.missing = str(error) or "there is no memory left"
        except KeyboardInterrupt as error:
            self.missing = stop_reason(error)

    # -- words ----------------------------------------------------------------------------------

    def _build(self) -> None:
        search, started = self._search, time.monotonic()
        search.tell("valence: the graph of steps")
        self._numbers = Numbers(search.whole())
        self._states = States(search, self._numbers, build_graph(search, self._numbers))
        built = time.monotonic()
        search.tell("valence: backwards from decisions")
        self._draw(self._states.graph)
        count = self._numbers.count
        self.edges, self.bytes_per_state = self._states.graph.edges, self._bits // 8
        words = self._words.bytes().cast("H" if self._bits == 16 else "Q")[:count]
        self._seen = words
        self.levels = tuple(
            sum((Counter(words[begin:end]) for begin, end in self._numbers.level(depth)), Counter())
            for depth in range(search.depth + 1)
        )
        self.seconds = built - started, time.monotonic() - built

    def _draw(self, graph: Graph) -> None:
        search, layout, code = self._search, self.layout, graph_kernel()
        self._bits = 16 if layout.bits <= 16 else 64
        self._words = Buffer(self._bits // 8 * self._numbers.count)
        self._plant()
        kept = array("H" if self._bits == 16 else "Q", [0])
        kept.extend(layout.kept(self._by.actor(label)) for label in self._labels(graph))
        arrays = (graph.start, graph.targets, graph.labels)
        given = [*(each.address for each in arrays), kept.buffer_info()[0], self._words.address]
        changed = 1
        while changed:
            changed = 0
            for depth in reversed(range(search.depth + 1)):
                for begin, end in reversed(self._numbers.level(depth)):
                    search.check_time()
                    changed += code.draw[self._bits](*given, begin, end)

    def _plant(self) -> None:
        """Writes what is decided in each state into all planes of its word."""
        prop = self._by.system.properties[0]
        try:
            letters = self._states.letters(0, None, prop, ())
        except Unevaluable as lost:
            state = self._search.kernel.image.layout.unpack(lost.words)
            for condition in prop.propositions:
                interpreter.holds(self._system, condition, state)
            raise AssertionError("a condition has a run-time error in native code only") from lost
        given = (
            letters.buffer.address,
            self._numbers.count,
            self.layout.begin(1),
            self._words.address,
        )
        graph_kernel().plant[self._bits](*given)

    def _labels(self, graph: Graph) -> Iterator[Constraint]:
        plan = self._search.kernel.image.plan
        assert plan is not None
        return (plan.decode(row) for row in graph.constraints)

    # -- queries --------------------------------------------------------------------------------

    def word(self, state: State) -> int | None:
        """Looks the state up."""
        kernel = self._search.kernel
        try:
            words = kernel.image.layout.pack(state)
        except ValueError:
            return None
        row, out = Buffer(8 * len(words)), Buffer(4)
        row.words()[: len(words)] = memoryview(array("Q", words))
        assert kernel.locate is not None
        kernel.locate(self._numbers.store.context_address, row.address, 1, out.address)
        number = int(out.halves()[0])
        return None if number >= self._numbers.count else int(self._seen[number])

    def nearest(self, wanted: Callable[[int], bool]) -> Path | None:
        """Looks at the first level that has such a state."""
        for depth, level in enumerate(self.levels):
            good = {word for word in level if wanted(word)}
            if good:
                return self._path(
                    number
                    for begin, end in self._numbers.level(depth)
                    for number in range(begin, end)
                    if self._seen[number] in good
                )
        return None

    def _path(self, numbers: Iterator[int]) -> Path:
        """A shortest execution to the state of the smallest words among those of one level."""
        return self._to(min(numbers, key=self._numbers.words))

    def _to(self, number: int) -> Path:
        words = self._numbers.words(number)
        return self._search.path_to(self._numbers.depth(number), (0, words))

    def critical(self, most: int) -> tuple[int, tuple[Path, ...]]:
        """Looks at all edges."""
        graph, layout = self._states.graph, self.layout
        code = graph_kernel().critical[self._bits]
        given = graph.start.address, graph.targets.address, self._words.address
        bits = layout.whole, layout.whole << layout.decided_at
        total, found = 0, list[int]()
        for depth in range(len(self.levels)):
            here = list[int]()
            for begin, end in self._numbers.level(depth):
                out = Buffer(4 * (end - begin)) if len(found) < most else None
                count = code(*given, begin, end, *bits, out.address if out else 0)
                total += count
                if out:
                    here.extend(out.halves()[:count])
            found += sorted(here, key=self._numbers.words)[: most - len(found)]
        return total, tuple(self._to(number) for number in found)

    # -- executions that never decide -------------------------------------------------------------

    def undecided_run(self, *, bivalent: bool) -> Path | None:
        """Looks for an end, then for a fair cycle."""
        self._search.tell("valence: executions that never decide")
        with self._budget.enforced():
            return self._undecided_run(bivalent)

    def _undecided_run(self, bivalent: bool) -> Path | None:
        states, question = self._fairness()
        chosen = self._waiting(bivalent)
        ends = question.get(QueryField.ENDS)
        end = self._nearest_end(chosen, ends)
        if end is not None:
            path = self._to(end)
            return replace(path, loop=len(path.states) - 1)
        question.forget()
        if not question.fair(Nodes.of(chosen)):
            return None
        fair = list(question.fair_nodes(0, question.size))
        depth = min(map(self._numbers.depth, fair))
        nearest = [node for node in fair if self._numbers.depth(node) == depth]
        loop = shortest(question, nearest, states.key(range(self._numbers.count)))
        stem = self._to(loop[0])
        more = tuple(states.state(node) for node in loop[1:])
        return Path((*stem.states, *more), loop=len(stem.states) - 1)

    def _waiting(self, bivalent: bool) -> array[int]:
        """The states in which nothing is decided."""
        layout, chosen = self.layout, array("I")
        low, decided = layout.whole if bivalent else 0, layout.whole << layout.decided_at
        for begin, end in self._states.graph.stretches:
            out = Buffer(4 * (end - begin))
            given = self._words.address, begin, end, low, decided, out.address
            count = graph_kernel().waiting[self._bits](*given)
            chosen.frombytes(out.bytes()[: 4 * count])
        return chosen

    def _nearest_end(self, chosen: array[int], ends: int) -> int | None:
        stays = (ctypes.c_ubyte * self._numbers.count).from_address(ends)
        found = [number for number in chosen if stays[number]]
        numbers = self._numbers
        return min(found, key=lambda n: (numbers.depth(n), numbers.words(n)), default=None)

    def _fairness(self) -> tuple[States, GraphQuery]:
        """The graph with the constraints of the original system, and which states may be ends.

        The labels of the attributed system are not needed any more by then: they are replaced.
        """
        if self._fair is not None:
            return self._fair
        graph, names, kinds = self._states.graph, array("I", [0]), bytearray(1)
        known: dict[Constraint, int] = {}
        for label in self._labels(graph):
            pair = self._by.original(label)
            if pair is None:
                names.append(0)
                continue
            if pair[0] not in known:
                known[pair[0]] = len(kinds)
                kinds.append(KINDS[pair[1].kind])
            names.append(known[pair[0]])
        for begin, end in graph.stretches:
            edges = graph.start.words()[begin], graph.start.words()[end]
            graph_kernel().relabel(graph.labels.address, *edges, names.buffer_info()[0])
        states = self._states
        states.graph = replace(graph, kinds=bytes(kinds), constraints=())
        question = GraphQuery(states.graph, justice_bits=states.justice_bits, full=states.full)
        self._stays = Buffer(self._numbers.count)
        question.put(QueryField.ENDS, self._stays.address)
        for begin, end in graph.stretches:
            question.code.quiet(question.task, begin, end)
        self._fair = states, question
        return self._fair
