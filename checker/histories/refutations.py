"""Finds a small reason why a part of a history is not linearizable."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from checker.histories.events import Events
from checker.histories.just_in_time import Configurations, JustInTime
from checker.histories.linearizability import FIRST, Part, Turns, reordered
from checker.histories.rows import MISSING
from checker.histories.shrinking import smallest
from checker.histories.steps import Steps
from checker.records import replace

TO_SHRINK = 20_000
"""The work for the question whether a history without some operations is refuted."""
SHRINKING = 200_000
"""The work in all to make a refuted history smaller."""


class Refutation(Struct):
    """Why ``part`` is not linearizable; ``steps``: those up to that return.

    ``chosen``: operations that have no order together, in the order of their calls; ``last``: the
    one whose return is refuted; ``tried``: the configurations in which it does not fit.
    ``prefix``: how many operations were called up to there; the others are left out.
    """

    part: Part
    steps: Steps
    chosen: list[int]
    last: int
    tried: Configurations
    prefix: int


def as_recorded(part: Part) -> Part:
    """Returns a refuted part in the order of its rows, in which it is refuted all the more."""
    if part.sure is None:
        return part
    found, work = reordered(part, None), FIRST
    while found.verdict is None:
        found.advance(work)
        work *= 2
    return found


def explain(part: Part) -> Refutation:
    """Returns why ``part``, which is refuted, is not linearizable.

    First the smallest prefix that is refuted: it ends at a return.  Then operations are left out:
    reads, if the rest is refuted without them; updates, if the rest is refuted even where each of
    them may take effect between its call and its return, or never.  So it does not depend on those
    that are left out that the others have no order.
    """
    return part.growing(lambda: _explained(part))  # type: ignore[no-any-return]


def _explained(part: Part) -> Refutation:
    whole = part.events
    prefix = _smallest_prefix(part, whole)
    steps = _steps_of(part, prefix)
    shrunk = _Shrinking(steps, prefix)
    kept = shrunk.minimal()
    return Refutation(part, steps, kept, shrunk.last, _tried(steps, prefix), len(shrunk.called))


def _tried(steps: Steps, prefix: Events) -> Configurations:
    """Returns the configurations before the last return of a refuted prefix; none where there are
    too many."""
    search = JustInTime(steps, prefix)
    search.advance(SHRINKING)
    return search.tried if search.verdict is False else {}


def _smallest_prefix(part: Part, whole: Events) -> Events:
    """Returns the smallest refuted prefix, which ends at a return.

    It is no smaller than one that the search of the whole history refutes, and perhaps larger: that
    search knows the results of operations that return later.
    """
    ends = [at + 1 for at, (_, is_call) in enumerate(whole.order) if not is_call]
    searched = part.reached.refuted
    until = part.reached.at if searched is None else searched
    low, high = sum(end <= until for end in ends), len(ends) - 1
    if searched is not None and _is_refuted(part, whole.prefix(ends[low])):
        high = low
    while low < high:
        middle = (low + high) // 2
        if _is_refuted(part, whole.prefix(ends[middle])):
            high = middle
        else:
            low = middle + 1
    return whole.prefix(ends[low])


def _steps_of(part: Part, prefix: Events) -> Steps:
    """Returns the steps in which what has not returned in ``prefix`` may have any result."""
    bound = [
        replace(one, result=MISSING) if number in prefix.lost else one
        for number, one in enumerate(part.bound)
    ]
    return Steps(part.executed, bound, part.steps.initial)


def _is_refuted(part: Part, prefix: Events) -> bool:
    return not Turns(_steps_of(part, prefix), prefix).decide()


class _Shrinking:
    """Leaves operations out of a refuted history as long as it stays refuted; ``last``: the one
    whose return ends it, ``called``: all, in the order of their calls."""

    def __init__(self, steps: Steps, prefix: Events) -> None:
        self._steps, self._prefix = steps, prefix
        self.last = prefix.order[-1][0]
        self.called = [number for number, is_call in prefix.order if is_call]
        self._reads = {n for n in self.called if steps.is_read[steps.number_of[n]]}
        self._work = 0

    def events(self, kept: Iterable[int]) -> Events:
        """Returns the events of the prefix, without reads that are not ``kept``; updates that are
        not are optional."""
        optional = frozenset(self.called) - frozenset(kept)
        dropped = optional & self._reads
        order = tuple(each for each in self._prefix.order if each[0] not in dropped)
        lost = self._prefix.lost - dropped
        return Events(order, lost, optional - dropped - lost)

    def minimal(self) -> list[int]:
        """Returns the operations that are kept: none of them can be left out alone, unless that
        takes too long to decide."""
        goes_on = lambda: self._work < SHRINKING  # noqa: E731
        return smallest(self.called, self._is_refuted, goes_on, self.last)

    def _is_refuted(self, kept: list[int]) -> bool:
        search = JustInTime(self._steps, self.events(kept))
        search.advance(TO_SHRINK)
        self._work += search.work + len(kept)
        return search.verdict is False
