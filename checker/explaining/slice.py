"""Which steps of a run its violation does not depend on."""

from __future__ import annotations

from checker.system.ir import Property, TransitionSystem
from checker.witness.rerun import Run
from checker.witness.trace import Trace


def context(system: TransitionSystem, prop: Property, run: Run, trace: Trace) -> tuple[int, ...]:
    """The numbers of the steps of ``trace`` that are not in the causal past of the violation."""
    return ()
