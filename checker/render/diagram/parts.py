"""The parts of a space-time diagram: plain data, in units of a screen pixel.

``x`` grows to the right, ``y`` downwards, and so does time.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checker.render.diagram.rows import Layout
from checker.results.causality import CopyOutcome
from checker.results.trace import StepKind

Point = tuple[float, float]

NO_IDENTITY = -1
"""The identity of parts that concern no message."""


class Box(Struct, frozen=True):
    """A rectangle that an element covers."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Returns whether the two have more than an edge in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


class Span(Struct, frozen=True):
    """A piece of a lane; ``down``: its process is crashed there."""

    top: float
    bottom: float
    down: bool


class Lane(Struct, frozen=True):
    """A process's column; ``faulty`` as in :class:`checker.results.trace.ProcessOutcome`.

    ``fate``: the outcome of the process in words; ``correct``: the process has no fault.
    """

    process: str
    x: float
    spans: tuple[Span, ...]
    faulty: str
    fate: str
    correct: bool


class Line(Struct, frozen=True):
    """A line of text beside a mark, with its sign.

    ``sign``: ``request``, ``delivery``, ``perform``, ``store``, ``timeout``, ``suspicion``,
    ``oracle``, ``crash``, ``recover``, ``world`` or ``does``; ``text`` may be shortened, ``whole``
    is not; ``identity``: which message it is about; ``struck``: it never happened.
    """

    sign: str
    text: str
    whole: str
    identity: int = NO_IDENTITY
    struck: bool = False


class Label(Struct, frozen=True):
    """Lines of text in a box; ``left``: they start at its left edge, else they end at the right."""

    box: Box
    lines: tuple[Line, ...]
    left: bool = True


MarkKind = StepKind | Literal["also"]
"""The kind of a step, or ``also`` at a process that is not its own."""


class Mark(Struct, frozen=True):
    """A step on a lane; ``kind`` is that of the step, or ``crash`` where it crashes inside.

    ``lane`` is empty for the start and for what the link does; ``first``: the others of the same
    step come after it.
    """

    step: int
    lane: str
    kind: MarkKind
    x: float
    y: float
    title: str
    label: Label | None = None
    context: bool = False
    loop: bool = False
    first: bool = True


class Bar(Struct, frozen=True):
    """A step of the environment, across all lanes; ``apart``: the processes partitioned off."""

    step: int
    y: float
    text: str
    title: str
    apart: tuple[str, ...] = ()
    context: bool = False
    loop: bool = False


class Drawn(Struct, frozen=True):
    """An arrow as it is drawn: from the first to the last of ``points``; ``curved``: an arc.

    ``claimed``: in whose name a forged message comes.  ``label`` is ``None`` where another copy of
    the multicast has it; ``note``: a word at its end.
    """

    sender: str
    receiver: str
    message: str
    how: CopyOutcome
    sent: int | None
    ended: int | None
    multicast: int
    identity: int
    points: tuple[Point, ...]
    curved: bool
    title: str
    claimed: str = ""
    label: Label | None = None
    note: Label | None = None
    context: bool = False
    loop: bool = False


class Operation(Struct, frozen=True):
    """An operation of a process, from its call to its return; ``has_returned``: else it goes on to
    the end."""

    process: str
    x: float
    top: float
    bottom: float
    title: str
    has_returned: bool


class Item(Struct, frozen=True):
    """An indication or a ``perform`` of a process; ``step`` is ``None`` where it never happens."""

    step: int | None
    text: str
    whole: str
    identity: int
    perform: bool
    box: Box
    again: bool = False

    @property
    def missing(self) -> bool:
        """Returns whether it is missing: other processes have it, and this one never gets it."""
        return self.step is None


class Strip(Struct, frozen=True):
    """All that a process indicated and performed, in order."""

    process: str
    x: float
    items: tuple[Item, ...]


class LoopBox(Struct, frozen=True):
    """The cycle of the execution, which repeats forever."""

    box: Box
    text: str


class Violation(Struct, frozen=True):
    """The place of the violation; ``step`` is ``None`` where something never happens; ``lane`` may
    be empty.

    ``box``: the place of its text.
    """

    step: int | None
    lane: str
    x: float
    y: float
    text: str
    box: Box


class Picture(Struct, frozen=True):
    """An execution as a space-time diagram.

    ``sentences``: what is violated and why; ``identities``: the texts that distinguish messages,
    each at the number by which the parts refer to it; ``ends``: in words, how the execution
    continues behind its last step; ``end``: the y at which the execution ends and the strips start;
    ``notes``: sentences for the legend.
    """

    title: str
    sentences: tuple[str, ...]
    width: float
    height: float
    top: float
    end: float
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    bars: tuple[Bar, ...]
    arrows: tuple[Drawn, ...]
    strips: tuple[Strip, ...]
    loop: LoopBox | None
    violations: tuple[Violation, ...]
    identities: tuple[str, ...]
    ends: str
    layout: Layout
    notes: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
