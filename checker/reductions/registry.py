"""The registry of reductions: who chooses, reports and documents them finds them here."""

from __future__ import annotations

from checker.reductions.contract import Reduction
from checker.reductions.dead_variables.dead_variable_reduction import DEAD_VALUES
from checker.reductions.dominance.dominance_reduction import DOMINANCE
from checker.reductions.partial_order.partial_order_reduction import PARTIAL_ORDER
from checker.reductions.symmetry.symmetry_reduction import SYMMETRY

REDUCTIONS: dict[str, Reduction] = {}
"""All known reductions by their names, in the order in which they are applied."""


AUTO, NONE, ALL = "auto", "none", "all"
"""The modes that admit every reduction, none, and every one by name."""


def register(reduction: Reduction) -> None:
    """Enters ``reduction`` after all others.  Raises ``ValueError`` if its name is taken, or if its
    mode admits others anyway.

    The registry is per process.
    """
    if reduction.name in REDUCTIONS or reduction.mode in (AUTO, NONE, ALL):
        raise ValueError(f"{reduction.name!r} or {reduction.mode!r} is already in use")
    REDUCTIONS[reduction.name] = reduction


def modes() -> tuple[str, ...]:
    """The choices of ``--reduce``."""
    return AUTO, NONE, *dict.fromkeys(r.mode for r in REDUCTIONS.values()), ALL


def is_named(mode: str) -> bool:
    """Whether a mode explicitly requests reductions."""
    return mode not in (AUTO, NONE)


def admitted(mode: str) -> tuple[Reduction, ...]:
    """The reductions that a mode admits."""
    return tuple(r for r in REDUCTIONS.values() if mode in (AUTO, ALL, r.mode))


for _reduction in (SYMMETRY, DEAD_VALUES, PARTIAL_ORDER, DOMINANCE):
    register(_reduction)
