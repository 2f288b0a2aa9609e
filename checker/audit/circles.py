"""Finds circles of deliveries and requests: logs each of which is fine, that are no execution.

What several processes did is an execution if the union of the order of each process's own events
and of "a request is before its delivery" has no cycle: it is the relation *happened before* of
L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System, CACM 1978, which is
a partial order.  Where something was requested by several, one of these requests has to be first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from checker.audit.arrow_windows import in_order, order_of
from checker.audit.native_lines import EARLY, NONE, OFFERS, WAITS, pass_along

MOST = 10_000
"""How many circles are looked for at most."""
SEVERAL = NONE - 1
"""The owner of a key that several lines offer."""

Circle = list[tuple[int, int]]
"""Of each process on it the event that waits, and the one behind that for which another waits."""


@dataclass
class Lines:
    """Events by processes and positions: ``start`` of each process, and of each event its ``key``
    and whether it waits for that or offers it (``kind``); ``free``: keys that may be offered at any
    time, as nobody is seen to."""

    start: Any
    key: Any
    kind: Any
    free: Any

    def __post_init__(self) -> None:
        keys, lines = len(self.free), len(self.start) - 1
        offers = np.flatnonzero(self.kind == OFFERS)
        offered = self.key[offers]
        self._offer = np.full(keys, -1, np.int64)
        self._offer[offered[::-1]] = offers[::-1]  # the first one is written last
        by = self.line_of(offers).astype(np.uint32)
        self._owner = np.full(keys, NONE, np.uint32)
        self._owner[offered] = by
        self._owner[offered[self._owner[offered] != by]] = SEVERAL
        self._offered = (self.free | (self._offer < 0)).astype(np.uint8)
        self._waiting = np.full(keys, NONE, np.uint32)
        self._next = np.zeros(lines, np.uint32)
        self._at = self.start[:-1].copy()

    def line_of(self, events: Any) -> Any:
        """Returns the process of each of ``events``."""
        return np.searchsorted(self.start, events, side="right") - 1

    def circles(self) -> Iterator[Circle]:
        """Yields circles until none is left: each is cut at one of its events before the next ones
        are looked for.  There is one if and only if the logs are no execution."""
        ready = np.arange(len(self._at), dtype=np.uint32)
        while len(ready):
            self._advance(ready)
            stuck = np.flatnonzero(self._at < self.start[1:])
            if not len(stuck):
                return
            found = self._among(stuck)
            yield from found
            cut = {int(self.key[circle[0][0]]) for circle in found}
            ready = np.array([n for key in cut for n in self._cut(key)], dtype=np.uint32)

    def early(self) -> Any:
        """Returns the events that come before the only request of what they deliver, which their
        own process makes; known when circles are."""
        return np.flatnonzero(self.kind == EARLY)

    def offer(self, events: Any) -> Any:
        """Returns the first event that offers what each of ``events`` waits for."""
        return self._offer[self.key[events]]

    def is_shared(self, events: Any) -> Any:
        """Returns of each of ``events`` whether several processes offer what it waits for."""
        return self._owner[self.key[events]] == SEVERAL

    def _advance(self, ready: Any) -> None:
        stack = np.zeros(len(self._at) + 1, np.uint32)
        stack[: len(ready)] = ready
        arrays = self.start, self.key, self.kind, self._offered, self._owner, self._waiting
        both = *arrays, self._next, self._at, stack
        pass_along()(*(array.ctypes.data for array in both), len(ready))

    def _cut(self, key: int) -> list[int]:
        """Lets those go on that wait for ``key``; returns them."""
        self._offered[key] = 1
        found = []
        line = int(self._waiting[key])
        while line != NONE:
            found.append(line)
            line = int(self._next[line])
        self._waiting[key] = NONE
        return found

    def _among(self, stuck: Any) -> list[Circle]:
        """Returns the circles of processes each of which waits for the next one, small ones first.

        Every process that waits does so for one that waits, so there are some.
        """
        waits = self._at[stuck]
        offers = self.offer(waits)
        rows = np.stack([stuck, self.line_of(offers), waits, offers], axis=1).tolist()
        following = {line: other for line, other, _, _ in rows}
        event = {line: (wait, offer) for line, _, wait, offer in rows}
        seen: set[int] = set()
        found: list[Circle] = []
        for first in following:
            path: list[int] = []
            line = first
            while line not in seen:
                seen.add(line)
                path.append(line)
                line = following[line]
            if line in path:
                lines = path[path.index(line) :]
                before = [lines[-1], *lines[:-1]]
                found.append(
                    [(event[n][0], event[b][1]) for n, b in zip(lines, before, strict=True)]
                )
        return sorted(found, key=len)


def lines_of(table: pa.Table, by: tuple[str, ...]) -> tuple[Lines, pa.Table]:
    """Returns the lines of the rows of ``table``, and these in order: ``process``, ``pos``, whether
    it ``asks`` (or waits) for the columns ``by``, and whether it is known when that was
    (``placed``)."""
    process = _numbers(table["process"])
    pos = table["pos"].to_numpy()
    if not in_order([process, pos]):
        order = order_of([process, pos])
        table, process = table.take(pa.array(order)), process[order]
    starts = np.flatnonzero(np.append(True, process[1:] != process[:-1])[: len(process)])
    start = np.append(starts, len(process)).astype(np.int64)
    key = _numbers(table[by[0]])
    for name in by[1:]:
        more = _numbers(table[name])
        key = key.astype(np.int64) * (int(more.max(initial=0)) + 1) + more
        key = np.unique(key, return_inverse=True)[1]
    key = np.ascontiguousarray(key, dtype=np.uint32)
    asks = table["asks"].to_numpy()
    placed = table["placed"].to_numpy()
    free = np.zeros(int(key.max(initial=0)) + 1, dtype=bool)
    if not placed.all():
        free[key[asks & ~placed]] = True
    kind = np.where(asks, np.uint8(OFFERS), np.uint8(WAITS))
    return Lines(start, key, kind, free), table


def _numbers(column: pa.ChunkedArray) -> Any:
    """Returns numbers from 0 on in place of values, which are such or texts."""
    if pa.types.is_integer(column.type):
        return column.to_numpy()
    coded = column.combine_chunks().dictionary_encode()
    return coded.indices.to_numpy()
