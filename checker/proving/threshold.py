"""Proofs about files of threshold automata: a verdict on each specification, for all sizes."""

from __future__ import annotations

import time
from enum import StrEnum
from functools import partial
from pathlib import Path

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.engines.options import Options
from checker.parametric.automaton.arithmetic import comparisons, to_nnf
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    Automaton,
    Decision,
    Outcome,
)
from checker.parametric.automaton.execution import NotARun, require_run
from checker.parametric.automaton.wording import Words
from checker.parametric.threshold.convert import convert
from checker.parametric.threshold.quotient import quotient
from checker.parametric.threshold.reader import read_file
from checker.parametric.threshold.specifications import (
    Asked,
    is_safety,
    questions_of,
    without,
)
from checker.parametric.threshold.written import Specification, Written
from checker.records import replace
from checker.results.answer import Listener, Progress, stop_reason
from checker.results.proof import AutomatonSize, CountedRun, CountedStep, Proof
from checker.results.verdict import PropertyVerdict, Report, Word

QUERY = 60.0
"""Seconds for each query by default."""

ENGINE = "z3"


class Specifications(StrEnum):
    """Which specifications of a file are decided; a *safety* one is violated by a finite run."""

    ALL = "all"
    SAFETY = "safety"
    LIVENESS = "liveness"


class FileReport(Struct, frozen=True):
    """The report on a file, and what is warned of.

    ``safety``: the verdict on all safety properties of the file: ``safe``, ``unsafe`` or ``-``.
    """

    report: Report
    warnings: tuple[Diagnostic, ...]
    safety: str


def prove_file(
    path: str,
    options: Options,
    listener: Listener | None = None,
    *,
    smallest: bool = True,
    which: Specifications = Specifications.ALL,
) -> FileReport:
    """Decides specifications of the file ``path``, each for all sizes.

    ``options.query_timeout`` and ``options.limits.timeout``: seconds for one query, and for
    everything; ``options.limits.max_states``: the states of a search at small sizes with
    which verdicts are compared (``None``: they are not); ``smallest``: violations are shown at
    sizes that are as small as possible; ``which``: the specifications that are decided.  Raises
    :class:`SpecError` for what can't be read or converted.
    """
    limits = options.limits
    with (
        budgets.within(limits.timeout, limits.memory),
        budgets.raising_when_exhausted(late=True),
    ):
        with budgets.raising_when_exhausted():
            written = _only(which, read_file(Path(path)))
            proving = _Proving(written, options, listener, smallest=smallest)
        proving.ask()
        return proving.report()


def _only(which: Specifications, written: Written) -> Written:
    if which is Specifications.ALL:
        return written
    kept = (
        each
        for each in written.specifications
        if is_safety(each.formula) == (which is Specifications.SAFETY)
    )
    return replace(written, specifications=tuple(kept))


