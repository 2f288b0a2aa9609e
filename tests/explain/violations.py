"""Specs that are violated, with all that explaining them needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from checker.instantiate.assemble import instantiate
from checker.model.ir import Property, TransitionSystem
from checker.properties.formula import ask
from checker.results.replay import path_of
from checker.results.rerun import Run, rerun
from checker.results.trace import Trace
from checker.session.pipeline import Options, load_check, run_check
from checker.session.trace_header import settings_of


@dataclass(frozen=True)
class Violation:
    """A run that violates ``prop`` of ``system``, and the trace that tells it."""

    system: TransitionSystem
    prop: Property
    run: Run
    trace: Trace


def violation(path: Path | str, check: str | None, name: str, *, fine: bool = False) -> Violation:
    """The shortest run of ``check`` in ``path`` that violates the property ``name``."""
    report = run_check(str(path), check, Options(fine_steps=fine, reduce="none"))
    (trace,) = (v.trace for v in report.verdicts if v.property == name)
    assert trace is not None
    settings, grown = settings_of(trace.header)
    loaded = load_check(str(path), check, settings)
    system = instantiate(loaded, settings, ask, capacities=grown, fine=fine).system
    prop = system.violated_part(name, lasso=trace.loop is not None)
    assert prop is not None
    return Violation(system, prop, rerun(system, path_of(system, trace), prop), trace)
