"""The search for a run, while its log is being written.

It is the search of :mod:`checker.conform.search`, which waits where all lines that have come are
explained, and goes on from there when more come.  A run that explains a longer log explains each
beginning of it, so a node from which nothing leads on never leads on later.  What may change is a
step that is explained only because the lines of its process end: such steps are taken last, and are
taken back when more lines of that process come.

The way to the present node is remembered for its last ``most`` nodes, and the nodes that were
visited since; where the search would have to go back behind them, it has lost track.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from checker.conform.explain_events import Cursors
from checker.conform.kept_values import of_data, to_data
from checker.conform.search import Steps, Way
from checker.conform.stream import Stream
from checker.polling import poll

S = TypeVar("S", bound=Hashable)

MOST_NODES = 1_000
"""The largest number of nodes of the way that are remembered."""
MOST_TRIED = 20_000
"""The largest number of nodes that are visited before some node explains all lines again, beside
:data:`MOST_PER_LINE` for each line."""
MOST_PER_LINE = 20


class LostTrack(Exception):
    """The search needs nodes that were forgotten, or takes too long; the message says which."""


class _Entry(Struct, Generic[S], eq=False):
    """A node on the way; ``explained``: the lines that the way to it explains.

    ``ahead``: the processes whose lines end within the step to it, with where they ended;
    ``visited``: how many nodes were visited before it.  ``ways``: those that are not tried yet, the
    last one first (``None``: they were not computed); ``open``: the processes whose lines they
    assume to go on, and ``later``: of whom that is to be assumed next; ``touched``: whether they
    depend on which lines have come.
    """

    state: S
    cursors: Cursors
    explained: int
    ahead: dict[int, int] = field(default_factory=dict)
    visited: int = 0
    ways: list[Way[S]] | None = None
    open: tuple[int, ...] = ()
    later: list[tuple[int, ...]] = field(default_factory=list)
    touched: bool = False


class Snapshot(Struct, Generic[S]):
    """A way: of each node its state, cursors, the lines explained, and what is ahead there;
    whether it begins where runs begin; and where the streams ended."""

    way: list[tuple[S, Cursors, int, dict[int, int]]]
    is_whole: bool
    ends: list[tuple[int, bool]]


class FollowingSearch(Generic[S]):
    """A search by ``steps`` for a run with the lines in ``streams``."""

    def __init__(
        self,
        steps: Steps[S],
        streams: list[Stream],
        most: int = MOST_NODES,
        tried: int = MOST_TRIED,
    ) -> None:
        self.steps, self.streams, self.most, self.most_tried = steps, streams, most, tried
        self._starts = steps.starts()[::-1]
        self._way: deque[_Entry[S]] = deque()
        self._seen: set[tuple[S, Cursors]] = set()
        self._order: deque[tuple[S, Cursors]] = deque()
        self._forgotten = 0
        self._is_whole = True
        self._ends = self._ends_now()
        self.furthest: list[tuple[S, Cursors]] = []
        self.nodes = 0

    # ---- going on -------------------------------------------------------------------------

    def goes_on(self, lines: int) -> bool:
        """Takes what has come, ``lines`` in all; returns whether a run explains it.

        Raises :class:`LostTrack`.
        """
        self._take_back()
        tried = best = 0
        most = self.most_tried + MOST_PER_LINE * (lines - self.explained)
        while True:
            poll()
            if not self._way:
                if not self._starts:
                    return False
                self._push(Way(self._starts.pop(), (0,) * len(self.streams), 0), {})
            top = self._way[-1]
            if top.explained == lines:
                self._trim()
                return True
            if top.explained >= best:
                best, self.furthest = top.explained, [(top.state, top.cursors)]
            way = self._next_way(top)
            if way is None:
                self._way.pop()
                if not self._way and not self._is_whole:
                    raise LostTrack("the order of earlier steps would have to be another one")
            elif (way.state, way.cursors) not in self._seen:
                tried += 1
                if tried > most:
                    raise LostTrack(f"no run was found in {tried - 1:,} nodes")
                self._push(way, self._ahead(top, way))

    def _push(self, way: Way[S], ahead: dict[int, int]) -> None:
        explained = way.lines + (self._way[-1].explained if self._way else 0)
        visited = self._forgotten + len(self._order)
        self._way.append(_Entry(way.state, way.cursors, explained, ahead, visited))
        self._note(way.state, way.cursors)

    def _note(self, state: S, cursors: Cursors) -> None:
        self.nodes += 1
        self._seen.add((state, cursors))
        self._order.append((state, cursors))

    def _ahead(self, top: _Entry[S], way: Way[S]) -> dict[int, int]:
        """Returns the processes whose lines may end within the step ``way``."""
        ends = {number: self.streams[number].end for number in top.open}
        return {number: end for number, end in ends.items() if way.cursors[number] == end}

    def _next_way(self, top: _Entry[S]) -> Way[S] | None:
        """Returns a way from ``top`` that was not tried: those that what has come explains first,
        then those that are explained if more lines follow."""
        if top.ways is None:
            top.ways = self._ways(top, ())
            touched = [n for n, stream in enumerate(self.streams) if stream.touched]
            ahead = tuple(n for n in touched if self.streams[n].open)
            top.touched = bool(touched)
            top.later = [ahead] if len(ahead) > 1 else []
            top.later += [(number,) for number in ahead]
        while not top.ways and top.later:
            top.ways = self._ways(top, top.later.pop())
        return top.ways.pop() if top.ways else None

    def _ways(self, top: _Entry[S], ahead: tuple[int, ...]) -> list[Way[S]]:
        """Returns the ways from ``top``, the last one first, where the lines of the processes
        ``ahead`` are assumed to go on."""
        top.open = ahead
        with ExitStack() as stack:
            for number in ahead:
                stack.enter_context(self.streams[number].assumed_to_go_on())
            for stream in self.streams:
                stream.touched = False
            return sorted(self.steps.ways(top.state, top.cursors), key=_last_first)

    # ---- more lines -----------------------------------------------------------------------

    def _take_back(self) -> None:
        """Retracts the steps that were explained because lines ended that now continue, or because
        they could continue."""
        now = self._ends_now()
        grown = [one != other for one, other in zip(now, self._ends, strict=True)]
        self._ends = now
        if not any(grown):
            return
        for number, entry in enumerate(self._way):
            if any(grown[process] for process in entry.ahead):
                self._cut(number)
                break
        for entry in self._way:
            if entry.touched:
                entry.ways, entry.touched = None, False

    def _ends_now(self) -> list[tuple[int, bool]]:
        return [(stream.end, stream.open) for stream in self.streams]

    def _cut(self, number: int) -> None:
        """Removes the way from the entry ``number`` on, and what was visited since."""
        visited = self._way[number].visited
        while len(self._way) > number:
            self._way.pop()
        while self._forgotten + len(self._order) > visited and self._order:
            self._seen.discard(self._order.pop())

    def reopen(self) -> None:
        """Reopens a log that had ended: ways that led nowhere for lack of lines may lead on now."""
        self._order = deque((entry.state, entry.cursors) for entry in self._way)
        self._seen = set(self._order)
        for number, entry in enumerate(self._way):
            entry.ways, entry.visited, entry.touched = None, self._forgotten + number, False
        self._starts = self.steps.starts()[::-1] if self._is_whole else []

    def _trim(self) -> None:
        """Forgets all but the last ``most`` nodes of the way, and the lines before them."""
        while len(self._way) > self.most:
            self._way.popleft()
            self._is_whole, self._starts = False, []
        first = self._way[0].visited
        while self._forgotten < first and self._order:
            self._seen.discard(self._order.popleft())
            self._forgotten += 1
        for stream, at in zip(self.streams, self._way[0].cursors, strict=True):
            stream.drop_before(max(stream.base, at))

    # ---- another engine, and data ---------------------------------------------------------

    @property
    def explained(self) -> int:
        """The number of lines that the present node explains."""
        return self._way[-1].explained if self._way else 0

    def snapshot(self) -> Snapshot[S]:
        """Returns the present way."""
        way = [(each.state, each.cursors, each.explained, each.ahead) for each in self._way]
        return Snapshot(way, self._is_whole, list(self._ends))

    def go_back(self, to: Snapshot[S]) -> None:
        """Goes back to an earlier way, with the lines that there were; what was visited beside it
        is visited again where that is needed."""
        self._way.clear()
        self._seen.clear()
        self._order.clear()
        self._forgotten = 0
        for state, cursors, explained, ahead in to.way:
            self._way.append(_Entry(state, cursors, explained, ahead, len(self._order)))
            self._note(state, cursors)
        self._is_whole, self._ends = to.is_whole, list(to.ends)
        self._starts = self.steps.starts()[::-1] if to.is_whole else []

    def to_data(self) -> dict[str, Any]:
        """Returns the way as data that JSON can hold."""
        now, shown = self.snapshot(), self.steps.shown
        way = [[to_data(shown(s)), c, explained, [*a.items()]] for s, c, explained, a in now.way]
        return {"way": way, "whole": now.is_whole, "ends": now.ends}

    def restore(self, data: dict[str, Any]) -> None:
        """Restores what :meth:`to_data` has returned."""
        packed = self.steps.packed
        way = [(packed(of_data(s)), tuple(c), lines, dict(a)) for s, c, lines, a in data["way"]]
        self.go_back(
            Snapshot(way, data["whole"], [(end, goes_on) for end, goes_on in data["ends"]])
        )


def _last_first(way: Way[Any]) -> tuple[bool, int]:
    return bool(way.lines), -way.faults
