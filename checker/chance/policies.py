"""Policy iteration on a quotient, in rationals (Howard 1960).

A scheduler that takes one choice in each state is a Markov chain: its values are the solution of
linear equations, component after component.  A choice that is worth more is taken instead,
until there is none.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from checker.chance.decision_process import NO_CONSTRAINT, DecisionProcess
from checker.chance.graph import ProcessGraph
from checker.chance.intervals import Approximation, Rank
from checker.chance.kernels import words
from checker.chance.linear import Equation, solve
from checker.chance.quotient import Quotient
from checker.polling import poll


class ExactQuotient(Struct):
    """A quotient with rational probabilities, and what is counted for each choice."""

    process: DecisionProcess
    quotient: Quotient
    reward: array[int] | None = None

    def branches(self, choice: int) -> dict[int, int]:
        """Returns the states of the quotient that a choice may lead to, each with the sum of the
        weights of the branches into it."""
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
                poll()
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
            poll()
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


def nearest_choices(quotient: Quotient) -> array[Any]:
    """Returns for each state a choice that may lead nearer to the target, or where there is none to
    the other end: by all of them together every state comes to its end almost surely."""
    arrays, numbered = quotient.arrays, quotient.numbered
    before = [list[tuple[int, int]]() for _ in range(numbered + 2)]
    for k in range(numbered):
        for choice in quotient.choices_of(k):
            branches = slice(arrays.branch_first[choice], arrays.branch_first[choice + 1])
            for there in arrays.successor[branches]:
                before[there].append((k, choice))
    chosen: dict[int, int] = {}
    for end in (numbered, numbered + 1):
        todo = [end]
        for there in todo:  # the list grows while it is read: breadth first
            for k, choice in before[there]:
                if k not in chosen:
                    chosen[k] = choice
                    todo.append(k)
    return array("I", (chosen[k] for k in range(numbered)))


def solved(exact: ExactQuotient, final: tuple[Fraction, Fraction], largest: bool) -> Approximation:
    """Returns the exact values, where sweeps would take too long."""
    quotient = exact.quotient
    values, chosen = iterate_policies(exact, nearest_choices(quotient), final, largest)
    nothing = words(quotient.numbered + 2)
    rank = Rank(nothing, Fraction(1))
    return Approximation(quotient, nothing, rank, Fraction(1), 0, 0, array("I", chosen), values)
