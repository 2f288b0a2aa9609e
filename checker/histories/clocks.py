"""What the clocks of several hosts say of the order of operations.

The clock of a host orders its own operations.  Those of different hosts are ordered only where the
error of all clocks is known to be at most so much: then each operation took place between its call
and its return, widened by that on both sides.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from checker.diagnostics.english import count, listing
from checker.histories.events import Events
from checker.histories.pairing import Operation
from checker.histories.rows import MISSING, shown
from checker.histories.steps import Bound
from checker.logs.mapping import UNITS

MOST_NAMED = 4
"""The largest number of hosts that a note names."""


class Clocks(Struct, frozen=True):
    """The ``hosts`` whose clocks give the times of a history, or none; ``error``: by how much each
    may differ from the true time, in nanoseconds (``None``: that is not known)."""

    hosts: tuple[Any, ...] = ()
    error: int | None = None

    @property
    def are_several(self) -> bool:
        """Whether operations are ordered by more than one clock."""
        return len(self.hosts) > 1

    def notes(self, operations: Sequence[Operation]) -> tuple[str, ...]:
        """Returns what is assumed of the order of ``operations``, and which are not ordered."""
        if not self.hosts:
            unused = "no row has a time: --clock-error has no effect"
            return () if self.error is None else (unused,)
        if not self.are_several:
            (host,) = self.hosts
            whose = "one clock" if host is MISSING else f"the clock of {_name(host)}"
            return (f"assumed: {whose} orders all operations, and was never set back",)
        named = [_name(host) for host in self.hosts[:MOST_NAMED]]
        more = len(self.hosts) - len(named)
        hosts = listing([*named, *([f"{more:,} others"] if more else [])])
        if self.error is None:
            return (
                "assumed: the clock of each host orders its own operations, and was never set back",
                f"not ordered: {count(_across(operations), 'pair')} of operations of different"
                f" hosts ({hosts}); --clock-error orders those that are further apart",
            )
        assumed = (
            f"assumed: the clocks of {hosts} differ from the true time by at most"
            f" {text_of(self.error)}, and that of each host was never set back"
        )
        close = _close(operations, 2 * self.error)
        if not close:
            return (assumed,)
        apart = f"at most {text_of(2 * self.error)} apart"
        return (
            assumed,
            f"not ordered: {count(close, 'pair')} of operations of different hosts, {apart}",
        )

    def sure(self, bound: Sequence[Bound]) -> Events:
        """Returns the events of the operations ``bound`` as far as the clocks order them."""
        rows = [one.recorded for one in bound]
        lost = frozenset(n for n, one in enumerate(rows) if one.returned is None)
        order = tuple((number, is_call) for _, _, number, is_call in self._widened(rows))
        return Events(order, lost, before=_before(rows))

    def _widened(self, rows: Sequence[Operation]) -> list[tuple[int, bool, int, bool]]:
        """Returns calls and returns in the order that they surely have: without a known error, all
        calls come first."""
        places = []
        for number, one in enumerate(rows):
            began, ended = times_of(one)
            places.append((0 if self.error is None else began - self.error, False, number, True))
            if ended is not None:
                at = 0 if self.error is None else ended + self.error
                places.append((at, True, number, False))
        return sorted(places)

    def put_in_sure_order(self, operations: Sequence[Operation]) -> None:
        """Gives operations positions in which only those are ordered that surely are, by the error
        of clocks alone."""
        for place, (_, _, number, is_call) in enumerate(self._widened(operations)):
            if is_call:
                operations[number].called = place
            else:
                operations[number].returned = place


def times_of(one: Operation) -> tuple[int, int | None]:
    """Returns the times of the call and of the return of an operation."""
    assert one.call.time is not None
    if one.answer is None or one.returned is None:
        return one.call.time, None
    return one.call.time, one.answer.time


def _before(rows: Sequence[Operation]) -> dict[int, tuple[int, ...]]:
    """Returns of each operation the last ones of its host that returned before its call: none of
    them precedes another."""
    events: list[tuple[int, bool, int]] = []
    for number, one in enumerate(rows):
        began, ended = times_of(one)
        events.append((began, False, number))
        if ended is not None:
            events.append((ended, True, number))
    last: dict[Any, list[int]] = {}
    found: dict[int, tuple[int, ...]] = {}
    for _, is_return, number in sorted(events):
        host = rows[number].call.host
        of_host = last.setdefault(host, [])
        if is_return:
            began, _ = times_of(rows[number])
            last[host] = [n for n in of_host if not _returned_before(rows[n], began)]
            last[host].append(number)
        elif of_host:
            found[number] = tuple(of_host)
    return found


def _returned_before(one: Operation, time: int) -> bool:
    _, ended = times_of(one)
    return ended is not None and ended < time


def _across(operations: Sequence[Operation]) -> int:
    """Returns the number of pairs of operations of different hosts."""
    sizes = Counter(one.call.host for one in operations).values()
    whole = sum(sizes)
    return (whole * whole - sum(size * size for size in sizes)) // 2


def _close(operations: Sequence[Operation], most: int) -> int:
    """Returns the number of pairs of operations of different hosts of which one returns before the
    other one is called, by their clocks, and at most ``most`` before."""
    calls: dict[Any, list[int]] = {}
    for one in operations:
        calls.setdefault(one.call.host, []).append(times_of(one)[0])
    every = sorted(time for times in calls.values() for time in times)
    own = {host: sorted(times) for host, times in calls.items()}
    found = 0
    for one in operations:
        _, ended = times_of(one)
        if ended is not None:
            found += _within(every, ended, most) - _within(own[one.call.host], ended, most)
    return found


def _within(times: list[int], after: int, most: int) -> int:
    return bisect_right(times, after + most) - bisect_right(times, after) if times else 0


def text_of(nanoseconds: int) -> str:
    """Returns a duration as one writes it."""
    for name, size in UNITS.items():
        if nanoseconds >= size and nanoseconds * 1000 % size == 0:
            return f"{nanoseconds / size:g} {name}"
    return f"{nanoseconds} ns"


def _name(host: Any) -> str:
    return shown(host).strip('"')
