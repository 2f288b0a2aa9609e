"""All findings as one table, with the files and rows in which they can be looked up."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from checker.audit.engine import Engine
from checker.audit.judge import Answer, Finding
from checker.audit.tables import PENDING, UNKNOWN, VIOLATED
from checker.audit.wording import ALIASES

VERDICTS = {VIOLATED: "violated", PENDING: "pending", UNKNOWN: "unknown"}
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("property", "kind", "alias", "verdict", "run")),
        ("partition", pa.string()),
        ("offset", pa.int64()),
        *(
            (f"{name}{number}", kind)
            for number in ("", "2")
            for name, kind in (
                ("process", pa.string()),
                ("sender", pa.string()),
                ("message", pa.string()),
                ("pos", pa.int64()),
                ("file", pa.string()),
                ("row", pa.int64()),
            )
        ),
    ]
)
"""The columns of the table: who, what and where, twice."""


def violations_table(engine: Engine, answers: list[Answer]) -> pa.Table:
    """Returns all findings that are kept, in the order of properties and kinds."""
    parts = [
        _table(engine, answer.question.name, finding)
        for answer in answers
        for finding in answer.findings
    ]
    return pa.concat_tables([SCHEMA.empty_table(), *parts])


def parquet_of(table: pa.Table) -> bytes:
    """Returns the table as a Parquet file."""
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream)
    return bytes(stream.getvalue())


def _table(engine: Engine, name: str, finding: Finding) -> pa.Table:
    rows = finding.rows
    columns: dict[str, Any] = {
        "property": [name] * rows.num_rows,
        "kind": [finding.kind] * rows.num_rows,
        "alias": [ALIASES.get(finding.kind)] * rows.num_rows,
        "verdict": [VERDICTS[v] for v in rows["verdict"].to_pylist()],
        "partition": [
            None if p is None else engine.partition(p) for p in _column(rows, "partition")
        ],
        "offset": _column(rows, "offset"),
        "run": _runs(engine, rows),
    }
    for number in ("", "2"):
        columns |= _side(engine, rows, number)
    arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _side(engine: Engine, rows: pa.Table, number: str) -> dict[str, list[Any]]:
    """Returns the columns about the first or the second event of each finding."""
    processes = _column(rows, f"process{number}")
    owners = processes if number == "" else _owners(rows)
    entries = [None if e is None else engine.entry(e) for e in _column(rows, f"entry{number}")]
    messages = [None if e is None else e[1] for e in entries]
    if number == "":
        named = _column(rows, "message")
        messages = [
            engine.message(n) if m is None and n is not None else m
            for m, n in zip(messages, named, strict=True)
        ]
    positions = _column(rows, f"pos{number}")
    files, numbers = _places(engine, owners, positions)
    return {
        f"process{number}": [None if p is None else engine.process(p)[1] for p in owners],
        f"sender{number}": [None if e is None else e[0] for e in entries],
        f"message{number}": messages,
        f"pos{number}": positions,
        f"file{number}": files,
        f"row{number}": numbers,
    }


def _owners(rows: pa.Table) -> list[Any]:
    """Returns whose the second event is: of ``process2``, or of the same process."""
    first, second = _column(rows, "process"), _column(rows, "process2")
    return [f if s is None else s for f, s in zip(first, second, strict=True)]


def _places(
    engine: Engine, processes: list[Any], positions: list[int | None]
) -> tuple[list[str | None], list[int | None]]:
    files: list[str | None] = [None] * len(processes)
    rows: list[int | None] = [None] * len(processes)
    known = [
        at
        for at, (process, pos) in enumerate(zip(processes, positions, strict=True))
        if process is not None and pos is not None
    ]
    asked = pa.Table.from_pylist([{"process": processes[at], "pos": positions[at]} for at in known])
    for at, (file, row) in zip(known, engine.places(asked), strict=True):
        files[at], rows[at] = file, row
    return files, rows


def _runs(engine: Engine, rows: pa.Table) -> list[str | None]:
    """Returns the run that each finding is in: its process's, or that of what it is about."""
    pairs = zip(_column(rows, "process"), _column(rows, "entry"), strict=True)
    return [
        engine.process(process)[0]
        if process is not None
        else None
        if entry is None
        else engine.run_of_entry(entry)
        for process, entry in pairs
    ]


def _column(rows: pa.Table, name: str) -> list[Any]:
    if name not in rows.column_names:
        return [None] * rows.num_rows
    found: list[Any] = rows[name].to_pylist()
    return found
