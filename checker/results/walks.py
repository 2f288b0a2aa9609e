"""Results of random walks, for a report."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics.english import count
from checker.results.domains import Natural, Positive, Text


class WalkSummary(Struct, frozen=True):
    """Random walks of ``seed``.

    ``walks``: how many were made, of ``longest`` of ``most`` steps at most, of ``steps`` in all;
    ``after``: the scenario after which they start, if any; ``ends``: how often a walk might have
    stayed forever in its state; ``outgrown``: walks that ended because a capacity was too small and
    was not enlarged further; ``found``: the number of the walk that found something; ``taken``: how
    often each action was taken; ``faults``: how often each kind of fault occurred.
    """

    seed: Natural
    walks: Natural
    steps: Natural
    most: Positive
    longest: Natural
    ends: Natural
    outgrown: Natural = 0
    found: Positive | None = None
    after: str = ""
    taken: tuple[tuple[Text, Natural], ...] = ()
    faults: tuple[tuple[Text, Natural], ...] = ()

    @property
    def text(self) -> str:
        """What was walked, in words."""
        far = f"{count(self.walks, 'walk')} of up to {count(self.most, 'step')}"
        return f"{far}, seed {self.seed}" + (f", after {self.after}" if self.after else "")
