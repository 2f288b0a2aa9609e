"""Exact probabilities and expected values, as rationals, with a certificate.

Howard's policy iteration (1960) on the quotient, in rationals, from the scheduler that the
intervals have found: where that is optimal already, as it nearly always is, one system of equations
is solved, component after component.  What comes out is believed when
:mod:`checker.chance.certificate` has checked it on the process itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from checker.chance.certificate import Certificate, check_expectation, check_probability
from checker.chance.decision_process import NO_CONSTRAINT, DecisionProcess
from checker.chance.expectation import Expectation
from checker.chance.graph import Part, ProcessGraph
from checker.chance.linear import Equation, solve
from checker.chance.native_graph import INSIDE
from checker.chance.objective import Objective
from checker.chance.probability import Probability, Scheduler, scheduled
from checker.chance.quotient import Quotient


@dataclass(frozen=True, slots=True)
class Exact:
    """The exact value in the initial state ``state``, in which it is best for the adversary; the
    certificate was checked.

    ``complemented``: the certificate is about missing the objective; ``scheduler``: what the
    adversary does.
    """

    value: Fraction
    state: int
    complemented: bool
    certificate: Certificate
    scheduler: Scheduler


@dataclass(slots=True)
class ExactQuotient:
    """A quotient with rational probabilities, and what is counted for each choice."""

    process: DecisionProcess
    quotient: Quotient
    reward: array[int] | None = None

    def branches(self, choice: int) -> dict[int, int]:
        """Returns the states of the quotient that a choice may lead to, with their weights; what
        stays in the state is left out where nothing is counted."""
        origin, classes = self.quotient.origin[choice], self.quotient.classes
        found: dict[int, int] = {}
        for branch in self.process.branches_of(origin):
            there = classes[self.process.target[branch]]
            found[there] = found.get(there, 0) + self.process.weight[branch]
        return found

    def counted(self, choice: int) -> int:
        """Returns the reward of a choice."""
        return 0 if self.reward is None else self.reward[self.quotient.origin[choice]]

    def worth(self, choice: int, values: Sequence[Fraction]) -> Fraction:
        """Returns the reward of a choice and the value of what follows."""
        branches = self.branches(choice)
        counted = self.counted(choice)
        if len(branches) == 1:
            (there,) = branches
            return values[there] + counted if counted else values[there]
        gained = sum((weight * values[there] for there, weight in branches.items()), Fraction(0))
        return gained / sum(branches.values()) + counted

    def evaluate(self, chosen: Sequence[int], final: tuple[Fraction, Fraction]) -> list[Fraction]:
        """Returns the value of each state by these choices; ``final``: of the two last ones."""
        numbered = self.quotient.numbered
        values = [Fraction(0)] * numbered + list(final)
        rows = [self.branches(chosen[k]) for k in range(numbered)]
        for group in _in_order(rows, numbered):
            inside = set(group)
            equations: dict[int, Equation[int]] = {}
            for k in group:
                equation = equations[k] = Equation(Fraction(self.counted(chosen[k])))
                total = sum(rows[k].values())
                for there, weight in rows[k].items():
                    if there in inside:
                        equation.terms[there] = Fraction(weight, total)
                    else:
                        equation.constant += values[there] * Fraction(weight, total)
            for k, value in solve(equations).items():
                values[k] = value
        return values

    def improve(self, chosen: list[int], values: Sequence[Fraction], largest: bool) -> bool:
        """Takes better choices where there are any, and returns whether there were."""
        changed = False
        for k in range(self.quotient.numbered):
            best = values[k]
            for choice in self.quotient.choices_of(k):
                worth = self.worth(choice, values)
                if worth > best if largest else worth < best:
                    best, chosen[k], changed = worth, choice, True
        return changed


def _in_order(rows: Sequence[dict[int, int]], numbered: int) -> list[list[int]]:
    """Returns the strongly connected components of a chain, each after those that it can reach."""
    first, targets = [0], list[int]()
    for row in rows:
        targets.extend(there for there in row if there < numbered)
        first.append(len(targets))
    kept = [k for k in range(numbered) if first[k] < first[k + 1]]
    choices = array("q", [0, *_positions(first)])
    process = DecisionProcess(
        choices,
        array("q", [0, *(first[k + 1] for k in kept)]),
        array("q", targets),
        array("q", [1]) * len(targets),
        (),
        array("q", [NO_CONSTRAINT]) * len(kept),
        array("q", [0]) * numbered,
    )
    graph = ProcessGraph(process)
    found = graph.components(graph.whole())
    groups: list[list[int]] = [[] for _ in range(found.count)]
    for k in found.order:
        groups[found.of[k]].append(k)
    return groups


def _positions(first: Sequence[int]) -> list[int]:
    """Returns how many rows up to each one have an entry."""
    found, total = list[int](), 0
    for k in range(len(first) - 1):
        total += first[k] < first[k + 1]
        found.append(total)
    return found


def iterate_policies(
    exact: ExactQuotient,
    chosen: array[Any],
    final: tuple[Fraction, Fraction],
    largest: bool = True,
) -> tuple[list[Fraction], list[int]]:
    """Returns the value of each state of the quotient, and the choices that attain it."""
    choices = list(chosen[: exact.quotient.numbered])
    while True:
        values = exact.evaluate(choices, final)
        if not exact.improve(choices, values, largest):
            return values, choices


def ranks(graph: ProcessGraph, part: Part, choices: array[int], ends: Sequence[int]) -> list[int]:
    """Returns for each state a number that is smaller in a state to which its choice may lead,
    until one of ``ends``; where there is none, a larger number than all others."""
    taken = array("B", bytes(graph.process.choices))
    for choice in choices:
        if choice >= 0:
            taken[choice] = 1
    closure = graph.reaching(ends, Part(part.states, taken))
    found = [graph.process.states + 1] * graph.process.states
    for i, state in enumerate(closure.queue):
        found[state] = i + 1
    for state in ends:
        found[state] = 0
    return found


def exact_probability(found: Probability, objective: Objective, fair: bool = True) -> Exact:
    """Returns the exact probability that an interval was found for, certified.

    ``objective``, ``fair``: what was asked.  Raises
    :class:`~checker.chance.certificate.WrongCertificateError` where the check of the certificate
    fails, which is an error of this package.
    """
    graph, target, quotient = found.graph, found.target, found.approximation.quotient
    process = graph.process
    exact = ExactQuotient(process, quotient)
    final = Fraction(1), Fraction(0)
    of_classes, chosen = iterate_policies(exact, found.approximation.chosen, final)
    values = [of_classes[number] for number in quotient.classes]
    best = scheduled(graph, quotient, array("I", chosen))
    sought = objective.negation(process.states) if found.complemented else objective
    given = {state: Fraction(1) for state in target.states}
    if sought.is_lost_outside:
        inside = (s for s, kept in enumerate(target.part.states) if kept == INSIDE)
        given |= {s: Fraction(0) for s in inside if s not in sought.states}
    ends = [s for s, value in enumerate(values) if value == 0 or s in given]
    rank = ranks(graph, target.part, best, ends)
    certificate = Certificate(given, values, best, rank)
    check_probability(process, sought, fair, certificate)
    state = max(process.initial, key=values.__getitem__)
    value = 1 - values[state] if found.complemented else values[state]
    return Exact(value, state, found.complemented, certificate, Scheduler(best, target))


def exact_expectation(found: Expectation, fair: bool = True) -> Exact:
    """Returns the exact expected value that an interval was found for, certified.

    ``fair``: what was asked.  Raises :class:`~checker.chance.certificate.WrongCertificateError`
    where the check of the certificate fails, which is an error of this package.
    """
    problem = found.problem
    graph, quotient, largest = problem.graph, problem.quotient, problem.largest
    exact = ExactQuotient(graph.process, quotient, problem.reward)
    final, starting = (Fraction(0), Fraction(0)), found.approximation.chosen
    of_classes, chosen = iterate_policies(exact, starting, final, largest)
    values = [of_classes[number] for number in quotient.classes]
    choices = scheduled(graph, quotient, array("I", chosen))
    given = {state: Fraction(0) for state in problem.goal}
    ends = [s for s, value in enumerate(values) if s in given or (largest and value == 0)]
    rank = ranks(graph, problem.part, choices, ends)
    certificate = Certificate(given, values, choices, rank, problem.reward, largest)
    check_expectation(graph.process, problem.goal, fair, certificate)
    starts = [state for state in graph.process.initial if problem.is_finite(state)]
    state = (max if largest else min)(starts, key=values.__getitem__)
    return Exact(values[state], state, False, certificate, Scheduler(choices, None))
