"""Dependencies between the transactions of a history, for lists and registers alike.

The anomalies: A. Adya: Weak Consistency, MIT 1999.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from checker.histories.transactions import Transaction
from checker.polling import poll

WW, WR, RW, REALTIME = 1, 2, 4, 8
KINDS = {WW: "ww", WR: "wr", RW: "rw", REALTIME: "realtime"}
"""Kinds of dependencies, as bits of the edges of a graph."""
MOST_PAIRS = 2_000_000
"""The largest number of dependencies of reads on writes whose order no read shows."""

Graph = list[dict[int, int]]
"""For each transaction those that come after it, with the kinds of the dependencies."""


class Finding(Struct):
    """An anomaly that is no cycle: its name, what is wrong, and the transactions that show it;
    ``why``: further evidence."""

    name: str
    sentence: str
    transactions: tuple[Transaction, ...]
    why: tuple[str, ...] = ()


class Effects(Struct):
    """What a transaction that took effect has to do with others: the last value, by key, that it
    ``reads`` without its own writes (``None``: there was none), and that it ``writes``."""

    reads: dict[Any, Any]
    writes: dict[Any, Any]


class Observed(Struct):
    """What the reads of all committed transactions say.

    ``writers``: for each key the transaction that writes each value; ``was_read``: the numbers of
    those of which a write was read; ``findings``: what is wrong already; ``reads``: their number.
    """

    transactions: Sequence[Transaction]
    writers: dict[Any, dict[Any, Transaction]] = field(default_factory=dict)
    was_read: set[int] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    reads: int = 0

    @abstractmethod
    def dependencies(self) -> tuple[Graph, bool]:
        """Returns the dependencies that follow from the reads, and whether they are all, or too
        many."""

    @abstractmethod
    def evidence(self, before: Transaction, after: Transaction, kind: int) -> str:
        """Returns why ``before`` precedes ``after``, by a dependency of ``kind``."""

    @abstractmethod
    def unordered(self) -> list[Any]:
        """Returns the keys of which no read shows the order of all writes."""

    @abstractmethod
    def effects_of(self, one: Transaction) -> Effects:
        """Returns the effects of a transaction."""

    def effects(self) -> dict[int, Effects]:
        """Returns the effects of the transactions that took effect, by their numbers."""
        some = (one for one in self.transactions if self.took_effect(one))
        return {one.number: self.effects_of(one) for one in some}

    def writer(self, key: Any, value: Any) -> Transaction | None:
        """Returns the transaction that wrote ``value`` to ``key``, unless it had no effect."""
        found = self.writers.get(key, {}).get(value)
        return None if found is None or found.is_aborted else found

    def took_effect(self, one: Transaction) -> bool:
        """Returns whether ``one`` is known to have taken effect: it is committed, or a write of it
        was read."""
        return one.is_committed or (one.number in self.was_read and not one.is_aborted)


def add(graph: Graph, before: int, after: int, kind: int) -> None:
    """Adds a dependency, unless it is one of a transaction on itself."""
    if before != after:
        edges = graph[before]
        edges[after] = edges.get(after, 0) | kind


def add_realtime(graph: Graph, transactions: Sequence[Transaction]) -> None:
    """Adds that a transaction comes before all that were called after its return."""
    for before, after in in_realtime(transactions):
        add(graph, before.number, after.number, REALTIME)


def in_realtime(transactions: Iterable[Transaction]) -> Iterator[tuple[Transaction, Transaction]]:
    """Yields pairs of which the first returned before the second was called; the others follow
    from these: none that is aborted, and first those after whose return no other one was called
    and has returned."""
    events = []
    for one in transactions:
        if not one.is_aborted:
            events.append((one.recorded.called, True, one))
            if one.is_committed:
                events.append((one.recorded.returned or 0, False, one))
    events.sort(key=lambda event: event[0])
    frontier: list[Transaction] = []
    for _, is_call, one in events:
        poll()
        if is_call:
            yield from ((each, one) for each in frontier)
        else:
            called = one.recorded.called
            frontier = [f for f in frontier if (f.recorded.returned or 0) > called]
            frontier.append(one)


def in_time(before: Transaction, after: Transaction, name: str = "it") -> str:
    """Returns that ``before``, by ``name``, returned before the call of ``after``, in words."""
    call, answer = after.recorded.call, before.recorded.answer
    assert answer is not None
    return f"{name} returned on line {answer.line}, before the call on line {call.line}"
