"""Groups of the rows of Arrow tables, also of tables that come one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from checker.audit.arrow_keys import Extents, extents_of, keys_of, size_of
from checker.audit.native_windows import FOLDS, fold
from checker.audit.relations import Aggregate

Aggregates = Mapping[str, Aggregate]


def grouped(table: pa.Table, by: tuple[str, ...], aggregates: Aggregates) -> pa.Table:
    """Returns a row for each combination of values in ``by``, with what ``aggregates`` say of its
    rows."""
    dense = DenseGroups.of(table, by, aggregates)
    if dense is not None:
        return dense.table()
    asked = [([], "count_all") if f == "count" else (c, f) for f, c in aggregates.values()]
    found = table.group_by([*by]).aggregate(asked)
    given = ["count_all" if f == "count" else f"{c}_{f}" for f, c in aggregates.values()]
    columns = {name: found[name] for name in by}
    columns |= {name: found[theirs] for name, theirs in zip(aggregates, given, strict=True)}
    return pa.table(columns)


def grouped_together(
    tables: Iterable[pa.Table], by: tuple[str, ...], aggregates: Aggregates
) -> pa.Table | None:
    """Returns the groups of the rows of all ``tables``, which are taken one by one; ``None`` where
    there is none."""
    dense: DenseGroups | None = None
    others: list[pa.Table] = []
    empty: pa.Table | None = None
    for table in tables:
        if not table.num_rows:
            empty = table
            continue
        if dense is None and not others:
            dense = DenseGroups.of(table, by, aggregates)
            if dense is not None:
                continue
        if dense is None or not dense.add(table):
            others.append(grouped(table, by, aggregates))
    parts = [*([] if dense is None else [dense.table()]), *others]
    if not parts:
        return None if empty is None else grouped(empty, by, aggregates)
    if len(parts) == 1:
        return parts[0]
    again: Aggregates = {
        name: ("sum" if function == "count" else function, name)
        for name, (function, _) in aggregates.items()
    }
    whole = pa.concat_tables([part.cast(parts[0].schema) for part in parts])
    return grouped(whole.combine_chunks(), by, again)


class DenseGroups:
    """Groups by numbers that lie close, in arrays with a place for each combination of keys."""

    def __init__(
        self, schema: pa.Schema, by: tuple[str, ...], aggregates: Aggregates, extents: Extents
    ) -> None:
        self._schema, self._by, self._aggregates, self._extents = schema, by, aggregates, extents
        self._size = size_of(extents)
        self._there = np.zeros(self._size, dtype=bool)
        self._found = {name: self._nothing(*each) for name, each in aggregates.items()}

    @classmethod
    def of(cls, table: pa.Table, by: tuple[str, ...], aggregates: Aggregates) -> DenseGroups | None:
        """Returns the groups of ``table``; ``None`` where an array can't have them."""
        extents = extents_of(table, by, table.num_rows)
        if extents is None or not _are_numbers(table, aggregates):
            return None
        groups = cls(table.schema, by, aggregates, extents)
        groups.add(table)
        return groups

    def add(self, table: pa.Table) -> bool:
        """Adds the rows of ``table``; returns whether all have a place, and adds none otherwise."""
        if any(table[n].null_count for n in self._by) or not _are_numbers(table, self._aggregates):
            return False
        part = keys_of(table, self._by, self._extents)
        if int(part.max(initial=0)) >= self._size:
            return False
        self._there[part] = True
        for name, (function, column) in self._aggregates.items():
            self._fold(name, function, column, table, part)
        return True

    def _is_boolean(self, column: str) -> bool:
        return bool(column) and pa.types.is_boolean(self._schema.field(column).type)

    def _nothing(self, function: str, column: str) -> Any:
        if self._is_boolean(column):
            return np.zeros(self._size, dtype=bool)
        return np.full(self._size, FOLDS["sum" if function == "count" else function], np.int64)

    def _fold(self, name: str, function: str, column: str, table: pa.Table, part: Any) -> None:
        if function == "count":
            self._found[name] += np.bincount(part, minlength=self._size)
            return
        values = table[column].to_numpy()
        if self._is_boolean(column):  # of `min` it is kept where some value is false
            self._found[name][part[values if function == "max" else ~values]] = True
        else:
            fold(function, part, values, self._found[name])

    def table(self) -> pa.Table:
        """Returns the groups."""
        known = np.flatnonzero(self._there)
        columns: dict[str, Any] = {}
        rest = known
        for name, (least, width) in reversed([*zip(self._by, self._extents, strict=True)]):
            kind = self._schema.field(name).type.to_pandas_dtype()
            columns[name] = pa.array((rest % width + least).astype(kind))
            rest = rest // width
        columns = {name: columns[name] for name in self._by}
        for name, (function, column) in self._aggregates.items():
            found = self._found[name][known]
            if self._is_boolean(column) and function == "min":
                found = ~found
            kind = pa.int64() if function in ("count", "sum") else self._schema.field(column).type
            columns[name] = pa.array(found).cast(kind)
        return pa.table(columns)


def _are_numbers(table: pa.Table, aggregates: Aggregates) -> bool:
    """Returns whether the columns that are folded are integers, or truth values of which the least
    or the greatest is asked, and none is null."""
    for function, name in aggregates.values():
        if not name:
            continue
        kind = table[name].type
        boolean = pa.types.is_boolean(kind) and function in ("min", "max")
        if table[name].null_count or not (boolean or pa.types.is_integer(kind)):
            return False
    return True
