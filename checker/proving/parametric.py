"""Proofs for every n: a check about all sizes becomes a threshold automaton, which z3 decides.

What z3 proves is proved of the protocol, for the automaton simulates all of its finite systems.
What it refutes is not: the interpreter replays the execution that it gives in the finite system of
its numbers, and judges it as any other.  Where it can't be concretized, that system is explored; if
the property holds there, z3 is queried about all other numbers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.engines.options import Options
from checker.instantiate.instantiated import Instantiated
from checker.instantiate.protocol.sizes import given_value
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import comparisons, to_nnf
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    And,
    Automaton,
    Condition,
    Decision,
    Not,
    Outcome,
    Question,
)
from checker.parametric.automaton.correct_senders import strengthen
from checker.parametric.automaton.wording import Words
from checker.proving.concretization import (
    Finite,
    Refuted,
    explore_size,
    numbers_of,
    refute,
    sizes_text,
    small_numbers,
)
from checker.proving.provable import require_provable
from checker.proving.size_conditions import (
    conditions,
    defaults,
    equal_to,
    thresholds,
    weaken_assumptions,
)
from checker.records import replace
from checker.results import so_far
from checker.results.answer import INTERRUPTED, Answer, Listener, Progress, stop_reason
from checker.results.assumptions import assumptions_of
from checker.results.judge import compare
from checker.results.origin import with_origins
from checker.results.proof import AutomatonSize, Proof, Weakened
from checker.results.trace import Trace
from checker.results.verdict import PropertyVerdict, Report, Word
from checker.session.caveats import not_promised, variants_of, warning_notes, warnings_of
from checker.session.chance import not_by_proof
from checker.session.load import load_check, parametrize, read_spec
from checker.session.run_engine import unknown_report
from checker.session.world_line import world_line

if TYPE_CHECKING:
    from checker.language.load import Spec
    from checker.parametric.symbolic.decide import ParametricChecker

QUERY = 60.0
"""Seconds for each query by default."""

ATTEMPTS = 4
"""At most so many executions at different numbers are replayed before a violation is unknown."""

FOLLOWING = 60.0
"""Seconds for replaying a violation, and for exploring its system where that can't be done."""

SMALL_ROUNDS = 3
"""The systems that are explored for a violation in a later round have no larger numbers."""

FOR_ONE = 10.0
"""Seconds for exploring a system only to learn weaker conditions."""

ENGINE = "z3"

_T = TypeVar("_T")


def prove_every(
    spec: Spec | str,
    name: str | None,
    options: Options,
    listener: Listener | None = None,
    *,
    tight: bool = True,
    synthesize: bool = False,
) -> Report:
    """Proves the properties of the check ``name`` of ``spec``, for all sizes, or refutes them for
    some.

    A check with sizes is generalised by :func:`parametrize`.  ``options.query_timeout`` and
    ``options.limits.timeout``: seconds for one query, and for everything; ``options.explain``: for
    minimising each violation.  ``tight``: checks weaker conditions of the sizes;
    ``synthesize``: computes which conditions and thresholds suffice.

    Raises :class:`SpecError` for errors of the user, and for what is outside the fragment.
    """
    limits = options.limits
    with budgets.within(limits.timeout, limits.memory):
        spec = read_spec(spec)
        written = load_check(spec, name, options.settings)
        require_provable(written)
    started = time.monotonic()
    with budgets.within(limits.timeout, limits.memory):
        try:
            with budgets.raising_when_exhausted(late=True):
                with budgets.raising_when_exhausted():
                    proving = _Proving.begin(spec, written, options, listener)
                proving.ask()
                if tight and not proving.stopped:
                    proving.weaken()
                if synthesize and not proving.stopped:
                    proving.propose()
                return not_by_proof(proving.report(), written)
        except KeyboardInterrupt as error:
            spent = time.monotonic() - started
            return not_by_proof(unknown_report(spec.path, written, options, spent, error), written)


def automaton_of(
    spec: Spec | str, name: str | None, options: Options
) -> tuple[Automaton, tuple[Question, ...]]:
    """Returns the threshold automaton of a check, and the questions about it; raises
    :class:`SpecError` for errors of the user, and for what is outside the fragment."""
    return extraction(about_every_size(load_check(spec, name, options.settings), options.settings))


