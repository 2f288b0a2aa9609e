"""What is known of a system once some levels are expanded: all data besides the states themselves
that passes from level to level, in any engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from msgspec import Struct, field

from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.results.answer import Limits, Unsupported

Best = tuple[int, tuple[int, ...]]
"""A fingerprint and the words of a state: compared in this order."""

Target = tuple[int, Best]
"""A state of a level."""


TOO_NESTED = "an action has more nested choices than the native engine supports"

SELDOM, AGAIN = 4096, 4
"""Below such a balance of states in which one step is enough, only every fourth level is tried."""


class LevelReport(Struct, frozen=True):
    """The notes of one worker that expanded states of a level; ``+`` joins those of two workers.

    ``premises``, ``worst``: for each property, whether its premise held, and the smallest state in
    which it fails; ``fault``: the smallest state with a runtime error; ``lost``: one in which a
    property can't be evaluated; ``back``: some step does not lead on to the next level; ``tape``:
    there were more nested choices than there is room for; ``newcomer``: some successor was not
    visited before, where that was queried; ``turned``: some step leads to another state of the same
    orbit, so that there is a cycle; ``lone``: see ``Worker.LONE``.
    """

    premises: tuple[bool, ...]
    worst: tuple[Best | None, ...]
    fault: Best | None = None
    lost: Best | None = None
    back: bool = False
    tape: bool = False
    newcomer: bool = False
    turned: bool = False
    transitions: int = 0
    ends: int = 0
    beyond: int = 0
    marks: int = 0
    lone: int = 0

    def __add__(self, other: LevelReport) -> LevelReport:
        return LevelReport(
            tuple(a or b for a, b in zip(self.premises, other.premises, strict=True)),
            tuple(_smaller(a, b) for a, b in zip(self.worst, other.worst, strict=True)),
            _smaller(self.fault, other.fault),
            _smaller(self.lost, other.lost),
            self.back or other.back,
            self.tape or other.tape,
            self.newcomer or other.newcomer,
            self.turned or other.turned,
            self.transitions + other.transitions,
            self.ends + other.ends,
            self.beyond + other.beyond,
            self.marks | other.marks,
            self.lone + other.lone,
        )

    def without_counts(self) -> LevelReport:
        """The notes without counts."""
        return replace(self, transitions=0, ends=0, beyond=0)

    @staticmethod
    def together(reports: Iterable[LevelReport]) -> LevelReport:
        """The joined report of all workers (at least one)."""
        return reduce(lambda a, b: a + b, reports)


def _smaller(a: Best | None, b: Best | None) -> Best | None:
    return min((best for best in (a, b) if best is not None), default=None)


class Findings(Struct):
    """``depth``: the levels before this one are expanded and judged, its own states are complete.

    ``violating``: the first level in which a property fails, and the smallest such state there;
    ``faulty``: the same for runtime errors; ``premises``: the properties whose premise held;
    ``maybe_cyclic``: some step does not lead on to the next level; ``cyclic``: a cycle is known;
    ``transitions``, ``ends``, ``beyond``: as in ``Answer``; ``marks``: a bit for each mark that was
    reached; ``lone``: the last level in which it was tried whether one step is enough, and as in
    ``LevelReport``.
    """

    depth: int = 0
    violating: dict[str, Target] = field(default_factory=dict)
    premises: set[str] = field(default_factory=set)
    faulty: Target | None = None
    maybe_cyclic: bool = False
    cyclic: bool = False
    transitions: int = 0
    ends: int = 0
    beyond: int = 0
    marks: int = 0
    lone: tuple[int, int] = (0, 0)

    @property
    def whole(self) -> bool:
        """Whether the next level is not worth searching for states in which one step is enough.

        Such states are rare at first and frequent later on, so one level in ``AGAIN`` is always
        tried.  Verdicts don't depend on it: a state may always be fully expanded.
        """
        return self.depth % AGAIN != 0 and self.lone[1] < -SELDOM

    def marks_reached(self) -> set[int]:
        """The numbers of the marks that were reached."""
        return {i for i in range(self.marks.bit_length()) if self.marks >> i & 1}

    def reach(self, marks: Iterable[int]) -> None:
        """Adds these marks to those reached."""
        for mark in marks:
            self.marks |= 1 << mark

    def copy(self) -> Findings:
        """A copy, which does not change with later findings."""
        return replace(self, violating=dict(self.violating), premises=set(self.premises))

    def enough(self, system: TransitionSystem, limits: Limits) -> bool:
        """Whether no caller needs the rest: all queries are decided, or all is reached that is
        wanted."""
        if limits.until_reached:
            reached = self.marks_reached()
            return all(not reached.isdisjoint(marks) for marks in limits.until_reached)
        if limits.until_violated:
            failing = {p.asked for p in system.properties if p.name in self.violating}
            if failing & limits.until_violated:
                return True
        asked = bool(system.asked_properties) and limits.until_decided
        return asked and not system.open_properties(self.violating)

    def add(self, system: TransitionSystem, report: LevelReport, depth: int) -> None:
        """Adds what was noted at level ``depth``, which need not be complete.

        Raises :class:`Unsupported` where the native code has met its limits.
        """
        if report.tape:
            raise Unsupported(TOO_NESTED)
        for prop, premise, worst in zip(
            system.properties, report.premises, report.worst, strict=True
        ):
            if premise:
                self.premises.add(prop.name)
            if worst is not None:
                self.violating.setdefault(prop.name, (depth, worst))
        if report.fault is not None:
            self.faulty = (depth, report.fault)
        self.maybe_cyclic = self.maybe_cyclic or report.back
        self.cyclic = self.cyclic or report.turned
        self.transitions += report.transitions
        self.ends += report.ends
        self.beyond += report.beyond
        self.marks |= report.marks
        if report.lone:
            level, before = self.lone
            self.lone = (depth, report.lone + (before if level == depth else 0))
