"""Searches an exact automaton at given sizes, configuration by configuration, for a violation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    Automaton,
    Burst,
    Question,
    StateFormula,
)
from checker.parametric.automaton.execution import (
    Configuration,
    NotARun,
    can_take,
    satisfies,
    start,
    step,
)
from checker.polling import poll

Node: TypeAlias = tuple[Configuration, int]
"""A configuration, and how many of the formulas ``before`` have been passed."""


def search(
    automaton: Automaton, question: Question, values: Mapping[str, int], most: int
) -> tuple[AcceleratedRun | None, int]:
    """Returns a shortest run that violates ``question`` where parameters have ``values``, or
    ``None`` if there is none among the first ``most`` configurations; and how many there were."""
    found = _Search(automaton, question, values)
    return found.run(most), len(found.parents)


class _Search:
    """A breadth-first search; ``parents``: how each node was reached first."""

    def __init__(self, automaton: Automaton, question: Question, values: Mapping[str, int]) -> None:
        self.automaton = automaton
        self.question = question
        self.values = values
        self.leaving: dict[int, list[int]] = {}
        for index, rule in enumerate(automaton.rules):
            self.leaving.setdefault(rule.source, []).append(index)
        self.parents: dict[Node, tuple[Node, int] | None] = {}
        self.queue: deque[Node] = deque()

    def run(self, most: int) -> AcceleratedRun | None:
        for begin in self._begins():
            self._reach(begin, 0, None)
        while self.queue and len(self.parents) <= most:
            poll()
            node = self.queue.popleft()
            at, passed = node
            if passed == len(self.question.before) and self._true(at, self.question.violated):
                return self._path(node)
            for rule in self._enabled(at):
                self._reach(step(self.automaton, at, rule), passed, (node, rule))
        return None

    def _reach(self, at: Configuration, passed: int, parent: tuple[Node, int] | None) -> None:
        before = self.question.before
        while passed < len(before) and self._true(at, before[passed]):
            passed += 1
        if (at, passed) not in self.parents:
            self.parents[at, passed] = parent
            self.queue.append((at, passed))

    def _true(self, at: Configuration, formula: StateFormula) -> bool:
        return satisfies(at, formula, self.automaton, self.values)

    def _enabled(self, at: Configuration) -> Iterator[int]:
        for source, there in enumerate(at.where):
            for rule in self.leaving.get(source, ()) if there else ():
                if can_take(self.automaton, self.values, at, rule):
                    yield rule

    def _begins(self) -> Iterator[Configuration]:
        initial = [at for at, each in enumerate(self.automaton.locations) if each.initial]
        (group,) = self.automaton.groups
        (name,) = (name for name, _ in group.size.terms)
        for numbers in _sums(self.values[name], len(initial)):
            where = [0] * len(self.automaton.locations)
            for at, number in zip(initial, numbers, strict=True):
                where[at] = number
            run = AcceleratedRun(tuple(self.values.items()), tuple(where), ())
            try:
                begin = start(self.automaton, run)
            except NotARun:
                continue
            if self._true(begin, self.question.begins):
                yield begin

    def _path(self, node: Node) -> AcceleratedRun:
        steps: list[int] = []
        while (parent := self.parents[node]) is not None:
            node, rule = parent
            steps.append(rule)
        bursts = tuple((Burst(rule, 1),) for rule in reversed(steps))
        return AcceleratedRun(tuple(self.values.items()), node[0].where, bursts)


def _sums(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yields all tuples of ``parts`` natural numbers whose sum is ``total``."""
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(total, -1, -1):
        for rest in _sums(total - first, parts - 1):
            yield first, *rest
