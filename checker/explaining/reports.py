"""The violations of a report, explained."""

from __future__ import annotations

from dataclasses import replace

from checker.explaining.asking import Clock
from checker.explaining.explain import explain
from checker.explaining.several import several
from checker.system.ir import TransitionSystem
from checker.witness.verdict import PropertyVerdict, Report, Word


def explained(report: Report, system: TransitionSystem, clock: Clock) -> Report:
    """``report`` with the traces of its violations explained, all of them before ``clock`` is over.

    Verdicts, reasons and expectations stay as they are: they are about the run that the engine
    found.  What a trace does not use of its share of the time is for those behind it.
    """
    left = sum(1 for verdict in report.verdicts if _violated(verdict))
    verdicts = []
    for verdict in report.verdicts:
        if _violated(verdict) and verdict.trace is not None:
            trace = explain(system, verdict.trace, clock.part(1 / left))
            left -= 1
            verdict = replace(verdict, trace=trace)
        verdicts.append(verdict)
    return replace(report, verdicts=tuple(verdicts))


def with_others(report: Report, system: TransitionSystem, most: int, clock: Clock) -> Report:
    """``report`` with up to ``most`` counterexamples for each violated property, each of another
    kind, those found before ``clock`` is over."""
    known = {prop.name: prop for prop in system.properties}
    left = sum(1 for verdict in report.verdicts if _violated(verdict))
    verdicts = []
    for verdict in report.verdicts:
        if _violated(verdict) and verdict.trace is not None and verdict.property in known:
            part = clock.part(1 / left)
            left -= 1
            found = several(system, known[verdict.property], verdict.trace, most - 1, part)
            verdict = replace(verdict, others=found.traces, of_others=found.note)
        verdicts.append(verdict)
    return replace(report, verdicts=tuple(verdicts))


def _violated(verdict: PropertyVerdict) -> bool:
    return verdict.word is Word.VIOLATED and verdict.trace is not None
