"""A second definition of linearizability and its relatives: all orders are tried.

A history is a list of events ``("call", number)`` and ``("return", number, result)``; and
``operations`` says who called what.  The objects are written here once more, in Python, from the
pages of `docs/language/` alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple


class Operation(NamedTuple):
    """What ``process`` calls; its operations are numbered in the order of its calls."""

    process: int
    op: str
    args: tuple[Any, ...]


Step = Callable[[Any, Operation], "list[tuple[Any, Any]]"]
"""The states and results to which an operation leads from a state; none where it can't be."""


def register(value: Any, one: Operation) -> list[tuple[Any, Any]]:
    if one.op == "read":
        return [(value, value)]
    if one.op == "cas":
        expected, new = one.args
        return [((new,), True)] if value == (expected,) else [(value, False)]
    return [((one.args[0],), None)]


def queue(items: Any, one: Operation) -> list[tuple[Any, Any]]:
    if one.op == "enqueue":
        return [((*items, one.args[0]), None)]
    return [(items[1:], (items[0],))] if items else [((), None)]


def log(entries: Any, one: Operation) -> list[tuple[Any, Any]]:
    if one.op == "append":
        return [((*entries, one.args[0]), len(entries))]
    return [(entries, entries)]


def table(values: Any, one: Operation) -> list[tuple[Any, Any]]:
    known = dict(values)
    if one.op == "get":
        return [(values, known.get(one.args[0]))]
    if one.op == "put":
        known[one.args[0]] = (one.args[1],)
    else:
        known.pop(one.args[0], None)
    return [(tuple(sorted(known.items())), None)]


def members(values: Any, one: Operation) -> list[tuple[Any, Any]]:
    (item,) = one.args
    there = item in values
    if one.op == "contains":
        return [(values, there)]
    if one.op == "add":
        return [(values | {item}, not there)]
    return [(values - {item}, there)]


def lock(holder: Any, one: Operation) -> list[tuple[Any, Any]]:
    if one.op == "acquire":
        return [((one.process,), None)] if holder is None else []
    return [(None, None)] if holder == (one.process,) else []


OBJECTS: dict[str, tuple[Any, Step]] = {
    "Register": (None, register),
    "CompareAndSwap": (None, register),
    "Queue": ((), queue),
    "Log": ((), log),
    "KeyValueMap": ((), table),
    "Set": (frozenset(), members),
    "Lock": (None, lock),
}

Event = tuple[Any, ...]


def _orders(
    operations: Sequence[Operation], history: Sequence[Event], before: Callable[[int, int], bool]
) -> Iterator[tuple[int, ...]]:
    """All orders of the operations that have returned, and of any of the others, that keep
    ``before``."""
    called = [event[1] for event in history if event[0] == "call"]
    returned = {event[1] for event in history if event[0] == "return"}
    pending = [number for number in called if number not in returned]
    pairs = [(a, b) for a in called for b in called if a != b and before(a, b)]
    for size in range(len(pending) + 1):
        for more in itertools.combinations(pending, size):
            for order in itertools.permutations((*sorted(returned), *more)):
                places = {number: place for place, number in enumerate(order)}
                if all(places[a] < places[b] for a, b in pairs if a in places and b in places):
                    yield order


def _explains(
    name: str, operations: Sequence[Operation], history: Sequence[Event], order: Any
) -> bool:
    results = {event[1]: event[2] for event in history if event[0] == "return"}
    first, step = OBJECTS[name]
    states = [first]
    for number in order:
        outcomes = [o for state in states for o in step(state, operations[number])]
        wanted = number in results
        states = [after for after, said in outcomes if not wanted or said == results[number]]
    return bool(states)


def is_linearizable(name: str, operations: Sequence[Operation], history: Sequence[Event]) -> bool:
    """Whether some order of the operations explains the results, in which one that has returned
    before another is called comes before it."""

    def before(a: int, b: int) -> bool:
        ends = [i for i, e in enumerate(history) if e[0] == "return" and e[1] == a]
        begins = [i for i, e in enumerate(history) if e[0] == "call" and e[1] == b]
        return bool(ends) and ends[0] < begins[0]

    orders = _orders(operations, history, before)
    return any(_explains(name, operations, history, order) for order in orders)


def is_sequentially_consistent(
    name: str, operations: Sequence[Operation], history: Sequence[Event]
) -> bool:
    """Whether some order explains the results in which those of each process come as it called
    them; one that never returned, since its process crashed, may come later."""
    returned = {event[1] for event in history if event[0] == "return"}

    def before(a: int, b: int) -> bool:
        return operations[a].process == operations[b].process and a < b and a in returned

    orders = _orders(operations, history, before)
    return any(_explains(name, operations, history, order) for order in orders)


def is_regular(operations: Sequence[Operation], history: Sequence[Event], safe: bool) -> bool:
    """Whether each read of a register returns what a write before it wrote last, or an overlapping
    one (``safe``: anything where a write overlaps)."""
    for place, event in enumerate(history):
        if event[0] != "return" or operations[event[1]].op != "read":
            continue
        begun = history.index(("call", event[1]))
        written: Any = None
        overlapping = []
        for number, one in enumerate(operations):
            if one.op != "write" or ("call", number) not in history[:place]:
                continue
            ends = [i for i, e in enumerate(history) if e[0] == "return" and e[1] == number]
            if ends and ends[0] < begun:
                written = (one.args[0],)
            else:
                overlapping.append((one.args[0],))
        if safe and overlapping:
            continue
        if event[2] not in (written, *overlapping):
            return False
    return True
