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
from checker.chance.lumping import Lumps
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
        lumps, known = Lumps(numbered + 2), dict(enumerate(final, start=numbered))
        for group in _in_order(self.quotient, chosen):
            rows = {k: self.branches(chosen[k]) for k in group}
            if len(group) > 1:
                lumps.join(rows, {k: self.counted(chosen[k]) for k in group})
            one_of_each = {lumps.of[k]: k for k in group}
            equations: dict[int, Equation[int]] = {}
            for name, k in one_of_each.items():
                poll()
                equation = equations[name] = Equation(Fraction(self.counted(chosen[k])))
                row = lumps.merged(rows[k])
                total = sum(row.values())
                for there, weight in row.items():
                    if there in one_of_each:
                        equation.terms[there] = Fraction(weight, total)
                    else:
                        equation.constant += known[there] * Fraction(weight, total)
            known |= solve(equations)
        return [known[name] for name in lumps.of]

    def improve(self, chosen: list[int], values: Sequence[Fraction], largest: bool) -> bool:
        """Takes better choices where there are any, and returns whether there were."""
        changed = False
        for k in range(self.quotient.numbered):
            poll()
            best, choices = values[k], self.quotient.choices_of(k)
            for choice in choices if len(choices) > 1 else ():
                worth = self.worth(choice, values)
                if worth > best if largest else worth < best:
                    best, chosen[k], changed = worth, choice, True
        return changed


def _in_order(quotient: Quotient, chosen: Sequence[int]) -> list[list[int]]:
    """Returns the strongly connected components of the states in between, by these choices, each
    after those that it can reach."""
    arrays, numbered = quotient.arrays, quotient.numbered
    first, targets = array("q", [0]), array("q")
    for choice in chosen[:numbered]:
        begin, end = arrays.branch_first[choice], arrays.branch_first[choice + 1]
        targets.extend(array("q", arrays.successor[begin:end]))
        first.append(len(targets))
    process = DecisionProcess(
        array("q", [*range(numbered + 1), numbered, numbered]),
        first,
        targets,
        array("q", [1]) * len(targets),
        (),
        array("q", [NO_CONSTRAINT]) * numbered,
        array("q", [0]) * (numbered + 2),
    )
    graph = ProcessGraph(process)
    found = graph.components(graph.whole())
    groups: list[list[int]] = [[] for _ in range(found.count)]
    for k in found.order:
        if k < numbered:
            groups[found.of[k]].append(k)
    return [group for group in groups if group]


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
