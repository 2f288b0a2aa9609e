"""A report on the mutants of a spec: which of its checks notice which change."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from checker.resources import version
from checker.results.domains import Amount, Natural, Positive

FORMAT = 1
"""Version of the document."""


STRONGER, WEAKER = "stronger property", "weaker property"
"""The kinds of changed properties."""


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent here"
    STILLBORN = "stillborn"
    UNKNOWN = "unknown"


class Kill(Struct, frozen=True):
    """A ``verdict`` on a ``property`` of a mutant that is not what the ``check`` expects.
    ``steps``: the length of the run that shows it, or ``None`` where a verdict has no run."""

    check: str
    property: str
    verdict: str
    steps: Natural | None = None


class MutantResult(Struct, frozen=True):
    """A mutant, by its ``number``: the change that ``what`` names, in line ``line`` of
    ``protocol``, and its ``fate``.

    ``kills``: of the first check that notices it, or of all checks.  ``reason``: why it is
    stillborn, unknown or equivalent, or why a survivor is accepted (``accepted``).
    """

    number: Positive
    protocol: str
    line: Positive
    kind: str
    what: str
    fate: Fate
    kills: tuple[Kill, ...] = ()
    reason: str = ""
    accepted: bool = False

    @property
    def counts(self) -> bool:
        """Whether the score counts it."""
        return self.fate in (Fate.KILLED, Fate.UNKNOWN) or (
            self.fate is Fate.SURVIVED and not self.accepted
        )


class Mutation(Struct, frozen=True):
    """The report on the mutants of ``file`` by ``checks``.

    ``drawn``: how many of ``known`` mutants were drawn, by ``seed``; ``every_check``: whether each
    check was run on each mutant, also after one had noticed it.  ``asked``: the properties of the
    checks; ``left_out``: checks that were not run, since they are for all n.  ``stopped``: why not
    all mutants were judged.  ``undecided``: checks that judge none, since they were not decided in
    their share of the time.  ``searched``: checks that were not decided either, and how many steps
    of each run were searched; they can kill a mutant, and with them none survives.  ``worlds``:
    they are checks in worse worlds, not changed protocols.
    """

    file: str
    checks: tuple[str, ...]
    known: Natural
    drawn: Natural
    seed: int | None
    every_check: bool
    asked: tuple[str, ...]
    mutants: tuple[MutantResult, ...]
    left_out: tuple[str, ...] = ()
    stopped: str | None = None
    seconds: Amount = 0.0
    version: str = version()
    worlds: bool = False
    since: str | None = None
    properties: bool = False
    undecided: tuple[str, ...] = ()
    searched: dict[str, Natural] = field(default_factory=dict)

    def with_fate(self, fate: Fate) -> tuple[MutantResult, ...]:
        """Returns the mutants with a fate."""
        return tuple(each for each in self.mutants if each.fate is fate)

    @property
    def score(self) -> Amount | None:
        """The share of killed mutants among those that count, of which *unknown* ones are; from 0
        to 1; ``None`` where none counts, and of worlds and properties, whose survivors are no
        faults."""
        scored = not self.worlds and not self.properties
        counted = [each for each in self.mutants if each.counts and scored]
        killed = sum(each.fate is Fate.KILLED for each in counted)
        return killed / len(counted) if counted else None

    @property
    def unneeded(self) -> tuple[str, ...]:
        """Of worlds, the changes of which some survives and none is killed or unknown: assumptions
        that no check needs."""
        fates: dict[str, set[Fate]] = {}
        for each in self.mutants if self.worlds else ():
            fates.setdefault(each.what.partition(" with ")[2], set()).add(each.fate)
        return tuple(c for c, found in fates.items() if found - {Fate.STILLBORN} == {Fate.SURVIVED})

    @property
    def promised(self) -> tuple[str, ...]:
        """The stronger properties that no check violates: they could be promised."""
        return self._surviving(STRONGER)

    @property
    def undistinguished(self) -> tuple[str, ...]:
        """The weaker properties that are as good as the original in all checks: no run of a check
        shows what they lack."""
        return self._surviving(WEAKER)

    def _surviving(self, kind: str) -> tuple[str, ...]:
        survivors = self.with_fate(Fate.SURVIVED) if self.properties else ()
        return tuple(f"{each.protocol} {each.what}" for each in survivors if each.kind == kind)

    @property
    def unguarded(self) -> tuple[Positive, ...]:
        """The lines of which some change survives and none is killed."""
        about_lines = not self.worlds and not self.properties
        survivors = self.with_fate(Fate.SURVIVED) if about_lines else ()
        survived = {each.line for each in survivors if not each.accepted}
        return tuple(sorted(survived - {each.line for each in self.with_fate(Fate.KILLED)}))

    @property
    def kills(self) -> dict[str, Natural]:
        """How many mutants each property kills, whatever the check."""
        names = {name: 0 for name in self.asked}
        for mutant in self.mutants:
            for name in {kill.property for kill in mutant.kills}:
                names[name] = names.get(name, 0) + 1
        return names

    @property
    def sufficient(self) -> tuple[str, ...]:
        """A set of properties that kill all killed mutants, found greedily: the one that kills most
        of those that are left comes next.  It is meaningful with ``every_check``."""
        left = [{kill.property for kill in each.kills} for each in self.with_fate(Fate.KILLED)]
        chosen: list[str] = []
        while left:
            names = sorted(set().union(*left))
            best = max(names, key=lambda name: sum(name in each for each in left))
            chosen.append(best)
            left = [each for each in left if best not in each]
        return tuple(chosen)
