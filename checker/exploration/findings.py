"""What is known of a system once some levels have been expanded: all that goes on from level to
level beside the states themselves, whoever expands them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Best = tuple[int, tuple[int, ...]]
"""A fingerprint and the words of a state: compared in this order."""


@dataclass
class Findings:
    """``depth``: the levels before this one are expanded and judged, its own states are complete.

    ``violating``: the first level in which a property is seen to fail, and the smallest such state
    there; ``faulty``: the same for errors of the run; ``premises``: the properties whose premise
    held; ``maybe_cyclic``: some step does not lead on to the next level; ``transitions``,
    ``ends``: as in ``Answer``; ``marks``: a bit for each mark that was reached.
    """

    depth: int = 0
    violating: dict[str, tuple[int, Best]] = field(default_factory=dict)
    premises: set[str] = field(default_factory=set)
    faulty: tuple[int, Best] | None = None
    maybe_cyclic: bool = False
    transitions: int = 0
    ends: int = 0
    marks: int = 0

    def reached_marks(self) -> set[int]:
        """The numbers of the marks that were reached."""
        return {i for i in range(self.marks.bit_length()) if self.marks >> i & 1}

    def reach(self, marks: Iterable[int]) -> None:
        """These marks were reached, too."""
        for mark in marks:
            self.marks |= 1 << mark
