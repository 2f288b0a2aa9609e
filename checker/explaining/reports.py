"""The violations of a report, explained."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from checker import budgets
from checker.explaining.counterfactual_queries import ExplainingBudget
from checker.explaining.diverse_counterexamples import find_diverse
from checker.explaining.explain import explain
from checker.explaining.fairness_support import with_supports
from checker.options import Options
from checker.system.ir import TransitionSystem
from checker.witness.answer import Listener
from checker.witness.verdict import PropertyVerdict, Report, Word

FOR_KINDS = 60.0
"""Seconds for each check in which runs of other kinds are looked for."""
LATEST, OVER = 5.0, "the time for it is over"
"""After twice its time and so many seconds an explanation is ended that does not end itself."""


def as_asked(
    report: Report, system: TransitionSystem, options: Options, listener: Listener | None
) -> Report:
    """``report`` with its violations explained, and with some of other kinds, where that is wanted
    and there are any."""
    clock = ExplainingBudget(
        options.explain or 0.0, options.threads, options.limits.memory, listener
    )
    with _for(clock):
        if options.explain is not None:
            report = explain_report(report, system, clock)
            report = with_supports(report, system, clock)
    if options.kinds > 1 and not clock.is_stopped:
        clock = replace(clock, seconds=FOR_KINDS)
        with _for(clock):
            report = with_others(report, system, options.kinds, clock)
    return report


@contextmanager
def _for(clock: ExplainingBudget) -> Iterator[None]:
    """The block is left where it goes on long after ``clock``, or somebody interrupts it."""
    seconds = 2 * clock.seconds + LATEST
    with (
        contextlib.suppress(KeyboardInterrupt),
        budgets.within(seconds, said=OVER),
        budgets.raising_when_exhausted(),
    ):
        yield


def explain_report(report: Report, system: TransitionSystem, clock: ExplainingBudget) -> Report:
    """``report`` with the traces of its violations explained, all of them before ``clock`` is over.

    Verdicts, reasons and expectations stay as they are: they are about the run that the engine
    found.  What a trace does not use of its share of the time is for those behind it.
    """
    left = sum(1 for verdict in report.verdicts if _has_counterexample(verdict))
    verdicts = []
    for verdict in report.verdicts:
        if _has_counterexample(verdict) and verdict.trace is not None:
            trace = explain(system, verdict.trace, clock.part(1 / left))
            left -= 1
            verdict = replace(verdict, trace=trace)
        verdicts.append(verdict)
    return replace(report, verdicts=tuple(verdicts))


def with_others(
    report: Report, system: TransitionSystem, most: int, clock: ExplainingBudget
) -> Report:
    """``report`` with up to ``most`` counterexamples for each violated property, each of another
    kind, those found before ``clock`` is over."""
    known = {prop.name: prop for prop in system.properties}
    left = sum(1 for verdict in report.verdicts if _has_counterexample(verdict))
    verdicts = []
    for verdict in report.verdicts:
        if _has_counterexample(verdict) and verdict.trace is not None and verdict.property in known:
            part = clock.part(1 / left)
            left -= 1
            found = find_diverse(system, known[verdict.property], verdict.trace, most - 1, part)
            verdict = replace(verdict, others=found.traces, of_others=found.note)
        verdicts.append(verdict)
    return replace(report, verdicts=tuple(verdicts))


def _has_counterexample(verdict: PropertyVerdict) -> bool:
    return verdict.word is Word.VIOLATED and verdict.trace is not None
