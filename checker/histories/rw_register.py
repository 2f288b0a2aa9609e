"""Finds what transactions of registers must not do, from what their reads say.

Values of a key differ, so a read shows whose write it has read.  Dependencies follow from that, and
from the order of the values of a key, which is partial (:mod:`version_orders`).

K. Kingsbury, P. Alvaro: Elle: Inferring Isolation Anomalies from Experimental Observations, VLDB
2020; lost updates: H. Berenson et al.: A Critique of ANSI SQL Isolation Levels, SIGMOD 1995.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import field

from checker.histories.dependencies import (
    MOST_PAIRS,
    REALTIME,
    RW,
    WR,
    WW,
    Effects,
    Finding,
    Graph,
    Observed,
    add,
    in_time,
)
from checker.histories.rows import shown
from checker.histories.transactions import READ, Transaction, name_of
from checker.histories.version_orders import Later, is_total, version_orders
from checker.polling import poll


class Registers(Observed):
    """What the reads of registers say; ``orders``: the order of the values of each key, as far as
    it is known."""

    orders: dict[Any, Later] = field(default_factory=dict)

    def dependencies(self) -> tuple[Graph, bool]:
        """See :class:`Observed`."""
        return _dependencies(self)

    def evidence(self, before: Transaction, after: Transaction, kind: int) -> str:
        """See :class:`Observed`."""
        if kind == REALTIME:
            return in_time(before, after)
        return next(_evidence(self, before, after, kind))

    def unordered(self) -> list[Any]:
        """See :class:`Observed`."""
        return [key for key, later in self.orders.items() if not is_total(later)]

    def effects_of(self, one: Transaction) -> Effects:
        """See :class:`Observed`."""
        found = Effects({}, {})
        for kind, key, value in one.steps:
            if kind != READ:
                found.writes[key] = value
            elif one.is_committed and key not in found.writes:
                found.reads.setdefault(key, value)
        return found


def observe(transactions: Sequence[Transaction], *, is_linearizable: bool = False) -> Registers:
    """Returns what the reads of ``transactions`` say; ``is_linearizable``: on the assumption that
    each key is."""
    seen = Registers(transactions)
    for one in transactions:
        for kind, key, value in one.steps:
            if kind != READ:
                seen.writers.setdefault(key, {})[value] = one
    for one in transactions:
        poll()
        if one.is_committed:
            seen.reads += sum(kind == READ for kind, _, _ in one.steps)
            seen.findings += _of_transaction(seen, one)
            for key, value in _of_others(seen, one):
                writer = seen.writer(key, value)
                if writer is not None:
                    seen.was_read.add(writer.number)
    seen.findings += _lost_updates(seen)
    seen.orders, cyclic = version_orders(seen, is_linearizable)
    seen.findings += cyclic
    return seen


def _of_others(seen: Observed, one: Transaction) -> Iterator[tuple[Any, Any]]:
    """Yields what ``one``, which is committed, reads of others."""
    for kind, key, value in one.steps:
        if kind == READ and seen.writers.get(key, {}).get(value) is not one:
            yield key, value


# ---- anomalies of single reads ------------------------------------------------------------------


def _of_transaction(seen: Observed, one: Transaction) -> Iterator[Finding]:
    expected: dict[Any, Any] = {}
    for kind, key, value in one.steps:
        if kind == READ:
            name, now = name_of(key), shown(value)
            if key in expected and expected[key] != value:
                said = f"in one transaction {name} is {now}, but was {shown(expected[key])} before"
                yield Finding("internal", said, (one,))
            elif key not in expected and seen.writers.get(key, {}).get(value) is one:
                said = f"in one transaction {name} is {now} before it writes that"
                yield Finding("internal", said, (one,))
        expected[key] = value
    for key, value in _of_others(seen, one):
        if value is not None:
            yield from _of_value(seen, one, key, value)


def _of_value(seen: Observed, one: Transaction, key: Any, value: Any) -> Iterator[Finding]:
    """Yields what is wrong with a value of another transaction that ``one`` has read."""
    writer = seen.writers.get(key, {}).get(value)
    said = f"{shown(value)} was read from {name_of(key)}"
    if writer is None:
        yield Finding("unwritten-read", f"{said}, and never written", (one,))
        return
    if writer.is_aborted:
        yield Finding("G1a", f"{said}, written by a failed transaction", (writer, one))
    last = [v for kind, k, v in writer.steps if kind != READ and k == key][-1]
    if last != value:
        same = "by the same transaction"
        yield Finding("G1b", f"{said}, before {shown(last)} was written {same}", (writer, one))


def _lost_updates(seen: Observed) -> Iterator[Finding]:
    """Yields for each value that several committed transactions read before they write the same
    key: whichever writes later has missed the write of the other one."""
    updates: dict[tuple[Any, Any], list[Transaction]] = {}
    for one in seen.transactions:
        if one.is_committed:
            effects = seen.effects_of(one)
            for key in effects.writes:
                if key in effects.reads:
                    updates.setdefault((key, effects.reads[key]), []).append(one)
    for (key, value), of in updates.items():
        if len(of) > 1:
            said = f"{name_of(key)} was read as {shown(value)}, and then written"
            yield Finding("lost-update", f"{said} by each of several transactions", (*of,))


# ---- dependencies -------------------------------------------------------------------------------


def _dependencies(seen: Registers) -> tuple[Graph, bool]:
    """Returns ``ww`` between the writers of values of which one comes before the other, ``wr`` from
    the writer of a value to its readers, and ``rw`` from these to the writers of the next values.

    Where there are too many ``rw``, some are left out: no verdict depends on it, since of
    registers without a total order one is searched for.
    """
    graph: Graph = [{} for _ in seen.transactions]
    readers: dict[Any, dict[Any, list[int]]] = {}
    for one in seen.transactions:
        poll()
        for key, value in _of_others(seen, one) if one.is_committed else ():
            readers.setdefault(key, {}).setdefault(value, []).append(one.number)
            writer = seen.writer(key, value)
            if writer is not None:
                add(graph, writer.number, one.number, WR)
    left = MOST_PAIRS
    for key, later in seen.orders.items():
        for value, following in later.items():
            poll()
            writer = seen.writer(key, value)
            of = readers.get(key, {}).get(value, ())
            left -= len(of) * len(following)
            for each in following:
                after = seen.writers[key][each].number
                if writer is not None:
                    add(graph, writer.number, after, WW)
                for reader in of if left >= 0 else ():
                    add(graph, reader, after, RW)
    return graph, True


def _evidence(seen: Registers, before: Transaction, after: Transaction, kind: int) -> Iterator[str]:
    if kind == WR:
        for key, value in _of_others(seen, after):
            if seen.writers.get(key, {}).get(value) is before:
                yield f"it wrote {shown(value)} to {name_of(key)}, which was read"
        return
    if kind == WW:
        ours, did = [(k, v) for what, k, v in before.steps if what != READ], "wrote"
    else:
        ours, did = [*_of_others(seen, before)], "read"
    theirs = {(k, v) for what, k, v in after.steps if what != READ}
    for key, value in ours:
        for following, reason in seen.orders.get(key, {}).get(value, {}).items():
            if (key, following) in theirs:
                to = f"{shown(value)} to {name_of(key)}"
                said = to if did == "wrote" else f"{name_of(key)} as {shown(value)}"
                yield f"it {did} {said}, before the other one's {shown(following)} ({reason.text})"
