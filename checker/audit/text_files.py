"""Reads logs that are lines of text: NDJSON and CSV, also compressed."""

from __future__ import annotations

import csv
import io
import json
import re

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json

from checker.audit.columns import COLUMNS, Holds, Operators
from checker.audit.files import LogFile
from checker.audit.lines import SHOWN, read_lines
from checker.audit.mapping import Mapping_
from checker.diagnostics import Diagnostic, SpecError

BLOCK = 1 << 24
"""Bytes that are parsed at a time; no row is longer."""

PIECE, DEEPEST = 1 << 10, 4000
"""A line with more opened brackets than ``DEEPEST``, in pieces of the text that are all its own, is
not given to Arrow's parser, whose stack ends at a depth between 10,000 and 20,000."""


def read_ndjson(file: LogFile, mapping: Mapping_, operators: Operators) -> tuple[pa.Table, bool]:
    """Returns the rows of a file of JSON objects, one a line, and whether the last line is cut
    short; that line is left out.  Raises :class:`SpecError` (E080, E088).

    Arrow parses lines whose columns have one type each; the lines of recorders, with arguments of
    all kinds, are parsed one by one.
    """
    whole = _bytes(file)
    text, torn = _whole_lines(whole)
    if not text.size:
        return pa.table({}), torn
    options = arrow_json.ReadOptions(block_size=BLOCK)
    if _may_be_deep(text):
        return read_lines(file, text, mapping, operators), torn
    schema = _schema(_first_object(text), mapping)
    parse = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer")
    try:
        table = arrow_json.read_json(pa.BufferReader(text), options, parse)
        if "name" not in table.column_names:
            return table, torn
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    return read_lines(file, text, mapping, operators), torn


def read_csv(file: LogFile, mapping: Mapping_) -> tuple[pa.Table, bool]:
    """Returns the rows of a file of comma-separated values with a line of names, and whether the
    last line is cut short; that line is left out.  Raises :class:`SpecError` (E080, E088)."""
    whole = _bytes(file)
    lines = bytes(whole.slice(max(0, whole.size - BLOCK))).split(b"\n")
    head = bytes(whole.slice(0, min(whole.size, BLOCK))).split(b"\n")[0]
    names = next(csv.reader([head.decode()]), [])
    torn = bool(lines[-1].strip()) and len(next(csv.reader([lines[-1].decode()]))) < len(names)
    text = whole.slice(0, whole.size - len(lines[-1])) if torn else whole
    types = {
        mapping.name_of(n): _arrow_type(h) for n, h in COLUMNS.items() if h is not Holds.NUMBER
    }
    convert = arrow_csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    options = arrow_csv.ReadOptions(block_size=BLOCK)
    try:
        return arrow_csv.read_csv(pa.BufferReader(text), options, convert_options=convert), torn
    except pa.ArrowInvalid as problem:
        raise SpecError(_wrong_rows(file, text, mapping, str(problem))) from None


def _bytes(file: LogFile) -> pa.Buffer:
    try:
        if not file.compressed:
            return pa.memory_map(file.path).read_buffer()
        return pa.input_stream(file.path, compression="detect").read_buffer()
    except (OSError, pa.ArrowInvalid) as problem:
        raise SpecError((file.problem("E080", None, f"it can't be read: {problem}"),)) from None


def _whole_lines(text: pa.Buffer) -> tuple[pa.Buffer, bool]:
    """Returns ``text`` without its last line where that is no JSON, and whether there was one."""
    tail = bytes(text.slice(max(0, text.size - BLOCK)))
    last = tail[tail.rfind(b"\n") + 1 :]
    if not last.strip():
        return text, False
    try:
        json.loads(last)
        return text, False
    except RecursionError:  # too deep, so no line that was cut short
        return text, False
    except ValueError:
        return text.slice(0, text.size - len(last)), True


def _may_be_deep(text: pa.Buffer) -> bool:
    """Returns whether some line may be nested too deep for Arrow's parser, which has no limit."""
    whole, opened = memoryview(text), 0
    for at in range(0, text.size, PIECE):
        piece = bytes(whole[at : at + PIECE])
        opened = 0 if b"\n" in piece else opened + piece.count(b"[") + piece.count(b"{")
        if opened > DEEPEST:
            return True
    return False


def _first_object(text: pa.Buffer) -> dict[str, object]:
    for line in bytes(text.slice(0, min(text.size, BLOCK))).split(b"\n"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else {}
    return {}


def _schema(example: dict[str, object], mapping: Mapping_) -> pa.Schema:
    """Returns the types of our columns; names may be numbers, as in ``example``."""
    fields = []
    for name, holds in COLUMNS.items():
        theirs = mapping.name_of(name)
        if holds is Holds.NAME:
            number = isinstance(example.get(theirs), int)
            fields.append((theirs, pa.int64() if number else pa.string()))
        elif holds in (Holds.INTEGER, Holds.BOOLEAN) and theirs in example:
            fields.append((theirs, _arrow_type(holds)))
    return pa.schema(fields)


def _arrow_type(holds: Holds) -> pa.DataType:
    kinds = {Holds.INTEGER: pa.int64(), Holds.BOOLEAN: pa.bool_()}
    return kinds.get(holds, pa.string())


# ---- which row it is ----------------------------------------------------------------------------


def _wrong_rows(
    file: LogFile, text: pa.Buffer, mapping: Mapping_, said: str
) -> tuple[Diagnostic, ...]:
    """Returns a diagnostic for each row with too few values, or one of the wrong type."""
    found = []
    of_name = {mapping.name_of(name): (name, holds) for name, holds in COLUMNS.items()}
    rows = csv.reader(io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", errors="replace"))
    names = next(rows, [])
    for row, values in enumerate(rows, start=1):
        if values and len(values) != len(names):
            message = f"{len(values)} values in place of {len(names)}"
            found.append(file.problem("E080", row, message))
        for theirs, value in zip(names, values, strict=False):
            name, holds = of_name.get(theirs, ("", Holds.ANYTHING))
            wrong = holds is Holds.INTEGER and not re.fullmatch(r"-?\d{1,18}|", value)
            wrong |= holds is Holds.BOOLEAN and value not in ("true", "false", "0", "1", "")
            if wrong:
                found.append(file.problem("E088", row, f"`{name}` is {value!r}", holds.value))
        if len(found) >= SHOWN:
            break
    return tuple(found) or (file.problem("E080", None, f"no CSV: {said}"),)
