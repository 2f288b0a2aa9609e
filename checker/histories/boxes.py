"""Makes rows of operations whose call and return are times of a clock: spans, and their like.

A clock orders what lies outside of an operation, and never finer: an operation precedes another one
if it returns before the other one is called.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from checker.diagnostics import SpecError
from checker.histories.rows import FAIL, INFO, INVOKE, MISSING, OK, Result, Row, frozen, wrong
from checker.logs.mapping import UNITS

_NUMBER = re.compile(r"-?\d{1,40}(\.\d{1,40})?", re.ASCII)
_LIMIT = 1 << 63
_HINT = "a time is a number (of seconds, or of the mapping's `unit`), or as in 2026-01-31T12:00:00Z"


def boxed(call: Row, outcome: Any, result: Any, times: tuple[Any, Any], unit: int) -> list[Row]:
    """Returns the rows of an operation: its call, and its answer if it has returned.

    ``call``: its first row, whose ``call`` tells it from all others; ``times``: those of its call
    and its return (``None``, 0 or nothing: it has not returned); ``unit``: of numbers.  Raises
    :class:`SpecError` (E099, E093).
    """
    began = nanoseconds(times[0], unit, call)
    call.time = began
    if outcome is MISSING:
        outcome = OK
    if outcome not in (OK, FAIL, INFO):
        message = f"unknown `type` of an operation with times: {outcome}"
        raise wrong("E093", message, call.place, "the types are `ok`, `fail`, `info`")
    if times[1] in (MISSING, None, 0, "0", ""):
        return [call]
    ended = nanoseconds(times[1], unit, call)
    if ended < began:
        message = "this operation returns before it is called: its clock was set back"
        raise wrong("E099", message, call.place, "leave it out, or correct `return_time`")
    value = MISSING if result is MISSING else Result(frozen(result))
    answer = Row(
        call.process, outcome, call.f, call.key, value, call.file, call.line, call.call, ended,
        call.host,
    )  # fmt: skip
    return [call, answer]


def nanoseconds(given: Any, unit: int, row: Row) -> int:
    """Returns a time as a number of nanoseconds; raises :class:`SpecError` (E099)."""
    found: int | None = None
    if isinstance(given, int | float) and not isinstance(given, bool):
        given = repr(given)
    if isinstance(given, str) and _NUMBER.fullmatch(given):
        found = int(Decimal(given) * (unit or UNITS["s"]))
    elif isinstance(given, str):
        found = _of_date(given)
    if found is None or abs(found) >= _LIMIT:
        message = "this row has no time" if given is MISSING else f"{given!r:.60} is not a time"
        raise wrong("E099", message, row.place, _HINT)
    return found


def _of_date(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    whole = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (whole.days * 86_400 + whole.seconds) * 10**9 + whole.microseconds * 1_000


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Returns rows in the order of their times, where they have some: of equal times calls are
    first, so these operations overlap.  Raises :class:`SpecError` (E099) where only some have."""
    timed = sum(row.time is not None for row in rows)
    if not timed:
        return [*rows]
    if timed < len(rows):
        first = next(row for row in rows if row.time is None)
        raise _untimed(first)
    return sorted(rows, key=lambda row: (row.time, row.kind != INVOKE))


def _untimed(row: Row) -> SpecError:
    return wrong("E099", "this row has no time, but others have", row.place, _HINT)


def hosts_of(rows: Sequence[Row]) -> list[Any]:
    """Returns the hosts whose clocks give the times of ``rows``, in the order of their first rows;
    raises :class:`SpecError` (E099) where only some rows name one."""
    timed = [row for row in rows if row.time is not None]
    hosts = [*dict.fromkeys(row.host for row in timed)]
    if MISSING in hosts and len(hosts) > 1:
        first = next(row for row in timed if row.host is MISSING)
        raise wrong("E099", "this row has no `host`, but others have", first.place)
    return hosts
