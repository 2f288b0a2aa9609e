"""The parts of a spec that no log covers: handlers, branches, crash points, faults and values of
variables; and runs of the check that would show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from checker.conform.covering_runs import Edge, StateGraph, explore, label_of, trace_of
from checker.conform.lines import passed_marks
from checker.conform.local_log import LocalLog
from checker.conform.local_windows import Window
from checker.conform.silent_faults import TWICE, Duplicates, name_of_fault, shown_by
from checker.conform.unknown import is_known
from checker.model import interpreter
from checker.model import types as t
from checker.model.interpreter import State, Transition
from checker.model.ir import TransitionSystem, VariableKind
from checker.records import replace
from checker.results.show_values import show
from checker.results.vacuity import covered
from checker.results.windows import Unseen
from checker.simulate.prepared_check import PreparedCheck
from checker.words.steps import headline

MOST_STATES = 5_000
"""The largest number of states that are searched for runs."""
MOST_VALUES = 8
"""The largest number of values of a variable whose values are covered."""


class Seen(Struct):
    """What windows have surely seen: ``marks`` that a step passed, and ``values`` of variables, by
    their number, after it; and the names of the ``faults`` of the run that explains the log."""

    marks: set[int] = field(default_factory=set)
    values: set[tuple[int, Any]] = field(default_factory=set)
    faults: set[str] = field(default_factory=set)

    def add(self, log: LocalLog, window: Window) -> None:
        """Adds what is common to all steps that explain a window."""
        if not window.steps:
            return
        self.marks |= passed_by_all(window)
        cells = [(n, cell.variable) for n, cell in enumerate(log.local.cells)]
        found = [
            {(v, each.locals[n]) for n, v in cells if is_known(each.locals[n])}
            for each in window.steps
        ]
        self.values |= set.intersection(*found)

    def add_run(self, system: TransitionSystem, steps: Iterable[tuple[State, Transition]]) -> None:
        """Adds the faults of a run: steps, each with the state before it."""
        duplicates = Duplicates(system)
        for before, step in steps:
            self.faults |= set(shown_by(system, duplicates, before, step))


def passed_by_all(window: Window) -> set[int]:
    """Returns the marks that all steps that explain a window pass."""
    marks = [{event.mark for event in each.step.events} for each in window.steps]
    return set.intersection(*marks) if marks else set()


class _Targets:
    """Everything of a system that can be covered, and what a step or a state covers."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.duplicates = Duplicates(system)
        self.places = covered(system, ())
        self._place_of: dict[int, int | None] = {}
        self.variables: dict[int, tuple[t.Value, ...]] = {}
        for number, variable in enumerate(system.variables):
            type_ = variable.type
            own = variable.kind is VariableKind.LOCAL and not variable.name.startswith("@")
            if own and isinstance(type_, t.MapT):
                if t.cardinality_up_to(type_.value, MOST_VALUES + 1) <= MOST_VALUES:
                    self.variables[number] = tuple(t.universe(type_.value))

    def all(self) -> dict[Any, Unseen]:
        """Returns everything that can be covered, by its key."""
        found: dict[Any, Unseen] = {}
        for number, each in enumerate(self.places):
            found["place", number] = Unseen(each.kind, each.text, each.file, each.line, each.column)
        names = (name_of_fault(self.system.marks[mark]) for mark in passed_marks(self.system))
        for name in (*names, TWICE if self.duplicates.possible else None):
            if name is not None:
                found["fault", name] = Unseen("fault", name)
        for number, values in self.variables.items():
            variable = self.system.variables[number]
            assert isinstance(variable.type, t.MapT)
            for value in values:
                text = f"{variable.title or variable.name} = {show(variable.type.value, value)}"
                found["state", number, value] = Unseen("state", text)
        return found

    def of_mark(self, mark: int) -> Iterator[Any]:
        """Yields what a step that passes ``mark`` covers."""
        if mark not in self._place_of:
            reached = (n for n, c in enumerate(covered(self.system, {mark})) if c.reached)
            self._place_of[mark] = next(reached, None)
        if (number := self._place_of[mark]) is not None:
            yield "place", number
        if (name := name_of_fault(self.system.marks[mark])) is not None:
            yield "fault", name

    def of_seen(self, seen: Seen) -> set[Any]:
        """Returns what windows have covered."""
        found = {key for mark in seen.marks for key in self.of_mark(mark)}
        found |= {("fault", name) for name in seen.faults}
        return found | {("state", number, value) for number, value in seen.values}

    def of_edge(self, graph: StateGraph, edge: Edge) -> set[Any]:
        """Returns what a step and the state after it cover."""
        marks = {event.mark for event in edge.transition.events}
        found = {key for mark in marks for key in self.of_mark(mark)}
        if self.duplicates.is_one(graph.states[edge.source], edge.transition):
            found.add(("fault", TWICE))
        return found | self.of_state(graph, edge.target)

    def of_state(self, graph: StateGraph, number: int) -> set[Any]:
        """Returns which values of variables a state has."""
        state = graph.states[number]
        return {("state", n, value) for n in self.variables for value in _values(state[n])}


