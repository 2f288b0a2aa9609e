"""The explored state graph as Parquet tables for any query tool: states, transitions, depths.

    DIR/states/*.parquet         every state, a column for each variable
    DIR/transitions/*.parquet    every way in which an action leads from one to another
    DIR/depths/*.parquet         how many of both there are at each depth
    DIR/tables.json              what the columns are; there when everything else is

``docs/tables.md`` describes them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from msgspec import Struct
from pyarrow import parquet

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.visible import json_text
from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.sharding.process_pool import parallel_map
from checker.engines.native.tables.table_rows import (
    STATES,
    TRANSITIONS,
    Count,
    Slice,
    TableMaker,
    TableTask,
    columns_of,
)
from checker.model.dump import type_text
from checker.model.ir import TransitionSystem
from checker.results.answer import Listener, Progress

FORMAT = 1
DEPTHS, CONTENTS = "depths", "tables.json"
LEAST, MOST, PIECES = 1_000, 50_000, 64
"""The least and the greatest number of states of a task, and the number of tasks in between."""

MapParts = Callable[
    [Callable[[TableTask], list[Count]], Sequence[TableTask]], Iterable[list[Count]]
]
"""Runs a function that can be pickled over tasks, on any machine, and yields the results in any
order.
"""

COUNTED = pa.schema(
    [
        pa.field("depth", pa.int32(), nullable=False),
        pa.field("states", pa.int64(), nullable=False),
        pa.field("transitions", pa.int64(), nullable=False),
        pa.field("errors", pa.int64(), nullable=False),
    ]
)
"""The table of depths."""


class WrittenTables(Struct, frozen=True):
    """Complete tables: their location, and the number of rows that they have."""

    location: str
    states: int
    transitions: int


def prepare(out: str) -> None:
    """Makes the folder ``out`` (a path or a URI), which is empty afterwards.

    Raises :class:`SpecError` where it is not empty (E035), or can't be written to (E036): before
    any work is done whose result could not be kept.
    """
    place = Storage(out)
    try:
        if place.local and os.path.exists(place.location) and not os.path.isdir(place.location):
            raise NotADirectoryError(None, "it is a file", place.location)
        if place.files():
            hint = "use an empty or new folder"
            raise SpecError((Diagnostic("E035", f"{out} is not empty", hint=hint),))
        place.create()
        place.write(CONTENTS, b"")
        place.delete(CONTENTS)
    except OSError as error:
        message = f"can't write tables to {out}: {error.strerror or error}"
        raise SpecError((Diagnostic("E036", message, hint="use another folder"),)) from None


def write_tables(
    system: TransitionSystem,
    layout: Layout,
    folder: RunFolder,
    out: str,
    map_parts: MapParts = parallel_map,
    listener: Listener | None = None,
    about: Mapping[str, object] | None = None,
    frontier: int | None = None,
) -> WrittenTables:
    """Writes tables of the states in ``folder`` to the folder ``out``, which :func:`prepare` made.

    ``layout``: of the states in ``folder``.  ``map_parts`` distributes the work; ``about`` goes
    into ``tables.json``; ``frontier``: the depth without transitions, because its states were not
    expanded.  Raises ``OSError`` where a file can't be written.  What an exception leaves behind
    is for :func:`remove_tables`, where no second interrupt can come in between.
    """
    place = Storage(out)
    parts = [part for _, level in sorted(folder.parts().items()) for part in level]
    tasks = list(_tasks(parts))
    maker = TableMaker(system, layout, folder, place, frontier)
    tell = partial(_tell, listener, time.monotonic(), sum(part.rows for part in parts))
    counts: dict[int, Count] = {}
    tell(counts)
    for found in map_parts(maker, tasks):
        for count in found:
            counts[count.depth] = _sum(counts.get(count.depth), count)
        tell(counts)
    _require_all(place, len(tasks))
    rows = [counts[depth] for depth in sorted(counts)]
    _write_depths(place, rows)
    contents = _contents(system, rows, about or {})
    place.write(CONTENTS, json_text(contents).encode())
    return WrittenTables(place.location, contents["states"], contents["transitions"])


def remove_tables(out: str) -> None:
    """Removes the tables in the folder ``out``; keeps the folder, which may have existed before."""
    place = Storage(out)
    for name in (STATES, TRANSITIONS, DEPTHS):
        with contextlib.suppress(OSError):
            place.delete_folder(name)
    with contextlib.suppress(OSError):
        place.delete(CONTENTS)


def _tasks(parts: Sequence[Part]) -> Iterator[TableTask]:
    """All rows of ``parts``, in pieces of about the same size; one where there are none."""
    size = min(max(sum(part.rows for part in parts) // PIECES, LEAST), MOST)
    number, room, slices = 0, size, list[Slice]()
    for part in parts:
        begin = 0
        while begin < part.rows:
            end = min(part.rows, begin + room)
            slices.append(Slice(part, begin, end))
            room -= end - begin
            begin = end
            if not room:
                yield TableTask(number, tuple(slices))
                number, room, slices = number + 1, size, []
    if slices or not number:
        yield TableTask(number, tuple(slices))


def _require_all(place: Storage, pieces: int) -> None:
    """Raises ``OSError`` unless the files of all pieces are in this folder."""
    there = sum(name.startswith(f"{STATES}/") for name in place.files())
    if there != pieces:
        said = f"only {there} of {pieces} files are here: executors must write to the same folder"
        raise OSError(errno.EIO, said, place.location)


def _sum(one: Count | None, other: Count) -> Count:
    if one is None:
        return other
    return Count(
        one.depth,
        one.states + other.states,
        one.transitions + other.transitions,
        one.errors + other.errors,
    )


def _tell(
    listener: Listener | None, started: float, total: int, counts: Mapping[int, Count]
) -> None:
    if listener is None:
        return
    done = sum(count.states for count in counts.values())
    depth, seconds = max(counts, default=0), time.monotonic() - started
    listener(Progress(total, total - done, depth, seconds, 0, f"tables: {done:,} written"))


def _write_depths(place: Storage, rows: Sequence[Count]) -> None:
    columns = [[getattr(row, name) for row in rows] for name in COUNTED.names]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, COUNTED, strict=True)]
    with place.beside(f"{DEPTHS}/part-000000.parquet") as stream:
        parquet.write_table(pa.Table.from_arrays(arrays, schema=COUNTED), stream)


def _contents(
    system: TransitionSystem, rows: Sequence[Count], about: Mapping[str, object]
) -> dict[str, Any]:
    """The contents of ``tables.json``."""
    return {
        "format": FORMAT,
        "kind": "bivalence tables",
        **about,
        "states": sum(row.states for row in rows),
        "transitions": sum(row.transitions for row in rows),
        "errors": sum(row.errors for row in rows),
        "depth": max((row.depth for row in rows), default=0),
        "processes": list(system.processes),
        "variables": [
            {
                "column": column,
                "name": variable.name,
                "title": variable.title or variable.name,
                "kind": variable.kind.value,
                "type": type_text(variable.type),
            }
            for column, variable in zip(columns_of(system), system.variables, strict=True)
        ],
        "properties": [
            {"name": p.asked, "kind": p.kind.value, "definition": p.definition}
            for p in {p.asked: p for p in system.asked_properties}.values()
        ],
    }
