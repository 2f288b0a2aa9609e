"""Reads a log row by row, with our names of columns: where it is wrong it says where.

It takes JSON objects, spans of OTLP, lines of text and dumps of Kafka's logs; and the lines of
recorders (docs/logs.md), which have requests, indications and acts by ``name`` and ``arguments``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from msgspec import Struct, field

from checker.audit.columns import COLUMNS, Holds, Operators
from checker.audit.files import DUMP, LogFile
from checker.audit.kafka_dump import Dump
from checker.audit.known_formats import DUMPS, SPANS
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.logs.content import Content, Unreadable
from checker.logs.entries import Entries, Matched, is_otlp
from checker.logs.mapping import OBJECTS, LogMapping, with_part
from checker.logs.objects import Cut, texts
from checker.logs.paths import ABSENT, Entry, used_names

SHOWN = 20
"""The largest number of rows of a file that are told of."""
WIDEST = 80
"""The largest number of characters of a wrong value that are shown."""
LONG = 1 << 63
"""Integers are smaller than this, but for names."""

Row = dict[str, Any]


class Table(Struct):
    """Rows of a file; ``mapping``: what is left to be applied to the names of their columns;
    ``torn``: whether its last line is cut short and left out; ``warnings``: those of the reader."""

    rows: pa.Table
    mapping: LogMapping
    torn: bool = False
    warnings: list[Diagnostic] = field(default_factory=list)


def read_lines(file: LogFile, data: Content, mapping: LogMapping, operators: Operators) -> Table:
    """Returns the rows of ``data``, by our names; a last line that is cut short is left out.

    Raises :class:`SpecError` (E080, E088) with the lines that are no rows, or have values of the
    wrong type.  Fills ``file.lines``, where rows are not one a line.
    """
    reading = _Reading(file, mapping, operators)
    try:
        reading.read(data)
    except Unreadable as problem:
        reading.found.append(file.unreadable(problem))
    if reading.found:
        raise SpecError(tuple(reading.found))
    numbers = reading.numbers
    if numbers != [*range(1, len(numbers) + 1)]:
        file.lines[:] = numbers
    left = LogMapping(ignored=mapping.ignored)
    return Table(_table(reading.rows), left, reading.torn, reading.warnings)


class _Reading:
    """The rows of a file so far, and the lines in which they begin; ``found``: what is wrong."""

    def __init__(self, file: LogFile, mapping: LogMapping, operators: Operators) -> None:
        self.file, self.mapping, self.operators = file, mapping, operators
        self.entries = Entries(mapping, file.stem)
        self.rows: list[Row] = []
        self.numbers: list[int] = []
        self.found: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.checks = _Values()
        self.torn = False
        self._known = {*COLUMNS} - {*mapping.columns}
        heads = {name for paths in mapping.columns.values() for name in used_names(paths)}
        self._others = heads | {*mapping.columns}

    def read(self, data: Content) -> None:
        """Reads all rows, up to the first few that are wrong."""
        if self.mapping.lines is not None:
            self._read_text(data, self.mapping.lines)
        elif self.file.format == DUMP:
            self._read_dump(data)
        else:
            self._read_objects(data)

    def _read_objects(self, data: Content) -> None:
        for line, text, is_whole in texts(data):
            try:
                given = self.entries.parsed(text, line)
                is_span = is_otlp(given)
                mapping = self.mapping.over(SPANS) if is_span else self.mapping
                for entry in self.entries.of(given, line):
                    row = self._of_span(entry, mapping) if is_span else self._own(entry)
                    self.add(row, entry.line)
            except Unreadable as problem:
                if isinstance(problem, Cut) and not is_whole:
                    self.torn = True
                    continue
                why = Unreadable(problem.why, problem.line or line, problem.hint)
                self.found.append(self.file.unreadable(why))
            if len(self.found) >= SHOWN:
                break

    def _read_text(self, data: Content, pattern: re.Pattern[str]) -> None:
        matched = Matched(self.file.path, pattern)
        for line, groups in matched.rows(data):
            row = self._own(self.entries.one(groups, line))
            self.add({name: _meant(name, value) for name, value in row.items()}, line)
            if len(self.found) >= SHOWN:
                return
        self.torn = bool(matched.cut)
        said = matched.warnings(len(self.rows))
        self.warnings += [each for each in said if each.code != "E085"]

    def _read_dump(self, data: Content) -> None:
        mapping = self.mapping.over(DUMPS)
        dump = Dump(self.file.path)
        for line, row in dump.rows(data):
            entry = self.entries.one(row, line)
            named = {n: v for n in COLUMNS if (v := mapping.of(n, entry)) is not ABSENT}
            self.add(named, line)
        self.torn = dump.torn
        self.warnings += dump.warnings()

    def add(self, row: Row, line: int) -> None:
        """Adds a row, with the columns that its arguments are."""
        try:
            row = _arguments(row, self.mapping, self.operators)
        except Unreadable as problem:
            raise Unreadable(problem.why, line) from None
        self.found += self.checks.wrong(row, self.file.at_line(line))
        self.rows.append(row)
        self.numbers.append(line)

    def _own(self, entry: Entry) -> Row:
        """Returns a row by our names, with the fields that no column is, if it is a whole
        object."""
        mapping = self.mapping
        if mapping.is_flat and not mapping.columns and not mapping.values:
            return dict(entry.row)
        row: Row = {n: v for n in self._known if (v := entry.row.get(n, ABSENT)) is not ABSENT}
        if len(entry.scope) == 1 and mapping.lines is None:
            row |= {n: None for n in entry.row if n not in self._others and n not in COLUMNS}
        return self._columns(entry, mapping, row)

    def _of_span(self, entry: Entry, mapping: LogMapping) -> Row:
        row = self._columns(entry, mapping, {"ts": _seconds(entry.row)})
        kind = row.get("kind")
        if isinstance(kind, str) and kind not in self.mapping.kinds:
            row["kind"] = SPANS.value("kind", kind)
        return row

    def _columns(self, entry: Entry, mapping: LogMapping, row: Row) -> Row:
        """Returns ``row`` with the columns that a mapping names; kinds are renamed later."""
        for name in mapping.columns:
            value = mapping.written(name, entry)
            if value is not ABSENT:
                row[name] = value
        for name in mapping.values:
            if name in row and name not in ("kind", "name"):
                row[name] = _meant(name, mapping.value(name, row[name]))
        for name in [name for name in row if name.partition(".")[0] in OBJECTS and "." in name]:
            whole, _, part = name.partition(".")
            row[whole] = with_part(row.get(whole), part, row.pop(name))
        return row


def _meant(name: str, text: object) -> object:
    """Returns what a text is in a column of numbers, or of truth values."""
    holds = COLUMNS.get(name)
    if not isinstance(text, str) or holds is None:
        return text
    if holds is Holds.INTEGER and re.fullmatch(r"-?\d{1,30}", text, re.ASCII):
        return int(text)
    if holds is Holds.NUMBER and re.fullmatch(r"-?\d{1,30}(\.\d{1,30})?", text, re.ASCII):
        return float(text)
    if holds is Holds.BOOLEAN and text in ("true", "false"):
        return text == "true"
    if name in ("arguments", "receivers") and text.startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


class _Values:
    """Checks values; names of a column are all texts, or all integers."""

    def __init__(self) -> None:
        self.kinds: dict[str, type] = {}

    def wrong(self, row: Row, place: Span) -> list[Diagnostic]:
        """Returns a diagnostic (E088) for each value that is of another type."""
        found = []
        for name, value in row.items():
            holds = COLUMNS.get(name)
            if holds is None or value is None:
                continue
            wrong = _wrong_value(value, holds, self.kinds.setdefault(name, type(value)))
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


def _seconds(span: Mapping[Any, Any]) -> float | None:
    """Returns when a span begins, which OTLP has in nanoseconds, as a text."""
    time = str(span.get("startTimeUnixNano"))
    return int(time) / 1e9 if re.fullmatch(r"\d{1,20}", time, re.ASCII) else None


def _arguments(row: Row, mapping: LogMapping, operators: Operators) -> Row:
    """Returns a recorder's row with its name and arguments as the columns that they are."""
    name, kind = row.get("name"), row.get("kind")
    kind = mapping.value("kind", kind) if isinstance(kind, str) else kind
    if kind == "perform" and row.get("msg") is None and name is not None:
        return {**row, "msg": _text(name)}
    if kind not in ("request", "indicate"):
        return {k: v for k, v in row.items() if k != "to" or not isinstance(v, list)}
    if not isinstance(name, str) or row.get("msg") is not None:
        return row
    given = row.get("arguments")
    given = [] if given is None else given
    if not isinstance(given, list | Mapping):
        raise Unreadable("`arguments` is not a list or an object")
    values = list(given.values()) if isinstance(given, Mapping) else given
    columns = operators.get(mapping.value("name", mapping.value("kind", name)), ())
    found = dict(zip(columns, values, strict=False))
    messages = [v for c, v in zip(columns, values, strict=False) if c == "msg"]
    found["msg"] = _text(messages[0] if len(messages) == 1 else messages or name)
    return {**row, "kind": mapping.value("name", name), **found}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _table(rows: list[Row]) -> pa.Table:
    """Returns rows as a table, without columns that are for readers only."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns: dict[str, pa.Array] = {}
    for name in names:
        holds = COLUMNS.get(name, Holds.ANYTHING)
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