class _Proving:
    """The specifications of one file, and what is known so far."""

    def __init__(
        self, written: Written, options: Options, listener: Listener | None, *, smallest: bool
    ) -> None:
        self.started = time.monotonic()
        self.written = written
        self.options = options
        self.listener = listener
        self.smallest = smallest
        self.automaton, self.variables = convert(written)
        self.verdicts: list[PropertyVerdict] = []
        self.stopped: str | None = None

    def ask(self) -> None:
        """Decides every specification, until the time is over or it is interrupted."""
        for specification in self.written.specifications:
            if self.stopped is None and self._seconds_left() <= 0.0:
                self.stopped = self.options.limits.no_more_time
            if self.stopped is None:
                error = budgets.ended(partial(self._decide, specification))
                if error is None:
                    continue
                self.stopped = stop_reason(error)
            self._know(specification, Word.UNKNOWN, self.stopped)

    def _decide(self, specification: Specification) -> None:
        if self.listener is not None:
            seconds = time.monotonic() - self.started
            self.listener(Progress(0, 0, 0, seconds, 0, phase=f"z3: {specification.name}"))
        try:
            asked = questions_of(specification, self.written, self.variables, self.automaton)
            decided = [
                self._compared(one, self._decide_question(specification, one)) for one in asked
            ]
        except SpecError as error:
            self._know(specification, Word.UNKNOWN, _reason(error.diagnostics[0]))
            return
        decision = min(decided, key=lambda each: _ORDER.index(each.outcome))
        decision = replace(
            decision,
            queries=sum(each.queries for each in decided),
            seconds=sum(each.seconds for each in decided),
        )
        self._know(specification, _WORDS[decision.outcome], decision.reason, decision)

    def _compared(self, asked: Asked, decision: Decision) -> Decision:
        limits, left = self.options.limits, self._seconds_left()
        if limits.max_states is None or decision.outcome is Outcome.UNKNOWN:
            return decision
        from checker.proving.small_sizes import compared

        limits = replace(limits, timeout=None if limits.timeout is None else max(left, 0.001))
        automaton = without(self.automaton, asked.never)
        options = replace(self.options, limits=limits)
        return compared(decision, automaton, asked.question, options)

    def _decide_question(self, specification: Specification, asked: Asked) -> Decision:
        """Decides ``question`` on the quotient; a violation is executed on the whole automaton."""
        from checker.parametric.symbolic.cycles import comes_back
        from checker.parametric.symbolic.decide import ParametricChecker

        question, automaton = asked.question, without(self.automaton, asked.never)
        merged = quotient(automaton, question)
        limit = self.options.query_timeout
        seconds = max(min(QUERY if limit is None else limit, self._seconds_left()), 0.001)
        if not asked.any_tail and comes_back(merged.automaton):
            message = f"`{specification.name}` is about what recurs, and processes can come back"
            hint = "where rules make cycles, its negation can have one part `[]<> F`"
            raise SpecError((Diagnostic("E123", message, specification.span, hint=hint),))
        counting = ParametricChecker(merged.automaton, seconds=seconds)
        decision = counting.decide(merged.question)
        if decision.run is None:
            return decision
        run = decision.run
        if self.smallest:
            run = counting.smallest(merged.question, run)
        run = merged.lift(run)
        try:
            require_run(automaton, run, question)
        except NotARun as failure:
            reason = f"z3's solution is not a run of the automaton: {failure}"
            return Decision(question, Outcome.UNKNOWN, reason=reason)
        return replace(decision, run=run)

    def _seconds_left(self) -> float:
        limit = self.options.limits.timeout
        return float("inf") if limit is None else limit - (time.monotonic() - self.started)

    def _know(
        self,
        specification: Specification,
        word: Word,
        reason: str,
        decision: Decision | None = None,
    ) -> None:
        run = None
        if decision is not None and decision.run is not None:
            run = _counted(self.automaton, decision.run)
            reason = f"with {sizes_of(run)}"
        self.verdicts.append(
            PropertyVerdict(
                specification.name,
                specification.text,
                word,
                reason=reason,
                certificate="" if decision is None else decision.certificate,
                queries=0 if decision is None else decision.queries,
                seconds=0.0 if decision is None else decision.seconds,
                counted=run,
            )
        )

    def report(self) -> FileReport:
        """Returns the report."""
        automaton = self.automaton
        guards = {term for rule in automaton.rules for term in comparisons(to_nnf(rule.guard))}
        condition = Words(automaton).condition(automaton.resilience)
        names = ", ".join(automaton.parameters)
        scope = f"every {names}" + ("" if condition == "true" else f" with {condition}")
        proof = Proof(
            scope=scope,
            automaton=AutomatonSize(len(automaton.locations), len(automaton.rules), len(guards)),
            condition="" if condition == "true" else condition,
            queries=sum(verdict.queries for verdict in self.verdicts),
            seconds=sum(verdict.seconds for verdict in self.verdicts),
        )
        report = Report(
            file=self.written.file,
            check=automaton.name,
            parameters={},
            engine=ENGINE,
            fine_steps=False,
            verdicts=tuple(self.verdicts),
            seconds=time.monotonic() - self.started,
            exhaustive=self.stopped is None
            and not any(verdict.word is Word.UNKNOWN for verdict in self.verdicts),
            stopped=self.stopped,
            reduce="none",
            proof=proof,
        )
        safe = {each.name for each in self.written.specifications if is_safety(each.formula)}
        words = [verdict.word for verdict in self.verdicts if verdict.property in safe]
        return FileReport(report, self.written.warnings, _safety(words))


_ORDER = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.PROVED, Outcome.VACUOUS)
"""Outcomes of questions, by which decides on their specification first."""

_WORDS = {
    Outcome.VIOLATED: Word.VIOLATED,
    Outcome.UNKNOWN: Word.UNKNOWN,
    Outcome.PROVED: Word.PROVED,
    Outcome.VACUOUS: Word.VACUOUS,
}


def _safety(words: list[Word]) -> str:
    """Returns ``unsafe`` where a property is violated, ``safe`` where all are proved (or vacuous),
    and ``-`` where that is not known, or there is none."""
    if Word.VIOLATED in words:
        return "unsafe"
    return "safe" if words and Word.UNKNOWN not in words else "-"


def _reason(found: Diagnostic) -> str:
    at = "" if found.span is None else f"line {found.span.line}: "
    return f"not decided, {found.code}: {at}{found.message} ({found.hint})"


def _counted(automaton: Automaton, run: AcceleratedRun) -> CountedRun:
    values = dict(run.values)
    shown = (*automaton.parameters, *(n for n in automaton.hidden if n.endswith(" at first")))
    there = zip(automaton.locations, run.begin, strict=True)
    steps = list[CountedStep]()
    for burst in (burst for segment in run.segments for burst in segment):
        rule = automaton.rules[burst.rule]
        source, target = (automaton.locations[at].name for at in (rule.source, rule.target))
        line = 1 if rule.place is None else rule.place.line
        if steps and (steps[-1].source, steps[-1].rule) == (source, rule.label):
            steps[-1] = replace(steps[-1], times=steps[-1].times + burst.times)
        else:
            steps.append(CountedStep(burst.times, source, target, rule.label, line))
    return CountedRun(
        sizes={name: values[name] for name in shown},
        begin={location.name: number for location, number in there if number},
        steps=tuple(steps),
    )


def sizes_of(run: CountedRun) -> str:
    """Returns the sizes, as shown."""
    return ", ".join(f"{name} = {number}" for name, number in run.sizes.items())
