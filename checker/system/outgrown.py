"""Whether a run ends only because something was guessed too small."""

from __future__ import annotations

from checker.system import interpreter
from checker.system.interpreter import State
from checker.system.ir import TransitionSystem


def outgrown(system: TransitionSystem, state: State) -> tuple[str, ...]:
    """The guessed capacities that the errors in ``state`` are about, each once; none where one of
    them is about anything else."""
    faults = [t.fault for t in interpreter.successors(system, state) if t.fault is not None]
    names = [fault.grows for fault in faults]
    return () if None in names else tuple(dict.fromkeys(name for name in names if name))
