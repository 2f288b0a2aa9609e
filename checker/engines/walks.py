"""Ranges of random walks: what is asked of whoever makes them, and what they give back."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from checker.results.answer import Path, State


class WalkTask(Struct, frozen=True):
    """Walks of ``seed`` with the numbers from ``first`` up to, not including, ``last``, each of
    ``steps`` steps at most, from one of ``starts``.
    """

    seed: int
    first: int
    last: int
    steps: int
    starts: tuple[State, ...]


class CompletedWalk(Struct, frozen=True):
    """A walk that is over: its states, and which of them it might stay in, ascending."""

    number: int
    states: tuple[State, ...]
    ends: tuple[int, ...]


class FoundWalk(Struct, frozen=True):
    """A walk in which something was found.

    ``path``: the execution that violates ``property``; otherwise (``None``) there is something in
    the last of ``states`` that the interpreter has to look at: a violated invariant, an error, or a
    violation by staying there.
    """

    number: int
    states: tuple[State, ...]
    path: Path | None = None
    property: str = ""


class WalkBlock(Struct):
    """What was seen in a range of walks, up to ``found``.

    ``ends``: how often a walk might have stayed where it was; ``taken``: how often each action was
    taken, in the order of the system's; ``marks``: a bit for each mark that a step of a state of
    the walks reaches; ``premises``: the numbers of the properties whose premise held; ``complete``:
    all walks were made, or something was found.
    """

    first: int
    walks: int = 0
    steps: int = 0
    longest: int = 0
    ends: int = 0
    taken: list[int] = field(default_factory=list)
    marks: int = 0
    premises: set[int] = field(default_factory=set)
    found: FoundWalk | None = None
    complete: bool = False

    def add(self, other: WalkBlock) -> None:
        """Adds what was seen in later walks."""
        self.walks += other.walks
        self.steps += other.steps
        self.longest = max(self.longest, other.longest)
        self.ends += other.ends
        before = self.taken or [0] * len(other.taken)
        self.taken = [a + b for a, b in zip(before, other.taken, strict=True)]
        self.marks |= other.marks
        self.premises |= other.premises


class Inspection(Struct, frozen=True):
    """Which completed walks are looked at by ``judge``, in addition to what every walk is judged
    by.

    ``ends``: each that might stay somewhere; ``cycles``: each so-many-th one (a power of two; 0:
    none).  ``judge`` returns the violating path and the
    property.
    """

    ends: bool
    cycles: int
    judge: Callable[[CompletedWalk], tuple[Path, str] | None]

    def wants(self, number: int, ends: tuple[int, ...]) -> bool:
        """Returns whether a walk is to be looked at."""
        return bool(self.ends and ends) or bool(self.cycles and number % self.cycles == 0)