def _values(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


_kept: list[tuple[TransitionSystem, StateGraph]] = []
"""The system of the previous log, and its states."""


def _graph(system: TransitionSystem) -> StateGraph:
    if not (_kept and _kept[0][0] is system):
        _kept[:] = [(system, explore(system, MOST_STATES))]
    return _kept[0][1]


def unseen(opened: PreparedCheck, seen: Seen) -> tuple[Unseen, ...]:
    """Returns what windows have not seen, each with a shortest run that shows it, or a longer one
    that shows others, too; in the order of the source.

    The first :data:`MOST_STATES` states are searched.  Where these are all, and none shows it, no
    run does.
    """
    system = opened.system
    targets, graph = _Targets(system), _graph(system)
    left = targets.all()
    begun = {key for start in graph.starts for key in targets.of_state(graph, start)}
    for key in targets.of_seen(seen) | begun:
        left.pop(key, None)
    search = _Search(targets, graph, set(left))
    found = {
        key: replace(each, never=graph.complete and key not in search.failing)
        for key, each in left.items()
    }
    walks = {key: _walk(search.before, edge) for key, edge in search.first.items()}
    for key in sorted(walks, key=lambda key: -len(walks[key])):
        if found[key].run:
            continue
        shown = {k for edge in walks[key] for k in targets.of_edge(graph, edge)}
        trace = trace_of(opened, graph, walks[key])
        run = tuple(headline(step) for step in trace.steps[1:])
        for each in shown & set(found):
            if not found[each].run:
                found[each] = replace(left[each], run=run)
    return tuple(found.values())


class _Search:
    """A breadth-first search through the states of a graph, by all steps, also those that change
    nothing.

    ``before``: the edge by which it comes to each state; ``first``: the first edge that shows each
    of ``wanted``; ``failing``: what steps show that end with an error.
    """

    def __init__(self, targets: _Targets, graph: StateGraph, wanted: set[Any]) -> None:
        self.targets, self.graph, self.wanted = targets, graph, wanted
        self.before: dict[int, Edge | None] = dict.fromkeys(graph.starts)
        self.first: dict[Any, Edge] = {}
        self.failing: set[Any] = set()
        self._numbers = {state: number for number, state in enumerate(graph.states)}
        todo = list(graph.starts)
        for state in todo:  # grows
            for edge in self._edges(state) if state < len(graph.edges) else ():
                for key in targets.of_edge(graph, edge) & wanted:
                    self.first.setdefault(key, edge)
                if edge.target not in self.before:
                    self.before[edge.target] = edge
                    todo.append(edge.target)

    def _edges(self, state: int) -> Iterator[Edge]:
        system = self.targets.system
        for step in interpreter.successors(system, self.graph.states[state]):
            if step.successor is None:
                marks = {event.mark for event in step.events}
                self.failing |= {key for mark in marks for key in self.targets.of_mark(mark)}
            else:
                yield Edge(state, self._numbers[step.successor], label_of(system, step), step)


def _walk(before: dict[int, Edge | None], last: Edge) -> list[Edge]:
    """Returns the shortest way to the end of an edge."""
    found: list[Edge] = []
    edge: Edge | None = last
    while edge is not None:
        found.append(edge)
        edge = before[edge.source]
    return found[::-1]
