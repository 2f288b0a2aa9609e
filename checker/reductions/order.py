"""Steps that may go before everything else: they commute with all that could happen meanwhile."""

from __future__ import annotations

from checker.reductions.plan import Eager, Unused
from checker.system.ir import TransitionSystem


def find(system: TransitionSystem) -> tuple[tuple[Eager, ...], tuple[Unused, ...]]:
    """What is eager; and why there is no more."""
    return (), ()
