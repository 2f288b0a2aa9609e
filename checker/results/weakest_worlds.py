"""A report on what a check assumes: the weakest worlds in which each of its properties holds."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checker.resources import version
from checker.results.domains import Amount, Natural
from checker.results.trace import Trace
from checker.results.verdict import Word

FORMAT = 1
"""Version of the document."""

Found = Literal["violated", "vacuous", "unknown", "error"]


class Needed(Struct, frozen=True):
    """Assumptions of which at least one is needed: in the world without all of them the property
    does not hold, and one step back it does.

    ``assumptions``: in words; ``settings``: that world, as options of a command; ``found``: the
    verdict there, *needed* is shown only by ``violated`` and ``error``; ``steps``, ``trace``: of
    the run that shows it.  ``axes``: the names of what is assumed.
    """

    assumptions: tuple[str, ...]
    axes: tuple[str, ...]
    settings: str
    found: Found
    reason: str = ""
    steps: Natural | None = None
    trace: Trace | None = None

    @property
    def is_shown(self) -> bool:
        """Whether a run shows that it is needed."""
        return self.found in ("violated", "error")


class Weakest(Struct, frozen=True):
    """A world in which a property holds, and in no weaker one that was asked: what it assumes, the
    world as options of a command, and how many states were explored there."""

    assumptions: tuple[str, ...]
    settings: str
    states: Natural


class PropertyWorlds(Struct, frozen=True):
    """What the ``property`` needs.

    ``verdict``: in the check's own world.  ``weakest``: all weakest worlds in which it holds; a
    vacuous success is none.  ``unneeded``: what the check assumes, by axis, and the property holds
    without in some world and fails in none for the lack of it; ``together``: worlds that lack more
    than can be decided within the limits.  ``contradictions``: pairs of worlds as options, the
    second weaker than the first, where it fails in the first and holds in the second.  ``skipped``:
    worlds that contradict themselves.  ``unasked``: why nothing was asked.
    ``finite``: finite runs decide it, so it needs no fairness.
    """

    property: str
    verdict: Word
    weakest: tuple[Weakest, ...] = ()
    needed: tuple[Needed, ...] = ()
    unneeded: tuple[tuple[str, str], ...] = ()
    together: tuple[str, ...] = ()
    contradictions: tuple[tuple[str, str], ...] = ()
    runs: Natural = 0
    skipped: Natural = 0
    unasked: str = ""
    finite: bool = False

    def shown(self, alone: bool) -> tuple[Needed, ...]:
        """Returns what is shown to be needed: assumptions ``alone``, or one of several."""
        return tuple(n for n in self.needed if n.is_shown and (len(n.assumptions) == 1) is alone)

    def undecided(self) -> tuple[Needed, ...]:
        """What may or may not be needed."""
        return tuple(each for each in self.needed if not each.is_shown)


class WeakestWorlds(Struct, frozen=True):
    """The report on the check ``check`` of ``file`` in the world ``world``.

    ``assumed``: what the check assumes and could do without, by axis, in words; ``never_asked``:
    what no run varied, each with the reason.  ``requires``: the condition of the protocol on its
    sizes.  ``runs``: how many worlds were run; ``stopped``: why not all were.
    """

    file: str
    check: str
    world: str
    properties: tuple[PropertyWorlds, ...]
    assumed: tuple[tuple[str, str], ...]
    never_asked: tuple[tuple[str, str], ...]
    requires: str = ""
    runs: Natural = 0
    stopped: str | None = None
    seconds: Amount = 0.0
    version: str = version()

    @property
    def is_decided(self) -> bool:
        """Whether all worlds that were to be asked gave a verdict."""
        open_ = any(p.undecided() or p.together for p in self.properties)
        return self.stopped is None and not open_

    @property
    def contradicts(self) -> bool:
        """Whether some property fails in a world and holds in a weaker one."""
        return any(p.contradictions for p in self.properties)
