"""Writes the JSON schemas that travel with the tool, from its records and their forms.

``python -m scripts.write_schemas`` writes them; a test compares them with what this module makes.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from checker.formats.forms import DOCUMENT_FORMAT, REPORT_FORMAT
from checker.formats.json_records import Member, bare, form_of, is_union, members
from checker.formats.kinds import CONFORMANCES_KIND, REPORTS_KIND, VALENCES_KIND
from checker.records import is_record
from checker.results import conformance, trace, valence
from checker.results.conformance import Conformance
from checker.results.domains import AtLeast, AtMost, Matching, OneOf, Sha256
from checker.results.problems import Problem
from checker.results.trace import Trace
from checker.results.valence import Valence
from checker.results.verdict import Report, Word
from checker.sweep import rows
from checker.sweep.cells import Status

CHECKER = Path(__file__).resolve().parents[1] / "checker"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
IDS: Mapping[type, str] = {
    Trace: f"bivalence:trace:{trace.FORMAT}",
    Report: f"bivalence:report:{REPORT_FORMAT}",
    Conformance: f"bivalence:conformance:{conformance.FORMAT}",
    Valence: f"bivalence:valence:{valence.FORMAT}",
}
"""The records that have documents of their own."""

TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
COLUMNS = {"text": str, "int": int, "real": float, "bool": bool}

Schema = dict[str, Any]


class Definitions:
    """The schemas of the records to which a document's schema refers."""

    def __init__(self, root: type) -> None:
        self.root = root
        self.found: Schema = {}

    def record(self, kind: type) -> Schema:
        """Returns the schema of the objects of records of class ``kind``."""
        properties, required = self._properties(kind)
        return {
            "description": described(kind),
            **closed_object(properties, required),
        }

    def _properties(self, kind: Any) -> tuple[Schema, list[str]]:
        form = form_of(kind)
        properties: Schema = {key: {"const": value} for key, value in form.constants.items()}
        required = [*properties]
        for member in members(kind):
            if member.name == form.inlined:
                inlined, also = self._properties(bare(member.hint))
                properties |= inlined
                required += also
                continue
            properties[member.key] = self._member(member)
            if member.name not in form.optional:
                required.append(member.key)
        for name in form.derived:
            hints = get_type_hints(getattr(kind, name).fget, include_extras=True)
            properties[name] = self.schema(hints["return"])
            required.append(name)
        if form.sealed:
            properties["digest"] = self.schema(Sha256)
        return properties, required

    def _member(self, member: Member) -> Schema:
        if not member.items:
            return self.schema(member.hint)
        kinds = get_args(bare(get_args(bare(member.hint))[0]))
        parts = {key: self.schema(kind) for key, kind in zip(member.items, kinds, strict=True)}
        whole = {"type": "array", "items": closed_object(parts, [*parts])}
        return whole | constraints(member.hint, "array")

    def schema(self, hint: Any) -> Schema:
        """Returns the schema of the values of a type."""
        if get_origin(hint) is Annotated:
            of = self.schema(bare(hint))
            return of | constraints(hint, of["type"])
        if is_union(hint):
            return self._alternatives(get_args(hint))
        if get_origin(hint) is tuple:
            return {"type": "array", "items": self.schema(get_args(hint)[0])}
        if get_origin(hint) is not None:  # a mapping from texts
            return {"type": "object", "additionalProperties": self.schema(get_args(hint)[1])}
        if is_record(hint):
            return {"$ref": self.reference(hint)}
        if issubclass(hint, Enum):
            return {"enum": [member.value for member in hint]}
        return {"type": TYPES[hint]}

    def _alternatives(self, kinds: tuple[Any, ...]) -> Schema:
        if any(get_origin(kind) is dict for kind in kinds):  # any JSON value
            return {}
        return {"anyOf": [self.schema(kind) for kind in kinds]}

    def reference(self, kind: Any) -> str:
        """Returns how a schema refers to the objects of records of class ``kind``."""
        if kind in IDS and kind is not self.root:
            return IDS[kind]
        name = kind.__name__[0].lower() + kind.__name__[1:]
        if name not in self.found:
            self.found[name] = {}
            self.found[name] = self.record(kind)
        return f"#/$defs/{name}"


