"""Transactions of a history: lists of appends and reads of keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from checker.histories.pairing import Operation
from checker.histories.rows import MISSING, shown, wrong
from checker.polling import poll

APPEND, READ = "append", "r"
_HINT = "a transaction's value is a list of `[:append key value]` and `[:r key list]`"

Step = tuple[str, Any, Any]
"""``append`` or ``r``, the key, and the value: of a read that is not known ``None``."""


class Transaction(Struct):
    """A transaction: its ``number`` among those of the history, its rows, and what it did.

    Reads are known of a committed one alone (``is_committed``); ``is_aborted``: none of its appends
    took effect.
    """

    number: int
    recorded: Operation
    steps: tuple[Step, ...]

    @property
    def is_committed(self) -> bool:
        """Whether it is known to have taken effect."""
        return self.recorded.outcome == "ok"

    @property
    def is_aborted(self) -> bool:
        """Whether it is known not to have taken effect."""
        return self.recorded.outcome == "fail"

    @property
    def text(self) -> str:
        """The transaction as one writes it."""
        return " ".join(map(text_of, self.steps))


def text_of(step: Step) -> str:
    """Returns a step of a transaction as one writes it."""
    kind, key, value = step
    name = name_of(key)
    return f"append({name}, {shown(value)})" if kind == APPEND else f"r({name}) = {shown(value)}"


def name_of(key: Any) -> str:
    """Returns a key as one writes it."""
    return key if isinstance(key, str) else shown(key)


def transactions_of(operations: Iterable[Operation]) -> list[Transaction]:
    """Returns the transactions that ``operations`` are.

    Raises :class:`SpecError` (E095) for one that is not a list of appends and reads, or whose
    answer is of another one, and where a value is appended to a key twice.
    """
    found = []
    appended: dict[tuple[Any, Any], Operation] = {}
    for number, one in enumerate(operations):
        poll()
        called = _steps(one, one.value, is_answer=False)
        steps = called
        if one.outcome == "ok":
            steps = _steps(one, one.result, is_answer=True)
            _require_same(one, called, steps)
        for kind, key, value in steps:
            if kind != APPEND:
                continue
            before = appended.setdefault((key, value), one)
            if before is not one or sum(s == (kind, key, value) for s in steps) > 1:
                message = f"{shown(value)} is appended to {shown(key)} twice"
                hint = f"also on line {before.call.line}; values of a key must differ"
                raise wrong("E095", message, one.call.place, hint)
        found.append(Transaction(number, one, steps))
    return found


def _steps(one: Operation, value: Any, *, is_answer: bool) -> tuple[Step, ...]:
    row = one.answer if is_answer and one.answer is not None else one.call
    if value is MISSING or not isinstance(value, tuple):
        raise wrong("E095", "this is not a transaction of list-append", row.place, _HINT)
    for step in value:
        if not isinstance(step, tuple) or len(step) not in (2, 3) or step[0] not in (APPEND, READ):
            raise wrong("E095", f"{shown(step)} is not a step of list-append", row.place, _HINT)
        if step[0] == APPEND and len(step) < 3:
            raise wrong("E095", f"{shown(step)} appends no value", row.place, _HINT)
        known = len(step) > 2 and step[2] is not None
        if step[0] == READ and known and not isinstance(step[2], tuple):
            raise wrong("E095", f"{shown(step)} does not read a list", row.place, _HINT)
    if not is_answer:
        return tuple((s[0], s[1], s[2] if s[0] == APPEND else None) for s in value)
    return tuple((s[0], s[1], s[2] if s[0] == APPEND else _list(s)) for s in value)


def _list(step: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the list that a completed read has read: ``nil`` is the empty one."""
    found: tuple[Any, ...] | None = step[2] if len(step) > 2 else None
    return found or ()


def _require_same(one: Operation, called: tuple[Step, ...], steps: tuple[Step, ...]) -> None:
    assert one.answer is not None
    same = len(called) == len(steps) and all(
        a[:2] == b[:2] and (a[0] == READ or a[2] == b[2])
        for a, b in zip(called, steps, strict=True)
    )
    if not same:
        hint = f"the call is on line {one.call.line}"
        raise wrong("E095", "this answer is of another transaction", one.answer.place, hint)