def extraction(check: typed.Check) -> tuple[Automaton, tuple[Question, ...]]:
    """Does the same as :func:`automaton_of`, of a check about all sizes."""
    from checker.parametric.automaton.questions import questions
    from checker.parametric.extract.extract import extract

    automaton = extract(check)
    asked = questions(check, automaton)
    if sorted(q.property for q in asked) != sorted(p.name for p in check.prove):
        raise AssertionError("there has to be one question for each property")
    return automaton, asked


class _Kept(Struct, frozen=True):
    """A check with its properties that are in the fragment, its automaton with their questions,
    and for each other property the first diagnostic that says why it is not."""

    check: typed.Check
    automaton: Automaton
    questions: tuple[Question, ...]
    refused: Mapping[str, Diagnostic]


def _without_refused(check: typed.Check) -> _Kept:
    """Returns what of ``check``, about all sizes, is in the fragment.

    Raises :class:`SpecError` where no property is: then a clause of the check may be to blame.
    """
    try:
        return _Kept(check, *extraction(check), {})
    except SpecError as whole:
        refused: dict[str, Diagnostic] = {}
        for definition in check.prove:
            try:
                extraction(replace(check, prove=(definition,)))
            except SpecError as error:
                refused[definition.name] = error.diagnostics[0]
        if len(refused) == len(check.prove):
            raise whole from None
        kept = replace(check, prove=tuple(p for p in check.prove if p.name not in refused))
        return _Kept(kept, *extraction(kept), refused)


def about_every_size(check: typed.Check, settings: Mapping[str, str]) -> typed.Check:
    """Returns ``check`` about all sizes, with the other parameters as in ``settings``.

    Raises :class:`SpecError` (E003) for what can't be set, sizes among it.
    """
    check = parametrize(check)
    known = {s.name: s for s in check.settings}
    for name, value in settings.items():
        if name in dict(check.overridden):
            continue
        if name in check.every:
            hint = f"leave out `--set {name}={value}`"
            message = f"the query covers every {name}, and `--set` gives it a value"
            raise SpecError((Diagnostic("E003", message, hint=hint),))
        known[name] = typed.Setting(name, given_value(check, name, value), check.span)
    return replace(check, settings=tuple(known.values()))


