"""What is in documents that `--json` writes."""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from checker.cli.schema import DOCUMENTS, schema_of
from checker.formats.json_format import reports_of


def only_report(text: str) -> dict[str, Any]:
    """Returns the only report in a document."""
    (found,) = reports_of(text)
    return found


@cache
def _registry() -> Registry[Any]:
    found = [schema_of(name) for name in DOCUMENTS]
    return Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in found])


@cache
def validator(name: str, part: str = "") -> Draft202012Validator:
    """Returns the validator of the documents called ``name``, or of a ``part`` that their schema
    defines; their traces are validated, too.

    That the schemas are valid themselves takes long to find, and is a test of its own
    (``tests/results/test_schemas.py``).
    """
    inside = f"#/$defs/{part}" if part else ""
    whole = {"$ref": schema_of(name)["$id"] + inside}
    return Draft202012Validator(whole, registry=_registry())
