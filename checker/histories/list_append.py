"""Finds what transactions of lists must not do, from what their reads say.

A read of a list has the appends before it in their order.  So the longest read of a key is the
order of its versions, and every other one is a prefix of it.  From that follow dependencies between
transactions; a cycle of them is an anomaly, by the kinds of its edges.

K. Kingsbury, P. Alvaro: Elle: Inferring Isolation Anomalies from Experimental Observations, VLDB
2020; the anomalies: A. Adya: Weak Consistency, MIT 1999.
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
from checker.histories.transactions import APPEND, READ, Transaction, name_of
from checker.polling import poll


class Lists(Observed):
    """What the reads of lists say.

    ``orders``: the longest read of each key; ``longest``: who read it; ``unread``: the transactions
    with an append to the key that no read has, and that took effect.
    """

    orders: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    longest: dict[Any, Transaction] = field(default_factory=dict)
    unread: dict[Any, list[Transaction]] = field(default_factory=dict)

    def order(self, key: Any) -> tuple[Any, ...]:
        """Returns the values of a key in the order of their appends, as far as they were read."""
        return self.orders.get(key, ())

    def dependencies(self) -> tuple[Graph, bool]:
        """See :class:`Observed`."""
        return dependencies(self)

    def evidence(self, before: Transaction, after: Transaction, kind: int) -> str:
        """See :class:`Observed`."""
        return evidence(self, before, after, kind)

    def unordered(self) -> list[Any]:
        """See :class:`Observed`: those with several appends that no read has."""
        return [key for key, writers in self.unread.items() if len(writers) > 1]

    def effects_of(self, one: Transaction) -> Effects:
        """See :class:`Observed`."""
        found = Effects({}, {})
        for key, outside in _reads(one) if one.is_committed else ():
            found.reads.setdefault(key, outside[-1] if outside else None)
        for kind, key, value in one.steps:
            if kind == APPEND:
                found.writes[key] = value
        return found


def observe(transactions: Sequence[Transaction]) -> Lists:
    """Returns what the reads of ``transactions`` say."""
    seen = Lists(transactions)
    for one in transactions:
        poll()
        for kind, key, value in one.steps:
            if kind == APPEND:
                seen.writers.setdefault(key, {})[value] = one
            elif one.is_committed:
                seen.reads += 1
                if len(value) > len(seen.order(key)):
                    seen.orders[key], seen.longest[key] = value, one
    for key, order in seen.orders.items():
        seen.findings += _of_values(seen, seen.longest[key], key, order)
    for one in transactions:
        poll()
        if one.is_committed:
            seen.findings += _of_transaction(seen, one)
    seen.was_read = {
        writer.number
        for key, order in seen.orders.items()
        for value in order
        if (writer := seen.writer(key, value)) is not None
    }
    for key, writers in seen.writers.items():
        values = frozenset(seen.order(key))
        left = (t for value, t in writers.items() if value not in values and seen.took_effect(t))
        unread = {one.number: one for one in left}
        if unread:
            seen.unread[key] = [*unread.values()]
    return seen


# ---- anomalies of single reads ------------------------------------------------------------------


def _of_values(
    seen: Lists, one: Transaction, key: Any, value: tuple[Any, ...]
) -> Iterator[Finding]:
    """Yields what is wrong with the values that were read, whatever their order."""
    writers = seen.writers.get(key, {})
    if len(set(value)) < len(value):
        said = f"{name_of(key)} was read as {shown(value)}"
        yield Finding("duplicate-elements", said, (one,))
    for each in value:
        writer = writers.get(each)
        if writer is None:
            said = f"{shown(each)} was read from {name_of(key)}, and never appended"
            yield Finding("unwritten-read", said, (one,))
        elif writer.is_aborted:
            said = f"{shown(each)} was read from {name_of(key)}, appended by a failed transaction"
            yield Finding("G1a", said, (writer, one))


def _of_transaction(seen: Lists, one: Transaction) -> Iterator[Finding]:
    expected: dict[Any, tuple[Any, ...]] = {}
    own: dict[Any, tuple[Any, ...]] = {}
    for kind, key, value in one.steps:
        if kind == APPEND:
            own[key] = (*own.get(key, ()), value)
            if key in expected:
                expected[key] = (*expected[key], value)
            continue
        mine = own.get(key, ())
        before = expected.get(key)
        if before is not None and before != value:
            said = f"{name_of(key)} is {shown(value)}, but was {shown(before)} before"
            yield Finding("internal", f"in one transaction {said}", (one,))
        elif before is None and _outside(value, mine) is None:
            said = f"{name_of(key)} is {shown(value)}, without its own {shown(mine)}"
            yield Finding("internal", f"in one transaction {said}", (one,))
        elif before is None and _is_early(one, key, value, mine):
            said = f"{name_of(key)} is {shown(value)}, before it appends that"
            yield Finding("internal", f"in one transaction {said}", (one,))
        expected[key] = value
        if seen.order(key)[: len(value)] != value:
            said = f"{name_of(key)} was read as {shown(value)} and as {shown(seen.order(key))}"
            yield Finding("incompatible-order", said, (one, seen.longest[key]))
            yield from _of_values(seen, one, key, value)
        yield from _of_last(seen, one, key, _outside(value, mine) or ())


def _is_early(one: Transaction, key: Any, value: tuple[Any, ...], mine: tuple[Any, ...]) -> bool:
    """Returns whether a read has an append of the same transaction that comes after it."""
    appended = (v for kind, k, v in one.steps if kind == APPEND and k == key and v not in mine)
    return any(each in value for each in appended)


def _of_last(seen: Lists, one: Transaction, key: Any, value: tuple[Any, ...]) -> Iterator[Finding]:
    """Yields an intermediate read: its last value is not the last one that its writer appends."""
    writer = seen.writers.get(key, {}).get(value[-1]) if value else None
    if writer is None or writer is one:
        return
    last = [v for kind, k, v in writer.steps if kind == APPEND and k == key][-1]
    if last != value[-1]:
        said = f"{name_of(key)} was read as {shown(value)}, before {shown(last)} was appended"
        yield Finding("G1b", f"{said} by the same transaction", (writer, one))


def _outside(value: tuple[Any, ...], mine: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Returns what a read would be without the transaction's own appends before it; ``None`` where
    it does not end with these."""
    at = len(value) - len(mine)
    return value[:at] if value[at:] == mine and at >= 0 else None


