"""Decides whether threshold protocols satisfy their properties for every number of processes.

:class:`ParametricChecker` decides a property of a threshold automaton by one formula for all its
executions (:mod:`checker.parametric.symbolic.runs`).  Proofs are rechecked with a more direct
encoding (:mod:`checker.parametric.symbolic.recheck`); violations come with an execution that was
computed step by step without z3 (:mod:`checker.parametric.automaton.execution`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import TypeAlias

import z3

from checker.engines.symbolic.interruptible import interruptible
from checker.parametric.automaton.arithmetic import TRUE, linear, times
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    AllOf,
    And,
    AtLeast,
    Automaton,
    Condition,
    Decision,
    Outcome,
    Question,
    StateFormula,
)
from checker.parametric.automaton.execution import NotARun, require_run
from checker.parametric.symbolic.guards import Counted
from checker.parametric.symbolic.queries import Answer, SolverQueries, Unanswered
from checker.parametric.symbolic.recheck import Plain
from checker.parametric.symbolic.refinement import Found, Obligation, Refining
from checker.parametric.symbolic.rounds import decide_next_rounds, decide_rounds, never_in_any_round
from checker.parametric.symbolic.runs import Runs, Shape, begin, resting
from checker.parametric.symbolic.segments import accelerate, units
from checker.parametric.symbolic.terms import any_of, total
from checker.records import replace

NOTHING: Mapping[str, int] = MappingProxyType({})
SMALL = 7
"""Parameter values up to this are tried before all others."""

PLAIN = 20.0
"""The time limit in seconds of the direct encoding of a query."""

Bound: TypeAlias = tuple[str | None, int]
"""A parameter, or ``None`` for the number of steps, and its upper bound."""


class ParametricChecker:
    """Decides several questions about the executions of one automaton.

    ``seconds``: the time limit of each query; ``fixed``: values of some parameters; ``resilience``:
    the assumption on them instead of the automaton's own condition.  Raises ``ValueError`` where
    ``fixed`` names no parameter, or where rules make a cycle and the automaton is not exact.
    """

    def __init__(
        self,
        automaton: Automaton,
        *,
        seconds: float | None = None,
        fixed: Mapping[str, int] = NOTHING,
        resilience: Condition | None = None,
    ) -> None:
        known = {*automaton.parameters, *automaton.hidden}
        known |= {quotient.name for quotient in automaton.quotients}
        for name in fixed:
            if name not in known:
                raise ValueError(f"{name} is not a parameter of {automaton.name}")
        self.automaton = automaton
        self.asking = SolverQueries(seconds)
        self.refining = Refining(automaton)
        self.resting = resting(automaton)
        self.plain = Plain(automaton)
        equal = [_equal(name, number) for name, number in fixed.items()]
        assumed = automaton.resilience if resilience is None else resilience
        self.assumed: Condition = And((assumed, *equal))

    def assuming(self, condition: Condition) -> ParametricChecker:
        """Returns a checker where ``condition`` is assumed of parameters instead; formulas and
        counters so far are shared.
        """
        other = copy(self)
        other.assumed = condition
        return other

    def decide(self, question: Question) -> Decision:
        """Decides ``question``: proved, violated (by an execution that was executed step by step),
        vacuous, or unknown and why.
        """
        queries, spent = self.asking.queries, self.asking.spent
        decision = interruptible(lambda: self._decide(question))
        return replace(
            decision,
            queries=self.asking.queries - queries,
            seconds=self.asking.spent - spent,
        )

    def reachable(
        self, formula: StateFormula, *, at_end: bool = False
    ) -> AcceleratedRun | Unanswered | None:
        """Returns an execution to a configuration in which ``formula`` holds, ``None`` where there
        is none, or why it is unknown.
        """
        return interruptible(lambda: self.find(Question("", formula, at_end))[0])

    def possible(self, condition: Condition = TRUE) -> bool | Unanswered:
        """Returns whether parameter values satisfy ``condition`` too, and executions can begin."""
        start = begin(self.automaton)
        solver = self.asking.solver(start.assertions)
        further = (start.condition(self.assumed), start.condition(condition))
        answer = self.asking.ask(solver, *further)
        return answer if isinstance(answer, Unanswered) else answer is not None

    def sizes(self, processes: int, most: int) -> Iterator[Mapping[str, int]]:
        """Yields numbers of all parameters, at most ``most``, by which executions can begin with
        few processes: those with fewest first, and at most as many as ``processes``."""
        start = begin(self.automaton)
        solver = self.asking.solver([*start.assertions, start.condition(self.assumed)])
        there = total(start.origin.where)
        found = 0
        for number in range(1, processes + 1):
            while found < most:
                answer = self.asking.ask(solver, there == number)
                if not isinstance(answer, z3.ModelRef):
                    break
                found += 1
                values = start.run(answer).values
                yield dict(values)
                solver.add(any_of(start.numbers[name] != value for name, value in values))

    def smallest(
        self, question: Question, run: AcceleratedRun, *, steps: bool = True
    ) -> AcceleratedRun:
        """Returns an execution that violates ``question`` too, where the first parameter is
        minimal, then the next ones, and then (if ``steps``) hidden ones and the number of steps; as
        far as z3 decides it within the time limit.  One that resets variables is returned as it is.
        """
        return interruptible(lambda: self._smallest(question, run, steps))

    def _smallest(self, question: Question, run: AcceleratedRun, steps: bool) -> AcceleratedRun:
        best, bounds = run, list[Bound]()
        if resets_in(self.automaton, run):
            return run
        further = (*self.automaton.hidden, None) if steps else ()
        for name in (*self.automaton.parameters, *further):
            lowest, highest = 0, _amount(best, name)
            while lowest < highest:
                middle = (lowest + highest) // 2
                found, _ = self.find(question, [*bounds, (name, middle)])
                if isinstance(found, AcceleratedRun):
                    best, highest = found, _amount(found, name)
                elif found is None:
                    lowest = middle + 1
                else:
                    break
            bounds.append((name, highest))
        return best

    def find(
        self, question: Question, bounds: Sequence[Bound] = (), resets: int = 0
    ) -> tuple[AcceleratedRun | Unanswered | None, frozenset[Counted]]:
        """Returns an execution within ``bounds`` that violates ``question`` and resets variables
        exactly so often, ``None`` where there is none, or why it is unknown; and what was tracked.
        """

        def violation(runs: Runs) -> list[z3.BoolRef]:
            return self.violation(runs, question, bounds)

        shape = Shape(cuts=len(question.before), resets=resets)
        found, tracked = self.refining.find(self.asking, violation, shape)
        return (found.run if isinstance(found, Found) else found), tracked

    def violation(
        self, runs: Runs, question: Question, bounds: Sequence[Bound] = ()
    ) -> list[z3.BoolRef]:
        """Encodes what ``question`` asks of executions, and that they are within ``bounds``."""
        last = runs.moments[-1]
        wanted = [runs.condition(self.assumed), runs.state(question.violated, last)]
        wanted += [runs.state(question.begins, runs.origin), *_earlier(runs, question)]
        if question.at_end:
            wanted.append(runs.end(last, self.resting))
        for name, most in bounds:
            steps = [often for taken in runs.taken for often in taken.values()]
            wanted.append((total(steps) if name is None else runs.numbers[name]) <= most)
        return wanted

    def _decide(self, question: Question) -> Decision:
        if self.automaton.next_round:
            return decide_next_rounds(self, question)
        if any(rule.resets for rule in self.automaton.rules):
            return decide_rounds(self, question)
        found, tracked = self.find(question)
        if isinstance(found, Unanswered):
            return Decision(question, Outcome.UNKNOWN, reason=found.reason)
        if isinstance(found, AcceleratedRun):
            return self.report_violation(question, found)
        return self.report_proof(question, [self.obligation(question, tracked)])

    def obligation(
        self, question: Question, tracked: frozenset[Counted], resets: int = 0
    ) -> Obligation:
        """Returns that nothing violates ``question`` with exactly so many resets."""
        shape = Shape(cuts=len(question.before), resets=resets)
        return Obligation(lambda runs: self.violation(runs, question), shape, tracked)

    def report_violation(self, question: Question, run: AcceleratedRun) -> Decision:
        """Returns the decision, with ``run`` or one of smaller sizes, if it is an execution."""
        small = [(name, SMALL) for name in self.automaton.parameters]
        smaller, _ = self.find(question, small, resets_in(self.automaton, run))
        if isinstance(smaller, AcceleratedRun):
            run = smaller
        try:
            require_run(self.automaton, run, question, self.assumed)
        except NotARun as failure:
            reason = f"z3's solution is not a run of the automaton: {failure}"
            return Decision(question, Outcome.UNKNOWN, reason=reason)
        return Decision(question, Outcome.VIOLATED, run=run)

    def report_proof(self, question: Question, obligations: Sequence[Obligation]) -> Decision:
        """Returns the decision, if a second check confirms all ``obligations``."""
        vacuous = self._vacuous(question)
        if vacuous is not None:
            return vacuous
        ways = dict[str, None]()
        for obligation in obligations:
            second, how = self._again(obligation)
            ways[how] = None
            if isinstance(second, Unanswered):
                reason = f"the proof could not be checked a second time: {second.reason}"
                return Decision(question, Outcome.UNKNOWN, reason=reason)
            if second is not None:
                reason = "two encodings of the same query disagree"
                return Decision(question, Outcome.UNKNOWN, reason=reason)
        return Decision(question, Outcome.PROVED, certificate=" and ".join(ways))

    def _again(self, obligation: Obligation) -> tuple[Answer, str]:
        """Returns the answer to a second form of the query, and which form it is: the direct one,
        or where that takes long the first one, built anew and searched in another order.
        """
        guards, shape, tracked = self.refining.guards, obligation.shape, obligation.tracked
        rules = frozenset(
            rule for rule, guard in guards.items() if tracked & {*units(self.automaton, guard)}
        )
        runs, solver = self.plain.formula(self.asking, rules, shape)
        second = self.asking.ask(solver, *obligation.wanted(runs), limit=PLAIN)
        if not isinstance(second, Unanswered):
            return second, "solved again in a plain encoding"
        runs = accelerate(self.automaton, guards, tracked, shape)
        solver = self.asking.solver([*runs.assertions, *obligation.wanted(runs)], seed=7)
        return self.asking.ask(solver), "solved again from scratch"

    def _vacuous(self, question: Question) -> Decision | None:
        """Returns the decision if ``question`` is vacuous, or if that is unknown."""
        start = self.possible()
        if isinstance(start, Unanswered):
            return Decision(question, Outcome.UNKNOWN, reason=start.reason)
        if not start:
            reason = "no sizes satisfy the condition"
            return Decision(question, Outcome.VACUOUS, reason=reason)
        if question.premise is None and question.begins == AllOf():
            return None
        premise = Question("", question.premise or AllOf(), False, begins=question.begins)
        found, _ = self.find(premise)
        if isinstance(found, Unanswered):
            reason = f"whether its premise ever holds is unknown: {found.reason}"
            return Decision(question, Outcome.UNKNOWN, reason=reason)
        if found is None and self.automaton.next_round and not never_in_any_round(self, premise):
            return None
        if found is None:
            reason = "its premise never holds"
            return Decision(question, Outcome.VACUOUS, reason=reason)
        return None


def resets_in(automaton: Automaton, run: AcceleratedRun) -> int:
    """Returns how many steps of ``run`` reset variables."""
    bursts = (burst for segment in run.segments for burst in segment)
    return sum(burst.times for burst in bursts if automaton.rules[burst.rule].resets)


def _earlier(runs: Runs, question: Question) -> list[z3.BoolRef]:
    """Encodes that the formulas ``before`` hold at cuts, in this order."""
    found: list[z3.BoolRef] = []
    for at, formula in enumerate(question.before):
        cuts = [runs.cut(at, moment) for moment in range(len(runs.moments))]
        found.append(z3.Or(*cuts))
        for moment, cut in enumerate(cuts):
            found.append(z3.Implies(cut, runs.state(formula, runs.moments[moment])))
            if at:
                earlier = [runs.cut(at - 1, other) for other in range(moment + 1)]
                found.append(z3.Implies(cut, z3.Or(*earlier)))
    return found


def _equal(name: str, number: int) -> Condition:
    term = linear({name: 1}, -number)
    return And((AtLeast(term), AtLeast(times(term, -1))))


def _amount(run: AcceleratedRun, name: str | None) -> int:
    if name is not None:
        return dict(run.values)[name]
    return sum(burst.times for segment in run.segments for burst in segment)