def closed_object(properties: Schema, required: list[str]) -> Schema:
    """Returns the schema of objects with these properties and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def constraints(hint: Any, kind: str) -> Schema:
    """Returns what annotations say of values of the JSON type ``kind``."""
    found: Schema = {}
    for domain in getattr(hint, "__metadata__", ()):
        match domain:
            case AtLeast(least):
                found["minItems" if kind == "array" else "minimum"] = least
            case AtMost(most):
                found["maximum"] = most
            case OneOf():
                found["enum"] = [*domain.values]
            case Matching(pattern):
                found["pattern"] = pattern
            case _:
                raise TypeError(f"{domain} says nothing that a schema can say")
    return found


def described(kind: Any) -> str:
    """Returns the docstring of a record, and of what is inlined in it, as a description: fields
    have the names of their keys."""
    text = " ".join((inspect.getdoc(kind) or "").split())
    text = (
        re.sub(r":\w+:`(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
        .replace("``", "`")
        .replace("`None`", "`null`")
    )
    for member in members(kind):
        text = text.replace(f"`{member.name}`", f"`{member.key}`")
        if member.name == form_of(kind).inlined:
            text += f" {described(bare(member.hint))}"
    return text


def document_head(identifier: str, title: str) -> Schema:
    """Returns the keys with which each schema begins."""
    return {"$schema": DIALECT, "$id": identifier, "title": title}


def trace_schema() -> Schema:
    """Returns the schema of a trace."""
    definitions = Definitions(Trace)
    head = document_head(IDS[Trace], "A trace of bivalence")
    return {**head, **definitions.record(Trace), "$defs": definitions.found}


def reports_schema(root: type, kind: str, title: str, *others: Schema) -> Schema:
    """Returns the schema of a document of reports: records of ``root``, or ``others``."""
    definitions = Definitions(root)
    one = {"$ref": definitions.reference(root)}
    number = {"type": "integer"}
    properties = {
        "format": {"const": DOCUMENT_FORMAT},
        "kind": {"const": kind},
        "version": {"type": "string"},
        "reports": {
            "description": "Empty where nothing could be run: `diagnostics` says why.",
            "type": "array",
            "items": {"oneOf": [one, *others]} if others else one,
        },
        "diagnostics": {
            "description": "Errors of what has no report, and warnings of checks.",
            "type": "array",
            "items": {"$ref": definitions.reference(Problem)},
        },
        "exit_code": number,
    }
    return {
        **document_head(
            f"bivalence:{kind.removeprefix('bivalence ').replace(' ', '-')}:{DOCUMENT_FORMAT}",
            title,
        ),
        **closed_object(properties, [*properties]),
        "$defs": definitions.found,
    }


def report_schema() -> Schema:
    """Returns the schema of what ``--json`` writes: the reports on checks."""
    title = "What bivalence writes with --json: the reports on checks"
    return reports_schema(Report, REPORTS_KIND, title)


def valence_schema() -> Schema:
    """Returns the schema of a document with a report on valence."""
    return reports_schema(Valence, VALENCES_KIND, "What bivalence valence writes with --json")


def conformance_schema() -> Schema:
    """Returns the schema of what conform writes: the reports on logs."""
    text = {"type": "string"}
    properties = {"name": text, "verdict": {"const": "unknown"}, "error": text}
    unusable = {
        "description": "Stands for the report on a log that can't be used: `error` says why.",
        "type": "object",
        "additionalProperties": False,
        "required": [*properties, "exit_code"],
        "properties": {**properties, "exit_code": {"type": "integer"}},
    }
    title = "What bivalence conform writes with --json: the reports on logs"
    return reports_schema(Conformance, CONFORMANCES_KIND, title, unusable)


def sweep_schema() -> Schema:
    """Returns the schema of a sweep: its cells have the columns of its rows."""
    definitions = Definitions(Report)
    text = {"type": "string"}
    properties = {
        "format": {"const": rows.FORMAT},
        "kind": {"const": rows.KIND},
        "version": text,
        "file": text,
        "check": text,
        "settings": {
            "description": "What --set gives to all cells",
            "type": "object",
            "additionalProperties": text,
        },
        "axes": {
            "description": "The values of each axis, in order",
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": ["string", "integer"]}},
        },
        "notes": {"type": "array", "items": text},
        "cells": {
            "description": "A row for each cell, by its number",
            "type": "array",
            "items": {"$ref": "#/$defs/cell"},
        },
        "diagnostics": {
            "description": "Warnings of the check, or the errors for which there are no cells",
            "type": "array",
            "items": {"$ref": definitions.reference(Problem)},
        },
    }
    title = "What bivalence sweep writes with --json: one check at every point of a grid"
    head = document_head(f"bivalence:sweep:{rows.FORMAT}", title)
    return {
        **head,
        **closed_object(properties, [*properties]),
        "$defs": {"cell": cell_schema(), **definitions.found},
    }


def cell_schema() -> Schema:
    """Returns the schema of a cell, which may have columns that depend on the check."""
    fixed = {**rows.FIRST, **rows.STATUS, **rows.FIGURES, **rows.ERROR, **rows.ABOUT}
    columns: Schema = {}
    for name, kind in fixed.items():
        found = TYPES[COLUMNS[kind]]
        columns[name] = {"type": found if name in rows.NEVER_EMPTY else [found, "null"]}
    columns["cell"]["minimum"] = 1
    columns["status"] = {"enum": [status.value for status in Status]}
    return {
        "title": "A cell: its parameters, and what became of it",
        **closed_object(columns, [*columns]),
        "patternProperties": {
            "^verdict_": {"enum": [*(word.value for word in Word), None]},
            "^(reason|trace)_": {"type": ["string", "null"]},
        },
        "additionalProperties": {
            "description": "An axis, what --set gives, or another parameter of the check",
            "type": ["integer", "string", "null"],
        },
    }


SCHEMAS = {
    CHECKER / "formats/schema/trace.schema.json": trace_schema,
    CHECKER / "formats/schema/report.schema.json": report_schema,
    CHECKER / "formats/schema/valence.schema.json": valence_schema,
    CHECKER / "formats/schema/conformance.schema.json": conformance_schema,
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
