"""Parts of a state that nobody will look at again."""

from __future__ import annotations

from checker.reductions.plan import Unused
from checker.system.ir import Block, TransitionSystem


def find(system: TransitionSystem) -> tuple[Block, tuple[Unused, ...]]:
    """Statements that give dead parts their value of rest; and what hinders more."""
    return (), ()
