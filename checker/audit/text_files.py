"""Reads logs that are lines of text: JSON objects and CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json

from checker.audit.columns import COLUMNS, Holds, Operators
from checker.audit.files import LogFile
from checker.audit.lines import SHOWN, Table, read_lines
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.content import Content, Unreadable, beginning
from checker.logs.mapping import LogMapping
from checker.logs.objects import DEEPEST, Cut, decoded, lines, parse
from checker.logs.otlp import RESOURCES
from checker.polling import poll

BLOCK = 1 << 24
"""Bytes that are parsed at a time."""

LINES = 1 << 20
"""Bytes that are looked at at a time."""
LINE_END, RETURN, OPENED, CLOSED = b"\n\r{}"

PIECE, DEEP = 1 << 10, 4000
"""A line with more opened brackets than ``DEEP``, in pieces of the text that are all its own, is
not given to Arrow's parser, whose stack ends at a depth between 10,000 and 20,000."""


def read_ndjson(file: LogFile, mapping: LogMapping, operators: Operators) -> Table:
    """Returns the rows of a file of JSON objects; a last line that is cut short is left out.
    Raises :class:`SpecError` (E080, E088).

    Arrow parses lines that are one object each and whose columns have one type each; all others,
    such as the lines of recorders, with arguments of all kinds, are parsed one by one.
    """
    content = file.content()
    begin = beginning(content)
    end = _whole_end(content, begin)
    number = _plain_lines(content, begin, end) if is_plain(mapping) else 0
    if number:
        table = _by_arrow(pa.py_buffer(content).slice(begin, end - begin), mapping)
        if table is not None and table.num_rows == number:
            return Table(table, mapping, end < len(content))
    return read_lines(file, content, mapping, operators)


def is_plain(mapping: LogMapping) -> bool:
    """Returns whether columns have other names, and no more: each has one, at the top of a row, and
    no value but a kind is renamed."""
    several = any(len(paths) > 1 for paths in mapping.columns.values())
    return mapping.is_flat and not several and mapping.values.keys() <= {"kind"}


def _by_arrow(text: pa.Buffer, mapping: LogMapping) -> pa.Table | None:
    """Returns the rows that Arrow's parser finds; ``None`` where they have to be parsed one by
    one, or a value is one that JSON does not have or is nested too deeply."""
    options = arrow_json.ReadOptions(block_size=BLOCK)
    schema = _schema(_first_object(text), mapping)
    parse_options = arrow_json.ParseOptions(
        explicit_schema=schema, unexpected_field_behavior="infer"
    )
    try:
        table = arrow_json.read_json(pa.BufferReader(text), options, parse_options)
    except pa.ArrowException:
        return None
    if RESOURCES in table.column_names or {*mapping.theirs("name")} & {*table.column_names}:
        return None
    return table if all(_is_finite(column) for column in table.columns) else None


def _is_finite(column: pa.ChunkedArray, depth: int = 1) -> bool:
    """Returns whether all numbers in ``column`` are finite, and nothing is nested too deeply."""
    if depth > DEEPEST:
        return False
    if pa.types.is_floating(column.type):
        return pc.all(pc.is_finite(column)).as_py() is not False
    if pa.types.is_struct(column.type):
        parts = [pc.struct_field(column, at) for at in range(column.type.num_fields)]
        return all(_is_finite(part, depth + 1) for part in parts)
    if pa.types.is_list(column.type):
        return _is_finite(pc.list_flatten(column), depth + 1)
    return True


def _whole_end(content: Content, begin: int) -> int:
    """Returns where the last line begins, if it is the beginning of an object, or the end."""
    size = len(content)
    at = max(content.rfind(b"\n") + 1, begin)
    if at == size:
        return size
    line = bytes(content[at:])
    try:
        parse(line.decode("utf-8", "replace"), 0)
    except Cut:
        return at if _is_text_but_for_its_end(line) else size
    except Unreadable:
        pass
    return size


