"""Reads a log of JSON objects line by line: where it is wrong it says where.

It takes the lines of recorders (docs/logs.md), too, which have requests, indications and acts by
``name`` and ``arguments``.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from checker.audit.columns import COLUMNS, Holds, Operators
from checker.audit.files import LogFile
from checker.audit.mapping import Mapping_
from checker.diagnostics import Diagnostic, SpecError

SHOWN = 20
"""The largest number of rows of a file that are told of."""

Row = dict[str, Any]


def read_lines(file: LogFile, text: pa.Buffer, mapping: Mapping_, operators: Operators) -> pa.Table:
    """Returns the rows of ``text``; raises :class:`SpecError` (E080, E088) with the lines that are
    no JSON objects, or have values of the wrong type."""
    rows: list[Row] = []
    found: list[Diagnostic] = []
    checks = _Values(mapping)
    for number, line in enumerate(io.BytesIO(text), start=1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except RecursionError:
            found.append(file.problem("E080", number, "this line is nested too deep to be read"))
            given = None
        except ValueError as problem:
            found.append(file.problem("E080", number, f"no JSON: {problem}"))
            given = None
        if isinstance(given, dict):
            row = _arguments(given, operators)
            for name, value, wrong in checks.wrong(row):
                found.append(file.problem("E088", number, f"`{name}` is {value!r}", wrong))
            rows.append(row)
        elif given is not None:
            found.append(file.problem("E080", number, "no JSON object"))
        if len(found) >= SHOWN:
            break
    if found:
        raise SpecError(tuple(found))
    return _table(rows, checks)


class _Values:
    """Checks values; names of a column are all texts, or all integers."""

    def __init__(self, mapping: Mapping_) -> None:
        self.holds = {mapping.name_of(name): (name, holds) for name, holds in COLUMNS.items()}
        self.kinds: dict[str, type] = {}

    def wrong(self, row: Row) -> list[tuple[str, Any, str]]:
        """Returns our name, the value, and what it should be, of each that is of another type."""
        found = []
        for theirs, value in row.items():
            if theirs not in self.holds or value is None:
                continue
            name, holds = self.holds[theirs]
            wrong = _wrong_value(value, holds, self.kinds.setdefault(theirs, type(value)))
            if wrong:
                found.append((name, value, wrong))
        return found


def _wrong_value(value: object, holds: Holds, usual: type) -> str:
    """Returns what ``value`` should be; empty where it may be what it is."""
    if holds is Holds.INTEGER:
        right = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63
    elif holds is Holds.BOOLEAN:
        right = isinstance(value, bool)
    elif holds is Holds.NAME:
        right = isinstance(value, str | int) and type(value) is usual
        if not right and isinstance(value, str | int):
            return f"{holds.value}, and the same kind in all rows of a file"
    elif holds is Holds.NUMBER:
        right = isinstance(value, str | int | float)
    else:
        right = True
    return "" if right else holds.value


def _arguments(row: Row, operators: Operators) -> Row:
    """Returns a recorder's row with its name and arguments as the columns that they are."""
    kind, name = row.get("kind"), row.get("name")
    if kind == "perform" and row.get("msg") is None and name is not None:
        return {**row, "msg": str(name)}
    if kind not in ("request", "indicate"):
        return {k: v for k, v in row.items() if k != "to" or not isinstance(v, list)}
    if not isinstance(name, str) or row.get("msg") is not None:
        return row
    given = row.get("arguments") or []
    values = list(given.values()) if isinstance(given, Mapping) else list(given)
    columns = operators.get(name, ())
    found = {column: value for column, value in zip(columns, values, strict=False)}
    messages = [v for c, v in zip(columns, values, strict=False) if c == "msg"]
    found["msg"] = _text(messages[0] if len(messages) == 1 else messages or name)
    return {**row, "kind": name, **found}


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
        if holds is Holds.NUMBER and any(isinstance(v, str) for v in values):
            values = [None if v is None else str(v) for v in values]
        columns[name] = pa.array(values)
    return pa.table(columns)
