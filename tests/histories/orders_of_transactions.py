"""A second definition of consistency models: all orders of a few transactions are tried.

A transaction is a list of steps ``("append", key, value)`` and ``("r", key, list)``.  From the
definitions alone: nothing is inferred from what reads say.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple


class Txn(NamedTuple):
    """Steps, the times of its call and its return (``None``: none is known), and its outcome; one
    that is ``info`` may take effect later than its row says."""

    steps: tuple[tuple[str, Any, Any], ...]
    called: int
    returned: int | None
    outcome: str = "ok"


State = dict[Any, tuple[Any, ...]]


def _runs(state: State, one: Txn) -> State | None:
    """The state after the transaction, if its reads fit."""
    now = dict(state)
    for kind, key, value in one.steps:
        if kind == "append":
            now[key] = (*now.get(key, ()), value)
        elif one.outcome == "ok" and now.get(key, ()) != tuple(value):
            return None
    return now


def _chosen(transactions: Sequence[Txn]) -> Iterator[list[Txn]]:
    """All sets of transactions that may have taken effect."""
    certain = [t for t in transactions if t.outcome == "ok"]
    perhaps = [t for t in transactions if t.outcome == "info"]
    for size in range(len(perhaps) + 1):
        for more in itertools.combinations(perhaps, size):
            yield [*certain, *more]


def is_serializable(transactions: Sequence[Txn], *, strict: bool = False) -> bool:
    """Whether some serial order explains all reads; ``strict``: one that respects real time."""
    return any(
        _explains(order)
        for chosen in _chosen(transactions)
        for order in itertools.permutations(chosen)
        if not strict or _respects_time(order)
    )


def _explains(order: Sequence[Txn]) -> bool:
    state: State | None = {}
    for one in order:
        state = _runs(state, one) if state is not None else None
    return state is not None


def _respects_time(order: Sequence[Txn]) -> bool:
    return not any(
        later.returned is not None and later.outcome == "ok" and later.returned < earlier.called
        for earlier, later in itertools.combinations(order, 2)
    )


def is_snapshot_isolated(transactions: Sequence[Txn]) -> bool:
    """Whether some order of starts and commits explains all reads, where each transaction sees what
    was committed at its start, and its own appends; of two that overlap none appends to a key to
    which the other one does."""
    return any(_has_schedule(chosen) for chosen in _chosen(transactions))


def _has_schedule(chosen: Sequence[Txn]) -> bool:
    def search(state: State, started: dict[int, State], done: frozenset[int],
               written: dict[int, frozenset[Any]]) -> bool:  # fmt: skip
        if len(done) == len(chosen):
            return True
        for number, one in enumerate(chosen):
            if number in done:
                continue
            if number not in started:
                if search(
                    state, {**started, number: state}, done, {**written, number: frozenset()}
                ):
                    return True
                continue
            keys = {key for kind, key, _ in one.steps if kind == "append"}
            if keys & written[number] or _runs(started[number], one) is None:
                continue
            after = dict(state)
            for kind, key, value in one.steps:
                if kind == "append":
                    after[key] = (*after.get(key, ()), value)
            others = {n: of | keys if n != number else of for n, of in written.items()}
            if search(after, started, done | {number}, others):
                return True
        return False

    return search({}, {}, frozenset(), {})
