"""A report on the holes of a spec: which fillings make its checks come out as they expect."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from checker.resources import version
from checker.results.domains import Amount, Natural, Positive
from checker.results.mutation import Kill
from checker.results.trace import Trace

FORMAT = 1
"""Version of the document."""


class FillingFate(StrEnum):
    """The fate of a filling, by the checks."""

    HOLDS = "holds"
    REFUTED = "refuted"
    VACUOUS = "vacuous"
    UNKNOWN = "unknown"
    INVALID = "invalid"


class Candidate(Struct, frozen=True):
    """An expression that may fill a hole; ``same``: others that have its value in every check."""

    text: str
    same: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """It, and those that have the same values."""
        return (self.text, *self.same)


class HoleFound(Struct, frozen=True):
    """Hole number ``number`` of a file, in line ``text``; ``of``: the declaration that it is in;
    ``type``: that of what may fill it, in words; ``candidates``: the expressions that are tried."""

    number: Positive
    line: Positive
    column: Positive
    of: str
    text: str
    type: str
    candidates: tuple[Candidate, ...]


class Filling(Struct, frozen=True):
    """An expression for each hole, ``values``, and what the checks say of it.

    ``kills``: the verdicts that
    are not as expected, of the first check that has any.  ``trace``: the run of the first of them.
    ``replayed``: that run had refuted another filling before, and is one of this filling, too.
    ``states``: of all checks together.  ``messages``: of the worst run of the check that has most,
    of a filling that holds; ``None`` where there is no bound, or they were not counted.
    ``reason``: why it is not known, or no valid spec.
    """

    values: tuple[str, ...]
    fate: FillingFate
    kills: tuple[Kill, ...] = ()
    reason: str = ""
    states: Natural = 0
    messages: Natural | None = None
    replayed: bool = False
    trace: Trace | None = None


class Fillings(Struct, frozen=True):
    """The report on the holes of ``file`` by ``checks``, and on all ``fillings``.

    ``runs``: how many checks were run; ``replays``: how many were refuted by a run that was known.
    ``stopped``: why not all fillings are decided.
    """

    file: str
    checks: tuple[str, ...]
    holes: tuple[HoleFound, ...]
    fillings: tuple[Filling, ...]
    runs: Natural = 0
    replays: Natural = 0
    stopped: str | None = None
    seconds: Amount = 0.0
    version: str = version()

    def with_fate(self, fate: FillingFate) -> tuple[Filling, ...]:
        """Returns the fillings that have this fate."""
        return tuple(each for each in self.fillings if each.fate is fate)

    @property
    def is_decided(self) -> bool:
        """Whether nothing is unknown."""
        return self.stopped is None and not self.with_fate(FillingFate.UNKNOWN)

    @property
    def free(self) -> tuple[Positive, ...]:
        """The numbers of the holes that nothing which is asked depends on: whatever the others
        have, all candidates have the same fate, and as many states."""
        return tuple(
            h.number for h in self.holes if len(h.candidates) > 1 and self._is_free(h.number - 1)
        )

    def _is_free(self, at: int) -> bool:
        found: dict[tuple[str, ...], set[tuple[FillingFate, Natural]]] = {}
        for each in self.fillings:
            others = (*each.values[:at], *each.values[at + 1 :])
            found.setdefault(others, set()).add((each.fate, each.states))
        decided = {FillingFate.HOLDS, FillingFate.REFUTED, FillingFate.VACUOUS}
        several = all(len(said) == 1 for said in found.values())
        return several and {fate for said in found.values() for fate, _ in said} <= decided

    @property
    def determined(self) -> dict[str, str]:
        """The holes, by their numbers, that all fillings which hold have the same value in, each
        with the first expression for it; none where no filling holds."""
        good = self.with_fate(FillingFate.HOLDS)
        values = {h.number: {each.values[h.number - 1] for each in good} for h in self.holes}
        fixed = {number for number, found in values.items() if len(found) == 1}
        return {str(number): values[number].pop() for number in sorted(fixed.difference(self.free))}
