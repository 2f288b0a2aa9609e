"""The product of the state graph with a Büchi automaton, from the initial states on.

Searches breadth first over pairs of a state and an automaton state.  Levels are kept, so that a
shortest execution to any pair can be rebuilt backwards.  An automaton with an initial wait of any
length is followed only from where it stops waiting.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable

from checker.engines.native.codegen.graph_fields import QueryField
from checker.engines.native.liveness.automaton_tables import AutomatonTable
from checker.engines.native.liveness.graph_query import GraphQuery, Nodes
from checker.engines.native.liveness.lasso import shortest
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.states import Core, States
from checker.model import interpreter
from checker.model.ir import Property
from checker.model.types import Value
from checker.reductions.symmetry.renaming import fixed
from checker.results.answer import Path, State

Assignment = tuple[Value, ...]


class PropertyAutomaton:
    """A property, number ``number``, and an automaton over its propositions, which ``reader``
    reads; ``core``: the core of the graph, where it has one.
    """

    def __init__(
        self, states: States, core: Core | None, number: int, prop: Property, reader: AutomatonTable
    ) -> None:
        self.states, self.core, self.number, self.prop = states, core, number, prop
        self.reader, self.numbers = reader, states.numbers
        self.key = states.key(range(self.numbers.count))
        self.ends: Buffer | None = None

    def violation(self) -> Path | None:
        """An execution that the automaton accepts: the shortest one to an end, or else a lasso.

        Under symmetry an assignment is left out if it is a renamed one.
        """
        best: Path | None = None
        symmetry = self.states.search.kernel.image.reductions.symmetry
        for values in fixed(symmetry, self.prop, interpreter.assignments(self.prop.params)):
            self.states.search.check_time()
            found = self._for(values, best)
            if found is not None:
                best = found
        return best

    def _for(self, values: Assignment, best: Path | None) -> Path | None:
        """An execution shorter than ``best``, for one assignment."""
        states, ended = self.states, best is not None and best.loop == len(best.states) - 1
        letters = states.letters(self.number, None, self.prop, values)
        product = self.reader.whole(letters)
        question = GraphQuery(
            states.graph, product, letters.buffer, states.justice_bits, states.full
        )
        self._mark_ends(question)
        run = _Run(states, question, self.reader)
        limit = len(best.states) - 1 if best is not None and ended else None
        end = run.to_end(limit)
        if end is not None:
            nodes = run.states_to(end)
            return Path(nodes, loop=len(nodes) - 1, values=values)
        if best is None and self.core is not None and self.reader.accepting:
            return self._lasso(self.core, run, values)
        return None

    def _mark_ends(self, question: GraphQuery) -> None:
        """Tells native code in which states an execution may stay."""
        if self.ends is None:
            self.ends = Buffer(self.numbers.count)
            question.put(QueryField.ENDS, self.ends.address)
            for begin, end in self.states.graph.stretches:
                question.code.quiet(question.task, begin, end)
        question.put(QueryField.ENDS, self.ends.address)

    def _lasso(self, core: Core, run: _Run, values: Assignment) -> Path | None:
        """A lasso through the pairs that ``run`` has reached."""
        states, count = self.states, len(core.states)
        letters = states.letters(self.number, core.states, self.prop, values)
        shift = len(states.search.system.justice)
        product = self.reader.cycles(letters, shift)
        sets = (1 << len(self.reader.automaton.accepting)) - 1
        full = states.full | sets << shift
        question = GraphQuery(core.graph, product, letters.buffer, core.justice_bits, full)
        if not question.fair(run.reached_nodes(core, self.reader.accepting)):
            return None
        nearest = run.nearest(lambda node: self._fair_node(core, question, node))
        loop = shortest(question, list(nearest), states.key(core.states))
        stem = run.states_to(nearest[loop[0]])
        more = tuple(states.state(core.states[node % count]) for node in loop[1:])
        return Path((*stem, *more), loop=len(stem) - 1, values=values)

    def _fair_node(self, core: Core, question: GraphQuery, node: int) -> int | None:
        """The fair node of the core's product that corresponds to a node of the whole product."""
        state, number = divmod(node, self.numbers.count)
        at = bisect_left(core.states, number)
        if state not in self.reader.accepting or core.states[at : at + 1] != array("I", [number]):
            return None
        found = self.reader.accepting.index(state) * len(core.states) + at
        return found if question.is_fair(found) else None


class _Run:
    """The reachable pairs, level by level; ``levels``: where each level starts in the queue."""

    def __init__(self, states: States, question: GraphQuery, reader: AutomatonTable) -> None:
        self.states, self.question, self.reader = states, question, reader
        self.numbers = states.numbers
        self.key = states.key(range(self.numbers.count))
        self.levels = [0]

    def to_end(self, limit: int | None) -> int | None:
        """The nearest pair where the execution may stay forever, and is accepted.

        Considers pairs fewer than ``limit`` steps away; reaches every pair where there is none.
        """
        question, levels = self.question, self.levels
        question.begin_spreading(0)
        deepest = self.states.search.depth if self.reader.waits else 0
        depth = 0
        while limit is None or depth < limit:
            if depth:
                levels.append(question.spread(levels[-1]))
            if depth <= deepest:
                for begin, end in self.numbers.level(depth):
                    question.seed(begin, end)
            elif question.get(QueryField.QUEUED) == levels[-1]:
                return None
            count = question.code.stays(question.task, levels[-1], question.get(QueryField.QUEUED))
            if count:
                return min(question.reported_nodes(count), key=self.key)
            depth += 1
        return None

    def reached_nodes(self, core: Core, accepting: list[int]) -> Nodes:
        """The reached nodes of the product of the core with these automaton states."""
        question, count = self.question, len(core.states)
        found = Buffer(4 * count * len(accepting))
        where, total = core.states.buffer_info()[0], 0
        for i, state in enumerate(accepting):
            first = state * self.numbers.count
            given = (question.task, first, where, count, i * count)
            total += question.code.reached(*given, found.address + 4 * total)
        return Nodes(found, total)

    def nearest(self, meant: Callable[[int], int | None]) -> dict[int, int]:
        """The nearest of the pairs that ``meant`` maps to something, keyed by that."""
        queue = self.question.queue()
        for begin, end in zip(self.levels, [*self.levels[1:], len(queue)], strict=True):
            found = {what: node for node in queue[begin:end] if (what := meant(node)) is not None}
            if found:
                return found
        raise AssertionError("a node that was reached is in the queue")

    def states_to(self, node: int) -> tuple[State, ...]:
        """The states of a shortest execution to a reached pair."""
        question, after = self.question, list[int]()
        depth = self._depth(node)
        while depth and not self._may_start_at(node, depth):
            begin, end = self.levels[depth - 1 : depth + 1]
            count = question.code.parents(question.task, begin, end, node)
            after.append(question.split(node)[1])
            node = min(question.reported_nodes(count), key=self.key)
            depth -= 1
        number = question.split(node)[1]
        stem = self.states.search.path_to(depth, (0, self.numbers.words(number)))
        return (*stem.states, *(self.states.state(n) for n in reversed(after)))

    def _depth(self, node: int) -> int:
        at = self.question.position(node)
        return next(d for d in reversed(range(len(self.levels))) if self.levels[d] <= at)

    def _may_start_at(self, node: int, depth: int) -> bool:
        """Whether the automaton may have waited until the state of ``node``."""
        copy, number = self.question.split(node)
        if not self.reader.waits or self.numbers.depth(number) != depth:
            return False
        return copy in self.question.copies_after(0, number)
