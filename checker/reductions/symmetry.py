"""Which renamings of processes and payloads a system does not notice."""

from __future__ import annotations

from checker.reductions.plan import Symmetry, Unused
from checker.system.ir import TransitionSystem


def find(system: TransitionSystem) -> tuple[Symmetry | None, tuple[Unused, ...]]:
    """The group, or ``None`` where there is none but the identity; and why it is not larger."""
    return None, ()
