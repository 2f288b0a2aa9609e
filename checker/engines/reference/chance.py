"""The state graph with distributions explicitly: every state is asked for its choices."""

from __future__ import annotations

import time
from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from checker.engines import budgets
from checker.engines.chance import NONE, STAY, ChanceGraph, ChanceProblem, Steps, TooFine
from checker.engines.reference.engine import explored
from checker.graphs import route
from checker.model import distributions, interpreter, ir
from checker.model.interpreter import Constraint, State
from checker.records import replace
from checker.results.answer import Listener, Path, stop_reason


class ReferenceChance(ChanceGraph):
    """The graph of the states that the reference engine finds, numbered as it finds them."""

    def __init__(self, problem: ChanceProblem, listener: Listener | None) -> None:
        self.system, self._conditions = problem.system, problem.conditions
        limits = problem.options.limits
        with budgets.within(limits.timeout, limits.memory):
            bare = replace(problem.system, properties=())
            self.answer, depths = explored(bare, limits, listener)
            if self.answer.fault is not None or not self.answer.exhaustive:
                return
            started = time.monotonic()
            try:
                error = budgets.ended(lambda: self._build([*depths]))
                self.missing = "" if error is None else stop_reason(error)
            except TooFine as problem:
                self.missing = str(problem)
            self.seconds = time.monotonic() - started

    def _build(self, states: list[State]) -> None:
        """Numbers ``states``, all that are reachable, and writes the choices of each."""
        self._states, self._numbers = states, {state: i for i, state in enumerate(states)}
        self._known: dict[Constraint | int, int] = {}
        self._sets: dict[frozenset[int], int] = {frozenset(): 0}
        self._strong: set[int] = set()
        self.steps = Steps()
        for state in states:
            self._write(state)
        self.steps.initial = tuple(
            self._numbers[state] for state in interpreter.initial_states(self.system)
        )
        self.steps.constraint_sets = tuple(self._sets)
        self.steps.strong = frozenset(self._strong)

    def _write(self, state: State) -> None:
        """Writes the choices of a state."""
        here, steps, enabled = self._numbers[state], self.steps, set[int]()
        before = len(steps.constraint)
        for choice in distributions.choices(self.system, state):
            label = NONE if choice.constraint is None else self._number(choice.constraint)
            if choice.constraint is not None:
                enabled.add(label)
                if ir.fairness_of(choice.action).kind is ir.FairnessKind.STRONG:
                    self._strong.add(label)
            shares = shares_of((b.probability, self._numbers[b.successor]) for b in choice.branches)
            if label == NONE and [*shares] == [here]:
                continue
            position = self.system.actions.index(choice.action)
            steps.add(position, label, [*shares], [*shares.values()])
        for i, justice in enumerate(self.system.justice):
            if not interpreter.holds(self.system, justice.holds, state):
                enabled.add(self._number(i))
        if bool(enabled) != (len(steps.constraint) > before):
            steps.add(STAY, NONE, [here], [1])
        steps.end_state(self._sets.setdefault(frozenset(enabled), len(self._sets)))

    def _number(self, constraint: Constraint | int) -> int:
        return self._known.setdefault(constraint, len(self._known))

    # -- queries --------------------------------------------------------------------------------

    def state(self, number: int) -> State:
        """Looks it up."""
        return self._states[number]

    def satisfying(self, condition: int) -> set[int]:
        """Asks every state."""
        expr = self._conditions[condition]
        every = enumerate(self._states)
        return {i for i, state in every if interpreter.holds(self.system, expr, state)}

    def path_to(self, number: int) -> Path:
        """Searches breadth first."""
        steps = self.steps

        def after(state: int) -> Iterable[int]:
            first, last = steps.first_choice[state], steps.first_choice[state + 1]
            return steps.target[steps.first_branch[first] : steps.first_branch[last]]

        found = route(steps.initial, after, number.__eq__)
        assert found is not None, "it was reached"
        return Path(tuple(self._states[i] for i in found))


def shares_of(branches: Iterable[tuple[Fraction, int]]) -> dict[int, int]:
    """Returns a distribution over numbers as integer weights, those of one number together."""
    found: dict[int, Fraction] = {}
    for share, target in branches:
        found[target] = found.get(target, Fraction(0)) + share
    whole = lcm(*(share.denominator for share in found.values()))
    return {target: int(share * whole) for target, share in found.items()}
