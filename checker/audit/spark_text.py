"""Logs that are lines of text, on Spark: a task for each file reads it as this process would.

So a line means the same there and here: what is wrong with it has the same diagnostic, and what is
found in it the same number of a row.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from checker.audit.arrow_log import going_back
from checker.audit.columns import COLUMNS, READ, Holds, Operators
from checker.audit.files import LogFile
from checker.audit.reading import TYPES, Reader
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import LogMapping

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SPARK = {Holds.INTEGER: "long", Holds.BOOLEAN: "boolean", Holds.NUMBER: "double"}
SCHEMA = ", ".join(
    [
        *(f"`{name}` {_SPARK.get(COLUMNS[name], 'string')}" for name in READ),
        "file string, row long, said binary",
    ]
)
"""The columns of what a task returns: rows of the log, and one row of what it has ``said``."""


class TextFile(Struct):
    """What a task says of a file beside its rows: why it can't be used (``wrong``), or what is only
    found when all files are read (``back``); its ``processes``, each with its run; whether its last
    line is ``torn``; the ``lines`` of its rows, where these are not their numbers."""

    number: int
    wrong: tuple[Diagnostic, ...] = ()
    back: tuple[Diagnostic, ...] = ()
    warnings: list[Diagnostic] = field(default_factory=list)
    processes: set[tuple[str, str]] = field(default_factory=set)
    torn: bool = False
    lines: list[int] = field(default_factory=list)


def read_texts(
    spark: SparkSession, files: list[LogFile], mapping: LogMapping, operators: Operators
) -> DataFrame:
    """Returns the rows of ``files`` and what is said of each (:func:`said_of`)."""
    numbers = spark.range(0, len(files), 1, len(files))
    return numbers.mapInArrow(_task(files, mapping, operators), SCHEMA)


def said_of(frame: DataFrame) -> list[TextFile]:
    """Returns what is said of each file, in the order of files; raises :class:`SpecError` for the
    first one that can't be used."""
    rows = frame.where(frame["said"].isNotNull()).select("said").collect()
    found: list[TextFile] = sorted(
        (pickle.loads(row["said"]) for row in rows), key=lambda file: file.number
    )
    for file in found:
        if file.wrong:
            raise SpecError(file.wrong)
    return found


def _task(
    files: list[LogFile], mapping: LogMapping, operators: Operators
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _rows(files[number], number, Reader(mapping, operators))

    return read


def _rows(file: LogFile, number: int, reader: Reader) -> Iterator[pa.RecordBatch]:
    said = TextFile(number)
    try:
        table = pa.concat_tables(reader.tables(file))
        if table.num_rows:
            yield from _whole(table, file).to_batches()
            _look(table, file, said)
    except SpecError as problem:
        said.wrong = problem.diagnostics
    said.warnings, said.torn = reader.warnings, file in reader.torn
    said.lines = file.lines
    row: dict[str, Any] = {"said": [pickle.dumps(said)]}
    yield from _typed(pa.table(row), 1).to_batches()


def _look(table: pa.Table, file: LogFile, said: TextFile) -> None:
    """Finds the processes of a file, and whether one of them goes back."""
    lines = [
        table[name].cast(pa.string()) for name in ("run", "process") if name in table.schema.names
    ]
    if len(lines) == 1:
        lines.insert(0, pa.chunked_array([pa.repeat("", table.num_rows)]))
    runs, names = pc.fill_null(lines[0], ""), lines[1]
    both = pc.binary_join_element_wise(runs, names, "\x1f").combine_chunks().dictionary_encode()
    said.processes = {tuple(name.split("\x1f", 1)) for name in both.dictionary.to_pylist()}
    said.back = going_back(
        file, both.indices.to_numpy(), table["pos"].to_numpy(), lambda row: names[row].as_py()
    )


def _whole(table: pa.Table, file: LogFile) -> pa.Table:
    """Returns the rows with the file and their numbers, from 1 on."""
    rows = table.num_rows
    table = table.append_column("file", pa.repeat(file.path, rows))
    return _typed(table.append_column("row", pa.array(range(1, rows + 1), pa.int64())), rows)


def _typed(table: pa.Table, rows: int) -> pa.Table:
    """Returns all columns of what a task returns."""
    kinds = {name: TYPES.get(COLUMNS[name], pa.string()) for name in READ}
    kinds |= {"file": pa.string(), "row": pa.int64(), "said": pa.binary()}
    columns = {
        name: table[name].cast(kind) if name in table.column_names else pa.nulls(rows, kind)
        for name, kind in kinds.items()
    }
    return pa.table(columns)
