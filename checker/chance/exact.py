"""Exact probabilities and expected values, as rationals, with a certificate.

Policy iteration on the quotient starts with the scheduler that the intervals have found, which
nearly always is optimal already.  The result is used only after
:mod:`checker.chance.certificate` has checked it on the process itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from checker.chance.certificate import Certificate, check_expectation, check_probability
from checker.chance.expectation import Expectation
from checker.chance.graph import Part, ProcessGraph
from checker.chance.native_graph import INSIDE
from checker.chance.objective import Objective
from checker.chance.policies import ExactQuotient, iterate_policies
from checker.chance.probability import Probability, Scheduler, scheduled


class Exact(Struct, frozen=True):
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

    ``objective``, ``fair``: the query.  Raises
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

    ``fair``: the query.  Raises :class:`~checker.chance.certificate.WrongCertificateError`
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