# ---- dependencies -------------------------------------------------------------------------------


def dependencies(seen: Lists) -> tuple[Graph, bool]:
    """Returns the dependencies that follow from the reads: ``ww`` between neighbours in the order
    of a key, ``wr`` from the writer of a version to its readers, ``rw`` from these to the writer of
    the next one; and whether they are all, or too many."""
    graph: Graph = [{} for _ in seen.transactions]
    for key, order in seen.orders.items():
        writers, before = seen.writers.get(key, {}), None
        for value in order:
            poll()
            writer = writers.get(value)
            if writer is None or writer.is_aborted:
                continue
            if before is not None:
                add(graph, before, writer.number, WW)
            before = writer.number
        for one in seen.unread.get(key, ()) if before is not None else ():
            add(graph, before or 0, one.number, WW)
    left = MOST_PAIRS
    for one in seen.transactions:
        poll()
        if one.is_committed:
            left -= _of_its_reads(graph, seen, one, left)
    return graph, left > 0


def _of_its_reads(graph: Graph, seen: Lists, one: Transaction, most: int) -> int:
    """Adds the dependencies that follow from the reads of ``one``; returns how many of them are on
    appends that no read has, of which there are not more than ``most``."""
    own: dict[Any, tuple[Any, ...]] = {}
    pairs = 0
    for kind, key, value in one.steps:
        if kind == APPEND:
            own[key] = (*own.get(key, ()), value)
            continue
        order = seen.order(key)
        outside = _outside(value, own.get(key, ()))
        if outside is None or order[: len(value)] != value:
            continue
        writers = seen.writers.get(key, {})
        writer = writers.get(outside[-1]) if outside else None
        if writer is not None and not writer.is_aborted:
            add(graph, writer.number, one.number, WR)
        if len(outside) < len(order):
            following = writers.get(order[len(outside)])
            if following is not None and not following.is_aborted:
                add(graph, one.number, following.number, RW)
            continue
        unread = seen.unread.get(key, ())
        pairs += len(unread)
        if pairs <= most:
            for each in unread:
                add(graph, one.number, each.number, RW)
    return pairs


# ---- evidence -----------------------------------------------------------------------------------


def evidence(seen: Lists, before: Transaction, after: Transaction, kind: int) -> str:
    """Returns why ``before`` precedes ``after``, by a dependency of ``kind``."""
    if kind == REALTIME:
        return in_time(before, after)
    if kind == WR:
        return next(_read_from(seen, before, after))
    if kind == WW:
        return next(_overwritten(seen, before, after))
    return next(_missed(seen, before, after))


def _read_from(seen: Lists, before: Transaction, after: Transaction) -> Iterator[str]:
    for key, outside in _reads(after):
        if outside and seen.writers.get(key, {}).get(outside[-1]) is before:
            last = shown(outside[-1])
            yield f"it appended {last} to {name_of(key)}, which was read as {shown(outside)}"


def _overwritten(seen: Lists, before: Transaction, after: Transaction) -> Iterator[str]:
    for kind, key, value in after.steps:
        if kind != APPEND:
            continue
        order, writers = seen.order(key), seen.writers[key]
        known = [v for v in order if not writers.get(v, after).is_aborted and v in writers]
        at = known.index(value) if value in known else len(known)
        if at and writers[known[at - 1]] is before:
            where = seen.longest[key].recorded.answer
            line = 0 if where is None else where.line
            said = f"it appended {shown(known[at - 1])} to {name_of(key)}, the other one"
            yield f"{said} {shown(value)} after it (read on line {line})"


def _missed(seen: Lists, before: Transaction, after: Transaction) -> Iterator[str]:
    appended = {(key, value) for kind, key, value in after.steps if kind == APPEND}
    for key, outside in _reads(before):
        order = seen.order(key)
        unread = (value for value in seen.writers.get(key, ()) if value not in order)
        for value in order[len(outside) :][:1] or unread:
            if (key, value) in appended and order[: len(outside)] == outside:
                said = f"it read {name_of(key)} as {shown(outside)}, without {shown(value)}"
                yield f"{said}, which the other one appended"


def _reads(one: Transaction) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yields the keys that ``one`` reads, each with what others appended to it before."""
    own: dict[Any, tuple[Any, ...]] = {}
    for kind, key, value in one.steps:
        if kind == APPEND:
            own[key] = (*own.get(key, ()), value)
        elif kind == READ:
            yield key, _outside(value, own.get(key, ())) or ()
