"""Decides linearizability with all configurations at once, event by event.

A configuration is a state of the object with the outstanding operations that have taken effect.
When an operation returns, each configuration in which it has not taken effect is extended by
outstanding operations until it has: just in time.  No configuration is left exactly if the history
up to this return is not linearizable.

G. Lowe: Testing for Linearizability, Concurrency and Computation 29(4), 2017.

Three reductions:

- A read that fits takes effect at once: it changes nothing.
- Operations that never return and are alike are interchangeable: only the first untaken one is
  tried, and none that leaves the state as it is.
- Of configurations equal but for those, one that has used more of them can do no more.

An optional operation, which need not take effect before it returns, leaves the configurations in
which it has not.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from checker.histories.events import Events
from checker.histories.steps import Steps
from checker.polling import poll

PAUSE = 256
"""Configurations that are extended before a search may be suspended."""

ENDED = object()
"""What is not yielded by a search."""

Key = tuple[int, int]
"""A state and the set of outstanding operations that have taken effect, as bits."""
Configurations = dict[Key, list[int]]
"""For each key the smallest sets of operations that never return and have taken effect."""


class JustInTime:
    """The search.  ``verdict``: ``None`` until it is known; ``refuted``: the position of the return
    at which no configuration is left, and ``tried`` all configurations before it, also those after
    outstanding operations.  ``work``: configurations that were extended; ``at``: the position of
    the event that it is at; ``size``: the largest number of configurations at a time."""

    def __init__(self, steps: Steps, events: Events) -> None:
        self.verdict: bool | None = None
        self.refuted: int | None = None
        self.tried: Configurations = {}
        self.work = 0
        self.at = 0
        self.size = 1
        self._after, self._events, self._is_read = steps.after, events, steps.is_read
        self._number, self._start = steps.number_of, steps.start
        self._search = self._run()

    def advance(self, until: int) -> None:
        """Extends configurations until they are about ``until``, or the verdict is known."""
        while self.work < until and next(self._search, ENDED) is not ENDED:
            pass

    def end(self) -> None:
        """Gives up what the search holds, which refers to itself: nothing else may free it."""
        self._search.close()

    def _run(self) -> Generator[None]:
        self._bits: dict[int, int] = {}
        self._reads: list[tuple[int, int]] = []
        self._updates: list[tuple[int, int]] = []
        self._lost: dict[int, list[int]] = {}
        self._many_lost = 0
        now: Configurations = {(self._start, 0): [0]}
        for at, (operation, is_call) in enumerate(self._events.order):
            poll()
            self.at = at
            if not is_call:
                found: Configurations = {}
                yield from self._returned(operation, now, found)
                if not found:
                    self.verdict, self.refuted = False, self.at
                    return
                now = found
                self.size = max(self.size, len(now))
            elif operation in self._events.lost:
                number = self._number[operation]
                if not self._is_read[number]:
                    self._lost.setdefault(number, []).append(1 << self._many_lost)
                    self._many_lost += 1
            else:
                now = self._called(operation, now)
        self.verdict = True

    def _called(self, operation: int, now: Configurations) -> Configurations:
        taken = 0
        for bit in self._bits.values():
            taken |= bit
        bit = ~taken & (taken + 1)
        self._bits[operation] = bit
        number = self._number[operation]
        if not self._is_read[number]:
            self._updates.append((bit, number))
            return now
        self._reads.append((bit, number))
        after = self._after
        return {
            (state, mask | bit if after(state, number) else mask): used
            for (state, mask), used in now.items()
        }

    def _returned(
        self, operation: int, now: Configurations, found: Configurations
    ) -> Iterator[None]:
        """Fills ``found`` with the configurations after the return of ``operation``."""
        bit = self._bits.pop(operation)
        number = self._number[operation]
        after, updates, lost = self._after, self._updates, self._lost
        reads, optional = self._reads, operation in self._events.optional
        seen: Configurations = {}
        todo: list[tuple[int, int, int]] = []
        for (state, mask), sets in now.items():
            if mask & bit:
                for used in sets:
                    _add(found, (state, mask & ~bit), used)
            else:
                seen[state, mask] = sets
                todo += [(state, mask, used) for used in sets]
                if optional:
                    for used in sets:
                        _add(found, (state, mask), used)
        pause = PAUSE
        while todo:
            state, mask, used = todo.pop()
            if used not in seen[state, mask]:
                continue
            self.work += 1
            pause -= 1
            if not pause:
                pause = PAUSE
                poll()
                yield
            candidates = [(update, own, 0) for own, update in updates if not mask & own]
            for update, bits in lost.items():
                free = next((each for each in bits if not used & each), 0)
                candidates += [(update, 0, free)] if free else ()
            for candidate, own, free in candidates:
                for next_state in after(state, candidate):
                    if free and next_state == state:
                        continue
                    taken = mask | own
                    for each, read in reads:
                        if not taken & each and after(next_state, read):
                            taken |= each
                    if taken & bit:
                        _add(found, (next_state, taken & ~bit), used | free)
                    elif _add(seen, (next_state, taken), used | free):
                        todo.append((next_state, taken, used | free))
        self.tried = seen
        place = self._reads if self._is_read[number] else self._updates
        place.remove((bit, number))


def _add(into: Configurations, key: Key, used: int) -> bool:
    """Adds a configuration unless another can do as much; returns whether it was added."""
    sets = into.get(key)
    if sets is None:
        into[key] = [used]
        return True
    for each in sets:
        if each & used == each:
            return False
    into[key] = [each for each in sets if each & used != used]
    into[key].append(used)
    return True
