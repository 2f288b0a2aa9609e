"""Whether protocols that count messages keep their promises for every number of processes.

:func:`decide` answers a question about a threshold automaton by one formula for all its runs
(:mod:`checker.engines.symbolic.thresholds_runs`).  What is proved is asked a second time in a
plainer form (:mod:`checker.engines.symbolic.thresholds_plain`); what is violated comes with a run
that was made step by step without z3 (:mod:`checker.threshold.executing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

import z3

from checker.engines.symbolic.thresholds_asking import Answer, Asking, Unanswered
from checker.engines.symbolic.thresholds_plain import plain
from checker.engines.symbolic.thresholds_runs import Runs, accelerated, begin, total
from checker.threshold.automaton import (
    Automaton,
    Condition,
    Decision,
    Outcome,
    Question,
    Run,
    StateFormula,
)
from checker.threshold.executing import NotARun, require_run

NOTHING: Mapping[str, int] = MappingProxyType({})
SMALL = 7
"""Numbers up to this are tried before any."""


class Counting:
    """The runs of one automaton, for several questions.

    ``seconds``: the time limit of each query; ``fixed``: numbers of some parameters;
    ``resilience``: what is assumed of them instead of the automaton's own condition.
    Raises ``ValueError`` where ``fixed`` names what is no parameter, or where rules make a cycle.
    """

    def __init__(
        self,
        automaton: Automaton,
        *,
        seconds: float | None = None,
        fixed: Mapping[str, int] = NOTHING,
        resilience: Condition | None = None,
    ) -> None:
        self.automaton = automaton
        self.fixed = dict(fixed)
        self.resilience = automaton.resilience if resilience is None else resilience
        self.asking = Asking(seconds)
        self.runs = accelerated(automaton, self.fixed, self.resilience)

    @cached_property
    def _solver(self) -> z3.Solver:
        return self.asking.solver(self.runs.assertions)

    def decide(self, question: Question) -> Decision:
        """Proved, violated (by a run that was executed), vacuous, or unknown and why."""
        queries, spent = self.asking.queries, self.asking.spent
        decision = self._decided(question)
        return replace(
            decision,
            queries=self.asking.queries - queries,
            seconds=self.asking.spent - spent,
        )

    def reachable(self, formula: StateFormula, *, at_end: bool = False) -> Run | Unanswered | None:
        """A run to where ``formula`` holds, ``None`` where there is none, or why it is unknown."""
        return self._run(self._wanted(formula, at_end))

    def smallest(self, question: Question, run: Run) -> Run:
        """A run that violates ``question`` too, where the first parameter is the least possible,
        then the next ones, hidden ones, and then the number of steps; as far as z3 can say within
        the time limit."""
        wanted = self._wanted(question.violated, question.at_end)
        best = run
        terms = [self.runs.numbers[name] for name in self.automaton.parameters]
        terms += [self.runs.numbers[name] for name in self.automaton.hidden]
        terms.append(total([often for taken in self.runs.taken for often in taken.values()]))
        for term in terms:
            best, wanted = self._least(question, term, best, wanted)
        return best

    def _least(
        self, question: Question, term: z3.ArithRef, best: Run, wanted: list[z3.BoolRef]
    ) -> tuple[Run, list[z3.BoolRef]]:
        lowest, highest = 0, self._of(best, term)
        while lowest < highest:
            middle = (lowest + highest) // 2
            found = self._run([*wanted, term <= middle])
            if isinstance(found, Run):
                best, highest = found, self._of(found, term)
            elif found is None:
                lowest = middle + 1
            else:
                break
        return best, [*wanted, term <= highest]

    def _of(self, run: Run, term: z3.ArithRef) -> int:
        values = dict(run.values)
        if str(term) in values:
            return values[str(term)]
        return sum(burst.times for segment in run.segments for burst in segment)

    def _wanted(self, formula: StateFormula, at_end: bool) -> list[z3.BoolRef]:
        last = self.runs.moments[-1]
        wanted = [self.runs.state(formula, last)]
        return [*wanted, self.runs.end(last)] if at_end else wanted

    def _run(self, wanted: list[z3.BoolRef]) -> Run | Unanswered | None:
        answer = self.asking.ask(self._solver, *wanted)
        return self.runs.run(answer) if isinstance(answer, z3.ModelRef) else answer

    def _decided(self, question: Question) -> Decision:
        wanted = self._wanted(question.violated, question.at_end)
        found = self._run(wanted)
        if isinstance(found, Unanswered):
            return Decision(question, Outcome.UNKNOWN, reason=found.reason)
        if isinstance(found, Run):
            return self._violated(question, wanted, found)
        return self._proved(question)

    def _violated(self, question: Question, wanted: list[z3.BoolRef], run: Run) -> Decision:
        small = [self.runs.numbers[name] <= SMALL for name in self.automaton.parameters]
        smaller = self._run([*wanted, *small])
        if isinstance(smaller, Run):
            run = smaller
        try:
            require_run(self.automaton, run, question, self.resilience)
        except NotARun as failure:
            reason = f"what z3 found is no run of the automaton: {failure}"
            return Decision(question, Outcome.UNKNOWN, reason=reason)
        return Decision(question, Outcome.VIOLATED, run=run)

    def _proved(self, question: Question) -> Decision:
        vacuous = self._vacuous(question)
        if vacuous is not None:
            return vacuous
        second = self._plainly(question.violated, question.at_end)
        if isinstance(second, Unanswered):
            reason = f"the proof could not be checked a second time: {second.reason}"
            return Decision(question, Outcome.UNKNOWN, reason=reason)
        if second is not None:
            reason = "two forms of the same question disagree"
            return Decision(question, Outcome.UNKNOWN, reason=reason)
        return Decision(question, Outcome.PROVED)

    def _vacuous(self, question: Question) -> Decision | None:
        start = self._somehow
        if isinstance(start, Unanswered):
            return Decision(question, Outcome.UNKNOWN, reason=start.reason)
        if start is None:
            reason = "no numbers satisfy what is required of them"
            return Decision(question, Outcome.VACUOUS, reason=reason)
        if question.premise is None:
            return None
        found = self._run(self._wanted(question.premise, at_end=False))
        if isinstance(found, Unanswered):
            reason = f"whether its premise ever holds is open: {found.reason}"
            return Decision(question, Outcome.UNKNOWN, reason=reason)
        if found is None:
            reason = "its premise never holds"
            return Decision(question, Outcome.VACUOUS, reason=reason)
        return None

    @cached_property
    def _somehow(self) -> Answer:
        start = begin(self.automaton, self.fixed, self.resilience)
        return self.asking.ask(self.asking.solver(start.assertions))

    @cached_property
    def _plain(self) -> tuple[Runs, z3.Solver]:
        runs = plain(self.automaton, self.fixed, self.resilience)
        return runs, self.asking.solver(runs.assertions, seed=1)

    def _plainly(self, formula: StateFormula, at_end: bool) -> Answer:
        runs, solver = self._plain
        last = runs.moments[-1]
        wanted = [runs.state(formula, last)]
        if at_end:
            wanted.append(runs.end(last))
        return self.asking.ask(solver, *wanted)


def decide(
    automaton: Automaton,
    question: Question,
    *,
    seconds: float | None = None,
    fixed: Mapping[str, int] = NOTHING,
    resilience: Condition | None = None,
) -> Decision:
    """What :meth:`Counting.decide` says of one question."""
    counting = Counting(automaton, seconds=seconds, fixed=fixed, resilience=resilience)
    return counting.decide(question)


def smallest(
    automaton: Automaton,
    question: Question,
    run: Run,
    *,
    seconds: float | None = None,
    fixed: Mapping[str, int] = NOTHING,
    resilience: Condition | None = None,
) -> Run:
    """What :meth:`Counting.smallest` says of one violated question."""
    counting = Counting(automaton, seconds=seconds, fixed=fixed, resilience=resilience)
    return counting.smallest(question, run)


def reachable(
    automaton: Automaton,
    formula: StateFormula,
    *,
    seconds: float | None = None,
    fixed: Mapping[str, int] = NOTHING,
    resilience: Condition | None = None,
) -> Run | Unanswered | None:
    """What :meth:`Counting.reachable` says of a configuration."""
    counting = Counting(automaton, seconds=seconds, fixed=fixed, resilience=resilience)
    return counting.reachable(formula)
