"""Numbers of the combinations of keys that rows of Arrow tables have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from checker.audit.native_joins import OUTSIDE, numbered

DENSE = 4
"""There is an array with a place for each number of a key where there are at most so many times
more of them than rows."""

Extents = list[tuple[int, int]]
"""Of each key its least value, and how many there may be from it on."""


def extents_of(table: pa.Table, by: Sequence[str], rows: int) -> Extents | None:
    """Returns the extents of the keys ``by``; ``None`` where they are no numbers, or their
    combinations too many for an array that so many rows are looked up in."""
    if not table.num_rows:
        return None
    found = []
    for name in by:
        if table[name].null_count or not pa.types.is_integer(table[name].type):
            return None
        bounds = pc.min_max(table[name])
        least, most = bounds["min"].as_py(), bounds["max"].as_py()
        found.append((least, most - least + 1))
    size = size_of(found)
    return found if size <= DENSE * rows + 1000 and size < OUTSIDE else None


def size_of(extents: Iterable[tuple[int, int]]) -> int:
    """Returns how many combinations of keys there may be."""
    found = 1
    for _, width in extents:
        found *= width
    return found


def keys_of(table: pa.Table, by: Sequence[str], extents: Extents) -> Any:
    """Returns the number of each row's combination of keys, of 32 bits; ``OUTSIDE`` for one that is
    outside of ``extents``, or null."""
    keys = np.zeros(table.num_rows, dtype=np.uint32)
    for name, (least, width) in zip(by, extents, strict=True):
        column = table[name]
        if column.null_count:
            column = pc.fill_null(column.cast(pa.int64()), least - 1)
        keys = numbered(column.to_numpy(), least, width, keys)
    return keys
