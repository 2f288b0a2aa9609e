"""Pairs the rows of a history into operations: each call with its return."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from checker.histories.reading import ENDED, History
from checker.histories.rows import (
    FAIL,
    INFO,
    INVOKE,
    MISSING,
    OK,
    Arguments,
    Result,
    Row,
    shown,
    wrong,
)  # fmt: skip
from checker.logs.mapping import FAIL_FALSE, NIL_UNKNOWN, OK_TRUE, LogMapping
from checker.polling import poll

NEMESIS = "nemesis"
"""Jepsen's process that injects faults: no client."""

OPEN = "open"
"""The outcome of an operation whose return was not recorded."""


class Operation(Struct, gc=False):
    """An operation: its rows, and what they say.

    ``called`` and ``returned`` (``None``: never): positions in the history; ``outcome``: ``ok``,
    ``fail``, ``info`` or ``open``; ``key``: :data:`MISSING` without one.
    """

    process: Any
    f: str
    key: Any
    call: Row
    called: int
    outcome: str = OPEN
    answer: Row | None = None
    returned: int | None = None

    @property
    def arguments(self) -> tuple[Any, ...] | None:
        """The recorded arguments, where they are recorded as such; ``None``: only a value is."""
        return self.call.value.values if isinstance(self.call.value, Arguments) else None

    @property
    def value(self) -> Any:
        """The value of the call: of several recorded arguments all."""
        given = self.arguments
        if given is None:
            return self.call.value
        return given[0] if len(given) == 1 else given

    @property
    def result(self) -> Any:
        """The value of the return; :data:`MISSING` where none is recorded."""
        found = MISSING if self.answer is None else self.answer.value
        return found.value if isinstance(found, Result) else found


class Numbered(Struct, frozen=True):
    """What tells a call from other outstanding ones, of its process too."""

    call: Any


class Operations(Struct):
    """The operations of a history in the order of their calls; ``ignored``: its rows of the
    nemesis and of operations that are left out."""

    file: str
    found: list[Operation] = field(default_factory=list)
    ignored: int = 0


def operations_of(history: History, ignored: Iterable[str] = ()) -> Operations:
    """Returns the operations of ``history``; rows with an ``f`` in ``ignored`` are left out.

    Raises :class:`SpecError` (E094) where a process calls again without an answer, or an answer has
    no call.
    """
    made = Operations(history.file)
    leave_out = frozenset(ignored)
    outstanding: dict[Any, Operation] = {}
    for position, row in enumerate(history.rows):
        poll()
        process = row.process
        which = process if row.call is None else Numbered(row.call)
        if process == NEMESIS or row.f in leave_out:
            made.ignored += 1
        elif row.kind == ENDED:
            ended = [each for each, one in outstanding.items() if one.process == process]
            for each in ended:
                del outstanding[each]
        elif row.kind == INVOKE:
            if which in outstanding:
                raise _called_again(row, outstanding[which])
            operation = Operation(process, row.f, row.key, row, position)
            made.found.append(operation)
            outstanding[which] = operation
        else:
            call = outstanding.pop(which, None)
            if call is None:
                raise _no_call(row)
            _answer(call, row, position)
    return _with_processes(made, history)


def _with_processes(made: Operations, history: History) -> Operations:
    """Returns ``made``; raises :class:`SpecError` (E093) where some rows name a process and others
    do not.  Where none does, an answer is that of the call before it."""
    missing = [row for row in history.rows if row.process is MISSING]
    if missing and len(missing) < len(history.rows) - made.ignored:
        raise wrong("E093", "this row has no `process`, but others have", missing[0].place)
    return made


def _answer(call: Operation, row: Row, position: int) -> None:
    if row.f and row.f != call.f:
        message = f"`{row.f}` is answered, but process {shown(row.process)} called `{call.f}`"
        raise wrong("E094", message, row.place, f"the call is on line {call.call.line}")
    call.outcome, call.answer = row.kind, row
    if row.kind in (OK, FAIL):
        call.returned = position


def _called_again(row: Row, before: Operation) -> Exception:
    message = f"process {shown(row.process)} calls `{row.f}`, but its `{before.f}` has not returned"
    hint = (
        f"that call is on line {before.call.line}; record an `info` where an answer is lost,"
        " or use a process per outstanding operation"
    )
    return wrong("E094", message, row.place, hint)


def _no_call(row: Row) -> Exception:
    what = f" of `{row.f}`" if row.f else ""
    message = f"this `{row.kind}`{what} of process {shown(row.process)} has no call before it"
    return wrong("E094", message, row.place, "every answer follows a row `invoke` of its process")


class Shape(Struct, frozen=True):
    """How values of rows become arguments and results.

    ``by_key``: the key is no argument; ``ok_means_true``, ``fail_means_false``: operations whose
    outcome is their truth value; ``nil_is_unknown``: a recorded ``nil`` is no result.
    """

    by_key: bool = False
    ok_means_true: frozenset[str] = frozenset(("cas",))
    fail_means_false: frozenset[str] = frozenset()
    nil_is_unknown: frozenset[str] = frozenset()


def shape_of(mapping: LogMapping, by_key: bool) -> Shape:
    """Returns how values become arguments and results by a mapping."""
    plain = Shape()
    return Shape(
        by_key,
        plain.ok_means_true | mapping.meaning(OK_TRUE),
        mapping.meaning(FAIL_FALSE),
        mapping.meaning(NIL_UNKNOWN),
    )


def with_keys(operations: Iterable[Operation]) -> None:
    """Takes the key of each operation from its value ``[key value]`` where no row has a key."""
    for operation in operations:
        if operation.key is not MISSING:
            continue
        arguments = operation.arguments
        if arguments:
            operation.key = arguments[0]
            operation.call.value = Arguments(arguments[1:])
            continue
        value = operation.value
        if not isinstance(value, tuple) or len(value) != 2:
            message = f"the value {shown(value)} has no key"
            hint = "with `--by key`, a row has a field `key`, or its value is `[key value]`"
            raise wrong("E095", message, operation.call.place, hint)
        operation.key, operation.call.value = value
        answer = operation.answer
        if answer is not None and isinstance(answer.value, tuple) and len(answer.value) == 2:
            answer.value = answer.value[1]


def recorded_result(
    operation: Operation, returns_bool: bool, takes_value: bool, shape: Shape
) -> Any:
    """Returns the result that ``operation`` is known to have had, or :data:`MISSING`.

    ``takes_value``: the value of the call is an argument.  An answer that repeats it, as those of
    Jepsen's clients do, then records no result.
    """
    if operation.outcome == FAIL:
        return False
    if operation.outcome != OK:
        return MISSING
    value = operation.result
    if operation.answer is not None and isinstance(operation.answer.value, Result):
        return value
    if returns_bool and not isinstance(value, bool):
        return True if operation.f in shape.ok_means_true else MISSING
    if value is None and operation.f in shape.nil_is_unknown:
        return MISSING
    return MISSING if takes_value and value == operation.value else value


def indeterminate(operations: Iterable[Operation]) -> int:
    """Returns how many of ``operations`` may or may not have taken effect."""
    return sum(one.outcome in (INFO, OPEN) for one in operations)
