"""Step-bounded reachability, with a bound on all steps or on those of a kind.

The process is unfolded with a counter of the marked choices that may still be taken: a bounded
query about the process is an unbounded one about its unfolding, where the last marked choice
leads to an end.  So everything known about probabilities applies here, too: fair adversaries,
intervals and certificates.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from msgspec import Struct

from checker.chance.decision_process import DecisionProcess
from checker.chance.objective import Kind, Objective

OVER = -1
"""Stands for the state of an unfolding in which more choices were taken than the bound."""


class Unfolding(Struct, frozen=True):
    """``process``, whose state ``i`` stands for ``states[i]`` of the process that was unfolded, or
    for :data:`OVER`, with ``left[i]`` marked choices left; ``choices``: what each of its choices is
    there; ``objective``: to reach the goal."""

    process: DecisionProcess
    states: array[int]
    left: array[int]
    choices: array[int]
    objective: Objective


class _Unfolder:
    """Finds the states of an unfolding breadth first; a goal has no choices."""

    def __init__(self, process: DecisionProcess, goal: AbstractSet[int], marked: Collection[int]):
        self.old, self.goal = process, goal
        self.marked = bytearray(process.choices)
        for choice in marked:
            self.marked[choice] = 1
        self.numbers: dict[tuple[int, int], int] = {}
        self.states, self.left = array("q"), array("q")
        self.first_choice, self.first_branch = array("q", [0]), array("q", [0])
        self.target, self.weight = array("q"), array("q")
        self.origin = array("q")

    def number(self, state: int, left: int) -> int:
        pair = (state, left) if left >= 0 else (OVER, 0)
        found = self.numbers.setdefault(pair, len(self.states))
        if found == len(self.states):
            self.states.append(pair[0])
            self.left.append(pair[1])
        return found

    def run(self, bound: int) -> tuple[int, ...]:
        """Unfolds all, and returns the initial states."""
        initial = tuple(self.number(state, bound) for state in self.old.initial)
        at = 0
        while at < len(self.states):
            state = self.states[at]
            if state != OVER and state not in self.goal:
                for choice in self.old.choices_of(state):
                    self.add(choice, self.left[at] - self.marked[choice])
            self.first_choice.append(len(self.origin))
            at += 1
        return initial

    def add(self, choice: int, left: int) -> None:
        self.origin.append(choice)
        if left < 0:
            self.target.append(self.number(OVER, left))
            self.weight.append(1)
        else:
            for branch in self.old.branches_of(choice):
                self.target.append(self.number(self.old.target[branch], left))
                self.weight.append(self.old.weight[branch])
        self.first_branch.append(len(self.target))


def within(
    process: DecisionProcess,
    goal: AbstractSet[int],
    bound: int,
    marked: Collection[int] | None = None,
) -> Unfolding:
    """Returns the process in which ``goal`` is reached at all where it is reached here by at most
    ``bound`` of the choices ``marked`` (``None``: of any)."""
    unfolder = _Unfolder(process, goal, range(process.choices) if marked is None else marked)
    initial = unfolder.run(bound)
    old, states, ends = process, unfolder.states, process.constraint_sets
    nothing = len(ends)
    unfolded = DecisionProcess(
        unfolder.first_choice,
        unfolder.first_branch,
        unfolder.target,
        unfolder.weight,
        initial,
        array("q", (old.constraint[c] for c in unfolder.origin)),
        array("q", (nothing if s == OVER or s in goal else old.enabled[s] for s in states)),
        (*ends, frozenset()),
        old.strong,
    )
    reached = frozenset(i for i, state in enumerate(states) if state in goal)
    objective = Objective(Kind.EVENTUALLY, reached)
    return Unfolding(unfolded, states, unfolder.left, unfolder.origin, objective)
