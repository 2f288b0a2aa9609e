"""Windows over Arrow tables: what a row knows of those before it in its part of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from checker.audit.relations import WindowFunction


def window(
    table: pa.Table, by: tuple[str, ...], order: str, computed: Mapping[str, WindowFunction]
) -> pa.Table:
    """Returns ``table`` in the order of ``by`` and ``order``, which are integers, with further
    columns.  Null comes first in ``by``."""
    keys = [_codes(table[name]) for name in (*by, order)]
    if not in_order(keys):
        index = order_of(keys)
        table = table.take(pa.array(index))
        keys = [key[index] for key in keys]
    starts = _starts(keys[:-1], table.num_rows)
    for name, (function, column) in computed.items():
        table = table.append_column(name, _compute(function, table[column], starts))
    return table


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
    widths, least = [], []
    for key in keys:
        low, high = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        least.append(low)
        widths.append(high - low + 1)
    if len(keys[0]) == 0 or _product(widths) >= 1 << 62:
        return np.lexsort(tuple(reversed(keys)))
    whole = np.zeros(len(keys[0]), dtype=np.int64)
    for key, low, width in zip(keys, least, widths, strict=True):
        whole *= width
        whole += key.astype(np.int64) - low
    return np.argsort(whole, kind="stable")


def _product(numbers: list[int]) -> int:
    found = 1
    for number in numbers:
        found *= number
    return found


def _starts(keys: list[Any], rows: int) -> Any:
    """Returns whether each row is the first of its part."""
    starts = np.zeros(rows, dtype=bool)
    starts[:1] = True
    for key in keys:
        starts[1:] |= key[1:] != key[:-1]
    return starts


def _compute(function: str, column: pa.ChunkedArray, starts: Any) -> pa.Array:
    rows = len(starts)
    if function == "number":
        places = np.arange(rows, dtype=np.int64)
        return pa.array(places - np.maximum.accumulate(np.where(starts, places, 0)) + 1)
    if function == "greatest_before":
        column = pa.chunked_array([pa.array(_running_maximum(column, starts))])
        unknown = column.to_numpy() == _NONE
    else:
        unknown = _shift(pc.is_null(column).to_numpy(), True)
        column = pc.fill_null(column, False if pa.types.is_boolean(column.type) else 0)
    values = column.to_numpy()
    before = _shift(values, values[0] if rows else 0)
    if function == "greatest_before":
        unknown = _shift(unknown, True)
    return pa.array(before, mask=starts | unknown, type=column.type)


_NONE = -(1 << 62)


def _shift(values: Any, first: Any) -> Any:
    """Returns the value of the row before each."""
    moved = np.empty_like(values)
    moved[1:] = values[:-1]
    moved[:1] = first
    return moved


def _running_maximum(column: pa.ChunkedArray, starts: Any) -> Any:
    """Returns the greatest value of each part up to each row; ``_NONE`` where all were null.

    Parts are lifted above one another, so that one pass serves all: values become their ranks.
    """
    null = pc.is_null(column).to_numpy()
    values = pc.fill_null(column, 0).to_numpy().astype(np.int64)
    if len(values) == 0:
        return values
    low, high = int(values.min()), int(values.max())
    part = np.cumsum(starts, dtype=np.int64)
    width = high - low + 2
    if width * int(part[-1] + 1) >= 1 << 62:
        known, ranks = np.unique(values, return_inverse=True)
        found = _lifted(ranks.astype(np.int64), null, part, len(known) + 1)
        return np.where(found < 0, _NONE, known[np.maximum(found, 0)])
    found = _lifted(values - low, null, part, width)
    return np.where(found < 0, _NONE, found + low)


def _lifted(values: Any, null: Any, part: Any, width: int) -> Any:
    base = part * width
    lifted = base + np.where(null, 0, values + 1)
    return np.maximum.accumulate(lifted) - base - 1
