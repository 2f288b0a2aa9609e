"""The reference engine: breadth-first search over the plain interpreter.

Lamport's and Holzmann's textbooks describe the search; nothing here is clever.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

from checker.engines import budgets
from checker.engines.capabilities import YES, Ability, Can, Feature
from checker.engines.chance import ChanceGraph, ChanceProblem
from checker.engines.engine import Engine, Problem
from checker.engines.reference.liveness import counterexample, graph_of, some_fair_run
from checker.engines.valence import ValenceGraph, ValenceProblem
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import Expr, PropertyKind, TransitionSystem
from checker.model.views import seen
from checker.properties.persistence import persistence_for_some
from checker.records import replace
from checker.results.answer import (
    DECIDED,
    Answer,
    Limits,
    Listener,
    Path,
    Progress,
    StepCounts,
    stop_reason,
)
from checker.results.bounds import is_beyond

NAME = "reference"
CAPABILITIES = {
    Feature.SAFETY: YES,
    Feature.STEADY: YES,
    Feature.FOLLOWED: YES,
    Feature.LARGE: YES,
    Feature.FINE_STEPS: YES,
    Feature.COVERAGE: YES,
    Feature.LIMITS: YES,
    Feature.MEMORY: Ability(Can.IGNORED, "ignores the memory limit"),
    Feature.THREADS: Ability(Can.IGNORED, "uses one thread"),
    Feature.RUNS: Ability(Can.NO, "saves no runs", "E016"),
    Feature.TABLES: Ability(Can.NO, "stores no states to write tables from", "E037"),
    Feature.REDUCTIONS: Ability(Can.IGNORED, "applies no reductions"),
    Feature.COMPACT: Ability(Can.NO, "has no compact mode: it stores complete states"),
    Feature.VIEW: YES,
    Feature.VALENCE: YES,
    Feature.CHANCE: YES,
}


class ReferenceEngine(Engine):
    """Explores with the interpreter."""

    name = NAME
    capabilities = CAPABILITIES

    def explore(self, problem: Problem, listener: Listener | None) -> Answer:
        return explore(problem.system, problem.options.limits, listener=listener)

    def valence(self, problem: ValenceProblem, listener: Listener | None) -> ValenceGraph:
        from checker.engines.reference.valence import ReferenceValence

        return ReferenceValence(problem, listener)

    def chance(self, problem: ChanceProblem, listener: Listener | None) -> ChanceGraph:
        from checker.engines.reference.chance import ReferenceChance

        return ReferenceChance(problem, listener)


ENGINE = ReferenceEngine()


@dataclass
class _Search:
    """``lasting``: what holds for good in the executions that violate a persistence property;
    ``ended``: those that some execution violates by staying where it is.
    """

    system: TransitionSystem
    limits: Limits
    listener: Listener | None
    parent: dict[State, State | None] = field(default_factory=dict)
    known: set[State] = field(default_factory=set)
    level: list[State] = field(default_factory=list)
    depth: int = 0
    transitions: int = 0
    counted: int = 0
    judged: int = 0
    looked: int = -1
    ends: int = 0
    beyond: int = 0
    marks: set[int] = field(default_factory=set)
    by_mark: Counter[int] = field(default_factory=Counter)
    expanded: int = 0
    premises: set[str] = field(default_factory=set)
    violations: dict[str, Path] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    fault: Path | None = None
    stopped: str | None = None
    started: float = field(default_factory=time.monotonic)
    lasting: dict[str, Expr] = field(init=False)

    def __post_init__(self) -> None:
        found = ((prop.name, persistence_for_some(prop)) for prop in self.system.properties)
        self.lasting = {name: bad for name, bad in found if bad is not None}

    def path_to(self, state: State, then_fault: bool = False) -> Path:
        states = [state]
        while (before := self.parent[states[-1]]) is not None:
            states.append(before)
        return Path(tuple(reversed(states)), then_fault)

    def is_new(self, state: State) -> bool:
        """Returns whether no state was found that is taken for ``state``."""
        return seen(self.system, state) not in self.known

    def add(self, state: State, parent: State | None) -> bool:
        """Adds ``state``, found from ``parent``; returns whether it is new."""
        if not self.is_new(state):
            return False
        self.known.add(seen(self.system, state))
        self.parent[state] = parent
        return True

    def inspect(self, state: State) -> None:
        for prop in self.system.properties:
            if prop.name not in self.premises:
                if interpreter.holds(self.system, prop.premise, state):
                    self.premises.add(prop.name)
            if prop.name in self.violations or prop.kind is PropertyKind.LIVENESS:
                continue
            if interpreter.holds(self.system, prop.bad, state):
                self.violations[prop.name] = self.path_to(state)
        self.beyond += is_beyond(self.system, state)

    def inspect_end(self, state: State) -> None:
        self.ends += 1
        for name, bad in self.lasting.items():
            if name not in self.ended and interpreter.surely_holds(self.system, bad, state):
                self.ended.add(name)

    def expand(self, state: State) -> list[State]:
        found = []
        for transition in interpreter.successors(self.system, state):
            if transition.successor is None:
                self.fault = self.fault or self.path_to(state, then_fault=True)
                continue
            self.transitions += 1
            passed = {event.mark for event in transition.events}
            self.marks |= passed
            self.by_mark.update(passed)
            found.append(transition.successor)
        self.expanded += 1
        return found

    def exhausted_budget(self) -> str | None:
        limits, seconds = self.limits, time.monotonic() - self.started
        if limits.max_states is not None and len(self.parent) >= limits.max_states:
            return limits.no_more_states
        if limits.timeout is not None and seconds > limits.timeout:
            return limits.no_more_time
        return None

    def next_level(self) -> None:
        following: list[State] = []
        for state in self.level:
            self.stopped = self.exhausted_budget()
            if self.stopped:
                break
            for successor in self.expand(state):
                if self.add(successor, state):
                    following.append(successor)
        if following:
            self.depth += 1
        if self.stopped is None:
            self.counted = self.transitions
        self.level = following
        self.tell()

    def tell(self, phase: str = "") -> None:
        if self.listener is not None:
            seconds = time.monotonic() - self.started
            found = len(self.parent), len(self.level), self.depth
            self.listener(Progress(*found, seconds, 0, phase))

    def judge_level(self, with_ends: bool) -> None:
        for state in self.level:
            if with_ends and _is_end(self.system, state):
                self.inspect_end(state)
            try:
                self.inspect(state)
            except RunFault as fault:
                fault.states = self.path_to(state).states
                raise
        self.judged += len(self.level)
        self.looked = self.depth

    def run(self) -> None:
        with_ends = any(p.kind is PropertyKind.LIVENESS for p in self.system.properties)
        for state, events in interpreter.initial_events(self.system):
            self.marks.update(event.mark for event in events)
            if self.add(state, None):
                self.level.append(state)
        while self.level and self.fault is None and self.stopped is None:
            self.judge_level(with_ends)
            if self.limits.max_depth is not None and self.depth >= self.limits.max_depth:
                beyond = [s for state in self.level for s in self.expand(state)]
                self.counted = self.transitions
                if any(map(self.is_new, beyond)):
                    self.stopped = self.limits.no_deeper
                return
            self.next_level()
            asked = bool(self.system.asked_properties)
            decided = asked and not self.system.open_properties({*self.violations, *self.ended})
            if decided and self.limits.until_decided and self.level and self.stopped is None:
                self.stopped = DECIDED


def _is_end(system: TransitionSystem, state: State) -> bool:
    try:
        return interpreter.is_admissible_end(system, state)
    except RunFault:
        return False


def _with_liveness(search: _Search, answer: Answer) -> Answer:
    """Returns ``answer`` with the verdicts on the ``LIVENESS`` properties.

    The explored states form a graph of executions also where the exploration is not exhaustive: a
    violation in it is one, but the absence of violations proves nothing.  States that were found
    and not expanded are left out.
    """
    live = [p for p in search.system.properties if p.kind is PropertyKind.LIVENESS]
    if not live:
        return answer
    asked = [p for p in search.system.open_properties(answer.violations) if p in live]
    started = time.monotonic()
    timeout, undecided = search.limits.timeout, {}

    def check() -> None:
        if timeout is not None and time.monotonic() - search.started > timeout:
            raise budgets.BudgetExhausted(search.limits.no_more_time)

    violations = dict(answer.violations)
    unmet: set[str] = set()
    fair: bool | None = None
    edges = 0
    try:
        with budgets.raising_when_exhausted():
            search.tell("liveness: state graph")
            states, failing = islice(search.parent, search.judged), search.fault is not None
            graph = graph_of(search.system, states, check, failing=failing)
            edges = graph.edges
            for prop in asked:
                search.tell(f"liveness: {prop.asked}")
                path = counterexample(graph, prop, check)
                if path is not None:
                    violations[prop.name] = path
                elif prop.given is not None and answer.exhaustive:
                    premise = replace(prop, automaton=prop.given.automaton)
                    if counterexample(graph, premise, check) is None:
                        unmet.add(prop.name)
            fair = some_fair_run(graph) if answer.exhaustive else None
    except RunFault as fault:
        fault.states = ()
        raise
    except KeyboardInterrupt as error:
        reason = stop_reason(error)
        undecided = {p.name: reason for p in asked if p.name not in violations}
    return replace(
        answer,
        violations=violations,
        unmet=frozenset(unmet),
        fair=fair,
        undecided=undecided if answer.exhaustive else {},
        edges=edges,
        liveness_seconds=time.monotonic() - started,
    )


def explore(
    system: TransitionSystem, limits: Limits, *, listener: Listener | None = None
) -> Answer:
    """Explores ``system`` breadth first and returns the answer; of ``limits.memory`` only a large
    growth of the process is observed.

    Raises :class:`RunFault` where no initial state can be computed.
    """
    search = _Search(system, limits, listener)
    with budgets.within(limits.timeout, limits.memory):
        _run(search)
        return _make_answer(search)


def explored(
    system: TransitionSystem, limits: Limits, listener: Listener | None
) -> tuple[Answer, dict[State, int]]:
    """Returns the same for a system without properties, and the depth of each state; the caller
    has opened the budget."""
    search = _Search(system, limits, listener)
    _run(search)
    depths: dict[State, int] = {}
    for state, parent in search.parent.items():
        depths[state] = 0 if parent is None else depths[parent] + 1
    return _make_answer(search), depths


def _run(search: _Search) -> None:
    error = budgets.ended(search.run)
    if error is not None:
        search.stopped = stop_reason(error)


def _make_answer(search: _Search) -> Answer:
    seconds = time.monotonic() - search.started
    exhaustive = search.stopped is None and search.fault is None
    answer = Answer(
        engine=NAME,
        distinct_states=len(search.parent),
        depth=search.depth,
        exhaustive=exhaustive,
        seconds=seconds,
        transitions=search.counted,
        violations=search.violations,
        fault=search.fault,
        reached_marks=frozenset(search.marks),
        premises=frozenset(search.premises),
        ends=search.ends,
        beyond=search.beyond,
        stopped=search.stopped,
        judged=search.looked,
        step_counts=StepCounts(search.expanded, exhaustive, search.transitions, search.by_mark),
    )
    return _with_liveness(search, answer)
