"""Finds executions of a threshold automaton with as few segments as possible, by abstraction
refinement.

Most properties don't depend on the order in which guards become true.  So first there is one
segment, and a guard has to be true at its end only: if that has no solution there is no execution.
A solution's rules are taken one after the other, as far as possible.  If all can be, it is an
execution.  If not, the guards of some of them became true too late: from then on these guards are
tracked, with segments that begin where they become true.  When everything is tracked, solutions are
executions; so the refinement terminates, with the same answer as if everything had been tracked at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

import z3
from msgspec import Struct

from checker.parametric.automaton.arithmetic import holds
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    AtLeast,
    Automaton,
    Burst,
    Mode,
    sent_name,
)
from checker.parametric.symbolic.cycles import ranks, sort_key
from checker.parametric.symbolic.guards import (
    All,
    Any,
    Choice,
    Counted,
    correct_senders_name,
    possible,
)
from checker.parametric.symbolic.queries import SolverQueries, Unanswered
from checker.parametric.symbolic.runs import ALL, Runs, Shape, reachable_rules
from checker.parametric.symbolic.segments import accelerate, false_units, units

Wanted: TypeAlias = Callable[[Runs], list[z3.BoolRef]]
"""The condition on executions, in terms of their formula."""


class Found(Struct, frozen=True):
    """An execution, and how many messages of each kind have been sent at its ``first``
    configuration: none, unless it may begin anywhere."""

    run: AcceleratedRun
    first: tuple[int, ...]


class Obligation(Struct, frozen=True):
    """A query without a solution, on which a proof rests: no execution of ``shape`` satisfies what
    ``wanted`` returns; ``tracked``: the conditions that it took to see that."""

    wanted: Wanted
    shape: Shape
    tracked: frozenset[Counted]


@dataclass
class Refining:
    """The executions of ``automaton``, with formulas and solvers kept from query to query.

    Raises ``ValueError`` where rules make a cycle, and the automaton is not exact.
    """

    automaton: Automaton
    guards: dict[int, Counted] = field(init=False)
    ranks: list[int] = field(init=False)
    made: dict[tuple[frozenset[Counted], Shape], tuple[Runs, z3.Solver]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        automaton = self.automaton
        self.ranks = ranks(automaton)
        self.guards = {
            rule: possible(automaton, automaton.rules[rule]) for rule in reachable_rules(automaton)
        }

    def find(
        self, asking: SolverQueries, wanted: Wanted, shape: Shape = ALL
    ) -> tuple[Found | Unanswered | None, frozenset[Counted]]:
        """Returns an execution of ``shape`` that satisfies ``wanted``, ``None`` where there is
        none, or why it is not known; and the conditions that were tracked eventually.
        """
        tracked: frozenset[Counted] = frozenset()
        while True:
            runs, solver = self.formula(asking, tracked, shape)
            answer = asking.ask(solver, *wanted(runs))
            if not isinstance(answer, z3.ModelRef):
                return answer, tracked
            solution, first = runs.run(answer), runs.first(answer)
            run, late = Ordering(self, solution, first).result()
            if run is None and self.automaton.exact and late <= tracked:
                run, late = Ordering(self, solution, first).as_solved()
            if run is not None:
                return Found(run, first), tracked
            if late <= tracked:
                return Unanswered("a solution could not be put in order"), tracked
            tracked |= late

    def formula(
        self, asking: SolverQueries, tracked: frozenset[Counted], shape: Shape = ALL
    ) -> tuple[Runs, z3.Solver]:
        """Returns the formula with ``tracked`` conditions, and a solver that asserts it."""
        if (tracked, shape) not in self.made:
            runs = accelerate(self.automaton, self.guards, tracked, shape)
            self.made[tracked, shape] = runs, asking.solver(runs.assertions)
        return self.made[tracked, shape]


class Ordering:
    """Orders the rules of a solution: rules that send messages first."""

    def __init__(self, refining: Refining, run: AcceleratedRun, first: tuple[int, ...]) -> None:
        self.refining = refining
        self.run = run
        self.values = dict(run.values)
        self.where = list(run.begin)
        names = (sent_name, correct_senders_name)
        self.sent = {name(kind): sent for kind, sent in enumerate(first) for name in names}
        self.true: set[Counted] = set()

    def result(self) -> tuple[AcceleratedRun | None, frozenset[Counted]]:
        """Returns the execution, or ``None`` where some rules can't be taken, and the conditions
        that they still wait for.
        """
        segments: list[tuple[Burst, ...]] = []
        for segment in self.run.segments:
            left: dict[int, int] = {}
            for burst in segment:
                left[burst.rule] = left.get(burst.rule, 0) + burst.times
            while left:
                bursts = self._bursts(left)
                if not bursts:
                    return None, self._late(left)
                segments.append(tuple(bursts))
        return AcceleratedRun(self.run.values, self.run.begin, tuple(segments)), frozenset()

    def as_solved(self) -> tuple[AcceleratedRun | None, frozenset[Counted]]:
        """Does the same as :meth:`result`, in the order of the solution, where only conditions that
        are not tracked can be false."""
        rules, guards = self.refining.automaton.rules, self.refining.guards
        for burst in (burst for segment in self.run.segments for burst in segment):
            for _ in range(burst.times):
                occupied = self.where[rules[burst.rule].source] > 0
                if not occupied or not self._true(guards[burst.rule]):
                    return None, self._false(guards[burst.rule])
                self._take(burst.rule, 1)
        return self.run, frozenset()

    def _late(self, left: Mapping[int, int]) -> frozenset[Counted]:
        """Returns the false guards of rules whose source is occupied; where some of these rules
        send messages only their guards, since the others may as well be taken later.
        """
        rules, guards = self.refining.automaton.rules, self.refining.guards
        waiting = [
            rule for rule in left if self.where[rules[rule].source] and not self._true(guards[rule])
        ]
        senders = [rule for rule in waiting if rules[rule].sends]
        return frozenset(each for rule in senders or waiting for each in self._false(guards[rule]))

    def _false(self, guard: Counted) -> frozenset[Counted]:
        found = units(self.refining.automaton, guard)
        return frozenset(false_units(guard, {unit: self._true(unit) for unit in found}))

    def _bursts(self, left: dict[int, int]) -> list[Burst]:
        """Returns the rules that can be taken with guards that are true now, in order; they are
        removed from ``left``.
        """
        rules, guards = self.refining.automaton.rules, self.refining.guards
        able = [rule for rule in left if self._true(guards[rule])]
        automaton, ranks = self.refining.automaton, self.refining.ranks
        if automaton.exact:
            able.sort(key=lambda rule: sort_key(automaton, ranks, rule))
        else:
            able.sort(key=lambda rule: (ranks[rules[rule].source], not rules[rule].sends))
        bursts = []
        for rule in able:
            times = self._often(rule, left[rule])
            if not times:
                continue
            bursts.append(Burst(rule, times))
            left[rule] -= times
            if not left[rule]:
                del left[rule]
        return bursts

    def _often(self, index: int, most: int) -> int:
        """Takes a rule as often as it can be, at most ``most`` times; returns how often."""
        automaton = self.refining.automaton
        rule = automaton.rules[index]
        if rule.source != rule.target:
            most = min(most, self.where[rule.source])
        elif not self.where[rule.source]:
            return 0
        if not automaton.exact:
            if most:
                self._take(index, most)
            return most
        for done in range(most):
            if not self._true(self.refining.guards[index]):
                return done
            self._take(index, 1)
        return most

    def _take(self, index: int, times: int) -> None:
        automaton = self.refining.automaton
        rule = automaton.rules[index]
        self.where[rule.source] -= times
        self.where[rule.target] += times
        group = automaton.groups[automaton.locations[rule.source].group]
        for kind in rule.resets:
            self.sent[sent_name(kind)] = 0
        for kind in rule.sends:
            self.sent[sent_name(kind)] += times
            if group.mode is Mode.CORRECT:
                self.sent[correct_senders_name(kind)] += times

    def _true(self, formula: Counted) -> bool:
        if self.refining.automaton.exact:
            return self._holds(formula)
        if formula not in self.true and self._holds(formula):
            self.true.add(formula)
        return formula in self.true

    def _holds(self, formula: Counted) -> bool:
        match formula:
            case AtLeast():
                return holds(formula, {**self.values, **self.sent})
            case Choice():
                return self._has_choice(formula)
            case All(parts):
                return all(self._holds(part) for part in parts)
            case Any(parts):
                return any(self._holds(part) for part in parts)
            case _:
                assert_never(formula)

    def _has_choice(self, choice: Choice) -> bool:
        """Decides a choice by a query to z3 with numbers in place of everything but receipts."""
        runs = Runs(self.refining.automaton)
        runs.numbers = {name: z3.IntVal(number) for name, number in self.values.items()}
        sent: Mapping[str, z3.ArithRef] = {
            name: z3.IntVal(number) for name, number in self.sent.items()
        }
        solver = z3.Solver()
        solver.add(runs.choice(choice, sent))
        return bool(solver.check() == z3.sat)
