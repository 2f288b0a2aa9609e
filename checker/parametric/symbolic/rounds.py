"""Decides questions about automata whose rules reset variables.

Between two resets the formula of :mod:`checker.parametric.symbolic.runs` is exact, whatever the
configuration behind the first one is.  So with a bounded number of resets a violation is a solution
of a chain of such formulas.  A proof is an invariant of the configurations *behind* a reset, in
terms of finitely many predicates: which locations are occupied, which variables are 0, and which
comparisons of guards are true.  An execution to the first reset leads into it, one from a reset to
the next preserves it, and none from there violates the question.

Two kinds of invariants are tried: conjunctions of clauses with at most two literals, of which those
are dropped that some execution violates (C. Flanagan, K. R. M. Leino: Houdini, FME 2001); and the
set of all valuations of the predicates that are reached by abstract steps (S. Graf, H. Saïdi, CAV
1997), which is the strongest invariant of this form, with finitely many elements.  The predicates
are those of the 0/1 counter abstraction of T. Baumeister, P. Eichler, S. Jacobs, M. Sakr, M. Völp:
Parameterized verification of round-based distributed algorithms via extended threshold automata,
FM 2024, where single rules are abstract steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import z3

from checker.parametric.automaton.arithmetic import comparisons, linear, plus, times
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    AllOf,
    AnyOf,
    AtLeast,
    Counts,
    Decision,
    Linear,
    NotState,
    Outcome,
    Question,
    Somebody,
    StateFormula,
    sent_name,
)
from checker.parametric.automaton.execution import Configuration, satisfies, step
from checker.parametric.automaton.small_search import search
from checker.parametric.symbolic.queries import Unanswered
from checker.parametric.symbolic.refinement import Found, Obligation, Wanted
from checker.parametric.symbolic.runs import (
    Runs,
    Shape,
    reachable_locations,
)
from checker.parametric.symbolic.terms import all_of, any_of
from checker.records import replace

if TYPE_CHECKING:
    from checker.parametric.symbolic.decide import ParametricChecker

MOST_RESETS = 5
"""Violations with up to so many resets are searched for."""

FEW_PROCESSES, MOST_SIZES, MOST_SEARCHED = 4, 8, 4000
"""How many processes, sizes, and configurations there are in a search for a violation, at most."""

MOST_STATES = 100
"""Valuations of the predicates that are told apart, at most."""

Valuation: TypeAlias = tuple[bool, ...]
Literal: TypeAlias = tuple[int, bool]
"""A predicate, by number, and whether it is true."""


def decide_rounds(checker: ParametricChecker, question: Question) -> Decision:
    """Decides ``question`` about an automaton with resets: violated by an execution with few of
    them, proved by an invariant, or unknown."""
    without: list[Obligation] = []
    for resets in range(MOST_RESETS + 1):
        if resets == 1:
            proof = _Proof(checker, question).obligations()
            if proof is not None:
                return checker.report_proof(question, [*without, *proof])
        run, tracked = checker.find(question, resets=resets)
        if isinstance(run, Unanswered):
            return Decision(question, Outcome.UNKNOWN, reason=f"{run.reason}, with {resets} resets")
        if run is not None:
            return checker.report_violation(question, run)
        without.append(checker.obligation(question, tracked, resets))
        small = _search(checker, question) if resets == 0 else None
        if small is not None:
            return Decision(question, Outcome.VIOLATED, run=small)
    reason = f"no run with up to {MOST_RESETS} resets violates it, and no invariant was found"
    return Decision(question, Outcome.UNKNOWN, reason=reason)


def decide_next_rounds(checker: ParametricChecker, question: Question) -> Decision:
    """Decides ``question`` about an automaton that is one of several rounds: violated in the first
    one, proved by an invariant of the configurations in which a round begins, or unknown."""
    run, tracked = checker.find(question)
    if isinstance(run, Unanswered):
        return Decision(question, Outcome.UNKNOWN, reason=f"{run.reason}, in the first round")
    if run is not None:
        return checker.report_violation(question, run)
    proof = _Proof(checker, question).obligations()
    if proof is None:
        reason = "no run of one round violates it, and no invariant of the rounds was found"
        return Decision(question, Outcome.UNKNOWN, reason=reason)
    return checker.report_proof(question, [checker.obligation(question, tracked), *proof])


def never_in_any_round(checker: ParametricChecker, question: Question) -> bool:
    """Returns whether it is proved that no round after the first one violates ``question``."""
    return _Proof(checker, question).obligations() is not None


def _search(checker: ParametricChecker, question: Question) -> AcceleratedRun | None:
    """Returns a violation with few processes, or ``None`` where a short search finds none."""
    searched = 0
    for values in checker.sizes(FEW_PROCESSES, MOST_SIZES):
        run, more = search(checker.automaton, question, values, MOST_SEARCHED - searched)
        searched += more
        if run is not None or searched >= MOST_SEARCHED:
            return run
    return None


class Clauses:
    """The strongest conjunction of clauses of one or two literals that all valuations satisfy which
    were added."""

    def __init__(self, first: Valuation) -> None:
        true = list(enumerate(first))
        false = [(at, not value) for at, value in true]
        self.clauses: list[tuple[Literal, ...]] = [(literal,) for literal in true]
        self.clauses += combinations(true, 2)
        self.clauses += [(one, other) for one in true for other in false if one[0] != other[0]]

    def add(self, valuation: Valuation) -> bool:
        """Weakens the conjunction; returns whether that is possible."""
        self.clauses = [
            clause for clause in self.clauses if any(valuation[at] == sign for at, sign in clause)
        ]
        return True

    def parts(self) -> list[tuple[Literal, ...]]:
        """Returns the clauses that imply the others."""
        alone = {clause[0] for clause in self.clauses if len(clause) == 1}
        return [c for c in self.clauses if len(c) == 1 or not alone.intersection(c)]

    @staticmethod
    def part(predicates: list[z3.BoolRef], clause: tuple[Literal, ...]) -> z3.BoolRef:
        return any_of(_literal(predicates, each) for each in clause)

    joined = staticmethod(all_of)


class Valuations:
    """The valuations that were added, at most :data:`MOST_STATES`."""

    def __init__(self, first: Valuation) -> None:
        self.found = [first]

    def add(self, valuation: Valuation) -> bool:
        """Adds a valuation; returns whether that is possible."""
        self.found.append(valuation)
        return len(self.found) <= MOST_STATES

    def parts(self) -> list[tuple[Literal, ...]]:
        """Returns valuations; one of them holds."""
        return [tuple(enumerate(one)) for one in self.found]

    @staticmethod
    def part(predicates: list[z3.BoolRef], valuation: tuple[Literal, ...]) -> z3.BoolRef:
        return all_of(_literal(predicates, each) for each in valuation)

    joined = staticmethod(any_of)


def _literal(predicates: list[z3.BoolRef], literal: Literal) -> z3.BoolRef:
    at, sign = literal
    return predicates[at] if sign else z3.Not(predicates[at])


class _Proof:
    """The search for an invariant.  There is one for each number of formulas of ``question.before``
    that have been passed already."""

    def __init__(self, checker: ParametricChecker, question: Question) -> None:
        self.checker = checker
        self.question = question
        self.stages = range(len(question.before) + 1)
        self.predicates = list(dict.fromkeys(self._predicates()))
        self.written: dict[tuple[int, bool], tuple[Runs, list[z3.BoolRef]]] = {}
        self.parts: dict[object, z3.BoolRef] = {}

    def obligations(self) -> list[Obligation] | None:
        """Returns the queries without solutions that are a proof, or ``None``."""
        kinds = (Clauses,) if self.checker.automaton.next_round else (Clauses, Valuations)
        for kind in kinds:
            found = self._with(kind)
            if found is not None:
                return found
        return None

    def _predicates(self) -> Iterator[StateFormula]:
        automaton = self.checker.automaton
        if automaton.next_round:
            yield from (Somebody(frozenset({at})) for at in sorted(set(automaton.next_round)))
            yield from _counted(self.question.violated)
            return
        for at in sorted(reachable_locations(automaton)):
            yield Somebody(frozenset({at}))
        for kind in range(len(automaton.kinds)):
            yield Counts(AtLeast(linear({sent_name(kind): 1}, -1)))
        terms = [term for rule in automaton.rules for term in comparisons(rule.guard)]
        for formula in (self.question.violated, *self.question.before):
            terms += _compared(formula)
        for term in terms:
            opposite = plus(times(term, -1), Linear((), -1))
            yield Counts(AtLeast(max(term, opposite, key=repr)))

    def _with(self, kind: type[Clauses | Valuations]) -> list[Obligation] | None:
        invariants: dict[int, Clauses | Valuations] = {}
        proved: dict[tuple[int | None, int], Obligation] = {}
        changed = True
        while changed:
            changed = False
            for before, behind in self._steps(invariants):
                while isinstance(found := self._step(invariants, before, behind), Found):
                    changed = True
                    valuation = self._valuation(found)
                    if behind not in invariants:
                        invariants[behind] = kind(valuation)
                    elif not invariants[behind].add(valuation):
                        return None
                if isinstance(found, Unanswered):
                    return None
                proved[before, behind] = found
        ends = [self._end(invariants, stage) for stage in sorted(invariants)]
        needed = [each for each in (*proved.values(), *ends) if isinstance(each, Obligation)]
        return needed if len(needed) == len(proved) + len(ends) else None

    def _steps(
        self, invariants: dict[int, Clauses | Valuations]
    ) -> Iterator[tuple[int | None, int]]:
        """Yields from which invariant (``None``: an initial configuration) to which one a reset
        may lead."""
        for behind in self.stages:
            yield None, behind
        for before in self.stages:
            if before in invariants:
                for behind in self.stages[before:]:
                    yield before, behind

    def _step(
        self, invariants: dict[int, Clauses | Valuations], before: int | None, behind: int
    ) -> Found | Obligation | Unanswered:
        """Returns an execution to the next reset that leaves the invariant there, or that there is
        none."""
        passed = self.question.before[before or 0 : behind]
        asked = Question("", AllOf(), False, begins=self.question.begins, before=passed)

        def wanted(runs: Runs) -> list[z3.BoolRef]:
            found = self.checker.violation(runs, asked)
            if before is not None:
                found.append(self._holds(invariants[before], runs))
            if behind in invariants:
                found.append(z3.Not(self._holds(invariants[behind], runs, behind=True)))
            return found

        resets = 0 if self.checker.automaton.next_round else 1
        shape = Shape(len(passed), resets, anywhere=before is not None, behind=resets > 0)
        return self._query(wanted, shape)

    def _end(
        self, invariants: dict[int, Clauses | Valuations], stage: int
    ) -> Found | Obligation | Unanswered:
        """Returns an execution from the invariant that violates the question without a further
        reset, or that there is none."""
        asked = replace(self.question, before=self.question.before[stage:])

        def wanted(runs: Runs) -> list[z3.BoolRef]:
            found = self.checker.violation(runs, asked)
            return [*found, self._holds(invariants[stage], runs)]

        return self._query(wanted, Shape(len(asked.before), anywhere=True))

    def _query(self, wanted: Wanted, shape: Shape) -> Found | Obligation | Unanswered:
        found, tracked = self.checker.refining.find(self.checker.asking, wanted, shape)
        return Obligation(wanted, shape, tracked) if found is None else found

    def _holds(
        self, invariant: Clauses | Valuations, runs: Runs, *, behind: bool = False
    ) -> z3.BoolRef:
        """Encodes that the invariant holds at the start of ``runs``, or ``behind`` their end:
        there, or where the next round begins."""
        key = id(runs), behind
        if key not in self.written:
            at = runs.moments[-1 if behind else 0]
            asked = map(self._behind, self.predicates) if behind else self.predicates
            self.written[key] = runs, [runs.state(each, at) for each in asked]
        found: list[z3.BoolRef] = []
        for part in invariant.parts():
            if (key, type(invariant), part) not in self.parts:
                made = invariant.part(self.written[key][1], part)
                self.parts[key, type(invariant), part] = made
            found.append(self.parts[key, type(invariant), part])
        return invariant.joined(found)

    def _behind(self, predicate: StateFormula) -> StateFormula:
        """Returns what has to hold for ``predicate`` to hold behind a configuration."""
        following = self.checker.automaton.next_round
        if not following:
            return predicate
        assert isinstance(predicate, Somebody)
        before = (at for at, after in enumerate(following) if after in predicate.locations)
        return Somebody(frozenset(before), predicate.least)

    def _valuation(self, found: Found) -> Valuation:
        """Returns which predicates are true at the end of an execution."""
        automaton, run = self.checker.automaton, found.run
        last = Configuration(run.begin, found.first, (0,) * len(found.first))
        for burst in (burst for segment in run.segments for burst in segment):
            last = step(automaton, last, burst.rule, burst.times)
        values = dict(run.values)
        behind = map(self._behind, self.predicates)
        return tuple(satisfies(last, each, automaton, values) for each in behind)


def _counted(formula: StateFormula) -> list[StateFormula]:
    """Returns the sets of locations that the formula requires to be occupied."""
    match formula:
        case Somebody():
            return [formula]
        case NotState(part):
            return _counted(part)
        case AllOf(parts) | AnyOf(parts):
            return [each for part in parts for each in _counted(part)]
        case Counts():
            return []


def _compared(formula: StateFormula) -> list[Linear]:
    """Returns the terms that the formula compares."""
    match formula:
        case Counts(condition):
            return list(comparisons(condition))
        case NotState(part):
            return _compared(part)
        case AllOf(parts) | AnyOf(parts):
            return [term for part in parts for term in _compared(part)]
        case Somebody():
            return []
