"""What random walks have seen, for a report."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics.english import count
from checker.results.domains import Natural, Positive, Text


class WalkSummary(Struct, frozen=True):
    """Random walks of ``seed``.

    ``walks``: how many were made, of ``longest`` of ``most`` steps at most, of ``steps`` in all;
    ``after``: the scenario behind which they start, if any; ``ends``: how often a walk might have
    stayed forever where it was; ``outgrown``: walks that ended where a capacity was too small that
    is enlarged no further; ``found``: the number of the walk that found something; ``taken``: how
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
