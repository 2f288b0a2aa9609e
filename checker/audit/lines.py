"""Reads a log of JSON objects line by line: where it is wrong it says where.

It takes the lines of recorders (docs/logs.md), too, which have requests, indications and acts by
``name`` and ``arguments``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from checker.audit.columns import COLUMNS, Holds, Operators
from checker.audit.files import LogFile
from checker.audit.mapping import Mapping_
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.logs.content import Content, Unreadable
from checker.logs.objects import Cut, parse, texts

SHOWN = 20
"""The largest number of rows of a file that are told of."""
WIDEST = 80
"""The largest number of characters of a wrong value that are shown."""
LONG = 1 << 63
"""Integers are smaller than this, but for names."""

Row = dict[str, Any]


def read_lines(
    file: LogFile, data: Content, mapping: Mapping_, operators: Operators
) -> tuple[pa.Table, bool]:
    """Returns the rows of ``data``, and whether the last line is cut short; that line is left out.

    Raises :class:`SpecError` (E080, E088) with the lines that are no JSON objects, or have values
    of the wrong type.  Fills ``file.lines``, where objects are not one a line.
    """
    rows: list[Row] = []
    numbers: list[int] = []
    found: list[Diagnostic] = []
    checks = _Values(mapping)
    torn = False
    try:
        for line, text, is_whole in texts(data):
            try:
                for each in rows_of(parse(text, line), mapping):
                    row = _arguments(each, mapping, operators)
                    found += checks.wrong(row, file.at_line(line))
                    rows.append(row)
                    numbers.append(line)
            except Unreadable as problem:
                if isinstance(problem, Cut) and not is_whole:
                    torn = True
                    continue
                found.append(file.unreadable(Unreadable(problem.why, line, problem.hint)))
            if len(found) >= SHOWN:
                break
    except Unreadable as problem:
        found.append(file.unreadable(problem))
    if found:
        raise SpecError(tuple(found))
    if numbers != [*range(1, len(rows) + 1)]:
        file.lines[:] = numbers
    return _table(rows, checks), torn


class _Values:
    """Checks values; names of a column are all texts, or all integers."""

    def __init__(self, mapping: Mapping_) -> None:
        self.holds = {mapping.name_of(name): (name, holds) for name, holds in COLUMNS.items()}
        self.kinds: dict[str, type] = {}

    def wrong(self, row: Row, place: Span) -> list[Diagnostic]:
        """Returns a diagnostic (E088) for each value that is of another type."""
        found = []
        for theirs, value in row.items():
            if theirs not in self.holds or value is None:
                continue
            name, holds = self.holds[theirs]
            wrong = _wrong_value(value, holds, self.kinds.setdefault(theirs, type(value)))
            if wrong:
                shown = repr(value)
                shown = shown if len(shown) <= WIDEST else f"{shown[:WIDEST]}…"
                found.append(Diagnostic("E088", f"`{name}` is {shown}", place, wrong))
        return found


def _wrong_value(value: object, holds: Holds, usual: type) -> str:
    """Returns what ``value`` should be; empty where it may be what it is."""
    if holds is Holds.INTEGER:
        right = isinstance(value, int) and not isinstance(value, bool) and abs(value) < LONG
    elif holds is Holds.BOOLEAN:
        right = isinstance(value, bool)
    elif holds is Holds.NAME:
        right = isinstance(value, str | int) and type(value) is usual
        if not right and isinstance(value, str | int):
            return f"{holds.value}, with one type in all rows of a file"
    elif holds is Holds.NUMBER:
        right = isinstance(value, str) or (
            isinstance(value, int | float) and not isinstance(value, bool) and -LONG < value < LONG
        )
    else:
        right = True
    return "" if right else holds.value


def rows_of(given: Row, mapping: Mapping_) -> Iterator[Row]:
    """Yields the rows that an object of a log is: itself, or, where the mapping has attributes,
    with them as columns; the spans of OTLP's JSON each are one."""
    if not mapping.has_attributes:
        yield given
    elif "resourceSpans" in given:
        for resource in _items(given, "resourceSpans"):
            shared = _attributes(_object(resource, "resource"))
            for scope in _items(resource, "scopeSpans"):
                for span in _items(scope, "spans"):
                    yield {"ts": _seconds(span), **shared, **_attributes(span)}
    else:
        yield {k: v for k, v in given.items() if k != "attributes"} | _attributes(given)