def _is_text_but_for_its_end(line: bytes) -> bool:
    """Returns whether ``line`` is UTF-8, but for a last character that may be cut short."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as problem:
        return problem.reason == "unexpected end of data"
    return True


def _plain_lines(content: Content, begin: int, end: int) -> int:
    """Returns the number of lines between two bytes, if all are UTF-8, begin with ``{`` and end
    with ``}``, and none may be nested too deep for Arrow's parser; 0 otherwise.

    No line ends within an object then: between ``}`` and ``{`` an object would need a comma.
    """
    number, view = 0, memoryview(content)
    for first, last in _pieces(content, begin, end):
        found = _plain_in(view[first:last])
        if not found:
            return 0
        number += found
    return number


def _plain_in(part: memoryview) -> int:
    """Returns the number of lines in whole lines that are plain, or 0."""
    if not _is_utf8(part):
        return 0
    octets = np.frombuffer(part, np.uint8)
    ends = np.flatnonzero(octets == LINE_END)
    if not len(ends) or ends[-1] + 1 < len(part):
        ends = np.append(ends, len(part))
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    if lengths.min() < 2 or (octets[starts] != OPENED).any():
        return 0
    lasts = octets[ends - 1]
    returned = lasts == RETURN
    if returned.any():
        lasts = np.where(returned, octets[ends - 2], lasts)
    if (lasts != CLOSED).any() or (lengths.max() > DEEP and _may_be_deep(part)):
        return 0
    return len(starts)


def _pieces(content: Content, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields where parts of whole lines begin and end."""
    at = begin
    while at < end:
        poll()
        last = content.rfind(b"\n", at, at + LINES) + 1 if at + LINES < end else end
        last = last or content.find(b"\n", at) + 1 or end
        yield at, min(last, end)
        at = last


def _is_utf8(part: memoryview) -> bool:
    try:
        str(part, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _may_be_deep(part: memoryview) -> bool:
    """Returns whether a line may be nested too deep for Arrow's parser, which has no limit."""
    opened = 0
    for at in range(0, len(part), PIECE):
        piece = bytes(part[at : at + PIECE])
        opened = 0 if b"\n" in piece else opened + piece.count(b"[") + piece.count(b"{")
        if opened > DEEP:
            return True
    return False


def _first_object(text: pa.Buffer) -> dict[str, object]:
    line = bytes(text.slice(0, min(text.size, BLOCK))).split(b"\n")[0]
    try:
        return parse(decoded(line, 1), 1)
    except Unreadable:
        return {}


def _schema(example: dict[str, object], mapping: LogMapping) -> pa.Schema:
    """Returns the types of our columns; names may be numbers, as in ``example``."""
    fields = []
    for name, holds in COLUMNS.items():
        for theirs in mapping.theirs(name):
            if holds is Holds.NAME:
                number = isinstance(example.get(theirs), int)
                fields.append((theirs, pa.int64() if number else pa.string()))
            elif holds in (Holds.INTEGER, Holds.BOOLEAN) and theirs in example:
                fields.append((theirs, _arrow_type(holds)))
    return pa.schema(fields)


def _arrow_type(holds: Holds) -> pa.DataType:
    kinds = {Holds.INTEGER: pa.int64(), Holds.BOOLEAN: pa.bool_()}
    return kinds.get(holds, pa.string())


# ---- CSV ----------------------------------------------------------------------------------------


def read_csv(file: LogFile, mapping: LogMapping) -> Table:
    """Returns the rows of a file of comma-separated values with a line of names; a last line that
    is cut short is left out.  Raises :class:`SpecError` (E080, E088)."""
    content = file.content()
    begin = beginning(content)
    try:
        names = _names(content, begin)
        end = _whole_rows_end(content, begin, len(names))
        is_plain = _is_plain_csv(content, begin, end)
        rows = [] if is_plain else [*_rows(content, begin, end)]
    except Unreadable as problem:
        raise SpecError((file.unreadable(problem),)) from None
    if content.find(b"\n", begin, end) < 0:  # names alone, or nothing
        return Table(pa.table({name: pa.nulls(0) for name in names}), mapping)
    if not is_plain:
        file.lines[:] = [line for line, _ in rows[1:]]
    text = pa.py_buffer(content).slice(begin, end - begin)
    types = {
        theirs: pa.string() if n in mapping.values else _arrow_type(h)
        for n, h in COLUMNS.items()
        if h is not Holds.NUMBER
        for theirs in mapping.theirs(n)
    }
    convert = arrow_csv.ConvertOptions(
        column_types=types,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    options = arrow_csv.ReadOptions(block_size=BLOCK)
    parsing = arrow_csv.ParseOptions(newlines_in_values=not is_plain)
    try:
        table = arrow_csv.read_csv(pa.BufferReader(text), options, parsing, convert)
    except pa.ArrowException as problem:
        found = rows or [*_rows(content, begin, end)]
        raise SpecError(_wrong_rows(file, found, mapping, str(problem))) from None
    if not is_plain and table.num_rows != len(rows) - 1:
        raise SpecError((file.problem("E080", 1, "its rows can't be separated: not CSV"),))
    return Table(table, mapping, end < len(content))


def _names(content: Content, begin: int) -> list[str]:
    """Returns the names of the columns; raises :class:`Unreadable` where one is there twice."""
    _, names = next(_rows(content, begin, len(content)), (1, []))
    for at, name in enumerate(names):
        if name in names[:at]:
            raise Unreadable(f"duplicate column `{name}`", 1)
    return names


def _whole_rows_end(content: Content, begin: int, width: int) -> int:
    """Returns where the last line begins, if it has no end and too few values, or the end."""
    at = max(content.rfind(b"\n") + 1, begin)
    last = bytes(content[at:])
    if at == begin or not last.strip() or not _is_text_but_for_its_end(last):
        return len(content)
    values = next(csv.reader([last.decode("utf-8", "replace")]), [])
    return at if len(values) < width else len(content)


def _is_plain_csv(content: Content, begin: int, end: int) -> bool:
    """Returns whether each line is a row: no line is blank and no value in quotation marks.

    Raises :class:`Unreadable` where a line is not UTF-8.
    """
    plain = True
    view = memoryview(content)
    for first, last in _pieces(content, begin, end):
        part = bytes(view[first:last])
        if not _is_utf8(memoryview(part)):
            for number, line in lines(content, begin):
                decoded(line, number)
        plain &= b'"' not in part and b"\r" not in part.replace(b"\r\n", b"\n")
        plain &= b"\n\n" not in part and b"\n\r\n" not in part and part[:1] not in (b"\n", b"\r")
    return plain


def _rows(content: Content, begin: int, end: int) -> Iterator[tuple[int, list[str]]]:
    """Yields the rows that have a value, each with the number of its first line; raises
    :class:`Unreadable` where quotation marks are wrong."""
    texts = (decoded(line, number) for number, line in lines(content[:end], begin))
    reader = csv.reader(texts, strict=True)
    line = 1
    while True:
        try:
            values = next(reader, None)
        except csv.Error as problem:
            raise Unreadable(f"no CSV: {problem}", line) from None
        if values is None:
            return
        if values:
            yield line, values
        line = reader.line_num + 1


def _wrong_rows(
    file: LogFile, rows: list[tuple[int, list[str]]], mapping: LogMapping, said: str
) -> tuple[Diagnostic, ...]:
    """Returns a diagnostic for each row with too few values, or one of the wrong type."""
    found = []
    of_name = {
        theirs: (name, holds)
        for name, holds in COLUMNS.items()
        if name not in mapping.values
        for theirs in mapping.theirs(name)
    }
    names = rows[0][1]
    for row, (_, values) in enumerate(rows[1:], start=1):
        if len(values) != len(names):
            message = f"{len(values)} values instead of {len(names)}"
            found.append(file.problem("E080", row, message))
        for theirs, value in zip(names, values, strict=False):
            name, holds = of_name.get(theirs, ("", Holds.ANYTHING))
            wrong = holds is Holds.INTEGER and not re.fullmatch(r"-?\d{1,18}|", value, re.ASCII)
            wrong |= holds is Holds.BOOLEAN and value not in ("true", "false", "0", "1", "")
            if wrong:
                found.append(file.problem("E088", row, f"`{name}` is {value!r}", holds.value))
        if len(found) >= SHOWN:
            break
    return tuple(found) or (file.problem("E080", 1, f"no CSV: {said}"),)
