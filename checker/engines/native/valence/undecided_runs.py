"""Admissible executions that never decide: fair ends and cycles where nothing is decided."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from checker.engines.attribution import Attributed
from checker.engines.native.codegen.constraint_layout import ConstraintLayout
from checker.engines.native.codegen.graph_fields import STRONG, WEAK, QueryField
from checker.engines.native.codegen.jit import graph_kernel
from checker.engines.native.liveness.graph import Graph, Numbers
from checker.engines.native.liveness.graph_query import GraphQuery, Nodes
from checker.engines.native.liveness.lasso import shortest
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.states import States
from checker.engines.native.valence.state_words import Ranges
from checker.model.interpreter import Constraint
from checker.model.ir import FairnessKind
from checker.records import replace
from checker.results.answer import Path

KINDS = {FairnessKind.WEAK: WEAK, FairnessKind.STRONG: STRONG}
Waiting = Callable[[Ranges, int], "array[int]"]
"""The states of some ranges in which the execution may stay forever undecided; the number is the
address of a byte for each state, 0 for those that are not meant, or 0 for all."""


class UndecidedRuns:
    """The graph of ``states`` with the constraints of the original system of ``by``, and which
    states may be ends.  ``path_to``: a shortest execution to a state.

    The labels of the attributed system are not needed any more by then: they are replaced.
    """

    def __init__(
        self,
        states: States,
        by: Attributed,
        levels: Sequence[Ranges],
        path_to: Callable[[int], Path],
    ) -> None:
        self._levels, self._path_to, self._numbers = levels, path_to, states.numbers
        plan = states.search.kernel.image.plan
        assert plan is not None
        states.graph = _original(states.graph, by, plan)
        self._states, graph = states, states.graph
        self._question = GraphQuery(graph, justice_bits=states.justice_bits, full=states.full)
        self._stays = Buffer(self._numbers.count)
        self._question.put(QueryField.ENDS, self._stays.address)
        for begin, end in graph.stretches:
            self._question.code.quiet(self._question.task, begin, end)

    def first(self, waiting: Waiting) -> Path | None:
        """The nearest execution that ends where it waits, or else a lasso."""
        states, question, words = self._states, self._question, self._numbers.words
        for level in self._levels:
            if staying := waiting(level, self._stays.address):
                path = self._path_to(min(staying, key=words))
                return replace(path, loop=len(path.states) - 1)
        question.forget()
        if not question.fair(Nodes.of(waiting(states.graph.stretches, 0))):
            return None
        fair = ([n for part in level for n in question.fair_nodes(*part)] for level in self._levels)
        nearest = next(filter(None, fair))
        loop = shortest(question, nearest, states.key(range(self._numbers.count)))
        stem = self._path_to(loop[0])
        more = tuple(states.state(node) for node in loop[1:])
        return Path((*stem.states, *more), loop=len(stem.states) - 1)


def _original(graph: Graph, by: Attributed, plan: ConstraintLayout) -> Graph:
    """Returns the graph with other labels."""
    names, kinds, known = array("I", [0]), bytearray(1), dict[Constraint, int]()
    for row in graph.constraints:
        pair = by.original(plan.decode(row))
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
    return replace(graph, kinds=bytes(kinds), constraints=())


def levels_of(numbers: Numbers, depth: int) -> list[list[tuple[int, int]]]:
    """The ranges of the numbers of each level."""
    return [numbers.level(level) for level in range(depth + 1)]
