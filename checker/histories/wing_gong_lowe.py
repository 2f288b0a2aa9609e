"""Decides linearizability by a depth-first search for an order of the operations.

The next operation is any that was called before the first return of one that is not in the order
yet, and that no other one precedes.  Pairs of a state and a set of operations that led nowhere are
stored.

J. Wing, C. Gong: Testing and Verifying Concurrent Objects, JPDC 17, 1993; with the memo of G. Lowe:
Testing for Linearizability, 2017, as in A. Athalye's porcupine.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from checker.histories.events import Events
from checker.histories.just_in_time import ENDED, PAUSE
from checker.histories.steps import Steps
from checker.polling import poll

Choice = tuple[int, int, int]
"""An operation that comes next, the state after it, and the number of its call's event."""


class WingGongLowe:
    """The search.  ``verdict``: ``None`` until it is known; ``work``: pairs that were extended."""

    def __init__(self, steps: Steps, events: Events) -> None:
        self.verdict: bool | None = None
        self.work = 0
        self._after, self._events = steps.after, events
        self._number, self._is_read = steps.number_of, steps.is_read
        self._start = steps.start
        self._search = self._run()

    def advance(self, until: int) -> None:
        """Extends pairs until they are about ``until``, or the verdict is known."""
        while self.work < until and next(self._search, ENDED) is not ENDED:
            pass

    def end(self) -> None:
        """Gives up what the search holds, as in the other one."""
        self._search.close()

    def _link(self) -> None:
        """Makes a doubly linked list of the events; number 0 is its head."""
        order = self._events.order
        self._next = [*range(1, len(order) + 1), 0]
        self._before = [len(order), *range(len(order))]
        self._return_of: dict[int, int] = {}
        for place, (operation, is_call) in enumerate(order, start=1):
            if not is_call:
                self._return_of[operation] = place

    def _unlink(self, place: int) -> None:
        before, after = self._before[place], self._next[place]
        self._next[before], self._before[after] = after, before

    def _relink(self, place: int) -> None:
        self._next[self._before[place]] = self._before[self._next[place]] = place

    def _take(self, operation: int, place: int) -> None:
        self._unlink(place)
        if operation in self._return_of:
            self._unlink(self._return_of[operation])
            self._left -= 1

    def _put_back(self, operation: int, place: int) -> None:
        if operation in self._return_of:
            self._relink(self._return_of[operation])
            self._left += 1
        self._relink(place)

    def _run(self) -> Generator[None]:
        self._link()
        self._left = len(self._return_of)
        taken, state = 0, self._start
        seen = {(taken, state)}
        path: list[tuple[Iterator[Choice], int, int, int, int]] = []
        choices = iter(self._choices(state, taken))
        while self._left:
            poll()
            found = next(choices, None)
            if found is None:
                if not path:
                    self.verdict = False
                    return
                choices, taken, state, operation, place = path.pop()
                self._put_back(operation, place)
                continue
            operation, after, place = found
            key = (taken | 1 << operation, after)
            if key in seen:
                continue
            seen.add(key)
            self.work += 1
            if not self.work % PAUSE:
                yield
            path.append((choices, taken, state, operation, place))
            self._take(operation, place)
            taken, state = key
            choices = iter(self._choices(state, taken))
        self.verdict = True

    def _choices(self, state: int, taken: int) -> list[Choice]:
        """Returns the operations that can be next in ``state``: one read alone where one fits, of
        lost operations that are alike the first one, and none that leaves the state as it is."""
        order, lost, before = self._events.order, self._events.lost, self._events.before
        found: list[Choice] = []
        tried: set[int] = set()
        place = self._next[0]
        while place:
            operation, is_call = order[place - 1]
            if not is_call:
                break
            number = self._number[operation]
            is_lost = operation in lost
            if before and not all(taken >> each & 1 for each in before.get(operation, ())):
                place = self._next[place]
                continue
            if not is_lost or (number not in tried and not self._is_read[number]):
                after = self._after(state, number)
                if after and self._is_read[number]:
                    return [(operation, state, place)]
                if is_lost:
                    tried.add(number)
                    after = tuple(each for each in after if each != state)
                found += [(operation, each, place) for each in after]
            place = self._next[place]
        return found
