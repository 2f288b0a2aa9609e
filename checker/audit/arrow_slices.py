"""Which plans can be run on a log slice by slice, and the slices.

A slice has all events of some processes.  Filters, computed columns, joins (whose other side is
whole) and windows over the events of one process at a time say of a slice what they say of its rows
in the whole log.  So a log that is larger than memory has room for needs it only for its events,
one slice, and what its groups come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from msgspec import Struct, field

from checker.audit import relations as rel
from checker.audit.arrow_joins import Joined

ROWS = 4_000_000
"""Rows of a slice at least, but for the last one."""


class Pass(Struct):
    """What is known while the slices of a log are gone through: the number of this ``slice``, the
    other sides of joins (``others``), and of relations that are asked for again the rows on each
    slice so far (``kept``)."""

    slice: int = 0
    others: dict[rel.Join, Joined] = field(default_factory=dict)
    kept: dict[rel.Keep, list[pa.Table]] = field(default_factory=dict)


def bytes_of(tables: Iterable[pa.Table]) -> int:
    """Returns the bytes of memory of all tables together, which may share columns."""
    sizes: dict[int, int] = {}
    for table in tables:
        for column in table.columns:
            for chunk in column.chunks:
                sizes |= {b.address: b.size for b in chunk.buffers() if b is not None}
    return sum(sizes.values())


def addresses(chunk: pa.Array) -> tuple[int, ...]:
    """Returns where the values of ``chunk`` are in memory."""
    return tuple(0 if buffer is None else buffer.address for buffer in chunk.buffers())


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
    """Yields ``events``, which are in the order of processes, in slices; raises ``ValueError``
    where it meets that they are not."""
    process = events["process"].to_numpy()
    begin = 0
    while begin < len(process):
        last = process[min(begin + ROWS, len(process)) - 1]
        end = int(np.searchsorted(process, last, side="right"))
        if end <= begin or process[end - 1] != last:
            raise ValueError("the events of a log are not in the order of its processes")
        yield events.slice(begin, end - begin)
        begin = end
