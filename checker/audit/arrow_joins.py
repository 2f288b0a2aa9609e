"""Joins of Arrow tables: by arrays from keys to rows where keys are numbers that lie close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from checker.audit.arrow_windows import one_chunk
from checker.audit.native_joins import OUTSIDE, found_at, numbered
from checker.audit.relations import How

DENSE = 4
"""Numbers of a key are looked up in an array where there are at most so many times more of them
than rows."""


class Joined:
    """One side of a join: ``table``, to be joined with others on the columns ``on``.

    ``rows``: how many rows the other tables have in all.
    """

    def __init__(self, table: pa.Table, on: Sequence[str], how: How, rows: int) -> None:
        self.table, self.on, self.how = table, on, how
        self._extents = _extents(table, on, rows)
        self._places: Any = None
        if self._extents is not None:
            self._places = self._at_keys(self._extents)

    def _at_keys(self, extents: list[tuple[int, int]]) -> Any:
        """Returns an array over all keys: whether a row has it, or which one (-1 for none);
        ``None`` where several have and that matters."""
        size = _product(width for _, width in extents)
        keys = _keys(self.table, self.on, extents)
        if self.how in ("semi", "anti"):
            there = np.zeros(size, dtype=np.uint8)
            there[keys] = 1
            return there
        if len(keys) > size:
            return None
        places = np.full(size, -1, dtype=np.int32)
        places[keys] = np.arange(len(keys), dtype=np.int32)
        return places if np.count_nonzero(places >= 0) == len(keys) else None

    def with_left(self, left: pa.Table) -> pa.Table:
        """Returns the rows of ``left`` with those of this side."""
        if self._extents is not None and self._places is not None:
            return self._looked_up(
                left, found_at(_keys(left, self.on, self._extents), self._places)
            )
        if not left.num_rows:
            return self._nothing(left)
        kinds = {"inner": "inner", "left": "left outer", "semi": "left semi", "anti": "left anti"}
        right = self.table.select([*self.on]) if self.how in ("semi", "anti") else self.table
        for name in self.on:
            at = right.schema.get_field_index(name)
            right = right.set_column(at, name, right[name].cast(left.schema.field(name).type))
        return left.join(right, [*self.on], join_type=kinds[self.how])

    def _looked_up(self, left: pa.Table, found: Any) -> pa.Table:
        if self.how in ("semi", "anti"):
            return left.filter(pa.array(found.view(bool) if self.how == "semi" else found == 0))
        if self.how == "inner":
            hit = found >= 0
            if not hit.all():
                left, found = left.filter(pa.array(hit)), found[hit]
            index = pa.array(found)
        else:
            index = pa.array(found, mask=found < 0)
        for name in self.table.column_names:
            if name not in self.on:
                left = left.append_column(name, pc.take(one_chunk(self.table[name]), index))
        return left

    def _nothing(self, left: pa.Table) -> pa.Table:
        """Returns the join of no rows."""
        if self.how in ("inner", "left"):
            for name in self.table.column_names:
                if name not in self.on:
                    left = left.append_column(name, self.table[name].slice(0, 0))
        return left


def _extents(table: pa.Table, on: Sequence[str], rows: int) -> list[tuple[int, int]] | None:
    """Returns of each key its least value and how many there may be from it on; ``None`` where they
    are no numbers, or their combinations too many for an array."""
    if not table.num_rows:
        return None
    found = []
    for name in on:
        if table[name].null_count or not pa.types.is_integer(table[name].type):
            return None
        bounds = pc.min_max(table[name])
        least, most = bounds["min"].as_py(), bounds["max"].as_py()
        found.append((least, most - least + 1))
    size = _product(width for _, width in found)
    return found if size <= DENSE * (rows + table.num_rows) + 1000 and size < OUTSIDE else None


def _keys(table: pa.Table, on: Sequence[str], extents: list[tuple[int, int]]) -> Any:
    """Returns the number of each row's combination of keys, ``OUTSIDE`` for one that is outside of
    ``extents``."""
    keys = np.zeros(table.num_rows, dtype=np.uint32)
    for name, (least, width) in zip(on, extents, strict=True):
        column = table[name]
        if column.null_count:
            column = pc.fill_null(column.cast(pa.int64()), least - 1)
        keys = numbered(column.to_numpy(), least, width, keys)
    return keys


def _product(numbers: Any) -> int:
    found = 1
    for number in numbers:
        found *= number
    return found
