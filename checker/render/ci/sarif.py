"""Reports in SARIF 2.1.0 (OASIS 2020), which GitHub and editors show at lines of the source: a
result for all that is not as expected, an execution as its code flow."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from checker.render.ci.outcomes import (
    NOWHERE,
    NotRun,
    Outcome,
    Places,
    outcomes_of,
    warnings_of,
)
from checker.resources import version
from checker.results.events import At
from checker.results.problems import Problem
from checker.results.verdict import Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_of(found: Sequence[Report | NotRun], places: Places = NOWHERE) -> str:
    """Returns the document: one run, with a rule for each property and a result for each outcome
    that is not as expected, at the handler in which the execution goes wrong."""
    wrong = [outcome for outcome in outcomes_of(found, places) if not outcome.met]
    warnings = warnings_of(found)
    rules = list(dict.fromkeys([*(o.name for o in wrong), *(w.code for w in warnings)]))
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "bivalence",
                "version": version(),
                "rules": [{"id": name} for name in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [
            *(_result(outcome, rules.index(outcome.name)) for outcome in wrong),
            *(_warning(each, rules.index(each.code)) for each in warnings),
        ],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _result(outcome: Outcome, rule: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": outcome.name,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": _message(outcome)},
        "locations": [_location(outcome.place)],
        "partialFingerprints": {"check/v1": f"{outcome.file}::{outcome.check}::{outcome.name}"},
    }
    if outcome.defined is not None:
        found["relatedLocations"] = [_location(outcome.defined, "the property")]
    if outcome.flow:
        steps = [{"location": _location(at, said)} for at, said in outcome.flow]
        found["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return found


def _message(outcome: Outcome) -> str:
    """Returns what is wrong, the story, and where the property comes from."""
    parts = (f"{outcome.title} {outcome.said}", outcome.text, outcome.from_where)
    return "\n\n".join(part for part in parts if part)


def _warning(found: Problem, rule: int) -> dict[str, Any]:
    """Returns a warning of a check as a result."""
    text = f"{found.message}\n\n{found.hint}".rstrip()
    at = At(found.file, max(found.line, 1), max(found.column, 1))
    return {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": "warning",
        "message": {"text": text},
        "locations": [_location(at)],
    }


def _location(at: At, said: str = "") -> dict[str, Any]:
    """Returns a place; files that are named by a relative path stay relative, to the root of the
    repository where the tool runs there."""
    path = PurePath(at.file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path))
    region = {"startLine": at.line, "startColumn": at.column}
    place = {"artifactLocation": {"uri": uri}, "region": region}
    found: dict[str, Any] = {"physicalLocation": place}
    return {**found, "message": {"text": said}} if said else found
