"""The results of a sweep as rows: the same for Parquet, for JSON and for the table on screen."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic
from checker.diagnostics.packages import require_arrow
from checker.diagnostics.visible import visible
from checker.formats.json_records import to_data
from checker.records import replace
from checker.resources import version
from checker.results.problems import problem_of
from checker.results.trace import Trace
from checker.results.verdict import ERRORS, Report, Word
from checker.sweep.cells import CellOutcome, Status
from checker.sweep.sweep_plan import Cell, SweepPlan

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 2
"""The version of the columns, and of the JSON document; 2 has diagnostics."""

KIND = "bivalence sweep"

FIRST = {"cell": "int"}
STATUS = {"status": "text", "reason": "text", "next_steps": "text"}
FIGURES = {
    "states": "int",
    "depth": "int",
    "transitions": "int",
    "edges": "int",
    "exhaustive": "bool",
    "seconds": "real",
    "liveness_seconds": "real",
    "wall_seconds": "real",
    "within": "text",
    "as_expected": "bool",
    "within_requires": "bool",
}
ERROR = {"run_error": "text", "run_error_trace": "text"}
ABOUT = {"engine": "text", "fine_steps": "bool", "file": "text", "check": "text", "version": "text"}
"""The columns of every sweep, and their types."""

NEVER_EMPTY = {"cell", "status", "wall_seconds", "fine_steps", "file", "check", "version"}
"""Those that have a value in every row."""


class Verdict(Struct, frozen=True):
    """The verdict on one property; ``trace``: the file of its trace, empty for none."""

    word: Word
    reason: str
    trace: str = ""


class Row(Struct, frozen=True):
    """A cell and its outcome; ``verdicts`` by property.

    ``report`` has no traces any more: those are in files, if anywhere.
    """

    cell: Cell
    status: Status
    reason: str
    seconds: float
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    report: Report | None = None


def row_of(cell: Cell, outcome: CellOutcome, traces: Mapping[str, str]) -> Row:
    """Makes the row of a cell; ``traces``: the files that traces were written to, by property."""
    report = outcome.report
    if report is None:
        return Row(cell, outcome.status, outcome.reason, outcome.seconds)
    verdicts = _verdicts(report, traces)
    report = replace(report, verdicts=tuple(replace(v, trace=None) for v in report.verdicts))
    return Row(cell, outcome.status, outcome.reason, outcome.seconds, verdicts, report)


def _verdicts(report: Report, traces: Mapping[str, str]) -> dict[str, Verdict]:
    return {
        v.property: Verdict(v.word, v.reason, traces.get(v.property, "")) for v in report.verdicts
    }


def traces_of(outcome: CellOutcome) -> dict[str, Trace]:
    """Returns the traces of one cell, by property."""
    verdicts = () if outcome.report is None else outcome.report.verdicts
    return {v.property: v.trace for v in verdicts if v.trace is not None}


def without_run(plan: SweepPlan, known: Iterable[Row]) -> list[Row]:
    """Returns rows of the cells that are not among ``known``: impossible, or not run."""
    done = {row.cell.number for row in known}
    return [
        Row(
            cell,
            Status.IMPOSSIBLE if cell.impossible else Status.NOT_RUN,
            cell.impossible or "the sweep ended first",
            0.0,
        )
        for cell in plan.cells
        if cell.number not in done
    ]


# ---- columns ----------------------------------------------------------------------------------


class Columns(Struct, frozen=True):
    """The names and types (``int``, ``real``, ``text``, ``bool``) of the columns of one sweep.

    ``parameters`` and ``properties``: the column (for a property, the suffix of its columns' names)
    of each.
    """

    kinds: Mapping[str, str]
    parameters: Mapping[str, str]
    properties: Mapping[str, str]


def columns_of(plan: SweepPlan) -> Columns:
    """Returns the columns of the rows of ``plan``, which do not depend on the results."""
    fixed = {**FIRST, **STATUS, **FIGURES, **ERROR, **ABOUT}
    parameters = {name: f"{name}_" if name in fixed else name for name in plan.parameter_names}
    properties = {name: re.sub(r"\W+", "_", name) for name in plan.properties}

    def of_properties(prefix: str) -> dict[str, str]:
        return {f"{prefix}_{end}": "text" for end in properties.values()}

    kinds = FIRST | {column: _kind(plan, name) for name, column in parameters.items()}
    kinds |= STATUS | of_properties("verdict") | FIGURES
    kinds |= of_properties("reason") | of_properties("trace") | ERROR | ABOUT
    return Columns(kinds, parameters, properties)


def _kind(plan: SweepPlan, parameter: str) -> str:
    values = (cell.parameters.get(parameter) for cell in plan.cells)
    return "int" if all(value is None or isinstance(value, int) for value in values) else "text"


def record(row: Row, plan: SweepPlan, columns: Columns) -> dict[str, Any]:
    """Converts one row into a mapping with a value, or ``None``, for every column."""
    made: dict[str, Any] = dict.fromkeys(columns.kinds)
    made["cell"] = row.cell.number
    for name, column in columns.parameters.items():
        value = row.cell.parameters.get(name)
        text = columns.kinds[column] == "text" and value is not None
        made[column] = str(value) if text else value
    for name, end in columns.properties.items():
        verdict = row.verdicts.get(name)
        if verdict is not None:
            made[f"verdict_{end}"] = verdict.word.value
            made[f"reason_{end}"] = verdict.reason
            made[f"trace_{end}"] = verdict.trace or None
    made |= {
        "status": row.status.value,
        "reason": row.reason or None,
        "next_steps": "; ".join(next_steps_of(row, plan)) or None,
        "within_requires": row.cell.within,
        "wall_seconds": round(row.seconds, 6),
        "fine_steps": plan.options.fine_steps,
        "file": plan.path,
        "check": plan.check.name,
        "version": version(),
    }
    return made | _report_columns(row)


def next_steps_of(row: Row, plan: SweepPlan) -> tuple[str, ...]:
    """Returns what would decide a cell that is not decided."""
    if row.status in (Status.DONE, Status.IMPOSSIBLE):
        return ()
    settings = {**plan.options.settings, **row.cell.settings}
    words = [w for name, value in settings.items() for w in ("--set", f"{name}={value}")]
    alone = shlex.join(["bivalence", "check", f"{plan.path}::{plan.check.name}", *words])
    steps = () if row.report is None else row.report.next_steps
    return (*steps, f"`{alone}` runs this cell alone")


def _report_columns(row: Row) -> dict[str, Any]:
    report = row.report
    if report is None:
        return {}
    error = row.verdicts.get(ERRORS)
    return {
        "as_expected": report.exit_code == 0,
        "run_error": None if error is None else error.reason,
        "run_error_trace": (error.trace or None) if error is not None else None,
        "states": report.distinct_states,
        "depth": report.depth,
        "transitions": report.transitions,
        "edges": report.edges,
        "exhaustive": report.exhaustive,
        "within": next((v.within for v in report.verdicts if v.within), None),
        "seconds": round(report.seconds, 6),
        "liveness_seconds": round(report.liveness_seconds, 6),
        "engine": report.engine,
    }


# ---- documents --------------------------------------------------------------------------------


def as_json(plan: SweepPlan, rows: Iterable[Row]) -> dict[str, Any]:
    """Returns the sweep as a JSON object; each cell has what its row in Parquet has."""
    columns = columns_of(plan)
    return {
        "format": FORMAT,
        "kind": KIND,
        "version": version(),
        "file": plan.path,
        "check": plan.check.name,
        "settings": dict(plan.options.settings),
        "axes": {name: list(plan.grid.values(name)) for name in plan.grid.names},
        "notes": list(plan.notes),
        "cells": [record(row, plan, columns) for row in in_order(rows)],
        "diagnostics": [to_data(problem_of(warning)) for warning in plan.check.warnings],
    }


def as_unusable(file: str, check: str, problems: Iterable[Diagnostic]) -> dict[str, Any]:
    """Returns the document of a sweep without cells, because of ``problems``."""
    head = {"format": FORMAT, "kind": KIND, "version": version(), "file": file, "check": check}
    found = [to_data(problem_of(problem)) for problem in problems]
    return {**head, "settings": {}, "axes": {}, "notes": [], "cells": [], "diagnostics": found}


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Sorts rows by the number of the cell."""
    return sorted(rows, key=lambda row: row.cell.number)


def as_table(plan: SweepPlan, rows: Iterable[Row]) -> pa.Table:
    """Returns the sweep as a table of Arrow, with a row per cell."""
    require_arrow()
    import pyarrow as pa

    types = {"int": pa.int64(), "real": pa.float64(), "text": pa.string(), "bool": pa.bool_()}
    columns = columns_of(plan)
    about = {"bivalence.kind": KIND, "bivalence.format": str(FORMAT)}
    schema = pa.schema([(n, types[kind]) for n, kind in columns.kinds.items()], metadata=about)
    records = (record(r, plan, columns) for r in in_order(rows))
    shown = [
        {name: visible(value) if isinstance(value, str) else value for name, value in each.items()}
        for each in records
    ]
    return pa.Table.from_pylist(shown, schema=schema)


def as_parquet(plan: SweepPlan, rows: Iterable[Row]) -> bytes:
    """Returns the sweep as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(as_table(plan, rows), sink)
    return bytes(sink.getvalue())
