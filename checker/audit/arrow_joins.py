"""Joins of Arrow tables: by arrays from keys to rows where keys are numbers that lie close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from checker.audit.arrow_keys import Extents, extents_of, keys_of, size_of
from checker.audit.arrow_windows import one_chunk
from checker.audit.native_joins import found_at
from checker.audit.relations import How


class Joined:
    """One side of a join: ``table``, to be joined with others on the columns ``on``.

    ``rows``: how many rows the other tables have in all.
    """

    def __init__(self, table: pa.Table, on: Sequence[str], how: How, rows: int) -> None:
        self.table, self.on, self.how = table, on, how
        self._extents = extents_of(table, on, rows + table.num_rows)
        self._places: Any = None
        if self._extents is not None:
            self._places = self._places_of(self._extents)

    def _places_of(self, extents: Extents) -> Any:
        """Returns an array over all keys: whether a row has it, or which one (-1 for none);
        ``None`` where several have and that matters."""
        size = size_of(extents)
        keys = keys_of(self.table, self.on, extents)
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
        """Returns the rows of ``left`` with those of this side; a semi or anti join with nothing
        leaves the rows in their order."""
        if self.how in ("semi", "anti") and not self.table.num_rows:
            return left if self.how == "anti" else left.slice(0, 0)
        if self._extents is not None and self._places is not None:
            return self._looked_up(
                left, found_at(keys_of(left, self.on, self._extents), self._places)
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
