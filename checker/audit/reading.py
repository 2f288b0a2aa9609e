"""Reads the rows of log files as Arrow tables; errors in a file are diagnostics."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct, field

from checker.audit.columns import COLUMNS, READ, REQUIRED, Holds, Operators
from checker.audit.files import DUMP, TEXT, LogFile
from checker.audit.lines import WIDEST, Table, read_lines
from checker.audit.text_files import read_csv, read_ndjson
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import LogMapping
from checker.logs.paths import CONST, FILE, LINE, ROW, used_names

BATCH = 1 << 20
"""Rows that are read at a time."""

TYPES = {
    Holds.INTEGER: pa.int64(),
    Holds.BOOLEAN: pa.bool_(),
    Holds.NUMBER: pa.float64(),
}


class Reader(Struct):
    """Reads files.

    ``operators``: what the arguments of requests and indications are; ``warnings``: those about
    the files; ``torn``: those whose last line is cut short.
    """

    mapping: LogMapping
    operators: Operators = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)
    torn: list[LogFile] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def tables(self, file: LogFile) -> Iterator[pa.Table]:
        """Yields the rows of ``file`` in order, with our names and types of columns.

        Raises :class:`SpecError`: E080 for what can't be read, E081 for a row that lacks what each
        has, E088 for a value of another type.
        """
        first = 1
        for table in self._raw(file):
            named = self._rename(file, table.rows, table.mapping, first)
            _require_values(file, named, first)
            yield named
            first += table.rows.num_rows

    def _raw(self, file: LogFile) -> Iterator[Table]:
        if file.format == "parquet":
            yield from self._parquet(file)
            return
        if file.format == "csv":
            table = read_csv(file, self.mapping)
        elif file.format in (TEXT, DUMP):
            table = read_lines(file, file.content(), self.mapping, self.operators)
        else:
            table = read_ndjson(file, self.mapping, self.operators)
        self.warnings += table.warnings
        if table.torn:
            message = "the last line is truncated and ignored"
            hint = "the last event of its process is unknown"
            row = table.rows.num_rows + 1
            self.warnings.append(file.problem("E085", row, message, "", hint, "warning"))
            self.torn.append(file)
        yield table

    def _parquet(self, file: LogFile) -> Iterator[Table]:
        try:
            source = file.path if file.stream is None else pa.BufferReader(file.stream)
            opened = pq.ParquetFile(source)
            names = opened.schema_arrow.names
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise pa.ArrowInvalid(f"duplicate column `{twice[0]}`")
            self.tell_unknown(file, names, self.mapping)
            theirs = [name for ours in READ for name in self.mapping.theirs(ours)]
            wanted = [name for name in dict.fromkeys(theirs) if name in names]
            for batch in opened.iter_batches(BATCH, columns=wanted):
                batch.validate(full=True)
                yield Table(pa.Table.from_batches([batch]), self.mapping)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
            raise SpecError((file.problem("E080", None, f"no Parquet: {problem}"),)) from None

    def _rename(self, file: LogFile, table: pa.Table, mapping: LogMapping, first: int) -> pa.Table:
        """Returns ``table`` with our columns alone, of our types."""
        self.tell_unknown(file, table.column_names, mapping)
        columns = {}
        for name in READ:
            found = _column(file, name, table, mapping, first)
            if found is not None:
                columns[name] = _typed(file, name, _renamed(name, found, mapping), first)
        for name in REQUIRED:
            if not table.column_names:  # no row of it was written yet
                columns.setdefault(name, pa.array([], TYPES.get(COLUMNS[name], pa.string())))
            elif name not in columns:
                theirs = " or ".join(f"`{n}`" for n in self.mapping.theirs(name)) or f"`{name}`"
                message = f"it has no column {theirs}"
                hint = "rename columns with --mapping"
                listed = ", ".join(f"`{n}`" for n in table.column_names)
                raise SpecError((file.problem("E081", None, message, f"one of {listed}", hint),))
        return pa.table(columns)

    def tell_unknown(self, file: LogFile, names: list[str], mapping: LogMapping) -> None:
        """Adds a warning (E084) for each column that is not read, once."""
        known = {*COLUMNS, *mapping.ignored}
        known -= {*mapping.columns}
        known |= {name for paths in mapping.columns.values() for name in used_names(paths)}
        for name in names:
            if name in known or name in self._told:
                continue
            self._told.add(name)
            near = difflib.get_close_matches(name, COLUMNS, 1)
            hint = f"did you mean `{near[0]}`? " if near else ""
            hint += "list it in `ignored` of the mapping if it is irrelevant"
            message = f"unknown column `{name}`"
            self.warnings.append(file.problem("E084", None, message, "", hint, "warning"))


def _column(
    file: LogFile, name: str, table: pa.Table, mapping: LogMapping, first: int
) -> pa.ChunkedArray | None:
    """Returns the column ``name`` of a table as it is there, or ``None``."""
    special, rows = mapping.special(name), table.num_rows
    if special == FILE:
        return pa.chunked_array([pa.repeat(pa.scalar(file.stem), rows)])
    if special.startswith(CONST):
        return pa.chunked_array([pa.repeat(pa.scalar(special.removeprefix(CONST)), rows)])
    if special in (ROW, LINE):
        numbers = range(first, first + rows)
        lines = numbers if special == ROW else map(file.line, numbers)
        return pa.chunked_array([pa.array(lines, pa.int64())])
    found = [table[theirs] for theirs in mapping.theirs(name) if theirs in table.column_names]
    if len(found) < 2:
        return found[0] if found else None
    return pc.coalesce(*[pc.cast(each, pa.string()) for each in found])


def _renamed(name: str, column: pa.ChunkedArray, mapping: LogMapping) -> pa.ChunkedArray:
    """Returns a column with our values; kinds are renamed later."""
    table = mapping.values.get(name)
    if not table or name == "kind":
        return column
    coded = pc.cast(column, pa.string()).dictionary_encode().unify_dictionaries()
    chunks = [
        pa.DictionaryArray.from_arrays(
            part.indices, [table.get(text, text) for text in part.dictionary.to_pylist()]
        ).cast(pa.string())
        for part in coded.chunks
    ]
    found = pa.chunked_array(chunks, pa.string())
    return pc.cast(found, pa.bool_()) if COLUMNS[name] is Holds.BOOLEAN else found


def _typed(file: LogFile, name: str, column: pa.ChunkedArray, first: int) -> pa.ChunkedArray:
    """Returns ``column`` with values of what ``name`` holds; raises :class:`SpecError` (E088)."""
    holds = COLUMNS[name]
    if holds is Holds.NAME:
        return _names(file, name, column)
    if holds is Holds.NUMBER and pa.types.is_timestamp(column.type):
        column = pc.cast(pc.cast(column, pa.timestamp("us")), pa.int64())
        return pc.divide(pc.cast(column, pa.float64()), 1e6)
    try:
        if holds is Holds.NUMBER and pa.types.is_string(column.type):
            return _typed(file, name, pc.cast(column, pa.timestamp("us")), first)
        if holds is not Holds.BOOLEAN or pa.types.is_boolean(column.type):
            found = pc.cast(column, TYPES[holds])
            if holds is not Holds.NUMBER or pc.all(pc.is_finite(found)).as_py() is not False:
                return found
    except pa.ArrowException:
        pass
    row, value = _first_wrong(column, TYPES[holds])
    message = f"`{name}` is {value!r:.{WIDEST}}"
    raise SpecError((file.problem("E088", first + row, message, holds.value),))


def _names(file: LogFile, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Returns a column of names: texts, or integers as they are where that saves space."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _names(file, name, pc.cast(column, kind.value_type))
    if pa.types.is_integer(kind):
        return pc.cast(column, pa.int64() if name == "msg" else pa.string())
    if pa.types.is_null(kind) or pa.types.is_string(kind) or pa.types.is_boolean(kind):
        return pc.cast(column, pa.string())
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pc.cast(column, pa.string())
    message = f"`{name}` has values of the type {kind}"
    raise SpecError((file.problem("E088", None, message, Holds.NAME.value),))


def _first_wrong(column: pa.ChunkedArray, kind: pa.DataType) -> tuple[int, object]:
    """Returns the first row of ``column``, from 0 on, that is no ``kind``, or no finite
    number, and its value."""
    for row, value in enumerate(column):
        try:
            if pa.types.is_boolean(kind) and not pa.types.is_boolean(value.type):
                return row, value.as_py()
            number = value.cast(kind).as_py()
            if isinstance(number, float) and not math.isfinite(number):
                return row, number
        except pa.ArrowException:
            return row, value.as_py()
    return 0, None


def _require_values(file: LogFile, table: pa.Table, first: int) -> None:
    """Raises :class:`SpecError` (E081) where a row has no position, process or kind."""
    found = []
    for name in REQUIRED:
        if table[name].null_count:
            row = pc.index(pc.is_null(table[name]), True).as_py()
            lacking = table[name].null_count
            more = f", like {lacking - 1:,} more" if lacking > 1 else ""
            message = f"this row has no `{name}`{more}"
            hint = "events are ordered by positions, never by clocks" if name == "pos" else ""
            found.append(file.problem("E081", first + row, message, "", hint))
    if found:
        raise SpecError(tuple(found))
