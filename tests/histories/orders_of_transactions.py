"""A second definition of consistency models: all orders of a few transactions are tried.

A transaction is a list of steps: ``("append", key, value)`` and ``("r", key, list)``, or of
registers ``("w", key, value)`` and ``("r", key, value)``, ``None`` before any write.  From the
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


State = dict[Any, Any]


def _written(state: State, kind: str, key: Any, value: Any) -> None:
    state[key] = value if kind == "w" else (*state.get(key, ()), value)


def _is_there(state: State, key: Any, value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return state.get(key, ()) == tuple(value)
    return state.get(key) == value


def _runs(state: State, one: Txn) -> State | None:
    """The state after the transaction, if its reads fit."""
    now = dict(state)
    for kind, key, value in one.steps:
        if kind != "r":
            _written(now, kind, key, value)
        elif one.outcome == "ok" and not _is_there(now, key, value):
            return None
    return now


def _chosen(transactions: Sequence[Txn]) -> Iterator[list[Txn]]:
    """All sets of transactions that may have taken effect."""
    certain = [t for t in transactions if t.outcome == "ok"]
    perhaps = [t for t in transactions if t.outcome == "info"]
    for size in range(len(perhaps) + 1):
        for more in itertools.combinations(perhaps, size):
            yield [*certain, *more]


def is_serializable(
    transactions: Sequence[Txn], *, strict: bool = False, linearizable_keys: bool = False
) -> bool:
    """Whether some serial order explains all reads; ``strict``: one that respects real time;
    ``linearizable_keys``: one in which the values of each key respect it."""
    return any(
        _explains(order) and (not linearizable_keys or _keys_respect_time(order))
        for chosen in _chosen(transactions)
        for order in itertools.permutations(chosen)
        if not strict or _respects_time(order)
    )


def _keys_respect_time(order: Sequence[Txn]) -> bool:
    """Whether for each key no transaction that returned before another one was called used a later
    value than the first one that the other one used."""
    used: dict[Any, list[tuple[Txn, int, int]]] = {}
    versions: dict[Any, int] = {}
    for one in order:
        mine: dict[Any, list[int]] = {}
        for kind, key, _ in one.steps:
            versions[key] = versions.get(key, 0) + (kind != "r")
            if kind != "r" or one.outcome == "ok":
                mine.setdefault(key, []).append(versions[key])
        for key, of in mine.items():
            used.setdefault(key, []).append((one, of[0], of[-1]))
    return not any(
        one.outcome == "ok" and one.returned < other.called and last > first
        for users in used.values()
        for one, _, last in users
        for other, first, _ in users
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
    was committed at its start, and its own appends; of two that overlap none writes to a key to
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
            keys = {key for kind, key, _ in one.steps if kind != "r"}
            if keys & written[number] or _runs(started[number], one) is None:
                continue
            after = dict(state)
            for kind, key, value in one.steps:
                if kind != "r":
                    _written(after, kind, key, value)
            others = {n: of | keys if n != number else of for n, of in written.items()}
            if search(after, started, done | {number}, others):
                return True
        return False

    return search({}, {}, frozenset(), {})
