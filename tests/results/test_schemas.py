"""The schemas that travel with the tool: those that its records and forms make, and strict."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.formats.json_format import report_to_json, trace_to_json
from checker.records import replace
from scripts.write_schemas import SCHEMAS, text_of
from tests.results.test_documents import document_of, made, trace_of, validator

Way = tuple[str | int, ...]
WRONG = ("no", [[]], {"no": {}}, 1.5, None)
"""Values, of which none but one or two can stand in any one place."""


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.name)
def test_a_schema_is_what_the_records_say(file: Path) -> None:
    """``python -m scripts.write_schemas`` writes them."""
    assert file.read_text("utf-8") == text_of(SCHEMAS[file]())


def objects(part: Any, way: Way = ()) -> Iterator[Way]:
    """The ways to the objects with fixed keys: not to states, parameters and values."""
    if isinstance(part, dict):
        yield way
    for key, inner in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(inner, dict | list) and key not in ("state", "parameters", "settings"):
            yield from objects(inner, (*way, key))


def small(name: str) -> dict[str, Any]:
    """A document with one object of each kind that it has."""
    document = (
        report_to_json(made()) if name == "report" else trace_to_json(trace_of(made(limit=1)))
    )
    if name == "report":
        document["verdicts"] = document["verdicts"][-1:]
        del document["verdicts"][0]["trace"]
        document = document_of(document)
    else:
        document["steps"] = document["steps"][-2:]
    return document


@pytest.mark.parametrize("name", ["report", "trace"])
def test_keys_and_types_are_fixed_everywhere(name: str) -> None:
    schema, document = validator(name), small(name)
    schema.validate(document)
    for way in objects(document):
        changed = copy.deepcopy(document)
        part: Any = changed
        for key in way:
            part = part[key]
        part["surprise"] = 1
        assert not schema.is_valid(changed), (*way, "surprise")
        del part["surprise"]
        for key in [key for key in part if key != "digest"]:
            was = part.pop(key)
            assert not schema.is_valid(changed), (*way, key)
            refused = 0
            for wrong in WRONG:
                part[key] = wrong
                refused += not schema.is_valid(changed)
            assert refused >= len(WRONG) - 2, (*way, key)
            part[key] = was


def test_a_report_on_what_could_not_be_done_follows_the_schema() -> None:
    document = report_to_json(replace(made(), expectations=(), verdicts=(), failed=("a picture",)))
    assert document["exit_code"] == 2
    validator("report").validate(document_of(document))
