"""Probabilities within a number of steps: the equations of Bellman, step by step, in rationals."""

from __future__ import annotations

from array import array
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction

from checker.chance.decision_process import DecisionProcess


@dataclass(frozen=True, slots=True)
class Bounded:
    """The probabilities with which a goal is reached, exact, from the ``state`` that is best for
    the adversary; ``choices``: for each number of steps that are left, what it takes in each
    state."""

    value: Fraction
    state: int
    choices: tuple[array[int], ...]


def reach_within(
    process: DecisionProcess, goal: AbstractSet[int], steps: int, *, largest: bool
) -> Bounded:
    """Returns the probability of reaching ``goal`` in at most ``steps`` steps, for the adversary
    that makes it large or small.

    Fairness makes no difference to executions of a bounded length.  Baier and Katoen, Principles of
    Model Checking (2008), 10.1.1.
    """
    best = max if largest else min
    nothing, sure = Fraction(0), Fraction(1)
    values = [sure if state in goal else nothing for state in range(process.states)]
    taken: list[array[int]] = []
    for _ in range(steps):
        improved, choices = list(values), array("q", [-1]) * process.states
        for state in range(process.states):
            if state in goal or not process.choices_of(state):
                continue
            worth = {c: _worth(process, c, values) for c in process.choices_of(state)}
            choices[state] = best(worth, key=worth.__getitem__)
            improved[state] = worth[choices[state]]
        values = improved
        taken.append(choices)
    start = best(process.initial, key=values.__getitem__)
    return Bounded(values[start], start, tuple(reversed(taken)))


def _worth(process: DecisionProcess, choice: int, values: list[Fraction]) -> Fraction:
    branches = process.branches_of(choice)
    if len(branches) == 1:
        return values[process.target[branches[0]]]
    gained = sum((process.weight[b] * values[process.target[b]] for b in branches), Fraction(0))
    return gained / sum(process.weight[b] for b in branches)
