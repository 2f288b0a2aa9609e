"""The registry of reductions: who chooses, reports and documents them finds them here."""

from __future__ import annotations

from checker import kept
from checker.reductions.contract import Reduction
from checker.reductions.dead_variables.dead_variable_reduction import DEAD_VALUES
from checker.reductions.dominance.dominance_reduction import DOMINANCE
from checker.reductions.modes import ALL, AUTO, NONE, Traits
from checker.reductions.partial_order.partial_order_reduction import PARTIAL_ORDER
from checker.reductions.symmetry.symmetry_reduction import SYMMETRY

REDUCTIONS: dict[str, Reduction] = {}
"""All known reductions by their names, in the order in which they are applied."""


def register(reduction: Reduction) -> None:
    """Enters ``reduction`` after all others.  Raises ``ValueError`` if its name is taken, or if its
    mode admits others anyway.

    The registry is per process, which does not keep plans from then on.
    """
    kept.use(False)
    _enter(reduction)


def _enter(reduction: Reduction) -> None:
    if reduction.name in REDUCTIONS or reduction.mode in (AUTO, NONE, ALL):
        raise ValueError(f"{reduction.name!r} or {reduction.mode!r} is already in use")
    REDUCTIONS[reduction.name] = reduction


def traits() -> dict[str, Traits]:
    """The traits of all known reductions, in their order."""
    return {r.name: Traits(r.title, r.keeps_lengths, r.shows_all) for r in REDUCTIONS.values()}


def modes() -> tuple[str, ...]:
    """The choices of ``--reduce``."""
    return AUTO, NONE, *dict.fromkeys(r.mode for r in REDUCTIONS.values()), ALL


def admitted(mode: str) -> tuple[Reduction, ...]:
    """The reductions that a mode admits."""
    return tuple(r for r in REDUCTIONS.values() if mode in (AUTO, ALL, r.mode))


for _reduction in (SYMMETRY, DEAD_VALUES, PARTIAL_ORDER, DOMINANCE):
    _enter(_reduction)