def _items(given: Row, name: str) -> list[Row]:
    items = given.get(name, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Unreadable(f"`{name}` is not a list of objects")
    return items


def _object(given: Row, name: str) -> Row:
    found = given.get(name, {})
    if not isinstance(found, dict):
        raise Unreadable(f"`{name}` is not an object")
    return found


def _attributes(given: Row) -> Row:
    """Returns the attributes of a span or a resource: an object, or OTLP's list of keys and
    values."""
    listed = given.get("attributes") or {}
    if isinstance(listed, dict):
        return listed
    found: Row = {}
    for item in _items(given, "attributes"):
        key, value = item.get("key"), item.get("value", {})
        if not isinstance(key, str) or not isinstance(value, dict) or len(value) > 1:
            raise Unreadable("an attribute is not a `key` with one `value`")
        if key in found:
            raise Unreadable(f"duplicate attribute `{key}`")
        found[key] = next((_otlp(kind, of) for kind, of in value.items()), None)
    return found


def _seconds(span: Row) -> float | None:
    """Returns when a span begins, which OTLP has in nanoseconds, as a text."""
    time = str(span.get("startTimeUnixNano"))
    return int(time) / 1e9 if re.fullmatch(r"\d{1,20}", time, re.ASCII) else None


def _otlp(kind: str, value: Any) -> Any:
    """Returns a value of OTLP, whose integers are texts."""
    is_integer = kind == "intValue" and isinstance(value, str)
    return int(value) if is_integer and re.fullmatch(r"-?\d{1,19}", value, re.ASCII) else value


def _arguments(row: Row, mapping: Mapping_, operators: Operators) -> Row:
    """Returns a recorder's row with its name and arguments as the columns that they are."""
    of = {name: mapping.name_of(name) for name in ("kind", "name", "msg", "arguments", "to")}
    name = row.get(of["name"])
    kind = row.get(of["kind"])
    kind = mapping.kinds.get(kind, kind) if isinstance(kind, str) else kind
    if kind == "perform" and row.get(of["msg"]) is None and name is not None:
        return {**row, of["msg"]: _text(name)}
    if kind not in ("request", "indicate"):
        return {k: v for k, v in row.items() if k != of["to"] or not isinstance(v, list)}
    if not isinstance(name, str) or row.get(of["msg"]) is not None:
        return row
    given = row.get(of["arguments"])
    given = [] if given is None else given
    if not isinstance(given, list | Mapping):
        raise Unreadable("`arguments` is not a list or an object")
    values = list(given.values()) if isinstance(given, Mapping) else given
    columns = operators.get(mapping.kinds.get(name, name), ())
    found = {mapping.name_of(column): value for column, value in zip(columns, values, strict=False)}
    messages = [v for c, v in zip(columns, values, strict=False) if c == "msg"]
    found[of["msg"]] = _text(messages[0] if len(messages) == 1 else messages or name)
    return {**row, of["kind"]: name, **found}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _table(rows: list[Row], checks: _Values) -> pa.Table:
    """Returns rows as a table, without columns that are for readers only."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns: dict[str, pa.Array] = {}
    for name in names:
        holds = checks.holds.get(name, ("", Holds.ANYTHING))[1]
        if holds is Holds.ANYTHING:
            columns[name] = pa.nulls(len(rows))
            continue
        values = [row.get(name) for row in rows]
        if holds is Holds.NAME and any(isinstance(v, int) and abs(v) >= LONG for v in values):
            values = [None if v is None else str(v) for v in values]
        if holds is Holds.NUMBER and any(isinstance(v, str) for v in values):
            values = [None if v is None else str(v) for v in values]
        columns[name] = pa.array(values)
    return pa.table(columns)
