"""What is in documents that `--json` writes."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from checker.cli.schema import schema_of
from checker.formats.json_format import reports_of


def only_report(text: str) -> dict[str, Any]:
    """Returns the only report in a document."""
    (found,) = reports_of(text)
    return found


def validate_alone(document: Any, name: str) -> None:
    """Validates what ``--json`` wrote by the schema called ``name``; its traces may be anything."""
    loose = json.loads(json.dumps(schema_of(name)).replace('"bivalence:trace:5"', '"#/$defs/any"'))
    loose["$defs"]["any"] = {}
    jsonschema.validate(document, loose)
