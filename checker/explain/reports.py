"""Explains the violations of a report."""

from __future__ import annotations

import time
from collections.abc import Callable

from checker.engines import budgets
from checker.engines.options import Options
from checker.explain.counterfactual_queries import ExplainingBudget
from checker.explain.fairness_support import with_supports
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.results.answer import Listener, Progress
from checker.results.judge import reason_of_violation
from checker.results.verdict import PropertyVerdict, Report, Word

FOR_KINDS = 60.0
"""Seconds for each check to search for diverse counterexamples."""
LATEST, OVER = 5.0, "the time for it is over"
"""An explanation that does not end itself is ended after twice its time and so many seconds."""


def as_asked(
    report: Report, system: TransitionSystem, options: Options, listener: Listener | None
) -> Report:
    """Returns ``report`` with its violations explained, and with diverse counterexamples, where
    these are requested and there are any."""
    clock = ExplainingBudget(
        options.explain or 0.0,
        options.threads,
        options.limits.memory,
        listener and _explaining(listener),
        option="--explain",
    )
    if options.explain is not None:
        if options.explain_expected or report.exit_code != 0:
            report = _in_time(clock, report, lambda: explain_report(report, system, clock))
        explained = report
        report = _in_time(clock, report, lambda: with_supports(explained, system, clock))
    if options.kinds > 1 and not clock.is_stopped:
        others, known = replace(clock, seconds=FOR_KINDS, option=""), report
        report = _in_time(others, report, lambda: with_others(known, system, options.kinds, others))
    return report


def _explaining(listener: Listener) -> Listener:
    """Returns a listener to the queries of an explanation, which are no part of the search."""
    started = time.monotonic()

    def tell(progress: Progress) -> None:
        took = time.monotonic() - started
        listener(replace(progress, states=0, phase="explaining", seconds=took))

    return tell


def _in_time(clock: ExplainingBudget, report: Report, work: Callable[[], Report]) -> Report:
    """Returns what ``work`` does, or ``report`` where it is ended: long after ``clock`` is over, or
    by an interrupt."""
    seconds = 2 * clock.seconds + LATEST
    try:
        with budgets.within(seconds, said=OVER), budgets.raising_when_exhausted():
            return work()
    except KeyboardInterrupt:
        return report


def explain_report(report: Report, system: TransitionSystem, clock: ExplainingBudget) -> Report:
    """Returns ``report`` with the traces of its violations explained, all of them before ``clock``
    is over.

    Verdicts and expectations stay as they are: they are about the execution that the engine found.
    A reason is about the trace that is shown.  The time that a trace does not use of its share is
    for those after it.
    """
    left = sum(1 for verdict in report.verdicts if _has_counterexample(verdict))
    if not left:
        return report
    from checker.explain.explain import explain

    verdicts = []
    for verdict in report.verdicts:
        if _has_counterexample(verdict) and verdict.trace is not None:
            part = clock.part(1 / left)
            trace = explain(system, verdict.trace, part, is_shortest=_is_shortest(report, system))
            left -= 1
            found, shown = reason_of_violation(verdict.trace), reason_of_violation(trace)
            reason = verdict.reason.replace(found, shown)
            verdict = replace(verdict, trace=trace, reason=reason)
        verdicts.append(verdict)
    return replace(report, verdicts=tuple(verdicts))


def with_others(
    report: Report, system: TransitionSystem, most: int, clock: ExplainingBudget
) -> Report:
    """Returns ``report`` with up to ``most`` counterexamples for each violated property, each of
    another equivalence class, those found before ``clock`` is over."""
    left = sum(1 for verdict in report.verdicts if _has_counterexample(verdict))
    verdicts = []
    for verdict in report.verdicts:
        trace = verdict.trace if _has_counterexample(verdict) else None
        lasso = trace is not None and trace.loop is not None
        prop = system.violated_part(verdict.property, lasso=lasso)
        if trace is not None and prop is not None:
            from checker.explain.diverse_counterexamples import find_diverse

            part = clock.part(1 / left)
            left -= 1
            found = find_diverse(system, prop, trace, most - 1, part)
            verdict = replace(verdict, others=found.traces, of_others=found.note)
        verdicts.append(verdict)
    return replace(report, verdicts=tuple(verdicts))


def _has_counterexample(verdict: PropertyVerdict) -> bool:
    return verdict.word is Word.VIOLATED and verdict.trace is not None


def _is_shortest(report: Report, system: TransitionSystem) -> bool:
    """Returns whether the search that found the executions has kept shortest ones: no random
    walk, no reduction that loses them, no view, and no states omitted."""
    whole = report.walks is None and report.omission is None and system.view is None
    return whole and report.reduced.keeps_lengths
