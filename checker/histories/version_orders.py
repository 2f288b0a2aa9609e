"""Infers in which order the values of registers were written.

A read of a register shows one value, and nothing of those before.  So the order of its values is
partial: ``nil`` comes first; what a transaction reads comes before what it then writes to the same
key, and its own writes come in their order.  On assumption the values of a key are also in the
order in which transactions that use the key follow one another in time.

K. Kingsbury, P. Alvaro: Elle: Inferring Isolation Anomalies from Experimental Observations, VLDB
2020, section 5.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from msgspec import Struct

from checker.graphs import cycles, route
from checker.histories.dependencies import Finding, Observed, in_realtime, in_time
from checker.histories.rows import shown
from checker.histories.transactions import READ, Transaction, name_of
from checker.polling import poll


class Reason(Struct, frozen=True):
    """Why a value comes before another one: ``first`` reads or writes it, and then writes the other
    one; or, with ``second``, that one does so later in time; of neither: ``nil`` comes first."""

    first: Transaction | None = None
    second: Transaction | None = None

    @property
    def text(self) -> str:
        """The reason in words."""
        if self.first is None:
            return "nil is the initial value"
        if self.second is None:
            return f"in this order on line {self.first.recorded.call.line}"
        return f"assumed, since {in_time(self.first, self.second, 'the one')}"


Later = dict[Any, dict[Any, Reason]]
"""For each value of a key some of those that come after it."""
_FIRST = Reason()


def version_orders(seen: Observed, is_linearizable: bool) -> tuple[dict[Any, Later], list[Finding]]:
    """Returns for each key how its values are ordered, and the cycles of these orders: a key with
    one has no order.  ``is_linearizable``: with the assumption on time."""
    orders: dict[Any, Later] = {}
    users: dict[Any, list[Transaction]] = {}
    for one in seen.transactions:
        poll()
        if seen.took_effect(one):
            _of_steps(seen, one, orders)
            for key in {key for _, key, _ in one.steps}:
                users.setdefault(key, []).append(one)
    if is_linearizable:
        for key, of in users.items():
            _of_time(seen, key, of, orders.setdefault(key, {}))
    findings = []
    for key, writers in seen.writers.items():
        later = orders.setdefault(key, {})
        _begin_with_nil(later, [v for v, one in writers.items() if seen.took_effect(one)])
        found = _cycle(key, later)
        if found is not None:
            findings.append(found)
            del orders[key]
    return orders, findings


def is_total(later: Later) -> bool:
    """Returns whether the order, which has no cycle, is total."""
    degree = dict.fromkeys(later, 0)
    for after in later.values():
        for value in after:
            degree[value] = degree.get(value, 0) + 1
    ready = [value for value, number in degree.items() if not number]
    while ready:
        poll()
        if len(ready) > 1:
            return False
        for value in later.get(ready.pop(), ()):
            degree[value] -= 1
            if not degree[value]:
                ready.append(value)
    return True


def _of_steps(seen: Observed, one: Transaction, orders: dict[Any, Later]) -> None:
    """Adds that values which ``one`` reads come before what it then writes, and its writes."""
    before: dict[Any, list[Any]] = {}
    own: set[Any] = set()
    for kind, key, value in one.steps:
        if kind == READ:
            is_others = seen.writer(key, value) is not one
            if one.is_committed and key not in own and is_others and _is_there(seen, key, value):
                before.setdefault(key, []).append(value)
            continue
        for each in before.get(key, ()):
            _add(orders.setdefault(key, {}), each, value, Reason(one))
        before[key] = [value]
        own.add(key)


def _of_time(seen: Observed, key: Any, users: list[Transaction], later: Later) -> None:
    """Adds that the last value of a transaction comes not after the first one of another one that
    follows it in time."""
    for one, other in in_realtime(users):
        last = _values(one, key)[-1:]
        first = _values(other, key)[:1]
        if last != first and all(_is_there(seen, key, each) for each in (*last, *first)):
            for before in last:
                for after in first:
                    _add(later, before, after, Reason(one, other))


def _values(one: Transaction, key: Any) -> list[Any]:
    """Returns the values of ``key`` that ``one`` reads and writes, as far as they are known."""
    return [v for kind, k, v in one.steps if k == key and (kind != READ or one.is_committed)]


def _is_there(seen: Observed, key: Any, value: Any) -> bool:
    return value is None or seen.writer(key, value) is not None


def _add(later: Later, before: Any, after: Any, reason: Reason) -> None:
    if before is not None or after is not None:
        later.setdefault(before, {}).setdefault(after, reason)


def _begin_with_nil(later: Later, values: list[Any]) -> None:
    """Adds that ``nil`` comes before those of ``values`` that have no other one before them."""
    follow = {after for before, of in later.items() if before is not None for after in of}
    first = {value: _FIRST for value in values if value not in follow}
    later[None] = {**first, **later.get(None, {})}


def _cycle(key: Any, later: Later) -> Finding | None:
    values = [*dict.fromkeys([*later, *(after for of in later.values() for after in of)])]
    number = {value: at for at, value in enumerate(values)}
    graph = [[number[after] for after in later.get(value, ())] for value in values]
    found = cycles(range(len(graph)), graph.__getitem__)
    if not found:
        return None
    one = min(found, key=len)
    start = min(one)
    ways = (route([each], graph.__getitem__, start.__eq__) for each in graph[start] if each in one)
    way = min((way for way in ways if way is not None), key=len)
    pairs = [(values[a], values[b]) for a, b in pairwise([start, *way])]
    reasons = [later[a][b] for a, b in pairs]
    said = "; ".join(
        f"{shown(a)} before {shown(b)} ({reason.text})"
        for (a, b), reason in zip(pairs, reasons, strict=True)
    )
    shows = (one for reason in reasons for one in (reason.first, reason.second) if one is not None)
    transactions = {one.number: one for one in shows}
    sentence = f"the values of {name_of(key)} have no order: {said}"
    return Finding("cyclic-versions", sentence, (*transactions.values(),))