@dataclass
class _Proving:
    """The questions, and what is known so far; ``weakened``: where less is required of sizes;
    ``every``: all properties of the check, in order, those outside the fragment among them."""

    spec: Spec
    written: typed.Check
    check: typed.Check
    options: Options
    listener: Listener | None
    automaton: Automaton
    questions: tuple[Question, ...]
    finite: Finite
    started: float
    decisions: dict[str, Decision] = field(default_factory=dict)
    verdicts: dict[str, PropertyVerdict] = field(default_factory=dict)
    weakened: tuple[Weakened, ...] = ()
    proposals: tuple[str, ...] = ()
    sufficient: bool | None = None
    stopped: str | None = None
    counting: ParametricChecker | None = None
    every: tuple[typed.PropertyDef, ...] = ()

    @classmethod
    def begin(
        cls, spec: Spec, written: typed.Check, options: Options, listener: Listener | None
    ) -> _Proving:
        """Starts a proof in which nothing is decided yet."""
        started = time.monotonic()
        whole = about_every_size(written, options.settings)
        kept = _without_refused(whole)
        finite = Finite(spec, written, kept.check, options)
        made = cls(
            spec, written, kept.check, options, listener, kept.automaton, kept.questions, finite,
            started, every=whole.prove,
        )  # fmt: skip
        for definition in whole.prove:
            if definition.name in kept.refused:
                made.refuse(definition, kept.refused[definition.name])
        return made

    def refuse(self, definition: typed.PropertyDef, why: Diagnostic) -> None:
        """Records that ``definition`` is outside the fragment."""
        at = "" if why.span is None else f"line {why.span.line}: "
        hint = f" ({why.hint})" if why.hint else ""
        said = why.message.removeprefix(f"`{definition.name}`: ")
        reason = f"not in the fragment of proofs, {why.code}: {at}{said}{hint}"
        name, text = definition.name, definition.document or definition.text
        expected = self._expectations().get(name)
        self.verdicts[name] = PropertyVerdict(name, text, Word.UNKNOWN, expected, reason)

    # ---- queries --------------------------------------------------------------------------

    def ask(self) -> None:
        """Decides every question, until the time is over or it is interrupted."""
        for question in self.questions:
            so_far.known(self._report_so_far)
            self._say(question.property)
            if self.stopped is None and self._seconds_left() <= 0.0:
                self.stopped = self.options.limits.no_more_time
            if self.stopped is not None:
                self._know(question, Word.UNKNOWN, self.stopped)
                continue
            error = budgets.ended(partial(self._count_and_decide, question))
            if error is not None:
                self.stopped = stop_reason(error)
                self._know(question, Word.UNKNOWN, self.stopped)

    def _count_and_decide(self, question: Question) -> None:
        if self.counting is None:
            self.counting = self._counting(self.automaton, self.automaton.resilience)
        self._decide(question, self.counting)

    def _decide(self, question: Question, counting: ParametricChecker) -> None:
        excluded: list[str] = []
        resilience = self.automaton.resilience
        for _ in range(ATTEMPTS):
            counting.asking.seconds = self._query()
            decision = counting.decide(question)
            self._record_decision(question, decision)
            match decision.outcome:
                case Outcome.PROVED:
                    self._add_proved(question, excluded)
                case Outcome.VACUOUS:
                    self._know(question, Word.VACUOUS, decision.reason)
                case Outcome.UNKNOWN:
                    if not self._violated_in_rounds(question):
                        self._know(question, Word.UNKNOWN, decision.reason)
                case Outcome.VIOLATED:
                    assert decision.run is not None
                    run = counting.smallest(question, decision.run)
                    numbers = numbers_of(self.automaton, run)
                    self._say(f"{question.property}: following a run with {sizes_text(numbers)}")
                    found = self._follow(question, run, FOLLOWING, self.options.explain)
                    if found.holds:
                        excluded.append(found.reason)
                        resilience = And((resilience, Not(equal_to(numbers))))
                        counting = counting.assuming(resilience)
                        continue
                    self._add_refuted(question, numbers, found)
                    self.stopped = found.stopped or None
            return
        said = "; ".join(excluded)
        why = f"the automaton has runs that the protocol lacks: {said}, and so on"
        self._know(question, Word.UNKNOWN, why)

    def _violated_in_rounds(self, question: Question) -> bool:
        """Explores small systems of few rounds, where no proof about any number of them was found;
        returns whether one violates ``question``."""
        last = self.automaton.rounds
        if last is None:
            return False
        until = time.monotonic() + FOLLOWING
        for numbers in small_numbers(self.automaton, SMALL_ROUNDS):
            if numbers[last] < 2 or numbers.get("f", 0) > numbers.get("n", 0):
                continue
            self._say(f"{question.property}: exploring {sizes_text(numbers)}")
            found = self._explore(question, numbers, FOR_ONE, self.options.explain)
            if found.trace is not None:
                self._add_refuted(question, numbers, found)
                return True
            if found.stopped or self._seconds_left() <= 0.0 or time.monotonic() > until:
                break
        return False

    def _counting(self, automaton: Automaton, resilience: Condition) -> ParametricChecker:
        from checker.parametric.symbolic.decide import ParametricChecker

        return ParametricChecker(automaton, seconds=self._query(), resilience=resilience)

    def _query(self) -> float:
        """Returns the seconds for the next query."""
        limit = self.options.query_timeout
        return max(min(QUERY if limit is None else limit, self._seconds_left()), 0.001)

    def _seconds_left(self) -> float:
        limit = self.options.limits.timeout
        return float("inf") if limit is None else limit - (time.monotonic() - self.started)

    def _say(self, phase: str) -> None:
        if self.listener is not None:
            seconds = time.monotonic() - self.started
            self.listener(Progress(0, 0, 0, seconds, 0, phase=f"z3: {phase}"))

    def _record_decision(self, question: Question, decision: Decision) -> None:
        """Records ``decision``, with the queries and the seconds of earlier attempts added."""
        before = self.decisions.get(question.property)
        if before is not None:
            decision = replace(
                decision,
                queries=before.queries + decision.queries,
                seconds=before.seconds + decision.seconds,
            )
        self.decisions[question.property] = decision

    # ---- reporting ------------------------------------------------------------------------

    def _follow(
        self, question: Question, run: AcceleratedRun, seconds: float, explain: float | None
    ) -> Refuted:
        """Concretizes ``run`` within ``seconds``; ``explain``: the part of them for minimising it.
        For a protocol in rounds the system is explored instead."""
        numbers = numbers_of(self.automaton, run)
        if self.automaton.rounds is not None:
            return self._explore(question, numbers, seconds, explain)
        runs = self._runs(question, run)
        options = self._limited(seconds, explain)
        return refute(self.finite, self.automaton, question, numbers, runs, options, self.listener)

    def _explore(
        self, question: Question, numbers: Mapping[str, int], seconds: float, explain: float | None
    ) -> Refuted:
        """Explores the system of ``numbers``, of a protocol in rounds."""
        why = "runs of protocols in rounds are not followed"
        options = self._limited(seconds, explain)
        return explore_size(self.finite, question, numbers, options, self.listener, why)

    def _limited(self, seconds: float, explain: float | None) -> Options:
        timeout = max(min(self._seconds_left(), seconds), 0.001)
        limits = replace(self.options.limits, timeout=timeout)
        return replace(self.options, limits=limits, explain=explain)

    def _runs(self, question: Question, run: AcceleratedRun) -> Iterator[AcceleratedRun]:
        """Yields ``run``, and one with the same numbers of the automaton that :func:`strengthen`
        gives."""
        from checker.parametric.symbolic.decide import ParametricChecker

        yield run
        numbers = numbers_of(self.automaton, run)
        candidly = ParametricChecker(
            strengthen(self.automaton), seconds=self._query(), fixed=numbers, resilience=And(())
        )
        other = candidly.reachable(question.violated, at_end=question.at_end)
        if isinstance(other, AcceleratedRun):
            yield candidly.smallest(question, other)

    def _add_refuted(self, question: Question, numbers: Mapping[str, int], found: Refuted) -> None:
        at = f"with {sizes_text(numbers)}: {found.reason}"
        if found.trace is None:
            self._know(question, Word.UNKNOWN, f"there may be a violation {at}")
        else:
            self._know(question, Word.VIOLATED, at, trace=found.trace)

    def _add_proved(self, question: Question, excluded: list[str]) -> None:
        decision = self.decisions[question.property]
        said = decision.certificate or "no run of the automaton violates it"
        if excluded:
            said += f"; except for the explored sizes: {'; '.join(excluded)}"
        self._know(question, Word.PROVED, f"for {self._scope()}", certificate=said)

    def _report_so_far(self) -> Report:
        """Returns the report, should it be interrupted now."""
        known = dict(self.verdicts)
        for question in self.questions:
            if question.property not in known:
                self._know(question, Word.UNKNOWN, INTERRUPTED)
        try:
            return replace(self.report(), stopped=INTERRUPTED)
        finally:
            self.verdicts = known

    def _know(
        self,
        question: Question,
        word: Word,
        reason: str,
        *,
        trace: Trace | None = None,
        certificate: str = "",
    ) -> None:
        name = question.property
        definition = next((p for p in self.check.prove if p.name == name), None)
        text = "" if definition is None else definition.document or definition.text
        decision = self.decisions.get(name)
        self.verdicts[name] = PropertyVerdict(
            name,
            text,
            word,
            self._expectations().get(name),
            reason,
            self._fairness_assumptions(question),
            trace=trace,
            certificate=certificate,
            queries=0 if decision is None else decision.queries,
            seconds=0.0 if decision is None else decision.seconds,
        )

    def _expectations(self) -> dict[str, str]:
        """Returns what the check expects, where it was written about all sizes."""
        if not self.written.every:
            return {}
        return {e.what: str(e.value) for e in self.written.expect}

    def _fairness_assumptions(self, question: Question) -> tuple[str, ...]:
        """Returns the fairness assumptions, in the words of a small finite system."""
        if not question.at_end:
            return ()
        made = self._small
        if made is None:
            return ()
        prop = made.system.violated_part(question.property, lasso=question.at_end)
        if prop is None:
            return ()
        return assumptions_of(made.system, prop, not_promised(self.check, made))

    @cached_property
    def _small(self) -> Instantiated | None:
        return self.finite.small(self.automaton)

    def _scope(self) -> str:
        names = ", ".join(self.automaton.parameters)
        condition = Words(self.automaton).condition(self.automaton.resilience)
        return f"every {names}" if condition == "true" else f"every {names} with {condition}"

    def weaken(self) -> None:
        """Determines whether the condition on sizes is sufficient, and whether less would be."""
        so_far.known(self._report_so_far)
        words = {v.word for v in self.verdicts.values()}
        if words == {Word.PROVED}:
            self.sufficient = True
        elif Word.VIOLATED in words:
            self.sufficient = False
        if not self.sufficient or self.counting is None:
            return

        def follow(question: Question, run: AcceleratedRun) -> Refuted:
            return self._follow(question, run, FOR_ONE, None)

        for found in self._stopping(weaken_assumptions(self.counting, self.questions, follow)):
            self.weakened = (*self.weakened, found)
            self._say("weaker conditions")

    def propose(self) -> None:
        """Finds conditions and thresholds that suffice for what is proved."""
        asked = [q for q in self.questions if self.verdicts[q.property].word is Word.PROVED]
        if self.counting is None or not asked:
            return
        names = [q.property for q in asked]
        whose = "" if len(asked) == len(self.questions) else f"for {', '.join(names)}: "
        for found in self._stopping(conditions(self.counting, asked)):
            self.proposals = (*self.proposals, f"{whose}{found}")
            self._say("conditions")
        for name in defaults(self.check):
            if self.stopped:
                return
            self._say(f"what {name} could be")
            values = thresholds(self.check, name, names, extraction, self._counting)
            for found in self._stopping(values):
                self.proposals = (*self.proposals, f"{whose}{found}")

    def _stopping(self, found: Iterator[_T]) -> Iterator[_T]:
        """Yields ``found``, as long as there is time and no interrupt."""
        while True:
            assert self.counting is not None
            self.counting.asking.seconds = self._query()
            try:
                with budgets.raising_when_exhausted():
                    one = next(found, None)
            except KeyboardInterrupt as error:
                self.stopped = stop_reason(error)
                return
            if one is None:
                return
            yield one

    def report(self) -> Report:
        """Returns the report."""
        verdicts = with_origins((self.verdicts[p.name] for p in self.every), self.every)
        seconds = time.monotonic() - self.started
        decided = not any(v.word is Word.UNKNOWN for v in verdicts)
        wanted = [(what, value) for what, value in self._expectations().items()]
        nothing = Answer(ENGINE, 0, 0, decided, seconds)
        guards = {g for rule in self.automaton.rules for g in comparisons(to_nnf(rule.guard))}
        words = Words(self.automaton)
        condition = words.condition(self.automaton.resilience)
        asking = None if self.counting is None else self.counting.asking
        proof = Proof(
            scope=self._scope(),
            automaton=AutomatonSize(
                len(self.automaton.locations), len(self.automaton.rules), len(guards)
            ),
            condition="" if condition == "true" else condition,
            sufficient=self.sufficient,
            weakened=self.weakened,
            proposals=self.proposals,
            queries=0 if asking is None else asking.queries,
            seconds=0.0 if asking is None else asking.spent,
        )
        return Report(
            file=self.spec.path,
            check=self.check.name,
            parameters={},
            engine=ENGINE,
            fine_steps=False,
            verdicts=verdicts,
            expectations=compare(wanted, verdicts, nothing),
            seconds=seconds,
            exhaustive=decided and self.stopped is None,
            stopped=self.stopped,
            notes=(*variants_of(self.check), *warning_notes(self.check)),
            warnings=warnings_of(self.check),
            reduce="none",
            proof=proof,
            world=world_line(self.check, None),
        )
