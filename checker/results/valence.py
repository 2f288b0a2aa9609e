"""A report on valence: what can still be decided in the states of a check.

The terms are those of Fischer, Lynch and Paterson (1985).  A state is *bivalent* where more than
one value can still be decided, *univalent* where one can, and *silent* where none can.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Struct

from checker.results.domains import Amount, Natural, OneOf
from checker.results.trace import Trace

FORMAT = 1
"""Version of the document."""
CORNERS = ("agreement", "nontriviality", "termination")
"""The corners of the triangle of which a deterministic asynchronous protocol that one crash can
meet has to give up one."""
KEPT = ("kept", "given up", "unknown")
Loop = Literal["bivalent", "undecided"]


class Without(Struct, frozen=True):
    """What can still be decided where ``process`` takes no further step (Völzer 2004)."""

    process: str
    open: tuple[str, ...]


class Start(Struct, frozen=True):
    """Initial states with the same ``inputs`` (pairs of a process and a value): what can be decided
    from them, and without each process.  ``states``: how many there are."""

    inputs: tuple[tuple[str, str], ...]
    open: tuple[str, ...]
    without: tuple[Without, ...]
    states: Natural = 1


class Adjacent(Struct, frozen=True):
    """Two inputs, numbers of ``Valence.starts``, that differ in one process, and not both are
    univalent for the same value (lemma 2).  ``without``: what each of them can still decide where
    that process takes no step; the same, as both are the same then."""

    process: str
    one: Natural
    other: Natural
    without: tuple[str, ...]


class Level(Struct, frozen=True):
    """The states at one distance from the start, by valence; ``univalent``: for each value.

    ``split``: those in which several values are already decided, not included in ``bivalent``.
    """

    depth: Natural
    silent: Natural
    univalent: tuple[Natural, ...]
    bivalent: Natural
    split: Natural = 0

    @property
    def states(self) -> int:
        """How many there are."""
        return self.silent + sum(self.univalent) + self.bivalent + self.split


class Branch(Struct, frozen=True):
    """A step from a critical state: what happens, whose step it is (empty: nobody's), and what can
    be decided after it."""

    headline: str
    process: str
    open: tuple[str, ...]


class Critical(Struct, frozen=True):
    """A critical state: bivalent, undecided, and each step to another state decides what will be.

    ``trace``: a shortest run to it; ``holder``: the process whose steps lead to different values
    (empty: the steps of several, or of the world, do); ``without_holder``: what can be decided
    without that process: nothing, where steps of different processes commute (lemma 3).
    """

    trace: Trace
    branches: tuple[Branch, ...]
    holder: str = ""
    without_holder: tuple[str, ...] = ()


class Nearest(Struct, frozen=True):
    """A shortest run to a state in which just ``open`` can be decided; where these are several: to
    any bivalent state."""

    open: tuple[str, ...]
    trace: Trace


class Blocking(Struct, frozen=True):
    """The number of ``states`` in which something can still be decided, but nothing if ``process``
    takes no further step; ``initial``: the number of initial ones among them."""

    process: str
    states: Natural
    initial: Natural


class Corner(Struct, frozen=True):
    """A corner of the triangle: whether the protocol keeps it, and why that is known."""

    name: Annotated[str, OneOf(CORNERS)]
    kept: Annotated[str, OneOf(KEPT)]
    reason: str


class UndecidedRun(Struct, frozen=True):
    """An admissible run that never decides.

    ``kind``: ``bivalent`` where each state of its loop is; ``schedule``: what is done again and
    again, in words; ``empty`` where it just stays.
    """

    kind: Loop
    trace: Trace
    schedule: tuple[str, ...] = ()


class Valence(Struct, frozen=True):
    """The valence of the states of a check.

    ``outcome``: what is decided, as it was asked for; ``values``: its values.  ``starts``: for each
    input; ``critical_states``: how many there are, and ``critical`` some of the nearest.
    ``nearest``: a run to each kind of state that there is: bivalent, univalent by value, silent.
    ``non_uniform``: states in which for each value there is a process without which it can still be
    decided.  ``stopped``: why it is not known, and then nothing else is (``None``: it is known).
    ``seconds``: of the search; ``graph_seconds``: for the graph of steps, ``word_seconds``: for
    the valence of its states, of which each takes ``bytes_per_state``.
    """

    file: str
    check: str
    parameters: Mapping[str, str | int]
    engine: str
    outcome: str
    values: tuple[str, ...]
    processes: tuple[str, ...]
    states: Natural = 0
    depth: Natural = 0
    edges: Natural = 0
    starts: tuple[Start, ...] = ()
    adjacent: tuple[Adjacent, ...] = ()
    levels: tuple[Level, ...] = ()
    critical_states: Natural = 0
    critical: tuple[Critical, ...] = ()
    blocking: tuple[Blocking, ...] = ()
    non_uniform: Natural = 0
    corners: tuple[Corner, ...] = ()
    undecided: UndecidedRun | None = None
    disagreement: Trace | None = None
    nearest: tuple[Nearest, ...] = ()
    notes: tuple[str, ...] = ()
    stopped: str | None = None
    seconds: Amount = 0.0
    graph_seconds: Amount = 0.0
    word_seconds: Amount = 0.0
    bytes_per_state: Natural = 0
    world: str = ""

    @property
    def exit_code(self) -> int:
        """0, or 3 where the valence is unknown."""
        return 0 if self.stopped is None else 3
