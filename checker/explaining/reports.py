"""The violations of a report, explained."""

from __future__ import annotations

from dataclasses import replace

from checker.explaining.asking import Clock
from checker.explaining.explain import explain
from checker.system.ir import TransitionSystem
from checker.witness.answer import Listener
from checker.witness.verdict import PropertyVerdict, Report, Word


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


def _violated(verdict: PropertyVerdict) -> bool:
    return verdict.word is Word.VIOLATED and verdict.trace is not None
