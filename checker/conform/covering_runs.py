"""Covering sets of runs: few and short runs of a check that together take all its transitions, all
its handlers, or all sequences of so many handlers.

A run goes on to the nearest step that covers something new (breadth first), and ends where there is
none within reach; the next one begins at the start.  That is the greedy heuristic for the Chinese
postman problem on the state graph (Lee and Yannakakis, Principles and methods of testing finite
state machines, 1996); it is complete, and no optimum.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator

from msgspec import Struct, field

from checker.model import interpreter
from checker.model.interpreter import State, Transition
from checker.model.ir import MarkKind, TransitionSystem
from checker.results.narrate import narrate
from checker.results.rerun import Moment, Run
from checker.results.trace import Trace
from checker.simulate.prepared_check import PreparedCheck

TRANSITIONS, HANDLERS, PAIRS = "transitions", "handlers", "pairs"
COVER = {HANDLERS: 1, PAIRS: 2}
"""How many handlers in a row are covered together, by the word for it."""

LONGEST = 60
"""The largest number of steps of a run, unless the way to what is to be covered is longer."""


class Edge(Struct, frozen=True):
    """A step from the state ``source`` to the state ``target``, numbers of states; ``label``: its
    handler or kind."""

    source: int
    target: int
    label: str
    transition: Transition


class StateGraph(Struct):
    """The states that were explored, in the order of a breadth-first search; ``complete``: all."""

    states: list[State] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)
    complete: bool = True


class CoveringSet(Struct, frozen=True):
    """Runs, and what they cover: ``covered`` of ``targets``; ``complete``: all states were
    explored; ``states``: how many."""

    runs: tuple[Trace, ...]
    covered: int
    targets: int
    states: int
    complete: bool

    @property
    def steps(self) -> int:
        """The number of steps of all runs."""
        return sum(len(run.steps) - 1 for run in self.runs)


def explore(
    system: TransitionSystem, most: int, tell: Callable[[int], None] = lambda _: None
) -> StateGraph:
    """Returns the graph of the first ``most`` states; steps that meet an error are left out."""
    graph, numbers = StateGraph(), dict[State, int]()

    def number(state: State) -> int:
        if state not in numbers:
            numbers[state] = len(graph.states)
            graph.states.append(state)
        return numbers[state]

    graph.starts = [number(state) for state in interpreter.initial_states(system)]
    at = 0
    while at < len(graph.states):
        if at >= most:
            graph.complete = False
            break
        found: dict[tuple[int, str], Edge] = {}
        for transition in interpreter.successors(system, graph.states[at]):
            if transition.successor is not None and transition.successor != graph.states[at]:
                edge = Edge(
                    at, number(transition.successor), label_of(system, transition), transition
                )
                found.setdefault((edge.target, edge.label), edge)
        graph.edges.append(list(found.values()))
        at += 1
        tell(at)
    for edges in graph.edges:
        edges[:] = [edge for edge in edges if edge.target < len(graph.edges)]
    return graph


def label_of(system: TransitionSystem, transition: Transition) -> str:
    """Returns the first handler of a step, or its action."""
    for event in transition.events:
        info = system.marks[event.mark]
        if info.kind is MarkKind.HANDLER:
            return info.text
    return transition.action.name


def covering_set(
    opened: PreparedCheck,
    cover: str,
    most: int,
    tell: Callable[[int], None] = lambda _: None,
) -> CoveringSet:
    """Returns runs that cover ``cover``: ``transitions``, ``handlers``, ``pairs``, or a number of
    handlers in a row; of the first ``most`` states of the check."""
    graph = explore(opened.system, most, tell)
    length = COVER.get(cover) or (0 if cover == TRANSITIONS else int(cover))
    walks = list(_Covering(graph, length).walks())
    covering = _Covering(graph, length)
    covered = {target for walk in walks for target in covering.of_walk(walk)}
    runs = tuple(trace_of(opened, graph, walk) for walk in walks)
    return CoveringSet(
        runs, len(covered), len(covering.targets()), len(graph.edges), graph.complete
    )


class _Covering:
    """What is to be covered: edges (``length`` 0), or sequences of so many labels."""

    def __init__(self, graph: StateGraph, length: int) -> None:
        self.graph, self.length = graph, length
        self.left = self.targets()

    def targets(self) -> set[Hashable]:
        """Returns all that can be covered."""
        if not self.length:
            return {(e.source, e.target, e.label) for es in self.graph.edges for e in es}
        known: list[set[tuple[str, ...]]] = [{()} for _ in self.graph.edges]
        for _ in range(self.length):
            longer: list[set[tuple[str, ...]]] = [set() for _ in self.graph.edges]
            for edges in self.graph.edges:
                for edge in edges:
                    longer[edge.target] |= {(*way, edge.label) for way in known[edge.source]}
            known = longer
        return {way for ways in known for way in ways}

    def of_walk(self, walk: list[Edge]) -> Iterator[Hashable]:
        """Yields what a walk covers."""
        for at in range(max(self.length, 1), len(walk) + 1):
            yield self._target(walk[at - max(self.length, 1) : at])

    def _target(self, walk: list[Edge]) -> Hashable:
        last = walk[-1]
        if not self.length:
            return (last.source, last.target, last.label)
        return tuple(edge.label for edge in walk[-self.length :])

    def walks(self) -> Iterator[list[Edge]]:
        """Yields walks until all is covered."""
        while self.left:
            walk: list[Edge] = []
            while (more := self._nearest(walk)) is not None:
                if walk and len(walk) + len(more) > LONGEST:
                    break
                for edge in more:
                    walk.append(edge)
                    self.left.discard(self._target(walk))
            if not walk:
                return
            yield walk

    def _nearest(self, walk: list[Edge]) -> list[Edge] | None:
        """Returns the shortest way from the end of ``walk`` to something that is not covered."""
        kept = max(self.length - 1, 0)
        recent = tuple(edge.label for edge in walk[-kept:]) if kept else ()
        begin = [walk[-1].target] if walk else self.graph.starts
        start = [(state, recent) for state in begin]
        before: dict[_Place, tuple[_Place, Edge] | None] = dict.fromkeys(start)
        waiting = deque(start)
        while waiting:
            place = waiting.popleft()
            state, labels = place
            for edge in self.graph.edges[state]:
                after = (*labels, edge.label)
                target: Hashable = after if self.length else (edge.source, edge.target, edge.label)
                if target in self.left:
                    return [*_way(before, place), edge]
                key = (edge.target, after[-kept:] if kept else ())
                if key not in before:
                    before[key] = (place, edge)
                    waiting.append(key)
        return None


_Place = tuple[int, tuple[str, ...]]
"""A state, and the labels of the steps that led to it, as many as matter."""


def _way(before: dict[_Place, tuple[_Place, Edge] | None], place: _Place) -> list[Edge]:
    found: list[Edge] = []
    while (step := before[place]) is not None:
        place, edge = step
        found.append(edge)
    return found[::-1]


def trace_of(opened: PreparedCheck, graph: StateGraph, walk: list[Edge]) -> Trace:
    """Returns the run that takes the edges of ``walk``."""
    first = graph.states[walk[0].source]
    events = dict(interpreter.initial_events(opened.system))[first]
    moments = [Moment(first, None, events)]
    moments += [Moment(graph.states[e.target], e.transition, e.transition.events) for e in walk]
    return narrate(opened.system, Run(tuple(moments), False), None, opened.header)
