"""Proofs about the finite system of a check, for every depth: `bivalence prove FILE::CHECK`.

The check becomes a transition system as everywhere else; :mod:`checker.engines.symbolic.prover`
proves or refutes properties of single states; what is refuted becomes a trace as everywhere else.
Properties of whole executions are out of scope, and are reported as unknown.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path as File
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count
from checker.engines import budgets
from checker.engines.options import Options
from checker.engines.symbolic.engine import NAME
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacities import enlarge_bound, maximum_bound
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.instantiate.instantiated import Instantiated
from checker.language.syntax import typed
from checker.model.evaluate import RunFault
from checker.proving.provable import require_provable
from checker.records import replace
from checker.results import so_far
from checker.results.answer import INTERRUPTED, Answer, Listener, Unsupported, stop_reason
from checker.results.mismatch import ReplayMismatch
from checker.results.proof import Proof
from checker.results.trace import ERRORS
from checker.results.verdict import PropertyVerdict, Report, Word
from checker.session.caveats import (
    not_asked,
    not_promised,
    notes,
    of_unfalsifiable,
    warnings_of,
    why_nothing_explored,
)
from checker.session.chance import not_by_proof
from checker.session.load import load_check
from checker.session.run_engine import marking_interruption, unknown_report
from checker.session.trace_header import header_of
from checker.session.world_line import world_line
from checker.words.unjudged import diagnosed

if TYPE_CHECKING:
    from checker.engines.symbolic.certificate import Faultless, Safe
    from checker.engines.symbolic.prover import ProofResult
    from checker.engines.symbolic.solver_queries import QueryBudget
    from checker.language.load import Spec

METHODS = ("invariants", "induction", "pdr")
"""The proof methods."""

DEPTH = 10
"""Induction goes over so many steps by default."""

OF_RUNS = (
    "a liveness property; `prove` decides only safety (invariants): `bivalence check` explores it"
)

EVERYWHERE = "in every state that a run of any length can reach"


def prove_check(
    spec: Spec | str,
    name: str | None,
    options: Options,
    methods: Sequence[str] = METHODS,
    budget: float | None = 60.0,
    listener: Listener | None = None,
    *,
    certificate: str | None = None,
) -> Report:
    """Proves the properties of states of the check ``name`` of ``spec``, within ``budget`` seconds
    and the memory of ``options.limits``.

    ``options.limits.max_depth``: induction goes over so many steps at most.  ``certificate``: a
    file for the queries of the second check, in SMT-LIB 2.  Raises :class:`SpecError` for errors of
    the spec or the options, and :class:`checker.engines.symbolic.certificate.WrongCertificate` and
    :class:`checker.results.replay.ReplayMismatch` where the tool is wrong.
    """
    with budgets.within(budget, options.limits.memory):
        check = load_check(spec, name, options.settings).with_lemmas()
        require_provable(check)
    path = str(spec)
    started = time.monotonic()
    of_engine, error = replace(options, engine=NAME), KeyboardInterrupt()
    so_far.known(lambda: unknown_report(path, check, of_engine, 0.0, error))
    with budgets.within(budget, options.limits.memory):
        try:
            made, found = _prove_smallest(check, options, tuple(methods), budget, listener)
            with marking_interruption(_answer(made, found)):
                report = _report(path, check, made, found, options)
        except ReplayMismatch as wrong:
            if isinstance(wrong.__cause__, RunFault):  # a violation, for formulas
                raise diagnosed(made.system, wrong.__cause__) from None
            raise
        except KeyboardInterrupt as error:
            spent = time.monotonic() - started
            report = unknown_report(path, check, replace(options, engine=NAME), spent, error)
            report = not_by_proof(report, check)
            return report if certificate is None else _unwritten(report, certificate)
    if certificate is not None:
        report = _write_queries(report, made, found, certificate)
    return report


# ---- proving ----------------------------------------------------------------------------------


def _prove_smallest(
    check: typed.Check,
    options: Options,
    methods: tuple[str, ...],
    budget: float | None,
    listener: Listener | None,
) -> tuple[Instantiated, ProofResult]:
    """Returns what can be proved of the smallest system whose guessed capacities are large enough.

    Where induction fails only at such a capacity, a larger one is tried: what it holds may be
    bounded by what is proved of its parts.  Raises ``KeyboardInterrupt`` where nothing is known.
    """
    from checker.engines.symbolic.solver_queries import QueryBudget

    clock = QueryBudget(budget)
    known: tuple[Instantiated, ProofResult] | None = None
    try:
        with budgets.raising_when_exhausted():
            made = estimate_capacities(lambda capacities: _instantiate(check, options, capacities))
        while True:
            capacities = dict(made.capacities)
            try:
                found = _prove(made, clock, methods, options, listener)
            except RunFault as fault:
                too_small = fault.grows
                if too_small is None or capacities[too_small] >= maximum_bound(too_small):
                    raise diagnosed(made.system, fault) from None
            else:
                known = made, found
                if clock.seconds_left == 0.0 or found.stopped is not None:
                    return known
                with budgets.raising_when_exhausted():
                    too_small = _too_small(made, found)
                if too_small is None or capacities[too_small] >= maximum_bound(too_small):
                    return known
            capacities[too_small] = enlarge_bound(capacities[too_small])
            made = _instantiate(check, options, capacities)
    except KeyboardInterrupt as error:
        if known is None:
            raise
        known[1].stopped = stop_reason(error)
        return known


def _instantiate(
    check: typed.Check, options: Options, capacities: Mapping[str, int]
) -> Instantiated:
    from checker.properties.formula import ask

    fine = options.fine_steps
    with budgets.raising_when_exhausted():
        return instantiate(check, options.settings, ask, capacities=capacities, fine=fine)


def _prove(
    made: Instantiated,
    clock: QueryBudget,
    methods: tuple[str, ...],
    options: Options,
    listener: Listener | None,
) -> ProofResult:
    from checker.engines.symbolic.prover import premises_that_never_hold, prove

    deepest = DEPTH if options.limits.max_depth is None else options.limits.max_depth
    try:
        found = prove(made.system, clock, methods=methods, deepest=deepest, listener=listener)
    except Unsupported as why:
        message = f"this check can't be encoded as formulas: {why}"
        hint = "try smaller sizes or capacities, or use `bivalence check`"
        raise SpecError((Diagnostic("E007", message, hint=hint),)) from None
    found.without_premise = premises_that_never_hold(made.system, found, clock)
    return found


def _too_small(made: Instantiated, found: ProofResult) -> str | None:
    """Returns the guessed capacity that prevents a proof, if there is one."""
    from checker.engines.symbolic.certificate import Faultless
    from checker.proving.cti import error_of

    failing = None
    if Faultless() in found.refuted:
        failing = error_of(made.system, found.refuted[Faultless()].states[-1])
    else:
        excluded = found.open.get(Faultless())
        if excluded is not None:
            failing = error_of(made.system, excluded.states[-1])
    return None if failing is None or failing.fault is None else failing.fault.grows


# ---- reporting --------------------------------------------------------------------------------


def _report(
    path: str, check: typed.Check, made: Instantiated, found: ProofResult, options: Options
) -> Report:
    from checker.results.judge import compare, judge
    from checker.session.without import not_judged

    words = {e.what: str(e.value) for e in check.expect if isinstance(e.value, str)}
    header = header_of(path, check, made, options, sources=bool(found.refuted))
    answer = _answer(made, found)
    judged = judge(
        made.system,
        answer,
        header,
        words,
        allow_unused=check.allow_unused,
        idle=why_nothing_explored(check),
        world=not_promised(check, made),
    )
    say = _Saying(check, made, found, answer)
    verdicts = tuple(say.verdict(verdict) for verdict in judged)
    if all(verdict.property != ERRORS for verdict in verdicts):
        verdicts += say.errors()
    asked = [(e.what, e.value) for e in check.expect if isinstance(e.value, str)]
    report = Report(
        file=path,
        check=check.name,
        parameters=dict(header.parameters),
        engine=NAME,
        fine_steps=options.fine_steps,
        verdicts=verdicts,
        expectations=(*compare(asked, verdicts, answer), *not_judged(check)),
        distinct_states=answer.distinct_states,
        depth=found.depth,
        seconds=found.seconds,
        exhaustive=False,
        stopped=found.stopped or "; ".join(found.tried) or None,
        notes=(
            *notes(check, made, options.fine_steps),
            *of_unfalsifiable(made, answer, verdicts),
        ),
        proof=Proof(methods=tuple(found.tried), queries=found.queries, seconds=found.seconds),
        world=world_line(check, made.sizes),
        warnings=warnings_of(check),
        not_asked=not_asked(check, made, answer, verdicts),
    )
    return not_by_proof(report, check)


def _answer(made: Instantiated, found: ProofResult) -> Answer:
    """Returns what was found as an engine's answer; that something is proved is reported
    elsewhere."""
    from checker.engines.symbolic.certificate import Faultless, Safe

    violations = {
        made.system.properties[fact.index].name: path
        for fact, path in found.refuted.items()
        if isinstance(fact, Safe)
    }
    return Answer(
        engine=NAME,
        distinct_states=len(found.samples.states),
        depth=found.samples.depth,
        exhaustive=False,
        seconds=found.seconds,
        violations=violations,
        fault=found.refuted.get(Faultless()),
        reached_marks=frozenset(found.samples.marks),
        premises=frozenset(found.samples.premises),
        stopped=found.stopped,
    )


class _Saying(Struct, frozen=True):
    """Gives the verdicts on what is neither violated nor in error."""

    check: typed.Check
    made: Instantiated
    found: ProofResult
    answer: Answer

    def verdict(self, judged: PropertyVerdict) -> PropertyVerdict:
        """Returns ``judged`` where it was refuted, otherwise the outcome for the property."""
        from checker.engines.symbolic.certificate import Safe

        if judged.word is not Word.UNKNOWN or judged.property == ERRORS:
            return judged
        system = self.made.system
        last = system.parts_of(judged.property)[-1]  # of a conjunction the liveness part
        fact = Safe(system.properties.index(last))
        if fact in self.found.proved:
            return self._judge_proved(judged, fact)
        if fact not in self.found.open:
            return replace(judged, reason=OF_RUNS)
        return replace(judged, reason=self._open(fact))

    def errors(self) -> tuple[PropertyVerdict, ...]:
        """Returns the verdict that no execution meets an error, where none is known that does."""
        from checker.engines.symbolic.certificate import Faultless

        found, fact = self.found, Faultless()
        if fact in found.refuted:
            return ()  # it is reported with the properties
        shown = self._certificate(fact) if fact in found.proved else ""
        word = Word.PROVED if shown else Word.UNKNOWN
        reason = f"{EVERYWHERE}: {shown}" if shown else self._open(fact)
        said = "no run meets an error"
        return (PropertyVerdict(ERRORS, said, word, "holds", reason, certificate=shown),)

    def _judge_proved(self, judged: PropertyVerdict, fact: Safe) -> PropertyVerdict:
        from checker.engines.symbolic.certificate import Faultless
        from checker.results.vacuity import vacuous

        found, system = self.found, self.made.system
        if Faultless() not in found.proved:
            why = self._open(Faultless())
            reason = f"proved for runs without an error; absence of errors is not proved: {why}"
            return replace(judged, reason=reason)
        shown = self._certificate(fact)
        prop = system.properties[fact.index]
        never = why_nothing_explored(self.check)
        why = vacuous(system, self.answer, prop, allow_unused=self.check.allow_unused, idle=never)
        if fact.index in found.without_premise:
            why = f"the premise of {prop.asked} provably holds in no run"
            return replace(judged, word=Word.VACUOUS, reason=why, certificate=shown)
        if why and (found.samples.exhaustive or never):
            return replace(judged, word=Word.VACUOUS, reason=why, certificate=shown)
        reason = f"{EVERYWHERE}: {shown}"
        if why:
            number = f"{len(found.samples.states):,}"
            reason += f"; in the {number} states looked at beside it: {why}"
        return replace(judged, word=Word.PROVED, reason=reason, certificate=shown)

    def _certificate(self, fact: Safe | Faultless) -> str:
        """Returns what shows the proof, in words."""
        from checker.engines.symbolic.certificate import Faultless, Lemma, SmtFormula

        found = self.found
        last = max(found.proved[fact], found.proved[Faultless()])
        used = found.certificate[: last + 1]
        stage = found.certificate[found.proved[fact]]
        parts = [f"{stage.k}-inductive"]
        lemmas = sum(isinstance(f, Lemma) for s in used for f in s.facts)
        sizes = [f.size for f in stage.facts if isinstance(f, SmtFormula)]
        if sizes:
            parts = [f"an invariant of {sizes[0]} conjuncts"]
        if lemmas:
            parts.append(f"with {lemmas} lemmas")
        return f"{' '.join(parts)}; checked again"

    def _open(self, fact: Safe | Faultless) -> str:
        from checker.proving.cti import not_excluded

        found = self.found
        tried = "; ".join(found.tried) or "no method was tried"
        if found.stopped is not None:
            return found.stopped if found.stopped == INTERRUPTED else f"{found.stopped}; {tried}"
        far = f"neither proved nor violated in fewer than {count(found.depth, 'step')}"
        reason = f"{far if found.depth else 'not proved'}; tried: {tried}"
        excluded = found.open.get(fact)
        if excluded is None:
            return reason
        return f"{reason}; {'; '.join(not_excluded(self.made.system, excluded))}"


def _write_queries(report: Report, made: Instantiated, found: ProofResult, file: str) -> Report:
    """Returns ``report`` after writing the queries of the second check to ``file``."""
    from checker.engines.symbolic.certificate import smt2

    if not found.certificate:
        return _unwritten(report, file)
    try:
        File(file).write_text(smt2(made.system, found.certificate), encoding="utf-8")
    except OSError as problem:
        why = problem.strerror or str(problem)
        return replace(report, failed=(f"the certificate can't be written to {file}: {why}",))
    return report


def _unwritten(report: Report, file: str) -> Report:
    """Returns ``report`` where there is nothing to write to ``file``."""
    return replace(report, failed=(f"nothing is proved, so nothing is written to {file}",))
