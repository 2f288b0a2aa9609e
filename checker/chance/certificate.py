"""Certificates of exact values, checked in rationals.

What a certificate has are a value for each state, a choice of a scheduler for each state, and a
rank. It is checked on the process itself, by code that shares nothing with what has found it
(Funke, Jantsch and Baier, Farkas certificates and minimal witnesses for probabilistic reachability
constraints, 2020; Chatterjee and others, Fixed point certificates for reachability and expected
rewards in MDPs, 2025).  Checked is, for the largest value,

- no choice is worth more than the value of its state.  So the values are at least the least
  fixpoint of the operator of optimality, which is what the best scheduler attains (Park's
  induction).
- the choice of the scheduler is worth the value of its state, and one of its branches leads to a
  state of a smaller rank, until a state that is final, or has the value 0.  So the scheduler comes
  to one of those with probability 1, its equations have one solution, and it attains the values.
  This is what excludes fixpoints that an end component makes up.

For the smallest value (of a reward that is accumulated until a final state is reached almost
surely) no choice is worth less, and every state has a choice and a rank.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

from msgspec import Struct

from checker.chance import reference
from checker.chance.decision_process import DecisionProcess
from checker.chance.objective import Objective
from checker.polling import poll
from checker.records import replace


class WrongCertificateError(ValueError):
    """A certificate does not prove its claim; the message says where it fails."""


class Certificate(Struct, frozen=True):
    """The value of each state, and why.

    ``final``: the states whose value is given, and what it is; ``values``, ``choices`` (-1: none)
    and ``rank``: one for each state; ``reward``: what is counted for each choice (``None``:
    nothing, values are probabilities).
    """

    final: Mapping[int, Fraction]
    values: Sequence[Fraction]
    choices: array[int]
    rank: Sequence[int]
    reward: array[int] | None = None
    largest: bool = True


def check_equations(
    process: DecisionProcess, allowed: reference.Choices, certificate: Certificate
) -> None:
    """Checks the equations in all states of ``allowed``, with the choices there.

    Raises :class:`WrongCertificateError`.
    """
    worths = _Worths(process, certificate)
    for state, choices in allowed.items():
        poll()
        value = certificate.values[state]
        if state in certificate.final:
            _require(value == certificate.final[state], state, "its value is given")
            continue
        _require(value >= 0, state, "its value is negative")
        chosen = certificate.choices[state]
        for choice in choices:
            worth = worths.of(choice)
            ahead = worth <= value if certificate.largest else worth >= value
            _require(ahead, state, "another choice is better")
            _require(choice != chosen or worth == value, state, "its choice is worth another value")
        if value > 0 or not certificate.largest:
            _require(chosen in choices, state, "it has no choice")
            rank = min(certificate.rank[process.target[b]] for b in process.branches_of(chosen))
            _require(rank < certificate.rank[state], state, "its choice does not lead on")


def check_probability(
    process: DecisionProcess, objective: Objective, fair: bool, certificate: Certificate
) -> None:
    """Checks that the values are the largest probabilities of an objective.

    The states that are to be reached are found again, by plain definitions.  Raises
    :class:`WrongCertificateError`.
    """
    asked = process if fair else _without_fairness(process)
    allowed = reference.fair_choices(asked)
    missing = [state for state in process.initial if state not in allowed]
    _require(not missing, missing[0] if missing else 0, "no fair execution begins there")
    targets = reference.target_states(asked, objective, allowed)
    final = {state: Fraction(1) for state in targets}
    if objective.is_lost_outside:
        final |= {s: Fraction(0) for s in allowed if s not in objective.states}
    _require(final == dict(certificate.final), 0, "other states are to be reached")
    _require(certificate.reward is None and certificate.largest, 0, "it is about something else")
    check_equations(process, allowed, certificate)


def check_expectation(
    process: DecisionProcess, goal: AbstractSet[int], fair: bool, certificate: Certificate
) -> None:
    """Checks that the values are the largest, or smallest, expected sums of rewards until ``goal``
    is reached: for the largest in all states that can be reached, for the smallest in those among
    them from which it can be reached almost surely.

    Raises :class:`WrongCertificateError`.
    """
    asked = process if fair else _without_fairness(process)
    allowed = reference.fair_choices(asked)
    ends = goal & allowed.keys()
    allowed |= {state: set() for state in ends}
    if not certificate.largest:
        allowed = reference.surely_reaching(asked, allowed, ends)
    starts = [state for state in process.initial if state in allowed]
    _require(bool(starts), process.initial[0], "the goal is not reached almost surely")
    allowed = reference.following(asked, allowed, starts)
    if certificate.largest:
        _require(len(starts) == len(process.initial), 0, "no fair execution begins there")
        rest = {state: choices for state, choices in allowed.items() if state not in goal}
        missing = reference.fair_components(asked, reference.closed(asked, rest))
        _require(not missing, 0, "a fair execution may miss the goal")
    given = {state: Fraction(0) for state in goal}
    _require(given == dict(certificate.final), 0, "other states are to be reached")
    _require(certificate.reward is not None, 0, "it is about something else")
    check_equations(process, allowed, certificate)


def _without_fairness(process: DecisionProcess) -> DecisionProcess:
    nothing = array("q", [0]) * process.states
    return replace(process, enabled=nothing, constraint_sets=(frozenset(),))


class _Worths:
    """The worth of choices; values are multiplied once for all branches that have the same."""

    def __init__(self, process: DecisionProcess, certificate: Certificate) -> None:
        self._process, self._reward = process, certificate.reward
        numbers: dict[Fraction, int] = {}
        self._number = [numbers.setdefault(value, len(numbers)) for value in certificate.values]
        self._values = list(numbers)

    def of(self, choice: int) -> Fraction:
        """Returns what is counted for a choice, and what its branches are worth."""
        process, numbers, values = self._process, self._number, self._values
        counted = 0 if self._reward is None else self._reward[choice]
        weights: dict[int, int] = {}
        for branch in process.branches_of(choice):
            number = numbers[process.target[branch]]
            weights[number] = weights.get(number, 0) + process.weight[branch]
        if len(weights) == 1:
            following = values[next(iter(weights))]
            return following if counted == 0 else following + counted
        gained = sum((weight * values[n] for n, weight in weights.items()), Fraction(0))
        return gained / sum(weights.values()) + counted


def _require(holds: bool, state: int, wrong: str) -> None:
    if not holds:
        raise WrongCertificateError(f"state {state}: {wrong}")
