"""Transactions of a history: steps that write to keys and read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from checker.histories.pairing import Operation
from checker.histories.rows import MISSING, shown, wrong
from checker.polling import poll

APPEND, WRITE, READ = "append", "w", "r"

Step = tuple[str, Any, Any]
"""``append``, ``w`` or ``r``, the key, and the value: of a read that is not known ``None``."""


class Data(Struct, frozen=True):
    """What transactions work on: its ``name``, the kind of a step that writes, and how a value that
    is read is called."""

    name: str
    write: str
    read: str

    @property
    def hint(self) -> str:
        """What a transaction is."""
        steps = f"`[:{self.write} key value]` and `[:r key {self.read}]`"
        return f"a transaction's value is a list of {steps}"


LISTS = Data("list-append", APPEND, "list")
REGISTERS = Data("rw-register", WRITE, "value")


class Transaction(Struct):
    """A transaction: its ``number`` among those of the history, its rows, and what it did.

    Reads are known of a committed one alone (``is_committed``); ``is_aborted``: none of its writes
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
    return f"r({name}) = {shown(value)}" if kind == READ else f"{kind}({name}, {shown(value)})"


def name_of(key: Any) -> str:
    """Returns a key as one writes it."""
    return key if isinstance(key, str) else shown(key)


def transactions_of(operations: Iterable[Operation], data: Data) -> list[Transaction]:
    """Returns the transactions that ``operations`` are.

    Raises :class:`SpecError`: E095 for one that is not a list of writes and reads, or whose answer
    is of another one; E102 where a value is written to a key twice.
    """
    found = []
    written: dict[tuple[Any, Any], Operation] = {}
    for number, one in enumerate(operations):
        poll()
        called = _steps(one, one.value, data, is_answer=False)
        steps = called
        if one.outcome == "ok":
            steps = _steps(one, one.result, data, is_answer=True)
            _require_same(one, called, steps)
        for kind, key, value in steps:
            if kind == READ:
                continue
            if (key, value) in written:
                message = f"{shown(value)} is written to {name_of(key)} twice"
                before = written[key, value].call.line
                hint = f"also on line {before}; values of a key must differ"
                raise wrong("E102", message, one.call.place, hint)
            written[key, value] = one
        found.append(Transaction(number, one, steps))
    return found


def _steps(one: Operation, value: Any, data: Data, *, is_answer: bool) -> tuple[Step, ...]:
    row = one.answer if is_answer and one.answer is not None else one.call
    if value is MISSING or not isinstance(value, tuple):
        raise wrong("E095", f"this is not a transaction of {data.name}", row.place, data.hint)
    found = []
    for step in value:
        problem = "" if _is_usual(step, data) else _problem(step, data)
        if problem:
            raise wrong("E095", f"{shown(step)} {problem}", row.place, data.hint)
        if step[0] != READ or (len(step) > 2 and (step[2] if is_answer else step[2] is None)):
            found.append(step)
        else:
            what = step[2] if is_answer and len(step) > 2 else None
            found.append((READ, step[1], () if is_answer and data is LISTS and not what else what))
    return tuple(found)


def _is_usual(step: Any, data: Data) -> bool:
    """Returns whether ``step`` is one as most are: what is no problem, found soon."""
    if type(step) is not tuple or len(step) != 3:
        return False
    kind, _, value = step
    if kind == READ:
        return value is None or data is not LISTS or type(value) is tuple
    return value is not None and bool(kind == data.write)


def _problem(step: Any, data: Data) -> str:
    """Returns why ``step`` is none of a transaction; empty where it is one."""
    if not isinstance(step, tuple) or len(step) not in (2, 3):
        return f"is not a step of {data.name}"
    kind, value = step[0], step[2] if len(step) > 2 else None
    if kind == READ:
        wrong_read = value is not None and data is LISTS and not isinstance(value, tuple)
        return "does not read a list" if wrong_read else ""
    if kind != data.write:
        return f"is not a step of {data.name}"
    if len(step) < 3:
        return f"{'appends' if data is LISTS else 'writes'} no value"
    is_nil = kind == WRITE and value is None
    return "writes nil, which a register is before any write" if is_nil else ""


def _require_same(one: Operation, called: tuple[Step, ...], steps: tuple[Step, ...]) -> None:
    assert one.answer is not None
    same = len(called) == len(steps)
    for ours, theirs in zip(called, steps, strict=False):
        is_other = ours is not theirs and ours[:2] != theirs[:2]
        same = same and not is_other and (ours[0] == READ or ours[2] == theirs[2])
    if not same:
        hint = f"the call is on line {one.call.line}"
        raise wrong("E095", "this answer is of another transaction", one.answer.place, hint)
