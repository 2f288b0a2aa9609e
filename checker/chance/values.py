"""The value of a probability query, in the state graph of a check."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from msgspec import Struct

from checker.chance.decision_process import DecisionProcess
from checker.chance.exact import exact_expectation, exact_probability
from checker.chance.expectation import Infinite, expectation
from checker.chance.fair_components import FairComponents
from checker.chance.graph import ProcessGraph
from checker.chance.intervals import Interval
from checker.chance.objective import Kind, Objective
from checker.chance.probability import probability
from checker.chance.process import Restricted, admissible, ending_in, process_of
from checker.chance.questions import Asked
from checker.chance.targets import UnfairProcessError, almost_surely
from checker.chance.unfolding import within
from checker.engines.chance import STAY, ChanceGraph
from checker.model import ir
from checker.model.ir import Action, MarkKind, TransitionSystem
from checker.model.tree import statements
from checker.records import replace

_T = TypeVar("_T")
EXACT = 3_000
"""The largest number of states for which values are computed exactly by default."""


class Posed(Struct, frozen=True):
    """What an adversary plays in: a ``process`` whose state ``i`` stands for ``states[i]`` of the
    state graph (:data:`~checker.chance.unfolding.OVER`: the bound of steps is reached), and whose
    choice ``c`` for ``origin[c]``; what is asked of its executions; ``left``: the steps that a
    bound leaves in each state."""

    process: DecisionProcess
    states: Sequence[int]
    origin: Sequence[int]
    objective: Objective
    left: Sequence[int] | None = None

    def restricted_to(self, kept: Restricted | None) -> Posed:
        """Returns this with some of its choices only."""
        if kept is None:
            return self
        origin = array("q", (self.origin[choice] for choice in kept.origin))
        return replace(self, process=kept.process, origin=origin)


class Strategy(Struct, frozen=True):
    """What the adversary does: ``choices`` has the choice of each state (-1: anything, or it stays
    in one of ``components``).

    ``start``: the initial state that it picks; ``aim``: the states that it tries to reach, where
    the goal is met, or missed (``missing``).
    """

    posed: Posed
    choices: array[int]
    start: int
    aim: AbstractSet[int]
    missing: bool
    components: FairComponents | None = None

    def state(self, number: int) -> int:
        """Returns what a state is in the state graph, or ``OVER``."""
        return self.posed.states[number]

    def origin(self, choice: int) -> int:
        """Returns what a choice is in the state graph."""
        return self.posed.origin[choice]


class Value(Struct, frozen=True):
    """Two numbers that surely have the value between them; ``exact``: it is known exactly.

    ``upper`` is ``None`` where the value is infinite; ``endless``: then, the states in which the
    adversary can stay, ``forever`` or as long as it likes.
    """

    lower: Fraction
    upper: Fraction | None
    exact: bool
    strategy: Strategy | None = None
    endless: tuple[int, ...] = ()
    forever: bool = False


class Precision(Struct, frozen=True):
    """The largest width of an interval, and whether the exact value is requested."""

    width: Fraction = Fraction(1, 10**6)
    exact: bool = False


class Valuation:
    """The values of one question, whose conditions in ``graph`` begin at number ``first``.

    Initial states in which no fair execution begins are left out; raises
    :class:`~checker.chance.targets.UnfairProcessError` where those are all.
    """

    def __init__(self, asked: Asked, graph: ChanceGraph, first: int) -> None:
        self.asked, self._graph, self._first = asked, graph, first
        self._process = process_of(graph.steps)
        self._last: tuple[tuple[int, bool], Posed] | None = None

    def value(self, number: int, precision: Precision) -> Value:
        """Returns the value of a goal of the question."""
        find = self._expected if self.asked.question.counts else self._probability
        return self._found(number, lambda posed: find(posed, precision))

    def is_sure(self, number: int) -> bool:
        """Returns whether a goal is met with probability 1 under every admissible adversary."""
        return self._found(number, lambda p: almost_surely(ProcessGraph(p.process), p.objective)[0])

    def _found(self, number: int, find: Callable[[Posed], _T]) -> _T:
        """Finds something; where an initial state has no fair execution, without those."""
        try:
            return find(self._posed(number))
        except UnfairProcessError:
            return find(self._posed(number, True))

    @cached_property
    def _admissible(self) -> Restricted | None:
        return admissible(self._process)

    def _posed(self, number: int, admissible_only: bool = False) -> Posed:
        """Returns a goal of the question as one without ``until`` and bound, kept until another one
        is asked for; ``admissible_only``: what no admissible adversary does is left out before."""
        which = number, admissible_only
        if self._last is None or self._last[0] != which:
            self._last = which, self._made(number, admissible_only)
        return self._last[1]

    def _made(self, number: int, admissible_only: bool) -> Posed:
        asked, process = self.asked, self._process
        goal = asked.goals[number]
        index = self._first + sum(1 if g.until is None else 2 for g in asked.goals[:number])
        objective = Objective(goal.kind, self._graph.satisfying(index))
        posed = Posed(process, range(process.states), range(process.choices), objective)
        if admissible_only or goal.until is not None or asked.steps is not None:
            # What follows on an end, or on the last step, may not be possible for a fair execution.
            posed = posed.restricted_to(self._admissible)
        if goal.until is not None:
            held = objective.states | self._graph.satisfying(index + 1)
            lost = set(range(process.states)) - held
            posed = posed.restricted_to(ending_in(posed.process, lost))
        return posed if asked.steps is None else self._unfolded(posed, asked.steps)

    def _unfolded(self, posed: Posed, steps: int) -> Posed:
        """Returns the question within so many steps as one without a bound."""
        always = posed.objective.kind is Kind.ALWAYS
        everything = posed.process.states
        sought = posed.objective.negation(everything) if always else posed.objective
        marked = None
        if self.asked.question.handler:
            counted = self._counted()
            marked = [c for c, origin in enumerate(posed.origin) if counted[origin]]
        found = within(posed.process, sought.states, steps, marked)
        reached = found.objective
        return Posed(
            found.process,
            found.states,
            array("q", (posed.origin[choice] for choice in found.choices)),
            reached.negation(found.process.states) if always else reached,
            found.left,
        )

    def _probability(self, posed: Posed, precision: Precision) -> Value:
        largest = self.asked.largest
        graph = ProcessGraph(posed.process)
        found = probability(graph, posed.objective, largest=largest, width=precision.width)
        scheduler, interval, state = found.scheduler(), found.interval, found.state
        is_exact = precision.exact or posed.process.states <= EXACT
        if is_exact:
            exact = exact_probability(found, posed.objective)
            scheduler, state = exact.scheduler, exact.state
            interval = Interval(exact.value, exact.value)
        target = found.target
        strategy = Strategy(
            posed,
            scheduler.choices,
            state,
            frozenset(target.states),
            found.complemented,
            target.components,
        )
        return Value(interval.lower, interval.upper, is_exact, strategy)

    def _expected(self, posed: Posed, precision: Precision) -> Value:
        """Returns the expected number of steps until the goal; a step that changes nothing, and to
        stay where nothing has to happen, is none."""
        process, goal = posed.process, posed.objective.states
        counted = self._counted()
        reward = array("q", (counted[choice] for choice in posed.origin))
        largest, graph = self.asked.largest, ProcessGraph(process)
        found = expectation(graph, goal, reward, largest=largest, width=precision.width)
        if isinstance(found, Infinite):
            component = found.witness.component
            states = (found.witness.state,) if component is None else component.states
            return Value(Fraction(0), None, True, endless=states, forever=found.forever)
        choices, interval, state = found.scheduler(), found.interval, found.state
        is_exact = precision.exact or process.states <= EXACT
        if is_exact:
            exact = exact_expectation(found)
            choices, state = exact.scheduler.choices, exact.state
            interval = Interval(exact.value, exact.value)
        strategy = Strategy(posed, choices, state, frozenset(goal), False)
        return Value(interval.lower, interval.upper, is_exact, strategy)

    def _counted(self) -> array[int]:
        """Returns what is counted for each choice: 1 for a step of the handler that is asked for,
        or for any."""
        steps, handler = self._graph.steps, self.asked.question.handler
        counts = [not handler or runs(self._graph.system, a, handler) for a in self._actions()]
        reward = array("q", bytes(8 * len(steps.action)))
        for state in range(len(steps.enabled)):
            for choice in range(steps.first_choice[state], steps.first_choice[state + 1]):
                first, last = steps.first_branch[choice], steps.first_branch[choice + 1]
                changes = last - first > 1 or steps.target[first] != state
                action = steps.action[choice]
                reward[choice] = int(action != STAY and changes and counts[action])
        return reward

    def _actions(self) -> tuple[Action, ...]:
        return self._graph.system.actions


def runs(system: TransitionSystem, action: Action, handler: str) -> bool:
    """Returns whether a step of ``action`` is one of a handler of that name."""
    marks = (s.mark for s in statements(action.body) if isinstance(s, ir.Mark))
    infos = (system.marks[mark] for mark in marks)
    return any(i.kind is MarkKind.HANDLER and i.text == handler for i in infos)
