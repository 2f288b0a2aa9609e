"""A report on how far a check holds: over sizes, bounds of faults, parameters and worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from checker.resources import version
from checker.results.domains import Amount, Natural
from checker.results.trace import Trace

FORMAT = 1
"""Version of the document."""

Known = Literal["holds", "violated", "error", "vacuous", "unknown", "impossible"]
SHOWN = ("violated", "error")
"""What a run shows."""


class FrontierCell(Struct, frozen=True):
    """A point of the grid: ``settings``, and what is known of a property there.

    ``inferred``: it was not run, it follows from an easier point that fails.  ``frontier``: it is
    one of the largest that hold, or of the smallest that do not, with the same other settings.
    """

    settings: Mapping[str, str]
    known: Known
    inferred: bool = False
    frontier: bool = False
    reason: str = ""
    states: Natural = 0
    steps: Natural | None = None
    trace: Trace | None = None


class Fall(Struct, frozen=True):
    """A point at which a property holds, and one with a larger size and no more faults at which it
    fails."""

    holds: str
    fails: str


class Boundary(Struct, frozen=True):
    """The boundary of a property in the world ``world``: settings of a command, or empty for the
    check's own world.

    ``shape``: it holds at every point, or at no point; ``formula`` separates the points that hold
    from those that fail, with the least integers; there is none, and ``points`` are the largest at
    which it holds; or no formula fits.  ``others``: formulas of nearly the same size that these
    points do not rule out.  ``fall``: why no formula fits, if there is such a
    pair.  ``up_to``: what was enumerated, such as ``n = 6``.  ``proved``: ``prove`` proves for all
    sizes that the formula suffices.
    """

    world: str
    shape: Literal["everywhere", "nowhere", "formula", "points", "none"]
    formula: str = ""
    points: tuple[str, ...] = ()
    fall: Fall | None = None
    others: tuple[str, ...] = ()
    up_to: str = ""
    proved: bool = False


class PropertyFrontier(Struct, frozen=True):
    """What is known of ``property`` at every point; ``contradictions``: pairs of points, the second
    harder than the first, where it fails at the first and holds at the second."""

    property: str
    cells: tuple[FrontierCell, ...]
    boundaries: tuple[Boundary, ...]
    contradictions: tuple[tuple[str, str], ...] = ()

    def is_decided(self) -> bool:
        """Whether nothing at the boundary is unknown."""
        return not any(cell.known == "unknown" for cell in self.cells)


class Frontier(Struct, frozen=True):
    """The report on the check ``check`` of ``file``.

    ``axes``: the values of each axis; ``harder``: the axes on which a larger value allows more
    faults, along which the boundary is searched; ``skipped``: points at which there is no system.
    ``stopped``: why not all points that were to be run were.
    """

    file: str
    check: str
    world: str
    axes: tuple[tuple[str, tuple[str, ...]], ...]
    harder: tuple[str, ...]
    properties: tuple[PropertyFrontier, ...]
    runs: Natural = 0
    skipped: Natural = 0
    stopped: str | None = None
    seconds: Amount = 0.0
    version: str = version()

    @property
    def is_decided(self) -> bool:
        """Whether nothing at a boundary is unknown."""
        return self.stopped is None and all(p.is_decided() for p in self.properties)
