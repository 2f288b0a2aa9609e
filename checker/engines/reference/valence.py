"""Valence explicitly: the whole graph in memory, and sets of bits until nothing changes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable

from checker.engines import budgets
from checker.engines.attribution import Attributed, attributed
from checker.engines.reference.engine import explored
from checker.engines.reference.liveness import Graph, fair_lasso, graph_of
from checker.engines.valence import ValenceGraph, ValenceProblem
from checker.graphs import route
from checker.model import interpreter
from checker.model.interpreter import Constraint, State
from checker.model.ir import FairnessKind
from checker.records import replace
from checker.results.answer import Listener, Path, stop_reason


class ReferenceValence(ValenceGraph):
    """The graph as dictionaries."""

    def __init__(self, problem: ValenceProblem, listener: Listener | None) -> None:
        self.layout = problem.layout
        self._system = problem.system
        limits = problem.options.limits
        with budgets.within(limits.timeout, limits.memory):
            self.answer, depths = explored(replace(problem.system, properties=()), limits, listener)
            if self.answer.fault is not None or not self.answer.exhaustive:
                return
            error = budgets.ended(lambda: self._build(problem, depths))
            if error is not None:
                self.missing = stop_reason(error)

    def _build(self, problem: ValenceProblem, depths: dict[State, int]) -> None:
        started = time.monotonic()
        by = attributed(replace(problem.system, properties=()))
        graph = graph_of(by.system, depths, lambda: None)
        built = time.monotonic()
        self._depths = depths
        self._successors = {s: [t for t in steps if t != s] for s, steps in graph.steps.items()}
        self._words = self._fixpoint(problem, by, graph)
        self.edges, self.bytes_per_state = graph.edges, 0
        levels = [Counter[int]() for _ in range(self.answer.depth + 1)]
        for state, depth in depths.items():
            levels[depth][self._words[state]] += 1
        self.levels = tuple(levels)
        self._graph = _original(problem, by, graph)
        self.seconds = built - started, time.monotonic() - built

    def _fixpoint(self, problem: ValenceProblem, by: Attributed, graph: Graph) -> dict[State, int]:
        """Returns the word of each state."""
        system, layout = problem.system, problem.layout
        words, before = dict[State, int](), dict[State, list[tuple[State, int]]]()
        for state, steps in graph.steps.items():
            held = (interpreter.holds(system, condition, state) for condition in problem.decided)
            words[state] = layout.begin(sum(yes << i for i, yes in enumerate(held)))
            for successor, labels in steps.items():
                kept = 0
                for label in labels:
                    kept |= layout.kept(by.actor(label))
                before.setdefault(successor, []).append((state, kept))
        todo = list(words)
        while todo:
            changed = todo.pop()
            for state, kept in before.get(changed, ()):
                new = words[state] | words[changed] & kept
                if new != words[state]:
                    words[state] = new
                    todo.append(state)
        return words

    # -- queries --------------------------------------------------------------------------------

    def word(self, state: State) -> int | None:
        """Looks the state up."""
        return self._words.get(state)

    def nearest(self, wanted: Callable[[int], bool]) -> Path | None:
        """Searches breadth first."""
        return self._route(lambda state: wanted(self._words[state]))

    def _route(self, goal: Callable[[State], bool]) -> Path | None:
        starts = interpreter.initial_states(self._system)
        found = route(starts, lambda state: self._successors[state], goal)
        return None if found is None else Path(tuple(found))

    def critical(self, most: int) -> tuple[int, tuple[Path, ...]]:
        """Looks at every state."""
        found = [state for state in self._depths if self._is_critical(state)]
        found.sort(key=lambda state: self._depths[state])
        paths = (self._route(goal.__eq__) for goal in found[:most])
        return len(found), tuple(path for path in paths if path is not None)

    def _is_critical(self, state: State) -> bool:
        word, layout = self._words[state], self.layout
        if layout.decided(word) or not layout.is_bivalent(word):
            return False
        return not any(layout.is_bivalent(self._words[t]) for t in self._successors[state])

    def undecided_run(self, *, bivalent: bool) -> Path | None:
        """Looks for an end, then for a fair cycle."""
        layout = self.layout

        def good(state: State) -> bool:
            word = self._words[state]
            return not layout.decided(word) and (layout.is_bivalent(word) or not bivalent)

        end = self._route(lambda state: good(state) and self._graph.is_end(state))
        if end is not None:
            return replace(end, loop=len(end.states) - 1)
        return fair_lasso(self._graph, {state for state in self._depths if good(state)})


def _original(problem: ValenceProblem, by: Attributed, graph: Graph) -> Graph:
    """Returns the graph with the constraints of the original system."""

    def labels(all_of: Iterable[Constraint]) -> frozenset[Constraint]:
        found = (by.original(label) for label in all_of)
        return frozenset(pair[0] for pair in found if pair is not None)

    made = Graph(problem.system, graph.initial, edges=graph.edges, just=graph.just)
    for state, steps in graph.steps.items():
        made.steps[state] = {t: labels(taken) for t, taken in steps.items()}
        made.enabled[state] = labels(graph.enabled[state])
        for label in graph.enabled[state]:
            pair = by.original(label)
            if pair is not None and pair[1].kind is FairnessKind.STRONG:
                made.strong.add(pair[0])
    return made
