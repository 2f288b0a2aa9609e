"""Validates documents by the schemas of the tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from checker import resources

SCHEMAS = Path(resources.__file__).parent / "formats/schema"


def validate(document: Any, kind: str) -> None:
    """Raises an error where ``document`` is none of its ``kind``."""
    every = [json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.schema.json")]
    registry = Registry().with_resources(
        [(each["$id"], Resource.from_contents(each)) for each in every]
    )
    schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_text("utf-8"))
    Draft202012Validator(schema, registry=registry).validate(document)
