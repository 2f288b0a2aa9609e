"""The value that a question is about, in the state graph of a check."""

from __future__ import annotations

from array import array
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction

from checker.chance.bounded import reach_within
from checker.chance.decision_process import DecisionProcess
from checker.chance.exact import exact_probability
from checker.chance.graph import ProcessGraph
from checker.chance.objective import Kind, Objective
from checker.chance.probability import probability
from checker.chance.process import ending_in, process_of
from checker.chance.questions import Asked, Goal
from checker.chance.targets import almost_surely
from checker.engines.chance import ChanceGraph

EXACT = 3_000
"""Up to so many states values are computed exactly without being asked for."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """What the adversary does: ``choices`` has, for each number of steps that are left, the choice
    of each state (-1: anything), or only one row where that does not matter.

    ``start``: the initial state that it picks; ``aim``: the states that it tries to reach, where
    its ``goal`` is met, or missed (``missing``).
    """

    choices: tuple[array[int], ...]
    start: int
    aim: AbstractSet[int]
    missing: bool


@dataclass(frozen=True, slots=True)
class Value:
    """Two numbers that surely have the value between them; ``exact``: it is known exactly.

    ``upper`` is ``None`` where the value is infinite; ``endless``: then, the states in which the
    adversary can stay.
    """

    lower: Fraction
    upper: Fraction | None
    exact: bool
    strategy: Strategy | None = None
    endless: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Precision:
    """How wide an interval may be, and whether the exact value is asked for."""

    width: Fraction = Fraction(1, 10**6)
    exact: bool = False


class Valuation:
    """The values of one question, whose conditions in ``graph`` begin at number ``first``."""

    def __init__(self, asked: Asked, graph: ChanceGraph, first: int) -> None:
        self.asked, self._graph, self._first = asked, graph, first
        self._process = process_of(graph.steps)

    def value(self, number: int, precision: Precision) -> Value:
        """Returns the value of a goal of the question."""
        goal = self.asked.goals[number]
        process, origin = self._part(goal, number)
        states = self._graph.satisfying(self._index(number))
        found = self._value(process, Objective(goal.kind, states), precision)
        if origin is None or found.strategy is None:
            return found
        rows = tuple(
            array("q", (origin[c] if c >= 0 else c for c in row)) for row in found.strategy.choices
        )
        return replace(found, strategy=replace(found.strategy, choices=rows))

    def is_sure(self, number: int) -> bool:
        """Returns whether a goal is met with probability 1 under every admissible adversary."""
        goal = self.asked.goals[number]
        process, _ = self._part(goal, number)
        states = self._graph.satisfying(self._index(number))
        sure, _ = almost_surely(ProcessGraph(process), Objective(goal.kind, states))
        return sure

    def _index(self, number: int) -> int:
        """Returns the number of the condition of a goal."""
        goals = self.asked.goals[:number]
        return self._first + sum(1 if goal.until is None else 2 for goal in goals)

    def _part(self, goal: Goal, number: int) -> tuple[DecisionProcess, array[int] | None]:
        """Returns the process in which runs end where a goal can't be met any more."""
        if goal.until is None:
            return self._process, None
        index = self._index(number)
        held = self._graph.satisfying(index) | self._graph.satisfying(index + 1)
        return ending_in(self._process, set(range(self._process.states)) - held)

    def _value(self, process: DecisionProcess, objective: Objective, precision: Precision) -> Value:
        largest = self.asked.largest
        if self.asked.steps is not None:
            return self._bounded(process, objective, self.asked.steps)
        graph = ProcessGraph(process)
        found = probability(graph, objective, largest=largest, width=precision.width)
        missing = found.complemented
        interval, scheduler = found.interval, found.scheduler()
        aim = frozenset(found.target.states)
        rows = (scheduler.choices,)
        if not precision.exact and process.states > EXACT:
            return Value(
                interval.lower, interval.upper, False, Strategy(rows, found.state, aim, missing)
            )
        exact = exact_probability(found, objective)
        rows = (exact.scheduler.choices,)
        return Value(exact.value, exact.value, True, Strategy(rows, exact.state, aim, missing))

    def _bounded(self, process: DecisionProcess, objective: Objective, steps: int) -> Value:
        largest, missing = self.asked.largest, objective.kind is Kind.ALWAYS
        aim = objective.states
        if missing:
            aim, largest = set(range(process.states)) - aim, not largest
        found = reach_within(process, aim, steps, largest=largest)
        value = 1 - found.value if missing else found.value
        return Value(value, value, True, Strategy(found.choices, found.state, aim, missing))
