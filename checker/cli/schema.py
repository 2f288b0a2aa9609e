"""``bivalence schema``: prints the JSON schema of a document that other commands write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from checker.cli.document_options import write_json

if TYPE_CHECKING:
    from checker.formats.schemas import Schema

DOCUMENTS = (
    "report", "trace", "valence", "conformance", "monitoring", "judgement", "mutation",
    "assumptions", "frontier", "filling", "sweep",
)  # fmt: skip
"""The documents that have a schema."""


@click.command()
@click.argument("document", type=click.Choice(DOCUMENTS))
def schema(document: str) -> int:
    """Print the JSON schema of a DOCUMENT that other commands write."""
    write_json("-", schema_of(document))
    return 0


def schema_of(document: str) -> Schema:
    """Returns the schema of the documents of a kind, a name of :data:`DOCUMENTS`."""
    from checker.formats.schemas import SCHEMAS
    from checker.sweep.schema import sweep_schema

    return sweep_schema() if document == "sweep" else SCHEMAS[document]()
