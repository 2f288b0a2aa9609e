"""The JSON schemas of the documents that the tool writes, made from its records and their forms."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, defstruct
from msgspec.json import schema_components

from checker.formats.forms import DOCUMENT_FORMAT, FORMS, PLAIN
from checker.formats.json_records import identifier, members, object_type
from checker.formats.kinds import (
    ASSUMPTIONS_KIND,
    CONFORMANCES_KIND,
    FILLINGS_KIND,
    FRONTIERS_KIND,
    JUDGEMENTS_KIND,
    MUTATIONS_KIND,
    NOTICED_KIND,
    REPORTS_KIND,
    VALENCES_KIND,
)
from checker.results.conformance import Conformance
from checker.results.fillings import Fillings
from checker.results.frontier import Frontier
from checker.results.judgement import Judgement
from checker.results.monitoring import Noticed
from checker.results.mutation import Mutation
from checker.results.problems import Problem
from checker.results.trace import Trace
from checker.results.valence import Valence
from checker.results.verdict import Report
from checker.results.weakest_worlds import WeakestWorlds

DIALECT = "https://json-schema.org/draft/2020-12/schema"
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


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "trace": trace_schema,
    "report": partial(
        reports_schema,
        object_type(Report, True),
        REPORTS_KIND,
        "What bivalence writes with --json: the reports on checks",
    ),
    "valence": partial(
        reports_schema,
        object_type(Valence, True),
        VALENCES_KIND,
        "What bivalence valence writes with --json",
    ),
    "conformance": partial(
        schema_with_unusable,
        object_type(Conformance, True),
        CONFORMANCES_KIND,
        "What bivalence conform writes with --json: the reports on logs",
    ),
    "judgement": partial(
        schema_with_unusable,
        object_type(Judgement, True),
        JUDGEMENTS_KIND,
        "What bivalence judge writes with --json: the reports on histories",
    ),
    "monitoring": monitoring_schema,
    "mutation": partial(
        reports_schema,
        object_type(Mutation, True),
        MUTATIONS_KIND,
        "What bivalence mutate writes with --json: the reports on the mutants of specs",
    ),
    "assumptions": partial(
        reports_schema,
        object_type(WeakestWorlds, True),
        ASSUMPTIONS_KIND,
        "What bivalence assumptions writes with --json: what the properties of a check need",
    ),
    "frontier": partial(
        reports_schema,
        object_type(Frontier, True),
        FRONTIERS_KIND,
        "What bivalence frontier writes with --json: how far a check holds",
    ),
    "filling": partial(
        reports_schema,
        object_type(Fillings, True),
        FILLINGS_KIND,
        "What bivalence fill writes with --json: what can stand in the holes of a spec",
    ),
}
"""The documents that have a schema, and what makes it."""
