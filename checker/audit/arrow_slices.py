"""Which plans can be run on a log slice by slice, and the slices.

A slice has all events of some processes.  Filters, computed columns, joins (whose other side is
whole) and windows over the events of one process at a time say of a slice what they say of its rows
in the whole log.  So a log that is larger than memory has room for needs it only for its events,
one slice, and what its groups come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from checker.audit import relations as rel

ROWS = 4_000_000
"""Rows of a slice at least, but for the last one."""


def is_sliced(relation: rel.Relation) -> bool:
    """Returns whether the rows of ``relation`` are those that it has on each slice."""
    return _follows(relation, False)


def _follows(relation: rel.Relation, in_window: bool) -> bool:
    """``in_window``: a window above asks for the processes and positions that the log has."""
    match relation:
        case rel.Scan(name):
            return name == "events"
        case rel.Keep(source) | rel.Where(source, _):
            return _follows(source, in_window)
        case rel.Select(source, columns):
            same = all(
                isinstance(column := columns.get(name), rel.Column) and column.name == name
                for name in ("process", "pos")
            )
            return (same or not in_window) and _follows(source, in_window)
        case rel.Join(left, _, _, _):
            return _follows(left, in_window)
        case rel.Window(source, by, order, _):
            return by[0] == "process" and order == "pos" and _follows(source, True)
    return False


def slices(events: pa.Table) -> Iterator[pa.Table]:
    """Yields ``events``, which are in the order of processes, in slices."""
    process = events["process"].to_numpy()
    begin = 0
    while begin < len(process):
        last = process[min(begin + ROWS, len(process)) - 1]
        end = int(np.searchsorted(process, last, side="right"))
        yield events.slice(begin, end - begin)
        begin = end


def merged(aggregates: Mapping[str, rel.Aggregate]) -> dict[str, rel.Aggregate]:
    """Returns what makes groups of a whole out of the groups of its slices."""
    return {
        name: ("sum" if function == "count" else function, name)
        for name, (function, _) in aggregates.items()
    }
