"""The columns of the files of a log put together: numbers as they are, names by dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from checker.audit.arrow_windows import one_chunk
from checker.audit.columns import COLUMNS, Holds

NAMES = tuple(name for name, holds in COLUMNS.items() if holds is Holds.NAME)


class Columns:
    """The columns of all files: numbers as they are, names by dictionaries."""

    def __init__(self) -> None:
        self.rows = 0
        self._parts: dict[str, list[tuple[int, pa.ChunkedArray]]] = {}

    def add(self, table: pa.Table) -> None:
        """Appends the rows of ``table``."""
        for name in table.column_names:
            column = table[name]
            if name in NAMES and not (name == "msg" and pa.types.is_integer(column.type)):
                column = column.dictionary_encode()
            self._parts.setdefault(name, []).append((self.rows, column))
        self.rows += table.num_rows

    def plain(self, name: str) -> pa.Array | None:
        """Returns a column of numbers; ``None`` where no file has it, or only nulls."""
        parts = self._parts.pop(name, [])
        if all(part.null_count == len(part) for _, part in parts):
            return None
        return self._whole(parts, parts[0][1].type)

    def named(self, name: str) -> tuple[Any, pa.Array]:
        """Returns a column of names as numbers, -1 for null, and what they stand for; ``None``, and
        nothing, where no file has it."""
        parts = self._parts.pop(name, [])
        if all(part.null_count == len(part) for _, part in parts):
            return None, pa.array([], pa.string())
        if name == "msg" and parts and all(pa.types.is_integer(p.type) for _, p in parts):
            return _of_integers(self._whole(parts, pa.int64()))
        kind = pa.dictionary(pa.int32(), pa.string())
        texts = [(at, _as_text(part)) for at, part in parts]
        whole = self._whole(texts, kind)
        return _filled(whole.indices), whole.dictionary

    def _whole(self, parts: list[tuple[int, pa.ChunkedArray]], kind: pa.DataType) -> pa.Array:
        """Returns ``parts`` as one array, with null in the rows that they leave out."""
        chunks: list[pa.Array] = []
        at = 0
        for start, part in [*parts, (self.rows, pa.chunked_array([], kind))]:
            if start > at:
                chunks.append(pa.nulls(start - at, kind))
            chunks += part.chunks
            at = start + len(part)
        whole = pa.chunked_array(chunks, kind)
        if pa.types.is_dictionary(kind):
            whole = whole.unify_dictionaries()
        return one_chunk(whole)


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_integer(column.type):
        return pc.cast(column, pa.string()).dictionary_encode()
    return column


def _of_integers(column: pa.Array) -> tuple[Any, pa.Array]:
    """Returns integers as numbers from 0 on, and what they stand for."""
    bounds = pc.min_max(column)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    if low is None:
        return np.full(len(column), -1, dtype=np.int32), pa.array([], pa.int64())
    if high - low <= 2 * len(column) + 1000:
        numbers = pc.subtract(column, low).cast(pa.int32())
        return _filled(numbers), _Range(low, high)
    coded = column.dictionary_encode()
    return _filled(coded.indices), coded.dictionary


def _filled(numbers: pa.Array) -> Any:
    """Returns numbers with -1 for null."""
    return (pc.fill_null(numbers, -1) if numbers.null_count else numbers).to_numpy()


class _Range:
    """The integers from ``low`` to ``high``, as an array that takes no memory."""

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high

    def __len__(self) -> int:
        return self._high - self._low + 1

    def __getitem__(self, at: int) -> pa.Scalar:
        return pa.scalar(self._low + at)
