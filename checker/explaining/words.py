"""The verdict in sentences: what is violated by whom, and how it came about."""

from __future__ import annotations

from checker.system.ir import Property, TransitionSystem
from checker.witness.rerun import Run
from checker.witness.trace import Trace


def sentences(system: TransitionSystem, prop: Property, run: Run, trace: Trace) -> tuple[str, ...]:
    """What ``run`` violates and who it is, then how it came about; empty where it can't be said."""
    return ()
