"""The JSON schema of the document of a sweep."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, defstruct

from checker.formats.json_records import object_type, one_of
from checker.formats.schemas import Schema, document_schema, listed
from checker.results.domains import Positive
from checker.results.problems import Problem
from checker.results.verdict import Word
from checker.sweep import rows
from checker.sweep.cells import Status

COLUMNS = {"text": str, "int": int, "real": float, "bool": bool}


def sweep_schema() -> Schema:
    """Returns the schema of a sweep: its cells have the columns of its rows, and some that depend
    on the check."""
    columns = {**rows.FIRST, **rows.STATUS, **rows.FIGURES, **rows.ERROR, **rows.ABOUT}
    types = {name: COLUMNS[kind] for name, kind in columns.items()}
    cell = {name: of if name in rows.NEVER_EMPTY else of | None for name, of in types.items()}
    keys = {
        "file": str,
        "check": str,
        "settings": Annotated[dict[str, str], Meta(description="What --set gives to all cells")],
        "axes": Annotated[
            dict[str, list[str | int]], Meta(description="The values of each axis, in order")
        ],
        "notes": list[str],
        "cells": listed(
            defstruct("cell", {**cell, "cell": Positive, "status": one_of(Status)}.items()),
            "A row for each cell, by its number",
        ),
        "diagnostics": listed(
            object_type(Problem, True),
            "Warnings of the check, or the errors for which there are no cells",
        ),
    }
    title = "What bivalence sweep writes with --json: one check at every point of a grid"
    schema = document_schema(rows.FORMAT, rows.KIND, title, keys)
    schema["$defs"]["cell"] |= {
        "title": "A cell: its parameters, and what became of it",
        "patternProperties": {
            "^verdict_": {"enum": [*(word.value for word in Word), None]},
            "^(reason|trace)_": {"type": ["string", "null"]},
        },
        "additionalProperties": {
            "description": "An axis, what --set gives, or another parameter of the check",
            "type": ["integer", "string", "null"],
        },
    }
    return schema
