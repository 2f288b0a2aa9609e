"""The violations of a report, explained."""

from __future__ import annotations

from dataclasses import replace

from checker.explaining.asking import Clock
from checker.explaining.explain import explain
from checker.explaining.several import several
from checker.system.ir import TransitionSystem
from checker.witness.answer import Listener
from checker.witness.verdict import PropertyVerdict, Report, Word

FOR_KINDS = 60.0
"""Seconds for each property."""


def explained(
    report: Report,
    system: TransitionSystem,
    seconds: float,
    *,
    threads: int | None = None,
    memory: int | None = None,
    listener: Listener | None = None,
) -> Report:
    """``report`` with the traces of its violations explained, within ``seconds`` for all of them.

    Verdicts, reasons and expectations stay as they are: they are about the run that the engine
    found.  What a trace does not use of its share of the time is for those behind it.
    """
    clock = Clock(seconds, threads, memory, listener)
    left = sum(1 for verdict in report.verdicts if _violated(verdict))
    verdicts = []
    for verdict in report.verdicts:
        if _violated(verdict) and verdict.trace is not None:
            share = clock.left / left
            left -= 1
            trace = explain(
                system, verdict.trace, share, threads=threads, memory=memory, listener=listener
            )
            verdict = replace(verdict, trace=trace)
        verdicts.append(verdict)
    return replace(report, verdicts=tuple(verdicts))


def with_others(
    report: Report,
    system: TransitionSystem,
    most: int,
    *,
    seconds: float = FOR_KINDS,
    threads: int | None = None,
    memory: int | None = None,
    listener: Listener | None = None,
) -> Report:
    """``report`` with up to ``most`` counterexamples for each violated property, each of another
    kind, those found within ``seconds`` for each."""
    known = {prop.name: prop for prop in system.properties}
    verdicts = []
    for verdict in report.verdicts:
        if _violated(verdict) and verdict.trace is not None and verdict.property in known:
            clock = Clock(seconds, threads, memory, listener)
            found = several(system, known[verdict.property], verdict.trace, most - 1, clock)
            verdict = replace(verdict, others=found.traces, of_others=found.note)
        verdicts.append(verdict)
    return replace(report, verdicts=tuple(verdicts))


def _violated(verdict: PropertyVerdict) -> bool:
    return verdict.word is Word.VIOLATED and verdict.trace is not None
