"""Probabilities of objectives under the best and the worst adversary, as intervals."""

from __future__ import annotations

from array import array
from fractions import Fraction

from msgspec import Struct

from checker.chance.graph import ProcessGraph
from checker.chance.intervals import (
    Approximation,
    Interval,
    Progress,
    StiffError,
    approximate,
    silent,
)
from checker.chance.native_graph import NONE
from checker.chance.objective import Objective
from checker.chance.policies import ExactQuotient, solved
from checker.chance.quotient import Quotient, for_reaching
from checker.chance.targets import Target, target_of

WIDTH = Fraction(1, 10**6)
"""The default for the largest width of an interval."""
ANY = -1
"""Stands for the choice of a state in which a scheduler may do anything, or stays in a
component."""


class Scheduler(Struct, frozen=True):
    """The strategy of the adversary that reaches its target with the largest probability: in each
    state the choice that it takes (``q``), or :data:`ANY`.

    In a component of ``target`` it takes all choices of the component in turn, and so is fair
    (``None``: it reaches a goal for which something is counted).
    """

    choices: array[int]
    target: Target | None


class Probability(Struct, frozen=True):
    """The probability of an objective, for the best or the worst adversary.

    ``state``: the initial state that the adversary picks; ``complemented``: the adversary tries to
    miss the objective, and what was computed is the probability that it can.
    """

    interval: Interval
    state: int
    complemented: bool
    graph: ProcessGraph
    target: Target
    approximation: Approximation

    def scheduler(self) -> Scheduler:
        """Returns what the adversary does."""
        found = self.approximation
        return Scheduler(scheduled(self.graph, found.quotient, found.chosen), self.target)


def probability(
    graph: ProcessGraph,
    objective: Objective,
    *,
    largest: bool,
    fair: bool = True,
    width: Fraction = WIDTH,
    progress: Progress = silent,
) -> Probability:
    """Returns the probability of an objective in an interval at most ``width`` wide, if numbers of
    62 bits can be so exact.

    ``largest``: for the adversary that makes it large, otherwise for the one that makes it small;
    ``fair``: among those only that are fair with probability 1.  Raises
    :class:`~checker.chance.targets.UnfairProcessError` where there are none.
    """
    sought = objective if largest else objective.negation(graph.process.states)
    target = target_of(graph, sought, fair)
    quotient = for_reaching(graph, target.part, target.states)
    initial = graph.process.initial
    try:
        found = approximate(quotient, initial, width, progress)
    except StiffError:
        found = solved(ExactQuotient(graph.process, quotient), (Fraction(1), Fraction(0)), True)
    intervals = {state: found.interval(state) for state in initial}
    state = max(initial, key=lambda s: intervals[s].lower)
    interval = Interval(intervals[state].lower, max(i.upper for i in intervals.values()))
    return Probability(
        interval if largest else interval.complement(), state, not largest, graph, target, found
    )


def scheduled(graph: ProcessGraph, quotient: Quotient, chosen: array[int]) -> array[int]:
    """Returns what a scheduler of the quotient does in each state of the process: a choice, or
    :data:`ANY`.

    In an end component that is one state there, it moves to the state that has the choice.
    """
    choices = array("q", [ANY]) * graph.process.states
    for state in quotient.sure.queue:
        if quotient.sure.how[state] != NONE:
            choices[state] = quotient.sure.how[state]
    exits = []
    for number in range(quotient.numbered):
        choice = quotient.origin[chosen[number]]
        state = graph.owner[choice]
        choices[state] = choice
        if quotient.is_several(number):
            exits.append(state)
    if exits:
        closure = graph.reaching(exits, quotient.inner)
        for state in closure.queue[len(exits) :]:
            choices[state] = closure.how[state]
    return choices
