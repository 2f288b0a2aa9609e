"""The parts of a property with a run's values put in, and what it demands in the end."""

from __future__ import annotations

from checker.system.ir import Property, TransitionSystem
from checker.witness.rerun import Run
from checker.witness.trace import Claim, Obligation, Trace


def claims(system: TransitionSystem, prop: Property, run: Run, trace: Trace) -> tuple[Claim, ...]:
    """The atoms of ``prop`` for the violated values, with their truth in each state of ``run``."""
    return ()


def obligations(
    system: TransitionSystem, prop: Property, run: Run, trace: Trace
) -> tuple[Obligation, ...]:
    """What ``prop`` demands in the end in ``run``: opened, and met or not."""
    return ()
