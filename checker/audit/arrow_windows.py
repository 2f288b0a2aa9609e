"""Windows over Arrow tables: what a row knows of those before it in its part of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from checker.audit.native_windows import NONE, greatest, places
from checker.audit.relations import WindowFunction

SPARSE = 4
"""Parts are kept apart in place where there are at most so many times more of them than rows."""


def window(
    table: pa.Table, by: tuple[str, ...], order: str, computed: Mapping[str, WindowFunction]
) -> pa.Table:
    """Returns ``table`` with further columns, in which rows know of those before them by ``order``
    among those that are equal in ``by``; all these are integers.  Null comes first in ``by``."""
    keys = [_codes(table[name]) for name in by]
    position = _codes(table[order])
    together = is_dense(keys[1:]) and in_order([keys[0], position])
    blocks = 1 if together else len(keys)
    if not together and not in_order([*keys, position]):
        index = order_of([*keys, position])
        table = table.take(pa.array(index))
        keys = [key[index] for key in keys]
    part, parts = part_of(keys[blocks:], table.num_rows)
    numbered = any(function == "number" for function, _ in computed.values())
    before, number = places(part, _starts(keys[:blocks], table.num_rows), parts, numbered)
    del keys, position, part
    for name, (function, column) in computed.items():
        table = table.append_column(name, _compute(function, table[column], before, number))
    return table


def _compute(function: str, column: pa.ChunkedArray, before: Any, number: Any) -> pa.Array:
    if function == "number":
        return pa.array(number)
    if function == "previous":
        return pc.take(one_chunk(column), pa.array(before, mask=before < 0))
    null = pc.is_null(column).to_numpy() if column.null_count else None
    values = pc.fill_null(column, 0).to_numpy().astype(np.int64, copy=null is not None)
    if null is not None:
        values[null] = NONE
    found = greatest(before, values)
    return pa.array(found, mask=found == NONE)


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """Returns the values of ``column`` in one array."""
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else whole.chunk(0)


def _codes(column: pa.ChunkedArray) -> Any:
    """Returns the values as an array of integers; null is less than all others."""
    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.int8())
    if column.null_count:
        least = pc.min(column).as_py()
        column = pc.fill_null(column, (0 if least is None else least) - 1)
    return column.to_numpy()


def in_order(keys: list[Any]) -> bool:
    """Returns whether rows are in the order of ``keys`` already."""
    behind = np.zeros(max(len(keys[0]) - 1, 0), dtype=bool)
    for key in reversed(keys):
        behind = (key[1:] < key[:-1]) | ((key[1:] == key[:-1]) & behind)
    return not behind.any()


def order_of(keys: list[Any]) -> Any:
    """Returns the order of rows by ``keys``: a sort of one number where they fit into one."""
    least, widths = _extents(keys)
    if len(keys[0]) == 0 or _product(widths) >= 1 << 62:
        return np.lexsort(tuple(reversed(keys)))
    return np.argsort(_as_one(keys, least, widths), kind="stable")


def is_dense(keys: list[Any]) -> bool:
    """Returns whether the combinations of ``keys`` are few enough for an array of all."""
    return not keys or _product(_extents(keys)[1]) <= SPARSE * len(keys[0]) + 1000


def part_of(keys: list[Any], rows: int) -> tuple[Any, int]:
    """Returns a number for each row's combination of ``keys``, and how many there may be."""
    if not keys or not rows:
        return np.zeros(rows, dtype=np.uint32), 1
    least, widths = _extents(keys)
    if len(keys) == 1:
        return (keys[0] - least[0]).astype(np.uint32), widths[0]
    return _as_one(keys, least, widths).astype(np.uint32), _product(widths)


def _extents(keys: list[Any]) -> tuple[list[int], list[int]]:
    """Returns the least value of each key, and how many values there may be from it on."""
    bounds = [(int(key.min()), int(key.max())) if len(key) else (0, 0) for key in keys]
    return [low for low, _ in bounds], [high - low + 1 for low, high in bounds]


def _as_one(keys: list[Any], least: list[int], widths: list[int]) -> Any:
    whole = np.zeros(len(keys[0]), dtype=np.int64)
    for key, low, width in zip(keys, least, widths, strict=True):
        whole *= width
        whole += key.astype(np.int64) - low
    return whole


def _product(numbers: list[int]) -> int:
    found = 1
    for number in numbers:
        found *= number
    return found


def _starts(keys: list[Any], rows: int) -> Any:
    """Returns whether each row is the first of its block."""
    starts = np.zeros(rows, dtype=bool)
    starts[:1] = True
    for key in keys:
        starts[1:] |= key[1:] != key[:-1]
    return starts
