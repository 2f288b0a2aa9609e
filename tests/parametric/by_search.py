"""Threshold automata at given numbers, searched configuration by configuration.

Written for tests and independent of what it tests: Byzantine senders are sets here, what a process
has received is enumerated, and nothing is worked out about guards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product

from checker.parametric.automaton.automaton import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Automaton,
    Condition,
    Linear,
    Mode,
    Not,
    NotState,
    Or,
    Question,
    Somebody,
    StateFormula,
)

Numbers = Mapping[str, int]
Configuration = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def number(term: Linear, numbers: Numbers) -> int:
    return sum(by * numbers[name] for name, by in term.terms) + term.constant


def true(condition: Condition, numbers: Numbers) -> bool:
    match condition:
        case AtLeast(term):
            return number(term, numbers) >= 0
        case Not(part):
            return not true(part, numbers)
        case And(parts):
            return all(true(part, numbers) for part in parts)
        case Or(parts):
            return any(true(part, numbers) for part in parts)


def state(formula: StateFormula, where: tuple[int, ...]) -> bool:
    match formula:
        case Somebody(locations, least):
            return sum(where[each] for each in locations) >= least
        case NotState(part):
            return not state(part, where)
        case AllOf(parts):
            return all(state(part, where) for part in parts)
        case AnyOf(parts):
            return any(state(part, where) for part in parts)


class Search:
    """All configurations of ``automaton`` where its parameters have ``numbers``."""

    def __init__(self, automaton: Automaton, numbers: Numbers, most: int = 3) -> None:
        self.automaton = automaton
        self.numbers = dict(numbers)
        self.most = most
        self._heard: dict[object, list[dict[str, int]]] = {}

    def worlds(self) -> Iterator[dict[str, int]]:
        """Numbers of hidden parameters and of quotients too."""
        hidden = self.automaton.hidden
        for found in product(range(self.most + 1), repeat=len(hidden)):
            world = {**self.numbers, **dict(zip(hidden, found, strict=True))}
            for quotient in self.automaton.quotients:
                world[quotient.name] = number(quotient.numerator, world) // quotient.divisor
            if all(true(each, world) for each in self.automaton.constraints):
                yield world

    def violates(self, question: Question) -> bool:
        return any(
            state(question.violated, found[0]) and (not question.at_end or self.rests(world, found))
            for world in self.worlds()
            for found in self.reached(world)
        )

    def reached(self, world: Numbers) -> Iterator[Configuration]:
        nothing = (0,) * len(self.automaton.kinds)
        todo = [(where, nothing, nothing) for where in self._begin(world)]
        seen = set(todo)
        while todo:
            found = todo.pop()
            yield found
            for following in self._next(world, found):
                if following not in seen:
                    seen.add(following)
                    todo.append(following)

    def _begin(self, world: Numbers) -> Iterator[tuple[int, ...]]:
        ranges = [
            range(number(self.automaton.groups[each.group].size, world) + 1)
            if each.initial
            else range(1)
            for each in self.automaton.locations
        ]
        for where in product(*ranges):
            sizes = [0] * len(self.automaton.groups)
            for there, location in zip(where, self.automaton.locations, strict=True):
                sizes[location.group] += there
            if sizes == [number(group.size, world) for group in self.automaton.groups]:
                yield where

    def _next(self, world: Numbers, found: Configuration) -> Iterator[Configuration]:
        where, correct, crashing = found
        for rule in self.automaton.rules:
            location = self.automaton.locations[rule.source]
            if not where[rule.source]:
                continue
            needed = And((rule.guard, *location.known))
            if not self._received(world, found, rule.source, needed, owed=False):
                continue
            there = list(where)
            there[rule.source] -= 1
            there[rule.target] += 1
            more = tuple(int(kind in rule.sends) for kind in range(len(correct)))
            if self.automaton.groups[location.group].mode is Mode.CORRECT:
                yield tuple(there), tuple(map(sum, zip(correct, more, strict=True))), crashing
            else:
                yield tuple(there), correct, tuple(map(sum, zip(crashing, more, strict=True)))

    def rests(self, world: Numbers, found: Configuration) -> bool:
        """Whether no correct process has to move."""
        for index, location in enumerate(self.automaton.locations):
            correct = self.automaton.groups[location.group].mode is Mode.CORRECT
            if found[0][index] and correct and not location.crashed:
                stays = [Not(rule.guard) for rule in self.automaton.rules if rule.source == index]
                needed = And((*stays, *location.known))
                if not self._received(world, found, index, needed, owed=True):
                    return False
        return True

    def _received(
        self, world: Numbers, found: Configuration, location: int, needed: Condition, *, owed: bool
    ) -> bool:
        own = self.automaton.locations[location].own
        key = found[1], found[2], own, owed, tuple(sorted(world.items()))
        if key not in self._heard:
            self._heard[key] = list(self._receipts(world, found, own, owed))
        return any(true(needed, {**world, **heard}) for heard in self._heard[key])

    def _receipts(
        self, world: Numbers, found: Configuration, own: frozenset[int], owed: bool
    ) -> Iterator[dict[str, int]]:
        """Byzantine senders of each kind are a set; the same ones where sender and number agree."""
        _, correct, crashing = found
        ranges, liars = [], []
        for index, kind in enumerate(self.automaton.kinds):
            least = correct[index] - (index in own) if owed else 0
            ranges.append(range(least, correct[index] + crashing[index] - (index in own) + 1))
            of = [(kind.sender, kind.forged, liar) for liar in range(number(kind.forged, world))]
            liars.append([set(some) for k in range(len(of) + 1) for some in combinations(of, k)])
        told = list(product(*ranges))
        seen = set()
        for lied in product(*liars):
            for numbers in told:
                heard = {
                    receipt.name: sum(numbers[kind] for kind in receipt.kinds)
                    + len(set().union(*(lied[kind] for kind in receipt.kinds)))
                    for receipt in self.automaton.receipts
                }
                if tuple(heard.values()) not in seen:
                    seen.add(tuple(heard.values()))
                    yield heard
