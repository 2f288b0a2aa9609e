"""The schemas of documents: they change only together with their formats, and are strict."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from checker.cli.main import main
from checker.cli.schema import DOCUMENTS
from checker.formats.json_format import report_to_json, trace_to_json
from checker.records import replace
from tests.documents import validator
from tests.results.test_documents import document_of, made, trace_of

Way = tuple[str | int, ...]
WRONG = ("no", [[]], {"no": {}}, 1.5, None)
"""Values, of which none but one or two can stand in any one place."""


PUBLISHED: dict[str, tuple[str, str]] = {
    "report": ("bivalence:reports:6", "bd0a5d47733799f9"),
    "trace": ("bivalence:trace:5", "e15b0f373f3bba92"),
    "valence": ("bivalence:valence-reports:6", "bb1b223f9baceead"),
    "conformance": ("bivalence:conformance-reports:6", "4e06a7f10513a465"),
    "monitoring": ("bivalence:monitor-lines:6", "22967ba809290017"),
    "judgement": ("bivalence:judgement-reports:6", "cc431ef76c078cde"),
    "mutation": ("bivalence:mutation-reports:6", "4ae0c39adfb67b1b"),
    "assumptions": ("bivalence:assumption-reports:6", "9bfdb9baf0bf5185"),
    "frontier": ("bivalence:frontier-reports:6", "e94f36858aaf9513"),
    "filling": ("bivalence:filling-reports:6", "dc3bff1f51e56874"),
    "sweep": ("bivalence:sweep:2", "f3ce8ba1f455c716"),
}
"""What each schema is called, and the beginning of its SHA-256.  Who reads documents by a schema
that has changed in meaning has to be told by its name (``checker/formats/forms.py``)."""


@pytest.mark.every
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_is_the_published_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", name]) == 0
    text = capsys.readouterr().out
    digest = hashlib.sha256(text.encode()).hexdigest()
    schema = json.loads(text)
    assert (schema["$id"], digest[:16]) == PUBLISHED[name]
    Draft202012Validator.check_schema(schema)


def test_what_has_no_schema_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "picture"]) == 2
    assert "'monitoring'" in capsys.readouterr().err


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
