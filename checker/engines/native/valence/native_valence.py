"""The valence of all states of a native search.

The graph of steps is that of liveness, of an attributed system: a label says whose step an edge is.
Words are drawn backwards, level by level from the last one, until nothing changes; a graph whose
steps all lead to later levels needs one round, and one more that changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from checker.engines import budgets
from checker.engines.attribution import Attributed, attributed
from checker.engines.native.codegen.valence_words import NUMBERED, WHOLE
from checker.engines.native.liveness.graph import Graph, Numbers, build_graph
from checker.engines.native.search.explored import Explored, Undecided
from checker.engines.native.search.memory import Buffer, MemoryBudget
from checker.engines.native.search.states import States, Unevaluable
from checker.engines.native.valence.state_words import StateWords, TooManyWords
from checker.engines.native.valence.undecided_runs import UndecidedRuns, levels_of
from checker.engines.valence import WIDEST, ValenceGraph, ValenceProblem, ValenceUnknown
from checker.model import interpreter
from checker.model.interpreter import Constraint
from checker.model.ir import (
    FALSE,
    TRUE,
    Property,
    PropertyKind,
    TransitionSystem,
)
from checker.records import replace
from checker.results.answer import Answer, Path, State, Unsupported, stop_reason

DECIDED = "@decided"


def searched_system(problem: ValenceProblem) -> Attributed:
    """The attributed system, with a property whose propositions are what is decided.

    Raises ``Unsupported`` where a word has no room.
    """
    layout = problem.layout
    if layout.bits > WIDEST:
        raise Unsupported(
            f"{layout.values} values and {layout.processes} processes need {layout.bits} bits for"
            f" each state, and the limit is {WIDEST}"
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
        self._runs: UndecidedRuns | None = None
        self._budget = MemoryBudget(search.limits.memory, lambda: search.load().used_bytes)
        if not answer.exhaustive or answer.fault is not None:
            return
        try:
            with self._budget.enforced():
                error = budgets.ended(self._build)
            self.missing = "" if error is None else stop_reason(error)
        except (Undecided, MemoryError) as problem:
            self.missing = str(problem) or "out of memory"

    # -- words ----------------------------------------------------------------------------------

    def _build(self) -> None:
        search, started = self._search, time.monotonic()
        search.tell("valence: state graph")
        self._numbers = Numbers(search.whole())
        self._states = States(search, self._numbers, build_graph(search, self._numbers))
        self._levels = levels_of(self._numbers, search.depth)
        built = time.monotonic()
        search.tell("valence: backwards from decisions")
        try:
            self._words = self._drawn(NUMBERED)
        except TooManyWords:
            self._words = self._drawn(WHOLE)
        self.edges, self.bytes_per_state = self._states.graph.edges, self._words.bytes
        self.levels = tuple(map(self._words.tally, self._levels))
        self.seconds = built - started, time.monotonic() - built

    def _drawn(self, bits: int) -> StateWords:
        """The words of all states, each kept in so many bits; raises :class:`TooManyWords`."""
        graph, layout = self._states.graph, self.layout
        words = StateWords(layout, self._numbers.count, bits)
        words.plant(self._letters())
        kept = (layout.kept(self._by.actor(label)) for label in self._labels(graph))
        words.draw(graph, kept, reversed(self._levels), self._search.check_time)
        return words

    def _letters(self) -> Buffer:
        """Returns 16 bits for each state: which values are decided there.  Raises ``RunFault`` if a
        condition has a run-time error in one."""
        prop = self._by.system.properties[0]
        try:
            return self._states.letters(0, None, prop, ()).buffer
        except Unevaluable as lost:
            state = self._search.kernel.image.layout.unpack(lost.words)
            for condition in prop.propositions:
                interpreter.holds(self._system, condition, state)
            raise AssertionError("a condition has a run-time error in native code only") from lost

    def _labels(self, graph: Graph) -> Iterator[Constraint]:
        plan = self._search.kernel.image.plan
        assert plan is not None
        return (plan.decode(row) for row in graph.constraints)

    # -- queries --------------------------------------------------------------------------------

    def word(self, state: State) -> int | None:
        """Looks the state up."""
        try:
            number = self._numbers.find(self._search.kernel.image.layout.pack(state))
        except ValueError:
            return None
        return None if number >= self._numbers.count else self._words[number]

    def nearest(self, wanted: Callable[[int], bool]) -> Path | None:
        """Looks at the first level that has such a state."""
        for depth, level in enumerate(self.levels):
            good = {word for word in level if wanted(word)}
            if good:
                found = self._words.with_words(self._levels[depth], good)
                return self._to(min(found, key=self._numbers.words))
        return None

    def _to(self, number: int) -> Path:
        """A shortest execution to a state, found backwards: by the smallest words."""
        states, graph = [number], self._states.graph
        for level in reversed(self._levels[: self._numbers.depth(number)]):
            states.append(min(graph.leading_to(states[-1], level), key=self._numbers.words))
        return Path(tuple(map(self._states.state, reversed(states))))

    def critical(self, most: int) -> tuple[int, tuple[Path, ...]]:
        """Looks at all edges."""
        total, found = 0, list[int]()
        for level in self._levels:
            left = most - len(found)
            count, here = self._words.critical(self._states.graph, level, listed=left > 0)
            total += count
            found += sorted(here, key=self._numbers.words)[:left]
        return total, tuple(self._to(number) for number in found)

    # -- executions that never decide -------------------------------------------------------------

    def undecided_run(self, *, bivalent: bool) -> Path | None:
        """Looks for an end, then for a fair cycle."""
        self._search.tell("valence: runs that never decide")
        try:
            with self._budget.enforced():
                return self._undecided_run(bivalent)
        except (Undecided, MemoryError) as error:
            raise ValenceUnknown(str(error) or "out of memory") from error

    def _undecided_run(self, bivalent: bool) -> Path | None:
        if self._runs is None:
            self._runs = UndecidedRuns(self._states, self._by, self._levels, self._to)
        return self._runs.first(
            lambda states, among: self._words.waiting(states, bivalent=bivalent, among=among)
        )
