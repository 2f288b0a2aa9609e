"""Writes the JSON schemas that travel with the tool, from its records and their forms.

``python -m scripts.write_schemas`` writes them; a test compares them with what this module makes.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, defstruct
from msgspec.json import schema_components

from checker.formats.forms import DOCUMENT_FORMAT, FORMS, PLAIN
from checker.formats.json_records import identifier, members, object_type, one_of
from checker.formats.kinds import (
    ASSUMPTIONS_KIND,
    CONFORMANCES_KIND,
    FRONTIERS_KIND,
    JUDGEMENTS_KIND,
    MUTATIONS_KIND,
    NOTICED_KIND,
    REPORTS_KIND,
    VALENCES_KIND,
)
from checker.results.conformance import Conformance
from checker.results.domains import Positive
from checker.results.frontier import Frontier
from checker.results.judgement import Judgement
from checker.results.monitoring import Noticed
from checker.results.mutation import Mutation
from checker.results.problems import Problem
from checker.results.trace import Trace
from checker.results.valence import Valence
from checker.results.verdict import Report, Word
from checker.results.weakest_worlds import WeakestWorlds
from checker.sweep import rows
from checker.sweep.cells import Status

CHECKER = Path(__file__).resolve().parents[1] / "checker"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
COLUMNS = {"text": str, "int": int, "real": float, "bool": bool}
WITH_FORM = {object_type(kind, True).__name__: kind for kind in FORMS}
"""The records that have forms, by the names of their objects' types."""

Schema = dict[str, Any]


def described(name: str, text: str) -> str:
    """Returns the docstring of the record whose object is ``name`` as a description: fields have
    the names of their keys, and what is inlined is described, too."""
    form = FORMS[WITH_FORM[name]] if name in WITH_FORM else PLAIN
    if form.inlined:
        text = f"{text} {inspect.getdoc(members(WITH_FORM[name])[form.inlined])}"
    text = re.sub(r":\w+:`(?:[\w.]*\.)?(\w+)`", r"`\1`", " ".join(text.split()))
    text = text.replace("``", "`").replace("`None`", "`null`")
    for field, key in form.keys.items():
        text = text.replace(f"`{field}`", f"`{key}`")
    return text


def schema_of(root: Any, name: str, title: str) -> Schema:
    """Returns the schema called ``name`` of documents that have the keys of ``root``."""
    _, parts = schema_components([root], ref_template="#/$defs/{name}")
    for part, schema in parts.items():
        if "description" in schema:
            schema["description"] = described(part, schema["description"])
    whole = parts.pop(root.__name__)
    return {"$schema": DIALECT, "$id": name, **whole, "title": title, "$defs": parts}


def document_schema(version: int, kind: str, title: str, keys: dict[str, Any]) -> Schema:
    """Returns the schema of documents of a ``kind`` that have ``keys``, with the types of their
    values, after those that each has."""
    constants = {"format": version, "kind": kind}
    types = {key: Literal[value] for key, value in constants.items()}
    every = {**types, "version": str, **keys}
    root = defstruct("document", every.items(), forbid_unknown_fields=True)
    return schema_of(root, identifier(constants), title)


def listed(item: Any, description: str) -> Any:
    """Returns the type of lists of ``item``."""
    return Annotated[list[item], Meta(description=description)]


def trace_schema() -> Schema:
    """Returns the schema of a trace."""
    root = object_type(Trace, True)
    return schema_of(root, identifier(FORMS[Trace].constants), "A trace of bivalence")


def reports_schema(report: Any, kind: str, title: str) -> Schema:
    """Returns the schema of a document of reports."""
    keys = {
        "reports": listed(report, "Empty where nothing could be run: `diagnostics` says why."),
        "diagnostics": listed(
            object_type(Problem, True), "Errors of what has no report, and warnings of checks."
        ),
        "exit_code": int,
    }
    return document_schema(DOCUMENT_FORMAT, kind, title, keys)


def schema_with_unusable(report: Any, kind: str, title: str) -> Schema:
    """Returns the schema of a document of reports on logs, some of which can't be used."""
    unusable = defstruct(
        "unusable",
        [("name", str), ("verdict", Literal["unknown"]), ("error", str), ("exit_code", int)],
        forbid_unknown_fields=True,
        namespace={
            "__doc__": "Stands for the report on a log that can't be used: `error` says why."
        },
    )
    schema = reports_schema(report, kind, title)
    schema["$defs"] |= schema_components([unusable])[1]
    reports = schema["properties"]["reports"]
    reports["items"] = {"oneOf": [reports["items"], {"$ref": "#/$defs/unusable"}]}
    return schema


def monitoring_schema() -> Schema:
    """Returns the schema of a line that says what a monitor has noticed."""
    kinds = [object_type(kind, True) for kind in get_args(Noticed)]
    _, parts = schema_components(kinds, ref_template="#/$defs/{name}")
    for part, schema in parts.items():
        if "description" in schema:
            schema["description"] = described(part, schema["description"])
    return {
        "$schema": DIALECT,
        "$id": identifier({"format": DOCUMENT_FORMAT, "kind": NOTICED_KIND}),
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds],
        "title": "What bivalence monitor writes with --json: one of these objects per line",
        "$defs": parts,
    }


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


SCHEMAS: Mapping[Path, Callable[[], Schema]] = {
    CHECKER / "formats/schema/trace.schema.json": trace_schema,
    CHECKER / "formats/schema/report.schema.json": partial(
        reports_schema,
        object_type(Report, True),
        REPORTS_KIND,
        "What bivalence writes with --json: the reports on checks",
    ),
    CHECKER / "formats/schema/valence.schema.json": partial(
        reports_schema,
        object_type(Valence, True),
        VALENCES_KIND,
        "What bivalence valence writes with --json",
    ),
    CHECKER / "formats/schema/conformance.schema.json": partial(
        schema_with_unusable,
        object_type(Conformance, True),
        CONFORMANCES_KIND,
        "What bivalence conform writes with --json: the reports on logs",
    ),
    CHECKER / "formats/schema/judgement.schema.json": partial(
        schema_with_unusable,
        object_type(Judgement, True),
        JUDGEMENTS_KIND,
        "What bivalence judge writes with --json: the reports on histories",
    ),
    CHECKER / "formats/schema/monitoring.schema.json": monitoring_schema,
    CHECKER / "formats/schema/mutation.schema.json": partial(
        reports_schema,
        object_type(Mutation, True),
        MUTATIONS_KIND,
        "What bivalence mutate writes with --json: the reports on the mutants of specs",
    ),
    CHECKER / "formats/schema/assumptions.schema.json": partial(
        reports_schema,
        object_type(WeakestWorlds, True),
        ASSUMPTIONS_KIND,
        "What bivalence assumptions writes with --json: what the properties of a check need",
    ),
    CHECKER / "formats/schema/frontier.schema.json": partial(
        reports_schema,
        object_type(Frontier, True),
        FRONTIERS_KIND,
        "What bivalence frontier writes with --json: how far a check holds",
    ),
    CHECKER / "sweep/schema/sweep.schema.json": sweep_schema,
}
"""The files, and what each is made by."""


def text_of(schema: Schema) -> str:
    """Returns a schema as the text of its file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_schemas() -> None:
    """Writes all files."""
    for file, schema in SCHEMAS.items():
        file.write_text(text_of(schema()), encoding="utf-8")


if __name__ == "__main__":
    write_schemas()
