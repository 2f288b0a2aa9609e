"""What is known of a system once some levels have been expanded: all that goes on from level to
level beside the states themselves, whoever expands them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

from checker.system.ir import TransitionSystem
from checker.witness.answer import Limits, Unsupported

Best = tuple[int, tuple[int, ...]]
"""A fingerprint and the words of a state: compared in this order."""


TOO_NESTED = "an action makes more nested choices than the native engine takes"

SELDOM, AGAIN = 4096, 4
"""Where one step was so much too seldom enough in a level it is looked for in every fourth only."""


@dataclass(frozen=True, slots=True)
class LevelReport:
    """What one worker noted while it expanded states of a level; ``+`` is that of two workers.

    ``premises``, ``worst``: for each property, whether its premise held, and the smallest state in
    which it is seen to fail; ``fault``: the smallest state with an error of the run; ``lost``: one
    in which a property can't be evaluated; ``back``: some step does not lead on to the next level;
    ``tape``: there were more nested choices than there is room for; ``newcomer``: some successor
    was never seen, where that was asked; ``turned``: some step leads to another state of the same
    orbit, so that runs go round; ``lone``: see ``Worker.LONE``.
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
            self.marks | other.marks,
            self.lone + other.lone,
        )

    def without_counts(self) -> LevelReport:
        """What was noted, without numbers."""
        return replace(self, transitions=0, ends=0)

    @staticmethod
    def together(reports: Iterable[LevelReport]) -> LevelReport:
        """The report of all workers (at least one)."""
        return reduce(lambda a, b: a + b, reports)


def _smaller(a: Best | None, b: Best | None) -> Best | None:
    return min((best for best in (a, b) if best is not None), default=None)


@dataclass
class Findings:
    """``depth``: the levels before this one are expanded and judged, its own states are complete.

    ``violating``: the first level in which a property is seen to fail, and the smallest such state
    there; ``faulty``: the same for errors of the run; ``premises``: the properties whose premise
    held; ``maybe_cyclic``: some step does not lead on to the next level; ``cyclic``: some run is
    known to go round; ``transitions``, ``ends``: as in ``Answer``; ``marks``: a bit for each mark
    that was reached; ``lone``: the last level in which it was tried whether one step is enough, and
    as in ``LevelReport``.
    """

    depth: int = 0
    violating: dict[str, tuple[int, Best]] = field(default_factory=dict)
    premises: set[str] = field(default_factory=set)
    faulty: tuple[int, Best] | None = None
    maybe_cyclic: bool = False
    cyclic: bool = False
    transitions: int = 0
    ends: int = 0
    marks: int = 0
    lone: tuple[int, int] = (0, 0)

    @property
    def whole(self) -> bool:
        """Whether it is not worth the time to look in the next level for states in which one step
        is enough.

        They are rare at first and frequent later on, so that one level in ``AGAIN`` is always
        tried.  Verdicts don't depend on it: a state may always be expanded with all its steps.
        """
        return self.depth % AGAIN != 0 and self.lone[1] < -SELDOM

    def marks_reached(self) -> set[int]:
        """The numbers of the marks that were reached."""
        return {i for i in range(self.marks.bit_length()) if self.marks >> i & 1}

    def reach(self, marks: Iterable[int]) -> None:
        """These marks were reached, too."""
        for mark in marks:
            self.marks |= 1 << mark

    def copy(self) -> Findings:
        """What is known now; it does not change with what is found later."""
        return replace(self, violating=dict(self.violating), premises=set(self.premises))

    def enough(self, system: TransitionSystem, limits: Limits) -> bool:
        """Whether all that is asked is decided, and nobody wants the rest."""
        asked = [prop.name for prop in system.properties]
        return limits.until_decided and bool(asked) and self.violating.keys() >= set(asked)

    def add(self, system: TransitionSystem, report: LevelReport, depth: int) -> None:
        """Takes over what was noted at level ``depth``, which need not be complete.

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
        self.marks |= report.marks
        if report.lone:
            level, before = self.lone
            self.lone = (depth, report.lone + (before if level == depth else 0))
